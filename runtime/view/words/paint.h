/* Text for a terminal: colours, and texts from a trace, which are not trusted. */
#ifndef MONITORCH_VIEW_WORDS_PAINT_H
#define MONITORCH_VIEW_WORDS_PAINT_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

enum paint {
    PAINT_CALL,
    PAINT_MODULE,
    PAINT_PLACE,
    PAINT_FORM,
    PAINT_CHANGE,
    PAINT_ALARM,
    PAINT_FAINT,
    PAINT_COUNT
};

/* Both add nothing if has_color is false. */
void paint_start(struct buffer *text, bool has_color, enum paint paint);
void paint_end(struct buffer *text, bool has_color);

/* Adds the text without its colours, for output that is no terminal. */
void paint_strip(struct buffer *text, struct slice painted);

/* Adds the text without characters that control a terminal, cut to about `limit` bytes. A long
 * text keeps its start and its end. */
void text_add_shortened(struct buffer *text, struct slice added, size_t limit);

/* Adds a path in the same way. A long one keeps only its end, which identifies it better. */
void text_add_path(struct buffer *text, struct slice path, size_t limit);

/* Adds the inside of a JSON string. */
void text_add_json(struct buffer *text, struct slice added);

/* Adds the number right-aligned to `width` columns. */
void text_add_number_right(struct buffer *text, uint64_t number, int width);
void text_add_blanks(struct buffer *text, size_t count);

/* Removes the blanks at the end. text_end_line also ends the line. */
void text_trim(struct buffer *text);
void text_end_line(struct buffer *text);

#endif
