/* Paints a picture with cairo. Several threads may paint at once. */
#ifndef MONITORCH_VIEW_PICTURE_PAINT_CAIRO_PAINTER_H
#define MONITORCH_VIEW_PICTURE_PAINT_CAIRO_PAINTER_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/view/picture/picture.h"

#include <stdbool.h>

#define CAIRO_PAINTER_DPI 96.0

/* Both append a file's bytes to `bytes`. They fail if memory runs out, or if cairo and pango are
 * not on the machine; `bytes` is unchanged then. */

/* At 72 dpi a pixel is a point. Fails for a picture of more pixels than cairo paints; `error`
 * says what to do about it. */
bool cairo_paint_png(const struct picture *picture,
                     double dpi,
                     struct buffer *bytes,
                     struct error *error);

/* The highest resolution that a PNG of the picture can have, in dots per inch. */
double cairo_png_dpi_most(const struct picture *picture);

/* Each page of the picture is at the top of a sheet of that size, scaled down if it does not
 * fit. If the size is 0, a sheet is as large as the page; if that is more than PDF readers open
 * (200 inches), all pages are scaled down. */
bool cairo_paint_pdf(const struct picture *picture,
                     double sheet_width,
                     double sheet_height,
                     struct buffer *bytes,
                     struct error *error);

#endif
