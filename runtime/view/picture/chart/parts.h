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

/* ---- facts.c ---- */

struct chart_facts
chart_find_facts(const struct chart_line *lines, size_t count, enum chart_scale scale);
/* Whether the value has a place. */
bool chart_is_drawn(const struct chart_facts *facts, double value);

/* ---- lines.c ---- */

/* The colour of a line: few have colours of their own, many go from one to the other. */
uint32_t chart_color(const struct sheet *sheet, size_t index, size_t count);
double chart_thickness(size_t count);
void chart_draw_lines(const struct chart_plot *plot);

/* ---- legend.c ---- */

struct chart_legend {
    struct slice *labels; /* in the picture's arena; NULL: memory ran out */
    size_t shown;         /* of the lines; the others are counted at its end */
    size_t columns;
    double column_width;
    double width; /* 0: there is none */
};

/* What the names have in common is left out. `height` is what there is for it, `width` at most
 * what it may take. */
void chart_legend_prepare(struct chart_legend *legend,
                          struct sheet *sheet,
                          const struct chart_line *lines,
                          size_t count,
                          double width,
                          double height);
void chart_legend_draw(const struct chart_legend *legend,
                       struct sheet *sheet,
                       size_t count,
                       double x,
                       double y,
                       double height);

#endif
