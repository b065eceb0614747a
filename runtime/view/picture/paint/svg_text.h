/* A picture as SVG: text stays text, equal pictures give equal bytes. */
#ifndef MONITORCH_VIEW_PICTURE_PAINT_SVG_TEXT_H
#define MONITORCH_VIEW_PICTURE_PAINT_SVG_TEXT_H

#include "runtime/base/buffer.h"
#include "runtime/view/picture/picture.h"

#include <stdbool.h>

/* Appends a whole document. false where memory ran out; `text` holds a part of it then. */
bool svg_text_add(struct buffer *text, const struct picture *picture);

#endif
