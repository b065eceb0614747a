/* Renders a chart as a file. */
#include "runtime/view/picture/chart/chart.h"

#include "runtime/view/picture/paint/paint.h"

bool chart_render(const struct chart_line *lines,
                  size_t line_count,
                  const struct chart_options *options,
                  enum render_format format,
                  double dpi,
                  struct buffer *bytes,
                  struct error *error)
{
    const struct paint_options paint_options = {.format = format, .dpi = dpi};
    struct picture picture;
    size_t start = bytes->size;
    bool is_done;

    if (format == RENDER_DOT) {
        error_set(error, ERROR_USAGE, "a chart is no graph: expected png, svg or pdf");
        return false;
    }
    picture_init(&picture);
    is_done = chart_draw(&picture, lines, line_count, options, error) &&
              picture_paint(&picture, &paint_options, bytes, error);
    picture_release(&picture);
    if (!is_done) {
        bytes->size = start;
    }
    return is_done;
}
