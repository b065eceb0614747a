/* A PNG from the pixels that cairo has painted. cairo's own writer takes four times as long and
 * makes a larger file, because its choice of filters suits photographs. */
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

/* Appends the file. Returns false if memory runs out; `bytes` then holds a part of the file. */
bool cairo_png_add(const struct cairo_library *library,
                   const struct pixel_rows *rows,
                   struct buffer *bytes,
                   struct error *error);

#endif
