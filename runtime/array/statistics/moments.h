/* Mean and spread of numbers, added block by block. Private to the statistics.
 *
 * Squares of doubles beyond 1e154 or under 1e-154 are no doubles any more. Blocks that reach
 * so far are scaled by a power of two first, and say so here. */
#ifndef MONITORCH_ARRAY_STATISTICS_MOMENTS_H
#define MONITORCH_ARRAY_STATISTICS_MOMENTS_H

#include <stdint.h>

struct moments {
    uint64_t count;
    double mean;    /* times 2^exponent */
    double squares; /* the sum of (x - mean)^2, times 2^(2 exponent); never negative */
    int exponent;   /* 0, or one of the two below */
};

#define MOMENTS_EXPONENT 600
/* Numbers beyond the first and, but for 0, under the second are to be scaled. */
#define MOMENTS_LARGE 0x1p480
#define MOMENTS_SMALL 0x1p-400

/* Adds the numbers of `added`. */
void moments_add(struct moments *moments, const struct moments *added);
/* NaN for no numbers. */
double moments_mean(const struct moments *moments);
/* With n - 1; NaN for fewer than two numbers. */
double moments_deviation(const struct moments *moments);

#endif
