/* Comparison of the whole values of two arrays, whose pieces arrive in turns. Only the bytes by
 * which one side is ahead of the other are held. */
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
    struct diff_lower lower;  /* set after diff_values_begin */
    struct buffer waiting[2]; /* owned: bytes by which this side is ahead */
    uint64_t received[2];     /* bytes */
    uint64_t wanted;          /* elements */
    bool is_broken;           /* a piece is missing, or memory ran out */
    bool has_failed;          /* memory ran out */
    double products[3];       /* of a with a, a with b, b with b */
    double worst;             /* the largest distance so far; -1: none yet */
    struct diff_distance distance;
};

void diff_values_init(struct diff_values *values);
void diff_values_release(struct diff_values *values);

/* Starts a comparison of arrays of equal lengths. Elements are within tolerance if |a - b| <=
 * atol + rtol * (|b| + scale). */
void diff_values_begin(struct diff_values *values,
                       enum dtype dtype_a,
                       enum dtype dtype_b,
                       uint64_t element_count,
                       double rtol,
                       double atol,
                       double scale);

/* Adds a piece of A (0) or B (1) at that offset in bytes. */
void diff_values_add(struct diff_values *values,
                     unsigned side,
                     uint64_t offset,
                     struct slice bytes);

/* Returns false if a part of the values is missing. */
bool diff_values_finish(struct diff_values *values, struct diff_distance *distance);

/* Numbers of two arrays as doubles, a block at a time: faster than one by one, with the rules of
 * tolerance.h. Nothing here allocates or fails. */

/* Numbers in a block. */
#define DIFF_REALS_BLOCK 512

/* Whether a double holds each value of that dtype: not for complex numbers and integers of 64
 * bits. */
bool diff_is_real(enum dtype dtype);

/* Reads numbers of such a dtype. The bytes need not be aligned. */
void diff_reals_read(enum dtype dtype,
                     const void *bytes,
                     size_t count,
                     double *numbers);

/* Returns the distance of two numbers, as diff_elements_apart does. */
static inline double diff_reals_apart(double a, double b)
{
    double apart;

    if (a == b || (isnan(a) && isnan(b))) {
        return 0;
    }
    apart = fabs(a - b);
    return isfinite(apart) ? apart : INFINITY;
}

/* Returns the largest finite magnitude of b's numbers that differ from a's, or `largest` if that
 * is larger. */
double
diff_reals_largest(const double *a, const double *b, size_t count, double largest);

/* Whether all numbers satisfy |a - b| <= atol + rtol * (|b| + scale). */
bool diff_reals_are_within(const double *a,
                           const double *b,
                           size_t count,
                           double rtol,
                           double atol,
                           double scale);

#endif
