/* The change of a name since its last value, in a few words. */
#ifndef MONITORCH_VIEW_WORDS_CHANGE_TEXT_H
#define MONITORCH_VIEW_WORDS_CHANGE_TEXT_H

#include "runtime/base/buffer.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

/* Adds `new`, `rebound: shape`, `in place`, `aliased: written at model.py:31 by y` or `same`.
 * Adds nothing for an event without a value. */
void change_text_add(struct buffer *text,
                     const struct log_event_view *event,
                     const struct log_reader *reader,
                     bool has_color);

/* The site with that number in the trace, and its module. NULL: there is none. */
const struct site *find_site(const struct log_reader *reader,
                             uint32_t number,
                             const struct log_module **module);

/* The name of a difference, such as `dtype`. All views use this function for it. */
const char *difference_text(enum log_difference difference);

/* Adds the names of the differences, each between `quote`s, with `separator` between them. */
void differences_add(struct buffer *text,
                     unsigned differences,
                     struct slice separator,
                     struct slice quote);

#endif
