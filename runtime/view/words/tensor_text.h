/* The form and the statistics of a tensor, in a few words. */
#ifndef MONITORCH_VIEW_WORDS_TENSOR_TEXT_H
#define MONITORCH_VIEW_WORDS_TENSOR_TEXT_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>

/* Adds `float32 [4, 8]  min -2.314 max 2.441 mean 0.012 std 0.9812` for an event of kind TENSOR. */
void tensor_text_add(struct buffer *text,
                     const struct log_event_view *event,
                     bool has_color);

/* Adds `float32 [4, 8] grad strides [1, 4]`, without statistics and colours. */
void tensor_form_add(struct buffer *text, const struct log_shape *shape);

/* Adds a minimum or maximum: integers exactly, others with `digits` significant digits. */
void bound_text_add(struct buffer *text,
                    enum dtype_class class,
                    union statistics_bound bound,
                    int digits);

/* The full name of a type, without `__main__.` for types of the script itself. */
struct slice type_without_main(struct slice type);

/* Whether the array is contiguous in row-major order. True if the strides are unknown. */
bool shape_is_contiguous(const struct log_shape *shape);

#endif
