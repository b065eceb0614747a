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

/* Nothing is added where there is no colour. */
void paint_start(struct buffer *text, bool has_color, enum paint paint);
void paint_end(struct buffer *text, bool has_color);

/* The text without its colours: for what is no terminal. */
void paint_strip(struct buffer *text, struct slice painted);

/* The text without what a terminal could obey, cut to about `limit` bytes: of a long one the
 * beginning and the end are kept. */
void text_add_shortened(struct buffer *text, struct slice added, size_t limit);

/* The same for the end of a path, which tells more than its beginning. */
void text_add_path(struct buffer *text, struct slice path, size_t limit);

/* The inside of a JSON string. */
void text_add_json(struct buffer *text, struct slice added);

/* Blanks in front, up to `width` in all. */
void text_add_number_right(struct buffer *text, uint64_t number, int width);
void text_add_blanks(struct buffer *text, size_t count);

/* Takes the blanks at the end away; and ends the line there. */
void text_trim(struct buffer *text);
void text_end_line(struct buffer *text);

#endif
