/* From a call graph to a file. */
#include "runtime/view/calls/graph.h"

#include "runtime/view/picture/paint/cairo/painter.h"
#include "runtime/view/picture/paint/svg_text.h"

#define POINTS_PER_INCH 72.0
/* With fewer nobody reads anything. */
#define DPI_LEAST 24.0

/* How much larger a picture is painted where its page's size was given. */
static double scale_of(const struct picture *picture, const struct call_page *page)
{
    if (page->width > 0) {
        return page->width * POINTS_PER_INCH / picture->width;
    }
    if (page->height > 0) {
        return page->height * POINTS_PER_INCH / picture->height;
    }
    return 1.0;
}

/* A picture too large for the dots that were asked for has fewer, as long as it can be read. */
static bool paint_png(const struct picture *picture,
                      double dpi,
                      struct buffer *bytes,
                      struct error *error)
{
    double most = cairo_png_dpi_most(picture);

    return cairo_paint_png(picture, dpi > most && most >= DPI_LEAST ? most : dpi, bytes,
                           error);
}

static bool paint(const struct picture *picture,
                  const struct call_render_options *options,
                  struct buffer *bytes,
                  struct error *error)
{
    double scale = scale_of(picture, &options->picture.page);

    switch (options->format) {
    case RENDER_PNG:
        return paint_png(picture, options->dpi * scale, bytes, error);
    case RENDER_PDF:
        return cairo_paint_pdf(picture, scale == 1.0 ? 0 : picture->width * scale,
                               scale == 1.0 ? 0 : picture->height * scale, bytes,
                               error);
    default:
        return svg_text_add(bytes, picture) || error_set_memory(error);
    }
}

bool call_graph_render(const struct call_graph *graph,
                       const struct call_render_options *options,
                       struct buffer *bytes,
                       struct error *error)
{
    struct picture picture;
    bool is_done;

    if (options->format == RENDER_DOT) {
        return call_graph_add_dot(graph, options->attributes, options->attribute_count,
                                  bytes) ||
               error_set_memory(error);
    }
    picture_init(&picture);
    is_done = call_graph_draw(graph, &options->picture, &picture, error) &&
              paint(&picture, options, bytes, error) &&
              (!bytes->has_failed || error_set_memory(error));
    picture_release(&picture);
    return is_done;
}
