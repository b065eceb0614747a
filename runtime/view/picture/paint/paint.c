/* Conversion of a drawn picture to a file's bytes, by the painter of each format. */
#include "runtime/view/picture/paint/paint.h"

#include "runtime/view/picture/paint/cairo/painter.h"
#include "runtime/view/picture/paint/svg_text.h"

#include <assert.h>

bool picture_paint(const struct picture *picture,
                   const struct paint_options *options,
                   struct buffer *bytes,
                   struct error *error)
{
    assert(options->format != RENDER_DOT);
    switch (options->format) {
    case RENDER_PNG:
        return cairo_paint_png(
            picture, options->dpi > 0 ? options->dpi : CAIRO_PAINTER_DPI, bytes, error);
    case RENDER_PDF:
        return cairo_paint_pdf(picture, options->page_width, options->page_height,
                               bytes, error);
    default:
        return (svg_text_add(bytes, picture) && !bytes->has_failed) ||
               error_set_memory(error);
    }
}
