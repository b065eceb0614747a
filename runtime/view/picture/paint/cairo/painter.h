/* Paints a picture with cairo. Several threads may paint at once. */
#ifndef MONITORCH_VIEW_PICTURE_PAINT_CAIRO_PAINTER_H
#define MONITORCH_VIEW_PICTURE_PAINT_CAIRO_PAINTER_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/view/picture/picture.h"

#include <stdbool.h>

#define CAIRO_PAINTER_DPI 96.0

/* Both append a file's bytes to `bytes`, which is as it was where they fail: where memory runs
 * out, or cairo and pango are not on the machine. */

/* 72 dpi: a pixel for each point. Fails for a picture of more pixels than cairo paints, with
 * what to do about it. */
bool cairo_paint_png(const struct picture *picture,
                     double dpi,
                     struct buffer *bytes,
                     struct error *error);

/* So many dots for each inch and no more can a PNG of the picture have. */
double cairo_png_dpi_most(const struct picture *picture);

/* The picture's pages, each at the top of a sheet of that size, made smaller where it does not
 * fit. Where that size is 0, a sheet is as large as the page; if that is more than readers
 * of PDF open (200 inches), all of it is made smaller. */
bool cairo_paint_pdf(const struct picture *picture,
                     double sheet_width,
                     double sheet_height,
                     struct buffer *bytes,
                     struct error *error);

#endif
