/* What several arrays hold together: their statistics, merged as if they were one array. A module
 * that is called twice in a step, or once for each of several small batches, has one maximum, one
 * norm, one number of zeros. Nothing here allocates or fails. */
#ifndef MONITORCH_ARRAY_STATISTICS_GAUGE_H
#define MONITORCH_ARRAY_STATISTICS_GAUGE_H

#include "runtime/array/array.h"
#include "runtime/array/statistics/moments.h"
#include "runtime/array/statistics/statistics.h"

#include <stdbool.h>

/* How far the values of arrays reach: a histogram whose edges are powers of two, the same for
 * every array, so that histograms of several add up; and how many values a narrower format could
 * not hold. */

/* The edges: -Inf, -2^16 … -2^-24, 2^-24 … 2^16, +Inf. */
#define SPREAD_EXPONENT_MIN (-24)
#define SPREAD_EXPONENT_MAX 16
#define SPREAD_SIDE_COUNT   (SPREAD_EXPONENT_MAX - SPREAD_EXPONENT_MIN + 1)
#define SPREAD_BIN_COUNT    (2 * SPREAD_SIDE_COUNT + 1)
#define SPREAD_EDGE_COUNT   (SPREAD_BIN_COUNT + 1)

enum spread_format { SPREAD_FP16, SPREAD_BF16, SPREAD_FORMAT_COUNT };

/* Rounded to the nearest number of the format, as torch rounds. */
struct spread_format_counts {
    uint64_t underflow_count; /* not 0, and 0 there */
    uint64_t subnormal_count;
    uint64_t overflow_count; /* finite, and infinite there */
};

/* Zeroed is how it begins. */
struct spread {
    /* A value belongs to the bin whose lower edge it reaches; +Inf in the last, NaN in none. */
    uint64_t bins[SPREAD_BIN_COUNT];
    struct spread_format_counts formats[SPREAD_FORMAT_COUNT];
};

/* Adds the array's values; complex ones by magnitude. Its dtype must not be opaque, and its data be
 * readable. False where memory ran out; then nothing was added. */
bool spread_add(struct spread *spread, const struct array *array);

double spread_edge(unsigned index);

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
#define STATISTIC_COUNT(field, name, function) uint64_t field;
#include "runtime/array/statistics/statistics.def"
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
