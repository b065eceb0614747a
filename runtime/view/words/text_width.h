/* How wide text will be, without a font: the widths of the DejaVu faces are built in, so that
 * equal text has equal width on every machine. */
#ifndef MONITORCH_VIEW_WORDS_TEXT_WIDTH_H
#define MONITORCH_VIEW_WORDS_TEXT_WIDTH_H

#include "runtime/base/slice.h"
#include "runtime/view/picture/picture.h"

#include <stdbool.h>
#include <stdint.h>

/* Of one character, in 1/1000 of the font's size: 0 for those that combine with the one before,
 * 1000 for the wide ones of East Asia, a guess for those that the faces do not have. */
uint32_t text_advance(enum picture_face face, uint32_t code);

/* Of a text, in the unit of `size`. A byte that is not UTF-8 counts as U+FFFD. */
double text_width(enum picture_face face, double size, struct slice text);

/* The size in bytes of the longest beginning that is at most `width` wide. */
size_t
text_fit_start(enum picture_face face, double size, struct slice text, double width);

/* Where the longest end that is at most `width` wide begins. */
size_t
text_fit_end(enum picture_face face, double size, struct slice text, double width);

/* Whether the first character that has a direction is written from right to left. */
bool text_is_right_to_left(struct slice text);

#endif
