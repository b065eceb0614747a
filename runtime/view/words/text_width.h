/* The width of text, computed without a font. The widths of the DejaVu faces are built in, so
 * that equal text has equal width on every machine. */
#ifndef MONITORCH_VIEW_WORDS_TEXT_WIDTH_H
#define MONITORCH_VIEW_WORDS_TEXT_WIDTH_H

#include "runtime/base/slice.h"
#include "runtime/view/picture/picture.h"

#include <stdbool.h>
#include <stdint.h>

/* The advance of a character in 1/1000 of the font size: 0 for combining characters, 1000 for
 * East Asian wide ones, an estimate for those that the faces do not have. */
uint32_t text_advance(enum picture_face face, uint32_t code);

/* The width of a text, in the unit of `size`. A byte that is not UTF-8 counts as U+FFFD. */
double text_width(enum picture_face face, double size, struct slice text);

/* The size in bytes of the longest start of the text that is at most `width` wide. */
size_t
text_fit_start(enum picture_face face, double size, struct slice text, double width);

/* The offset of the longest end of the text that is at most `width` wide. */
size_t
text_fit_end(enum picture_face face, double size, struct slice text, double width);

/* Whether the first character with a direction is a right-to-left one. */
bool text_is_right_to_left(struct slice text);

#endif
