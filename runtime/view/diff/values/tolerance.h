/* Distances of numbers, and tolerances. Nothing here allocates or fails. */
#ifndef MONITORCH_VIEW_DIFF_VALUES_TOLERANCE_H
#define MONITORCH_VIEW_DIFF_VALUES_TOLERANCE_H

#include "runtime/array/dtype.h"
#include "runtime/array/statistics/statistics.h"
#include "runtime/trace/reader.h"
#include "runtime/view/diff/align/align.h"

#include <stdbool.h>
#include <stddef.h>

/* Tolerance of two numbers: |a - b| <= atol + rtol * |b|. If the user gave none, rtol is also
 * applied to the usual size of the array's numbers: an element near 0 has the error of the sum
 * that it was computed from. */
struct diff_tolerance {
    bool is_exact;                 /* compare by hashes */
    bool is_across_precision;      /* another floating dtype is no difference */
    double rtol, atol;             /* below 0: by the dtype, … */
    double least_rtol, least_atol; /* … but at least these: see diff_tolerance_widen */
    double
        unit; /* factor of the dtype's atol: of gradients the largest of the backward; 0: 1 */
    const struct diff_rename *renames; /* borrowed: renames of types, too */
    size_t rename_count;
    const struct diff_align *align; /* borrowed: finds renamed classes; may be NULL */
    const struct diff_floor *floor; /* borrowed: floor of A; NULL: by the dtype */
};

/* Tolerance of the smaller numbers of an array with two sizes of numbers, such as scores and the
 * constant of a mask that was added to them. The constant's tolerance would hide them. */
struct diff_lower {
    double split; /* the largest of the smaller numbers; 0: there is one size */
    double rtol, atol, scale;
};

/* Returns the size that separates small numbers from large ones: no number is between it and ten
 * thousand times it. 0: there is no such size. At most SAMPLE_MAX numbers. */
double diff_find_split(const double *numbers, size_t count);
/* Returns diff_find_split of an event's sample. */
double diff_split_of(const struct log_event_view *event);

/* Returns the distance from 1 to the next number of a floating dtype; 0 for other dtypes. */
double diff_unit_of(enum dtype dtype);

/* Widens the tolerance to that of the coarser dtype from now on. Across precisions, values made
 * from two values of different precision may differ by as much, whatever their dtype is. */
void diff_tolerance_widen(struct diff_tolerance *tolerance, enum dtype a, enum dtype b);

/* Whether numbers of this dtype are rounded: floating and complex ones. */
bool diff_is_inexact(enum dtype dtype);

/* Whether the user gave a tolerance. */
bool diff_tolerance_is_given(const struct diff_tolerance *tolerance);

/* Finds rtol and atol by the coarser of the two dtypes, and by earlier ones: see
 * diff_tolerance_widen. */
void diff_tolerance_of(const struct diff_tolerance *tolerance,
                       enum dtype a,
                       enum dtype b,
                       double *rtol,
                       double *atol);

/* Whether |a - b| is within tolerance. NaN equals NaN, and an infinity itself. */
bool diff_is_within(double a, double b, double rtol, double atol, double scale);

/* Returns the usual size of an array's numbers, the root of their mean square. 0: not known. */
double diff_usual_size(const struct statistics *statistics);

/* Returns the distance of two elements; of complex numbers, the magnitude of the difference. 0:
 * they are equal, as NaN and NaN are. INFINITY: a NaN or an infinity against anything else.
 * `size` becomes the magnitude of b if they are not equal. */
double diff_elements_apart(const struct dtype_value *a,
                           const struct dtype_value *b,
                           double *size);

#endif
