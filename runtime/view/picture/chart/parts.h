/* The parts of a chart. */
#ifndef MONITORCH_VIEW_PICTURE_CHART_PARTS_H
#define MONITORCH_VIEW_PICTURE_CHART_PARTS_H

#include "runtime/base/buffer.h"
#include "runtime/view/picture/chart/chart.h"
#include "runtime/view/picture/sheet.h"

#include <stdbool.h>
#include <stddef.h>

/* An axis: from values to places on the page, with ticks at numbers that people like. */

#define AXIS_TICK_MAX 24

struct axis_tick {
    double value;
    double place;
    bool is_minor; /* a line and no number */
};

struct axis {
    bool is_log;
    double low; /* of what is shown; of logarithms where is_log is set */
    double high;
    double start; /* places on the page */
    double end;
    struct axis_tick ticks[AXIS_TICK_MAX];
    size_t tick_count;
    double step; /* between ticks, 0 where is_log is set */
};

/* Of what lies between two finite values, low <= high; both above 0 where is_log is set. Where
 * has_margin is set, a little more is shown, and 0 where it is near. */
void axis_fit(struct axis *axis, double low, double high, bool is_log, bool has_margin);

/* Lays it between two places, with ticks at least about `distance` apart; of whole numbers alone
 * where is_whole is set. */
void axis_lay(
    struct axis *axis, double start, double end, double distance, bool is_whole);

double axis_place(const struct axis *axis, double value);

/* The number at a tick. */
void axis_add_number(const struct axis *axis, struct buffer *text, double value);

/* What the lines hold, all together. */
struct chart_facts {
    double first_step, last_step; /* 0 where there is no value at all */
    double low, high;             /* of what can be drawn; low > high: nothing can */
    size_t gap_count;             /* values that are NaN or infinite */
    size_t gap_line;              /* the line of the first of them */
    double gap_step;
    size_t lost_count; /* values that are not above 0, where the scale is LOG */
    bool is_log;
};

/* Where the lines are drawn, and how. */
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
    struct slice *labels; /* in the picture's arena; NULL: memory ran out */
    size_t shown;         /* of the lines; the others are counted at its end */
    size_t columns;
    double column_width;
    double width; /* 0: there is none */
};

#endif
