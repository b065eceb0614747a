/* An event's value and what happened to it, in a few words for people. */
#ifndef MONITORCH_VIEW_VALUE_TEXT_H
#define MONITORCH_VIEW_VALUE_TEXT_H

#include "runtime/base/buffer.h"
#include "runtime/trace/log_reader.h"

#include <stdbool.h>
#include <stdint.h>

/* `float32 [4, 8]  min -2.314 max 2.441 mean 0.012 std 0.9812`, `'text'`, `tuple of 2` … */
void value_text_add(struct buffer *text,
                    const struct log_event_view *event,
                    bool has_color);

/* `new`, `rebound: shape`, `in place`, `aliased: written at model.py:31 by y`, `same`; nothing
 * for an event without a value. */
void change_text_add(struct buffer *text,
                     const struct log_event_view *event,
                     const struct log_reader *reader,
                     bool has_color);

/* A type's full name, but for that of the script itself. */
struct slice type_without_main(struct slice type);

/* Whether the value is, or holds, NaN or an infinity. */
bool value_has_nonfinite(const struct log_event_view *event);

/* The site of that number in the trace, and its module; NULL where there is none. */
const struct site *find_site(const struct log_reader *reader,
                             uint32_t number,
                             const struct log_module **module);

/* The parts of enum log_difference, separated by `separator`, each behind `quote`s. */
void differences_add(struct buffer *text,
                     unsigned differences,
                     struct slice separator,
                     struct slice quote);

/* Whether the strides are those of an array in row-major order; also where they are not known. */
bool shape_is_contiguous(const struct log_shape *shape);

#endif
