/* The parts of a chart. */
#ifndef MONITORCH_VIEW_PICTURE_CHART_PARTS_H
#define MONITORCH_VIEW_PICTURE_CHART_PARTS_H

#include "runtime/base/buffer.h"
#include "runtime/view/picture/chart/chart.h"
#include "runtime/view/picture/sheet.h"

#include <stdbool.h>
#include <stddef.h>

/* An axis: maps values to places on the page, and has ticks at round numbers. */

#define AXIS_TICK_MAX 24

struct axis_tick {
    double value;
    double place;
    bool is_minor; /* a tick without a number */
};

struct axis {
    bool is_log;
    double low; /* of the shown range; logarithms if is_log is set */
    double high;
    double start; /* places on the page */
    double end;
    struct axis_tick ticks[AXIS_TICK_MAX];
    size_t tick_count;
    double step; /* between ticks; 0 if is_log is set */
};

/* Sets the range from two finite values, low <= high; both above 0 if is_log is set. With
 * has_margin the range is a little wider, and includes 0 if 0 is near. */
void axis_fit(struct axis *axis, double low, double high, bool is_log, bool has_margin);

/* Lays the axis between two places, with ticks at least about `distance` apart. With is_whole,
 * ticks are at integers only. */
void axis_lay(
    struct axis *axis, double start, double end, double distance, bool is_whole);

double axis_place(const struct axis *axis, double value);

/* Adds the number at a tick. */
void axis_add_number(const struct axis *axis, struct buffer *text, double value);

/* Facts of all lines together. */
struct chart_facts {
    double first_step, last_step; /* 0 if there are no values */
    double low, high; /* of the values that can be drawn; low > high: there are none */
    size_t gap_count; /* values that are NaN or infinite */
    size_t gap_line;  /* the line of the first gap */
    double gap_step;
    size_t lost_count; /* values that are 0 or negative, on a LOG scale */
    bool is_log;
};

/* The area in which the lines are drawn, with its axes. */
struct chart_plot {
    struct sheet *sheet;            /* borrowed */
    const struct chart_line *lines; /* borrowed */
    size_t line_count;
    struct chart_facts facts;
    struct axis x;
    struct axis y;
};

/* ---- chart.c ---- */

struct chart_legend {
    struct slice *labels; /* in the picture's arena; NULL: out of memory */
    size_t shown; /* number of lines with a label; the last row counts the others */
    size_t columns;
    double column_width;
    double width; /* 0: no legend */
};

#endif
