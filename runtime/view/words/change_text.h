/* What happened to a name since its last value, in a few words. */
#ifndef MONITORCH_VIEW_WORDS_CHANGE_TEXT_H
#define MONITORCH_VIEW_WORDS_CHANGE_TEXT_H

#include "runtime/base/buffer.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

/* `new`, `rebound: shape`, `in place`, `aliased: written at model.py:31 by y`, `same`; nothing
 * for an event without a value. */
void change_text_add(struct buffer *text,
                     const struct log_event_view *event,
                     const struct log_reader *reader,
                     bool has_color);

/* The site of that number in the trace, and its module; NULL where there is none. */
const struct site *find_site(const struct log_reader *reader,
                             uint32_t number,
                             const struct log_module **module);

/* What differs, in a word: `dtype`. Views write it nowhere else. */
const char *difference_text(enum log_difference difference);

/* The parts of enum log_difference, separated by `separator`, each behind `quote`s. */
void differences_add(struct buffer *text,
                     unsigned differences,
                     struct slice separator,
                     struct slice quote);

#endif
