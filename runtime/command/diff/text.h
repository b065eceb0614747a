/* What the reports of `monitorch diff` are made of. */
#ifndef MONITORCH_COMMAND_DIFF_TEXT_H
#define MONITORCH_COMMAND_DIFF_TEXT_H

#include "runtime/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many lines of a list are shown without --all. */
#define DIFF_LIST_LIMIT 20
/* So much of what differs is shown in a list. */
#define DIFF_WORDS_LIMIT 110
/* Longer texts make no column wider. */
#define DIFF_COLUMN_MOST 40

/* `12,345` */
void diff_text_add_grouped(struct buffer *text, uint64_t number);
/* `1 event`, `12,345 events` */
void diff_text_add_count(struct buffer *text, uint64_t count, const char *noun);
/* `equal: 12 events to the bit`; otherwise `, 3 of them within tolerance` where some are. */
void diff_text_add_equal(struct buffer *text,
                         uint64_t count,
                         const char *noun,
                         uint64_t close_count,
                         bool is_exact);
/* `33 events in both: 26 equal (3 within tolerance)` */
void diff_text_add_both(struct buffer *text,
                        uint64_t count,
                        const char *noun,
                        uint64_t equal_count,
                        uint64_t close_count);
/* `; 12 ignored`, where it is any. */
void diff_text_add_part(struct buffer *text, uint64_t count, struct slice words);
/* `; 2 in A alone; 1 in B alone`, of those that are any. */
void diff_text_add_alone(struct buffer *text, const uint64_t counts[2]);
/* The text, and blanks up to the width and two more. */
void diff_text_add_column(struct buffer *text, struct slice column, size_t width);
/* What is not shown of a list: `    and 12 more lines (--all)`. */
void diff_text_add_more(struct buffer *text, uint64_t count, const char *noun);

#endif
