/* The parts of a chart. */
#ifndef MONITORCH_VIEW_PICTURE_CHART_PARTS_H
#define MONITORCH_VIEW_PICTURE_CHART_PARTS_H

#include "runtime/view/picture/chart/axis.h"
#include "runtime/view/picture/chart/chart.h"
#include "runtime/view/picture/sheet.h"

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
