/* A picture as SVG. Text stays text, and equal pictures give equal bytes. */
#ifndef MONITORCH_VIEW_PICTURE_PAINT_SVG_TEXT_H
#define MONITORCH_VIEW_PICTURE_PAINT_SVG_TEXT_H

#include "runtime/base/buffer.h"
#include "runtime/view/picture/picture.h"

#include <stdbool.h>

/* Appends a whole document. Returns false if memory runs out; `text` then holds a part of it. */
bool svg_text_add(struct buffer *text, const struct picture *picture);

#endif
