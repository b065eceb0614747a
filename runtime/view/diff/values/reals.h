/* Numbers of two arrays as doubles, a block at a time: what is told of each element is told faster
 * so. By the rules of tolerance.h. Nothing here allocates or fails. */
#ifndef MONITORCH_VIEW_DIFF_VALUES_REALS_H
#define MONITORCH_VIEW_DIFF_VALUES_REALS_H

#include "runtime/array/dtype.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* So many elements are a block. */
#define DIFF_REALS_BLOCK 512

/* Whether a double holds each value of that dtype: no complex numbers, no integers of 64 bits. */
bool diff_is_real(enum dtype dtype);

/* Of such a dtype; the bytes need not be aligned. */
void diff_reals_read(enum dtype dtype,
                     const void *bytes,
                     size_t count,
                     double *numbers);

/* How far apart two are: as diff_elements_apart. */
static inline double diff_reals_apart(double a, double b)
{
    double apart;

    if (a == b || (isnan(a) && isnan(b))) {
        return 0;
    }
    apart = fabs(a - b);
    return isfinite(apart) ? apart : INFINITY;
}

/* The largest finite size of b's numbers that are not the same in a, or `largest`. */
double
diff_reals_largest(const double *a, const double *b, size_t count, double largest);

/* Whether none is beyond |a - b| <= atol + rtol * (|b| + scale). */
bool diff_reals_are_within(const double *a,
                           const double *b,
                           size_t count,
                           double rtol,
                           double atol,
                           double scale);

#endif
