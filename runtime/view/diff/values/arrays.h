/* Two arrays, by what was recorded of them: hashes, statistics and samples. */
#ifndef MONITORCH_VIEW_DIFF_VALUES_ARRAYS_H
#define MONITORCH_VIEW_DIFF_VALUES_ARRAYS_H

#include "runtime/view/diff/values/compare.h"

#include <stdbool.h>

/* Whether the same places of both were sampled. */
bool diff_have_samples(const struct log_event_view *a, const struct log_event_view *b);

/* Sets the cause to VALUES where they differ by more than may be. Their forms are comparable. */
void diff_compare_arrays(const struct diff_tolerance *tolerance,
                         const struct log_event_view *a,
                         const struct log_event_view *b,
                         struct diff_comparison *comparison);

#endif
