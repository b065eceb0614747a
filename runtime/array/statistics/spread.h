/* How far the values of arrays reach: a histogram whose edges are powers of two, the same for
 * every array, so that histograms of several add up; and how many values a narrower format could
 * not hold. */
#ifndef MONITORCH_ARRAY_STATISTICS_SPREAD_H
#define MONITORCH_ARRAY_STATISTICS_SPREAD_H

#include "runtime/array/array.h"

#include <stdbool.h>

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

#endif
