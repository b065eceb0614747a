/* A saved tensor as an event of a trace. */
#include "runtime/view/diff/saved/saved_event.h"

void saved_event_make(struct saved_event *saved, const struct array *array)
{
    saved->shape = (struct log_shape){
        .dtype = array->dtype,
        .dtype_text = slice_of(dtype_text(array->dtype)),
        .dimension_count = array->dimension_count,
        .shape = array->shape,
        .type = SLICE(""),
        .device = SLICE("cpu"),
        .layout = SLICE("strided"),
        .note = SLICE(""),
    };
    saved->event = (struct log_event_view){
        .kind = VALUE_TENSOR,
        .shape = &saved->shape,
    };
}

void saved_event_measure(struct saved_event *saved, const struct array *array)
{
    uint64_t unwanted_hash;

    statistics_measure(array, STATISTICS_WANT_VALUES, 1, &saved->event.statistics,
                       &unwanted_hash);
    saved->event.has_statistics = true;
}
