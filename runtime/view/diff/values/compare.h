/* Comparison of two values that should be equal: it finds the first difference of type, dtype,
 * shape, device, strides and values, and whether it exceeds the tolerance. Nothing here
 * allocates or fails. */
#ifndef MONITORCH_VIEW_DIFF_VALUES_COMPARE_H
#define MONITORCH_VIEW_DIFF_VALUES_COMPARE_H

#include "runtime/trace/reader.h"
#include "runtime/view/diff/diff.h"
#include "runtime/view/diff/values/tolerance.h"

#include <stdbool.h>
#include <stdint.h>

/* Result for a pair of forms, kept for the next events with the same forms. */
struct diff_form_pair {
    const struct log_shape *shapes[2]; /* borrowed from the readers; NULL: empty */
    enum diff_cause cause;             /* the first of their differences */
    bool differs_in_grad;
};
#define DIFF_FORM_PAIRS 1024

struct diff_compare {
    struct diff_tolerance tolerance;
    struct diff_form_pair pairs[DIFF_FORM_PAIRS];
};

/* The kind of the worst difference that was found. */
enum diff_seen {
    DIFF_SEEN_NOTHING,
    DIFF_SEEN_HASH,  /* only the hashes differ */
    DIFF_SEEN_ORDER, /* the same numbers in another order, as far as statistics show */
    DIFF_SEEN_NAN,
    DIFF_SEEN_INFINITIES,
    DIFF_SEEN_MIN,
    DIFF_SEEN_MAX,
    DIFF_SEEN_MEAN,
    DIFF_SEEN_STD,
    DIFF_SEEN_SAMPLE,
    DIFF_SEEN_NUMBER, /* of a Python number */
    DIFF_SEEN_LENGTH, /* of a text, bytes, a container */
    DIFF_SEEN_TEXT,
    DIFF_SEEN_VALUES, /* elements of whole values */
    DIFF_SEEN_BYTES,  /* whole values: bytes differ, but numbers do not, or are none */
};

struct diff_comparison {
    enum diff_cause cause;
    enum diff_seen seen;
    bool differs_in_values; /* of arrays: also if strides differ */
    bool is_close; /* within tolerance, not bitwise equal: whole values may show more */
    double rtol, atol, scale; /* that were used */
    struct diff_lower lower;
    double floor; /* the noise floor that they are based on; 0: the dtype */
    bool has_distance;
    struct diff_distance distance;
    uint64_t sample_worst; /* SAMPLE: its index in the sample */
    double sample_worst_distance;
    uint64_t sample_count;
};

void diff_compare_init(struct diff_compare *compare, struct diff_tolerance tolerance);

/* Whether the two are equal, bitwise if that is known. Fast, for the majority of events. */
bool diff_compare_is_same(struct diff_compare *compare,
                          const struct log_event_view *a,
                          const struct log_event_view *b);

/* Returns the first difference of two forms, except requires_grad. */
enum diff_cause diff_compare_forms(const struct diff_tolerance *tolerance,
                                   const struct log_shape *a,
                                   const struct log_shape *b);

void diff_compare_events(struct diff_compare *compare,
                         const struct log_event_view *a,
                         const struct log_event_view *b,
                         struct diff_comparison *comparison);

#endif
