/* Two values that should be the same: what differs first of type, dtype, shape, device, strides,
 * values, and whether by more than may be. Nothing here allocates or fails. */
#ifndef MONITORCH_VIEW_DIFF_VALUES_COMPARE_H
#define MONITORCH_VIEW_DIFF_VALUES_COMPARE_H

#include "runtime/trace/reader.h"
#include "runtime/view/diff/diff.h"
#include "runtime/view/diff/values/tolerance.h"

#include <stdbool.h>
#include <stdint.h>

/* What two forms have in common, looked up again for the next events that have them. */
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

/* What is told of the worst place that was seen. */
enum diff_seen {
    DIFF_SEEN_NOTHING,
    DIFF_SEEN_HASH,  /* the hashes alone are different */
    DIFF_SEEN_ORDER, /* the same numbers, as far as statistics tell, in another order */
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
    DIFF_SEEN_VALUES, /* of whole values */
    DIFF_SEEN_BYTES,  /* of whole values that are the same numbers, or no numbers */
};

struct diff_comparison {
    enum diff_cause cause;
    enum diff_seen seen;
    bool differs_in_values; /* of arrays: beside strides, or by themselves */
    bool
        is_close; /* not the same to the bit, but within tolerance: whole values may tell
                      more */
    double rtol, atol, scale; /* that were used */
    struct diff_lower lower;
    double floor; /* the noise floor that gave them; 0: the dtype did */
    bool has_distance;
    struct diff_distance distance;
    uint64_t sample_worst; /* SAMPLE: its place in the sample */
    double sample_worst_distance;
    uint64_t sample_count;
};

void diff_compare_init(struct diff_compare *compare, struct diff_tolerance tolerance);

/* Whether the two are the same, to the bit where that can be told: the way that most events
 * go. */
bool diff_compare_is_same(struct diff_compare *compare,
                          const struct log_event_view *a,
                          const struct log_event_view *b);

/* The first difference of two forms; of requires_grad nothing is said. */
enum diff_cause diff_compare_forms(const struct diff_tolerance *tolerance,
                                   const struct log_shape *a,
                                   const struct log_shape *b);

void diff_compare_events(struct diff_compare *compare,
                         const struct log_event_view *a,
                         const struct log_event_view *b,
                         struct diff_comparison *comparison);

#endif
