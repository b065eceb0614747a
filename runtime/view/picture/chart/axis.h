/* An axis: from values to places on the page, with ticks at numbers that people like. */
#ifndef MONITORCH_VIEW_PICTURE_CHART_AXIS_H
#define MONITORCH_VIEW_PICTURE_CHART_AXIS_H

#include "runtime/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

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

#endif
