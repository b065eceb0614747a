/* A PNG from the pixels that cairo has painted. cairo's own writer takes four times as long for
 * a larger file: it chooses filters that suit photographs. */
#ifndef MONITORCH_VIEW_PICTURE_PAINT_CAIRO_PNG_H
#define MONITORCH_VIEW_PICTURE_PAINT_CAIRO_PNG_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/view/picture/paint/cairo/library.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pixel_rows {
    const unsigned char *bytes; /* borrowed; CAIRO_FORMAT_RGB24 */
    size_t stride;              /* of a row, in bytes */
    uint32_t width;
    uint32_t height;
    double dpi;
};

/* Appends the file. Fails where memory runs out; what was appended is left then. */
bool cairo_png_add(const struct cairo_library *library,
                   const struct pixel_rows *rows,
                   struct buffer *bytes,
                   struct error *error);

#endif
