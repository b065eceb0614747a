/* What a tensor is and holds, in a few words. */
#ifndef MONITORCH_VIEW_WORDS_TENSOR_TEXT_H
#define MONITORCH_VIEW_WORDS_TENSOR_TEXT_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>

/* `float32 [4, 8]  min -2.314 max 2.441 mean 0.012 std 0.9812` of an event of kind TENSOR. */
void tensor_text_add(struct buffer *text,
                     const struct log_event_view *event,
                     bool has_color);

/* `float32 [4, 8] grad strides [1, 4]`: without figures and colours. */
void tensor_form_add(struct buffer *text, const struct log_shape *shape);

/* A minimum or maximum: of integers exactly, of others with so many digits. */
void bound_text_add(struct buffer *text,
                    enum dtype_class class,
                    union statistics_bound bound,
                    int digits);

/* A type's full name, but for that of the script itself. */
struct slice type_without_main(struct slice type);

/* Whether the strides are those of an array in row-major order; also where they are not known. */
bool shape_is_contiguous(const struct log_shape *shape);

#endif
