/* From a chart to a file. */
#include "runtime/view/picture/chart/chart.h"

#include "runtime/view/picture/paint/cairo/painter.h"
#include "runtime/view/picture/paint/svg_text.h"

static bool paint(const struct picture *picture,
                  enum render_format format,
                  double dpi,
                  struct buffer *bytes,
                  struct error *error)
{
    switch (format) {
    case RENDER_PNG:
        return cairo_paint_png(picture, dpi, bytes, error);
    case RENDER_PDF:
        return cairo_paint_pdf(picture, 0, 0, bytes, error);
    case RENDER_SVG:
        svg_text_add(bytes, picture);
        break;
    default:
        error_set(error, ERROR_USAGE, "a chart is no graph: expected png, svg or pdf");
        return false;
    }
    if (bytes->has_failed) {
        error_set_memory(error);
    }
    return !bytes->has_failed;
}

bool chart_render(const struct chart_line *lines,
                  size_t line_count,
                  const struct chart_options *options,
                  enum render_format format,
                  double dpi,
                  struct buffer *bytes,
                  struct error *error)
{
    struct picture picture;
    size_t start = bytes->size;
    bool is_done;

    picture_init(&picture);
    is_done = chart_draw(&picture, lines, line_count, options, error) &&
              paint(&picture, format, dpi, bytes, error);
    picture_release(&picture);
    if (!is_done) {
        bytes->size = start;
    }
    return is_done;
}
