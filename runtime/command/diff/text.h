/* Texts that the reports of `monitorch diff` share. */
#ifndef MONITORCH_COMMAND_DIFF_TEXT_H
#define MONITORCH_COMMAND_DIFF_TEXT_H

#include "runtime/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Without --all, at most this many lines of a list are shown. */
#define DIFF_LIST_LIMIT 20
/* Most characters of a difference in a list. */
#define DIFF_WORDS_LIMIT 110
/* Longer texts make no column wider. */
#define DIFF_COLUMN_MOST 40

/* Adds `12,345`. */
void diff_text_add_grouped(struct buffer *text, uint64_t number);
/* Adds `1 event`, `12,345 events`. */
void diff_text_add_count(struct buffer *text, uint64_t count, const char *noun);
/* Adds `equal: 12 events to the bit` if `is_exact`, else `equal: 12 events, 3 of them within
 * tolerance`, or only `equal: 12 events` if none is. */
void diff_text_add_equal(struct buffer *text,
                         uint64_t count,
                         const char *noun,
                         uint64_t close_count,
                         bool is_exact);
/* Adds `33 events in both: 26 equal (3 within tolerance)`. */
void diff_text_add_both(struct buffer *text,
                        uint64_t count,
                        const char *noun,
                        uint64_t equal_count,
                        uint64_t close_count);
/* Adds `; 12 ignored`, or nothing if the count is 0. */
void diff_text_add_part(struct buffer *text, uint64_t count, struct slice words);
/* Adds `; 2 in A alone; 1 in B alone`, without the counts that are 0. */
void diff_text_add_alone(struct buffer *text, const uint64_t counts[2]);
/* Adds the text, and blanks up to the width and two more. */
void diff_text_add_column(struct buffer *text, struct slice column, size_t width);
/* Adds the number of lines of a list that are not shown: `    and 12 more lines (--all)`. */
void diff_text_add_more(struct buffer *text, uint64_t count, const char *noun);

#endif
