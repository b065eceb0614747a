/* Two saved tensors that should be the same, by all their values. */
#ifndef MONITORCH_VIEW_DIFF_SAVED_VALUES_H
#define MONITORCH_VIEW_DIFF_SAVED_VALUES_H

#include "runtime/array/array.h"
#include "runtime/base/buffer.h"
#include "runtime/view/diff/values/compare.h"
#include "runtime/view/diff/values/values.h"

#include <stdbool.h>

struct diff_saved_values {
    struct diff_tolerance tolerance;
    struct diff_values values;
    struct buffer pieces[2]; /* owned: of arrays that are not contiguous */
};

/* To be released. */
void diff_saved_values_init(struct diff_saved_values *saved,
                            struct diff_tolerance tolerance);
void diff_saved_values_release(struct diff_saved_values *saved);

/* Of A and B. false: out of memory. */
bool diff_saved_values_compare(struct diff_saved_values *saved,
                               const struct array *const arrays[2],
                               struct diff_comparison *comparison);

#endif
