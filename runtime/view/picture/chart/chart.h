/* A chart: one line per series of values over steps. */
#ifndef MONITORCH_VIEW_PICTURE_CHART_CHART_H
#define MONITORCH_VIEW_PICTURE_CHART_CHART_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/view/picture/picture.h"
#include "runtime/view/picture/render.h"

#include <stdbool.h>
#include <stddef.h>

/* All pointers are borrowed. Steps ascend and are finite. A value that is NaN or infinite is a
 * gap. */
struct chart_line {
    struct slice name;
    const double *steps;
    const double *values;
    size_t count;
};

enum chart_scale {
    CHART_AUTO, /* LOG if all values are above 0 and far apart */
    CHART_LINEAR,
    CHART_LOG, /* values that are 0 or negative are gaps */
};

struct chart_options {
    enum picture_theme theme;
    enum chart_scale scale;
    struct slice title; /* borrowed; "": the name of the only line */
    double width;       /* of the page, in points; 0: the default */
    double height;
};

/* The least and the greatest side of a page, in points. */
#define CHART_SIDE_LEAST 120.0
#define CHART_SIDE_MOST  14400.0

/* Draws the chart. Returns false if memory runs out; `error` says so. */
bool chart_draw(struct picture *picture,
                const struct chart_line *lines,
                size_t line_count,
                const struct chart_options *options,
                struct error *error);

/* Appends the bytes of a PNG, SVG or PDF file. Leaves `bytes` unchanged on failure. */
bool chart_render(const struct chart_line *lines,
                  size_t line_count,
                  const struct chart_options *options,
                  enum render_format format,
                  double dpi,
                  struct buffer *bytes,
                  struct error *error);

#endif
