/* The whole values of two arrays, compared as their pieces come, in turns: what is held is what
 * one of the two is ahead of the other. */
#ifndef MONITORCH_VIEW_DIFF_VALUES_VALUES_H
#define MONITORCH_VIEW_DIFF_VALUES_VALUES_H

#include "runtime/array/dtype.h"
#include "runtime/base/buffer.h"
#include "runtime/view/diff/diff.h"
#include "runtime/view/diff/values/tolerance.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diff_values {
    enum dtype dtypes[2];
    double rtol, atol, scale;
    struct diff_lower lower;  /* set after the beginning */
    struct buffer waiting[2]; /* owned: bytes that the other side has not come to */
    uint64_t received[2];     /* bytes */
    uint64_t wanted;          /* elements */
    bool is_broken;           /* a piece is missing, or memory ran out */
    bool has_failed;          /* memory ran out */
    double products[3];       /* of a with a, a with b, b with b */
    double worst;             /* the largest distance so far; -1 before */
    struct diff_distance distance;
};

void diff_values_init(struct diff_values *values);
void diff_values_release(struct diff_values *values);

/* Of arrays with as many elements. |a - b| <= atol + rtol * (|b| + scale) is within. */
void diff_values_begin(struct diff_values *values,
                       enum dtype dtype_a,
                       enum dtype dtype_b,
                       uint64_t element_count,
                       double rtol,
                       double atol,
                       double scale);

/* A piece of A (0) or B (1), at that offset of its bytes. */
void diff_values_add(struct diff_values *values,
                     unsigned side,
                     uint64_t offset,
                     struct slice bytes);

/* false where not all of both came. */
bool diff_values_finish(struct diff_values *values, struct diff_distance *distance);

/* Numbers of two arrays as doubles, a block at a time: each element is compared faster
 * so. By the rules of tolerance.h. Nothing here allocates or fails. */

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
