/* A chart: values over steps, a line each. */
#ifndef MONITORCH_VIEW_PICTURE_CHART_CHART_H
#define MONITORCH_VIEW_PICTURE_CHART_CHART_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/view/picture/picture.h"
#include "runtime/view/picture/render.h"

#include <stdbool.h>
#include <stddef.h>

/* All is borrowed. Steps ascend, and are finite; a value that is NaN or infinite is a gap. */
struct chart_line {
    struct slice name;
    const double *steps;
    const double *values;
    size_t count;
};

enum chart_scale {
    CHART_AUTO, /* LOG where all values are above 0 and far apart */
    CHART_LINEAR,
    CHART_LOG, /* values that are not above 0 are gaps */
};

struct chart_options {
    enum picture_theme theme;
    enum chart_scale scale;
    struct slice title; /* borrowed; "" where the only line's name is told */
    double width;       /* of the page, in points; 0: as is usual */
    double height;
};

/* The least that a page has room for, and the most. */
#define CHART_SIDE_LEAST 120.0
#define CHART_SIDE_MOST  14400.0

/* Draws it. Fails where memory runs out. */
bool chart_draw(struct picture *picture,
                const struct chart_line *lines,
                size_t line_count,
                const struct chart_options *options,
                struct error *error);

/* Appends a file's bytes: PNG, SVG or PDF. They are as they were where it fails. */
bool chart_render(const struct chart_line *lines,
                  size_t line_count,
                  const struct chart_options *options,
                  enum render_format format,
                  double dpi,
                  struct buffer *bytes,
                  struct error *error);

#endif
