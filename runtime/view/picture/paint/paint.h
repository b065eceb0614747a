/* Conversion of a drawn picture to a file's bytes: PNG, SVG or PDF. */
#ifndef MONITORCH_VIEW_PICTURE_PAINT_PAINT_H
#define MONITORCH_VIEW_PICTURE_PAINT_PAINT_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/view/picture/picture.h"
#include "runtime/view/picture/render.h"

#include <stdbool.h>

struct paint_options {
    enum render_format format; /* any but RENDER_DOT */
    double dpi;                /* PNG; 0: CAIRO_PAINTER_DPI */
    double page_width;         /* PDF, in points; 0: the picture's own */
    double page_height;
};

/* Appends the file's bytes. Fails if memory runs out, if cairo is not on the machine, or if a
 * PNG would have more pixels than cairo paints. */
bool picture_paint(const struct picture *picture,
                   const struct paint_options *options,
                   struct buffer *bytes,
                   struct error *error);

#endif
