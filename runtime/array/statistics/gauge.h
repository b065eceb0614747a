/* What several arrays hold together: their statistics, merged as if they were one array. A module
 * that is called twice in a step, or once for each of several small batches, has one maximum, one
 * norm, one number of zeros. Nothing here allocates or fails. */
#ifndef MONITORCH_ARRAY_STATISTICS_GAUGE_H
#define MONITORCH_ARRAY_STATISTICS_GAUGE_H

#include "runtime/array/statistics/moments.h"
#include "runtime/array/statistics/spread.h"
#include "runtime/array/statistics/statistics.h"

#include <stdbool.h>

enum gauge_metric {
#define GAUGE_METRIC(name, text, is_spread) GAUGE_##name,
#include "runtime/array/statistics/gauge_metrics.def"
#undef GAUGE_METRIC
    GAUGE_METRIC_COUNT
};

const char *gauge_metric_text(enum gauge_metric metric);
/* GAUGE_METRIC_COUNT where none is called so. */
enum gauge_metric gauge_metric_find(struct slice text);
/* Whether the metric needs gauge_add_spread. */
bool gauge_metric_is_spread(enum gauge_metric metric);

/* Zeroed is how it begins. */
struct gauge {
    uint64_t call_count;
    uint64_t recomputed_count;
    uint64_t count; /* of elements */
    uint64_t nan_count, posinf_count, neginf_count, zero_count;
    double min, max;        /* of the finite elements */
    struct moments moments; /* of the finite elements */
};

/* Adds the statistics of an array. */
void gauge_add(struct gauge *gauge,
               enum dtype dtype,
               const struct statistics *statistics);

/* What torch's functions would answer for all elements in one tensor: NaN where there is a NaN;
 * NaN for what is not defined, such as the maximum of nothing. Complex numbers by magnitude.
 * `spread` is read by the metrics that need it; else it may be NULL. */
double gauge_read(const struct gauge *gauge,
                  const struct spread *spread,
                  enum gauge_metric metric);

#endif
