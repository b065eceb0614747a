/* Moments: mean and variance of numbers, added block by block. Private to the statistics.
 *
 * The square of a double above 1e154 or below 1e-154 overflows or underflows. Blocks with such
 * numbers are scaled by a power of two first; `exponent` records it. */
#ifndef MONITORCH_ARRAY_STATISTICS_MOMENTS_H
#define MONITORCH_ARRAY_STATISTICS_MOMENTS_H

#include <stdint.h>

struct moments {
    uint64_t count;
    double mean; /* the mean is mean * 2^exponent */
    /* The sum of (x - mean)^2 is squares * 2^(2 * exponent); never negative. */
    double squares;
    int exponent; /* 0, MOMENTS_EXPONENT or -MOMENTS_EXPONENT */
};

#define MOMENTS_EXPONENT 600
/* Blocks with magnitudes above the first limit, or all below the second and not 0, are scaled. */
#define MOMENTS_LARGE 0x1p480
#define MOMENTS_SMALL 0x1p-400

void moments_add(struct moments *moments, const struct moments *added);
/* NaN if there are no numbers. */
double moments_mean(const struct moments *moments);
/* The standard deviation, divided by n - 1. NaN for fewer than two numbers. */
double moments_deviation(const struct moments *moments);

#endif
