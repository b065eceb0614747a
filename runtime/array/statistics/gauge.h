/* Gauges: the statistics of several arrays, merged as if they were one array. A module that is
 * called twice in a step, or once for each of several small batches, has one maximum, one norm
 * and one number of zeros. No function allocates or fails, except spread_add. */
#ifndef MONITORCH_ARRAY_STATISTICS_GAUGE_H
#define MONITORCH_ARRAY_STATISTICS_GAUGE_H

#include "runtime/array/array.h"
#include "runtime/array/statistics/moments.h"
#include "runtime/array/statistics/statistics.h"

#include <stdbool.h>

/* The spread of values: a histogram whose edges are powers of two, the same for all arrays, so
 * that histograms can be added; and the number of values that a narrower format cannot
 * represent. */

/* The edges: -Inf, -2^16 … -2^-24, 2^-24 … 2^16, +Inf. */
#define SPREAD_EXPONENT_MIN (-24)
#define SPREAD_EXPONENT_MAX 16
#define SPREAD_SIDE_COUNT   (SPREAD_EXPONENT_MAX - SPREAD_EXPONENT_MIN + 1)
#define SPREAD_BIN_COUNT    (2 * SPREAD_SIDE_COUNT + 1)
#define SPREAD_EDGE_COUNT   (SPREAD_BIN_COUNT + 1)

enum spread_format { SPREAD_FP16, SPREAD_BF16, SPREAD_FORMAT_COUNT };

/* Counts of values after rounding to the nearest number of the format, as torch rounds. */
struct spread_format_counts {
    uint64_t underflow_count; /* not 0, but rounded to 0 */
    uint64_t subnormal_count;
    uint64_t overflow_count; /* finite, but rounded to infinity */
};

/* Zero-initialised at first. */
struct spread {
    /* A bin includes its lower edge. +Inf is in the last bin; NaN is in none. */
    uint64_t bins[SPREAD_BIN_COUNT];
    struct spread_format_counts formats[SPREAD_FORMAT_COUNT];
};

/* Adds the array's values; complex numbers count by magnitude. The dtype must not be opaque, and
 * the data must be readable. Returns false if memory runs out; nothing was added then. */
bool spread_add(struct spread *spread, const struct array *array);

double spread_edge(unsigned index);

enum gauge_metric {
#define GAUGE_METRIC(name, text, is_spread) GAUGE_##name,
#include "runtime/array/statistics/gauge_metrics.def"
#undef GAUGE_METRIC
    GAUGE_METRIC_COUNT
};

const char *gauge_metric_text(enum gauge_metric metric);
/* Finds a metric by its name. GAUGE_METRIC_COUNT if there is none. */
enum gauge_metric gauge_metric_find(struct slice text);
/* Whether gauge_read needs a spread for the metric. */
bool gauge_metric_is_spread(enum gauge_metric metric);

/* Zero-initialised at first. */
struct gauge {
    uint64_t call_count;
    uint64_t recomputed_count;
    uint64_t count; /* of elements */
#define STATISTIC_COUNT(field, name, function) uint64_t field;
#include "runtime/array/statistics/statistics.def"
    double min, max;        /* of the finite elements */
    struct moments moments; /* of the finite elements */
};

void gauge_add(struct gauge *gauge,
               enum dtype dtype,
               const struct statistics *statistics);

/* The metric's value, as torch's functions would compute it for one tensor of all elements: NaN
 * if there is a NaN, and NaN if it is not defined, such as the maximum of no elements. Complex
 * numbers count by magnitude. `spread` may be NULL for metrics that do not need it. */
double gauge_read(const struct gauge *gauge,
                  const struct spread *spread,
                  enum gauge_metric metric);

#endif
