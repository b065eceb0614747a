/* Text for markup: XML, SVG, HTML. */
#ifndef MONITORCH_VIEW_WORDS_MARKUP_TEXT_H
#define MONITORCH_VIEW_WORDS_MARKUP_TEXT_H

#include "runtime/base/buffer.h"

/* Appends the text with markup characters escaped, for elements and for attributes in double
 * quotes. Bytes that are not UTF-8, and characters that XML 1.0 does not allow, become U+FFFD. */
void markup_text_add(struct buffer *text, struct slice added);

#endif
