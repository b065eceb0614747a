/* The lines of a chart. Of many values on little room the first, the last, the smallest and the
 * largest are drawn: what can be seen stays the same. */
#include "runtime/view/picture/chart/parts.h"

#include <math.h>

/* Values nearer together than this share a column, in points. */
#define COLUMN_WIDTH 0.6
/* So many values alone have dots. */
#define DOTTED_MAX 40
#define MARK_WIDTH 1.2

/* ---- colours ---- */

#define FEW_MAX 7

/* From the first line to the last: dark to light where the page is light, and readable on it. */
static const uint32_t light_ramp[] = {0x3B1F7AFF, 0x3A4FA8FF, 0x1F7FA6FF,
                                      0x17946FFF, 0x6FA02AFF, 0xD99A0BFF};
static const uint32_t dark_ramp[] = {0xB79BFFFF, 0x7FA2FFFF, 0x4CC2E6FF,
                                     0x46D39AFF, 0xA9D94FFF, 0xFFD24DFF};
#define RAMP_COUNT (sizeof light_ramp / sizeof *light_ramp)

uint32_t chart_color(const struct sheet *sheet, size_t index, size_t count)
{
    const struct picture_palette *palette = sheet->palette;
    const uint32_t few[FEW_MAX] = {
        palette->argument, palette->in_place, palette->result, palette->alias,
        palette->guess,    palette->only,     palette->source};
    const uint32_t *ramp =
        palette == picture_palette(PICTURE_DARK) ? dark_ramp : light_ramp;
    double at;
    size_t start;

    if (count <= FEW_MAX) {
        return few[index];
    }
    at = (double)index / (double)(count - 1) * (RAMP_COUNT - 1);
    start = (size_t)fmin(floor(at), RAMP_COUNT - 2);
    return color_mix(ramp[start], ramp[start + 1], at - (double)start);
}

double chart_thickness(size_t count)
{
    return count <= FEW_MAX ? 1.5 : count <= 20 ? 1.15 : 0.9;
}

/* ---- one line ---- */

struct drawer {
    const struct chart_plot *plot;
    const struct chart_line *line;
    uint32_t color;
    double thickness;
    size_t first_point; /* of the run that is being drawn */
    /* The column that is being filled. */
    bool is_filled;
    double left;
    struct picture_point first, low, high, last;
};

static size_t point_count(const struct drawer *drawer)
{
    return drawer->plot->sheet->picture->point_count - drawer->first_point;
}

static void add_point(struct drawer *drawer, struct picture_point point)
{
    struct picture *picture = drawer->plot->sheet->picture;

    if (point_count(drawer) > 0) {
        struct picture_point before = picture->points[picture->point_count - 1];

        if (before.x == point.x && before.y == point.y) {
            return;
        }
    }
    sheet_point(drawer->plot->sheet, point.x, point.y);
}

/* low and high in the order in which they came. */
static void end_column(struct drawer *drawer)
{
    bool is_low_first = drawer->low.x <= drawer->high.x;

    if (!drawer->is_filled) {
        return;
    }
    add_point(drawer, drawer->first);
    add_point(drawer, is_low_first ? drawer->low : drawer->high);
    add_point(drawer, is_low_first ? drawer->high : drawer->low);
    add_point(drawer, drawer->last);
    drawer->is_filled = false;
}

static void add_value(struct drawer *drawer, struct picture_point point)
{
    if (drawer->is_filled && point.x - drawer->left >= COLUMN_WIDTH) {
        end_column(drawer);
    }
    if (!drawer->is_filled) {
        drawer->is_filled = true;
        drawer->left = point.x;
        drawer->first = drawer->low = drawer->high = point;
    }
    if (point.y > drawer->low.y) { /* y goes down */
        drawer->low = point;
    }
    if (point.y < drawer->high.y) {
        drawer->high = point;
    }
    drawer->last = point;
}

static void add_dot(const struct drawer *drawer, struct picture_point at, double radius)
{
    struct picture_item *item = sheet_rectangle(drawer->plot->sheet, at.x - radius,
                                                at.y - radius, 2 * radius, 2 * radius);

    item->radius = radius;
    item->fill = drawer->color;
}

/* Ends at a gap, or at the end: a value alone is a dot. */
static void end_run(struct drawer *drawer)
{
    struct sheet *sheet = drawer->plot->sheet;
    struct picture_item *item;
    size_t count;

    end_column(drawer);
    count = point_count(drawer);
    if (count == 1) {
        add_dot(drawer, drawer->last, drawer->thickness * 1.6);
    } else if (count > 1) {
        item = sheet_add(sheet, PICTURE_POLYLINE);
        item->first_point = drawer->first_point;
        item->point_count = count;
        item->stroke = drawer->color;
        item->stroke_width = drawer->thickness;
    }
    drawer->first_point = sheet->picture->point_count;
}

static void draw_line(const struct chart_plot *plot, size_t index)
{
    const struct chart_line *line = &plot->lines[index];
    struct drawer drawer = {
        .plot = plot,
        .line = line,
        .color = chart_color(plot->sheet, index, plot->line_count),
        .thickness = chart_thickness(plot->line_count),
        .first_point = plot->sheet->picture->point_count,
    };

    sheet_begin(plot->sheet, "line", sheet_clean(plot->sheet, line->name));
    for (size_t i = 0; i < line->count; i++) {
        if (!chart_is_drawn(&plot->facts, line->values[i])) {
            end_run(&drawer);
            continue;
        }
        add_value(&drawer, (struct picture_point){
                               axis_place(&plot->x, line->steps[i]),
                               axis_place(&plot->y, line->values[i]),
                           });
    }
    end_run(&drawer);
    if (plot->line_count <= FEW_MAX && line->count <= DOTTED_MAX) {
        for (size_t i = 0; i < line->count; i++) {
            if (chart_is_drawn(&plot->facts, line->values[i])) {
                add_dot(&drawer,
                        (struct picture_point){axis_place(&plot->x, line->steps[i]),
                                               axis_place(&plot->y, line->values[i])},
                        drawer.thickness * 1.3);
            }
        }
    }
    sheet_end(plot->sheet);
}

/* ---- gaps ---- */

/* At the top of the plot, above each step where some line is NaN or infinite. */
static void draw_gaps(const struct chart_plot *plot)
{
    double top = plot->y.end;

    sheet_begin(plot->sheet, "gaps", SLICE("NaN or infinite"));
    for (size_t i = 0; i < plot->line_count; i++) {
        const struct chart_line *line = &plot->lines[i];
        double before = -INFINITY;

        for (size_t j = 0; j < line->count; j++) {
            double x = axis_place(&plot->x, line->steps[j]);

            if (!isfinite(line->values[j]) && x - before >= MARK_WIDTH) {
                struct picture_item *item = sheet_rectangle(
                    plot->sheet, x - MARK_WIDTH / 2, top - 7, MARK_WIDTH, 6);

                item->fill = plot->sheet->palette->alarm;
                before = x;
            }
        }
    }
    sheet_end(plot->sheet);
}

void chart_draw_lines(const struct chart_plot *plot)
{
    for (size_t i = 0; i < plot->line_count; i++) {
        draw_line(plot, i);
    }
    if (plot->facts.gap_count > 0) {
        draw_gaps(plot);
    }
}
