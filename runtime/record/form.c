/* The form of an array: shape, strides and the like, told once for all events that have it. */
#include "runtime/array/sample.h"
#include "runtime/base/hash/hash.h"
#include "runtime/record/state.h"
#include "runtime/trace/late.h"

#include <string.h>

static uint32_t mix(uint32_t hash, int64_t number)
{
    uint64_t product = (hash ^ (uint64_t)number) * 0x9e3779b97f4a7c15u;

    return (uint32_t)(product >> 32) ^ (uint32_t)product;
}

/* The form of an array with its shape and strides in one piece, as the log wants it. */
struct form_record {
    struct log_form form;
    int64_t dimensions[2 * ARRAY_DIMENSION_MAX];
};

static void fill_shape(struct form_record *record,
                       const struct array *array,
                       struct form_mark *mark)
{
    uint32_t hash = array->dimension_count;

    for (uint32_t i = 0; i < array->dimension_count; i++) {
        record->dimensions[i] = array->shape[i];
        hash = mix(hash, array->shape[i]);
    }
    mark->shape = hash;
}

/* Strides count elements in traces, or bytes where one is no multiple of an element. Returns
 * how many were written. */
static uint32_t fill_strides(struct form_record *record,
                             const struct array *array,
                             struct form_mark *mark)
{
    uint32_t count = array->dimension_count;
    int64_t *strides = record->dimensions + count;
    int64_t unit = (int64_t)dtype_size(array->dtype);
    uint32_t hash = 0;

    if (array->strides == NULL) {
        record->form.flags |= LOG_FORM_NO_STRIDES;
        mark->strides = 0;
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (unit == 0 || array->strides[i] % unit != 0) {
            record->form.flags |= LOG_FORM_BYTE_STRIDES;
            unit = 1;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        strides[i] = unit == 4 ? array->strides[i] >> 2 : array->strides[i] / unit;
        hash = mix(hash, strides[i]);
    }
    mark->strides = hash;
    return count;
}

uint32_t recorder_text_number(struct recorder *recorder, struct slice text)
{
    return text.size == 0 ? 0 : log_writer_text(recorder->log, text);
}

uint32_t recorder_define_form(struct recorder *recorder,
                              const struct recorded_array *given,
                              struct form_mark *mark)
{
    struct form_record record;
    struct log_form *form = &record.form;
    const struct array *array = given->array;

    memset(form, 0, sizeof(*form));
    form->record.kind = LOG_FORM;
    form->record.tag = given->device.size > 0 ? LOG_DEVICE_OTHER : LOG_DEVICE_CPU;
    form->record.mark = given->layout.size > 0 ? LOG_LAYOUT_OTHER : LOG_LAYOUT_STRIDED;
    form->dtype = (uint8_t)array->dtype;
    form->dimension_count = (uint8_t)array->dimension_count;
    form->flags = (uint8_t)given->flags;
    form->type = recorder_text_number(recorder, given->type);
    form->dtype_text = recorder_text_number(recorder, given->dtype_text);
    form->device = recorder_text_number(recorder, given->device);
    form->layout = recorder_text_number(recorder, given->layout);
    form->note = recorder_text_number(recorder, given->note);
    fill_shape(&record, array, mark);
    uint32_t stride_count = fill_strides(&record, array, mark);
    mark->device = form->device;
    mark->layout = form->layout;
    mark->dtype = form->dtype;
    mark->flags = form->flags;
    return log_writer_form(recorder->log, form,
                           sizeof(*form) + (array->dimension_count + stride_count) *
                                               sizeof(int64_t));
}
