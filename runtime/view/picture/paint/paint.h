/* A drawn picture as a file's bytes: PNG, SVG or PDF. */
#ifndef MONITORCH_VIEW_PICTURE_PAINT_PAINT_H
#define MONITORCH_VIEW_PICTURE_PAINT_PAINT_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/view/picture/picture.h"
#include "runtime/view/picture/render.h"

#include <stdbool.h>

struct paint_options {
    enum render_format format; /* any but RENDER_DOT */
    double dpi;                /* PNG: CAIRO_PAINTER_DPI where 0 */
    double page_width;         /* PDF, in points; 0: the picture's own */
    double page_height;
};

/* Appends the file's bytes. Fails where memory runs out, where cairo is not on the machine, and for a
 * PNG of more pixels than it paints. */
bool picture_paint(const struct picture *picture,
                   const struct paint_options *options,
                   struct buffer *bytes,
                   struct error *error);

#endif
