/* A saved tensor as an event of a trace: so the words about values, and what compares their forms,
 * are the same for both. */
#ifndef MONITORCH_VIEW_DIFF_SAVED_SAVED_EVENT_H
#define MONITORCH_VIEW_DIFF_SAVED_SAVED_EVENT_H

#include "runtime/array/array.h"
#include "runtime/trace/reader.h"

/* `event` points to `shape`: not to be copied. */
struct saved_event {
    struct log_shape shape; /* borrows the array's */
    struct log_event_view event;
};

/* Without statistics. Strides are left out: they tell how it was written, not what it is. */
void saved_event_make(struct saved_event *saved, const struct array *array);

/* Goes through the array's values. */
void saved_event_measure(struct saved_event *saved, const struct array *array);

#endif
