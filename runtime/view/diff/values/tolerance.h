/* How far apart two numbers are, and how far they may be. Nothing here allocates or fails. */
#ifndef MONITORCH_VIEW_DIFF_VALUES_TOLERANCE_H
#define MONITORCH_VIEW_DIFF_VALUES_TOLERANCE_H

#include "runtime/array/dtype.h"
#include "runtime/array/statistics/statistics.h"
#include "runtime/trace/reader.h"
#include "runtime/view/diff/align/align.h"

#include <stdbool.h>
#include <stddef.h>

/* How far apart two numbers may be: |a - b| <= atol + rtol * |b|; where the user gave none, rtol
 * counts for the usual size of the array's numbers too, since an element near 0 is off by what
 * the sum that it came from is off by. */
struct diff_tolerance {
    bool is_exact;            /* by hashes */
    bool is_across_precision; /* another floating dtype is no difference by itself */
    double rtol, atol;        /* below 0: by the dtype, */
    double least_rtol, least_atol; /* but not below these: see diff_tolerance_widen */
    double
        unit; /* atol by the dtype is so many times as large: of gradients, the largest of their
                    backward; 0: 1 */
    const struct diff_rename *renames; /* borrowed: of types, too */
    size_t rename_count;
    const struct diff_align
        *align; /* borrowed: knows classes under other names; or NULL */
    const struct diff_floor *floor; /* borrowed: of A; NULL: by the dtype */
};

/* Arrays with numbers of two sizes, such as scores and the constant of a mask that was added to them: the
 * smaller ones have a tolerance of their own, since the constant's hides them. */
struct diff_lower {
    double split; /* the largest of the smaller ones; 0: there is one size */
    double rtol, atol, scale;
};

/* Where the sizes of numbers are split: none lies between it and ten thousand times of it. 0: nowhere. At
 * most SAMPLE_MAX numbers. */
double diff_find_split(const double *numbers, size_t count);
/* The same of an event's sample. */
double diff_split_of(const struct log_event_view *event);

/* The distance from 1 to the next number of a floating dtype; 0 of others. */
double diff_unit_of(enum dtype dtype);

/* Across precisions, what is made of two values of unlike precision is as far apart as they may be,
 * whatever dtype it has then: the coarser one's tolerance counts from now on. */
void diff_tolerance_widen(struct diff_tolerance *tolerance, enum dtype a, enum dtype b);

/* Whether numbers of this dtype come rounded: floating and complex ones. */
bool diff_is_inexact(enum dtype dtype);

/* Whether the user gave one. */
bool diff_tolerance_is_given(const struct diff_tolerance *tolerance);

/* By the coarser of the two, and of those before. */
void diff_tolerance_of(const struct diff_tolerance *tolerance,
                       enum dtype a,
                       enum dtype b,
                       double *rtol,
                       double *atol);

/* Whether |a - b| is within; NaN equals NaN, an infinity itself. */
bool diff_is_within(double a, double b, double rtol, double atol, double scale);

/* The usual size of an array's numbers, the root of their mean square; 0 where it is not known. */
double diff_usual_size(const struct statistics *statistics);

/* How far apart two elements are: complex numbers by the size of their difference. 0: they are
 * equal, as NaN and NaN are; INFINITY: a NaN or an infinity against anything else. `size` is
 * that of b, where they are not equal. */
double diff_elements_apart(const struct dtype_value *a,
                           const struct dtype_value *b,
                           double *size);

#endif
