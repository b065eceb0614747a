/* The value of an event, in a few words. */
#ifndef MONITORCH_VIEW_WORDS_VALUE_TEXT_H
#define MONITORCH_VIEW_WORDS_VALUE_TEXT_H

#include "runtime/base/buffer.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

/* Adds `float32 [4, 8]  min -2.314 max 2.441 mean 0.012 std 0.9812`, `'text'`, `tuple of 2` … */
void value_text_add(struct buffer *text,
                    const struct log_event_view *event,
                    bool has_color);

/* Whether the value is or contains NaN or an infinity. */
bool value_has_nonfinite(const struct log_event_view *event);

#endif
