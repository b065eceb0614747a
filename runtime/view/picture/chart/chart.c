/* A chart: its title, its remarks, axes, lines and legend. */
#include "runtime/view/picture/chart/chart.h"

#include "runtime/view/picture/chart/parts.h"
#include "runtime/view/words/number_text.h"

#include <math.h>

/* ---- The facts of a chart's lines: their range, and values that cannot be drawn ---- */

/* A value that is so many times smaller than the largest would lie on a linear scale's zero. */
#define FAR_APART 50.0
/* One in so many values may be as small as that on a linear scale. */
#define FEW 10

/* Whether the value can be drawn on the scale. */
static bool chart_is_drawn(const struct chart_facts *facts, double value)
{
    return isfinite(value) && (!facts->is_log || value > 0);
}

static void find_range(struct chart_facts *facts,
                       const struct chart_line *lines,
                       size_t count,
                       bool is_above_zero)
{
    facts->low = INFINITY;
    facts->high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < lines[i].count; j++) {
            double value = lines[i].values[j];

            if (isfinite(value) && (value > 0 || !is_above_zero)) {
                facts->low = fmin(facts->low, value);
                facts->high = fmax(facts->high, value);
            }
        }
    }
}

/* Whether a logarithmic scale shows more: on a linear one, most of a line, or more than 1/FEW of
 * all values, would lie on the axis. */
static bool is_far_apart(const struct chart_facts *facts,
                         const struct chart_line *lines,
                         size_t count)
{
    size_t all = 0;
    size_t all_low = 0;

    if (!(facts->low > 0)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        size_t low = 0;

        for (size_t j = 0; j < lines[i].count; j++) {
            low += lines[i].values[j] < facts->high / FAR_APART;
        }
        if (low * 2 > lines[i].count) {
            return true;
        }
        all += lines[i].count;
        all_low += low;
    }
    return all_low * FEW > all;
}

static void
find_gaps(struct chart_facts *facts, const struct chart_line *line, size_t i)
{
    for (size_t j = 0; j < line->count; j++) {
        if (isfinite(line->values[j])) {
            facts->lost_count += facts->is_log && !(line->values[j] > 0);
            continue;
        }
        if (facts->gap_count == 0 || line->steps[j] < facts->gap_step) {
            facts->gap_line = i;
            facts->gap_step = line->steps[j];
        }
        facts->gap_count++;
    }
}

static struct chart_facts
chart_find_facts(const struct chart_line *lines, size_t count, enum chart_scale scale)
{
    struct chart_facts facts = {.first_step = INFINITY, .last_step = -INFINITY};

    find_range(&facts, lines, count, scale == CHART_LOG);
    facts.is_log =
        scale == CHART_LOG || (scale == CHART_AUTO && facts.low <= facts.high &&
                               is_far_apart(&facts, lines, count));
    for (size_t i = 0; i < count; i++) {
        if (lines[i].count > 0) {
            facts.first_step = fmin(facts.first_step, lines[i].steps[0]);
            facts.last_step = fmax(facts.last_step, lines[i].steps[lines[i].count - 1]);
        }
        find_gaps(&facts, &lines[i], i);
    }
    if (facts.first_step > facts.last_step) {
        facts.first_step = facts.last_step = 0;
    }
    return facts;
}

/* The lines of a chart. If many values share a column, only the first, the last, the smallest
 * and the largest of them are drawn. The picture stays the same. */

/* Values closer together than this share a column, in points. */
#define COLUMN_WIDTH 0.6
/* Lines of at most so many values have dots. */
#define DOTTED_MAX 40
#define MARK_WIDTH 1.2

/* ---- colours ---- */

#define FEW_MAX 7

/* Colours from the first line to the last: dark to light on a light page, and readable on it. */
static const uint32_t light_ramp[] = {0x3B1F7AFF, 0x3A4FA8FF, 0x1F7FA6FF,
                                      0x17946FFF, 0x6FA02AFF, 0xD99A0BFF};
static const uint32_t dark_ramp[] = {0xB79BFFFF, 0x7FA2FFFF, 0x4CC2E6FF,
                                     0x46D39AFF, 0xA9D94FFF, 0xFFD24DFF};
#define RAMP_COUNT (sizeof light_ramp / sizeof *light_ramp)

static uint32_t chart_color(const struct sheet *sheet, size_t index, size_t count)
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

static double chart_thickness(size_t count)
{
    return count <= FEW_MAX ? 1.5 : count <= 20 ? 1.15 : 0.9;
}

/* ---- one line ---- */

struct drawer {
    const struct chart_plot *plot;
    const struct chart_line *line;
    uint32_t color;
    double thickness;
    size_t first_point; /* of the run of finite values that is drawn now */
    /* The column that collects values now. */
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

/* Ends the column: adds its first, lowest, highest and last points in the order of their x. */
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
    if (point.y > drawer->low.y) { /* y grows downwards */
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

/* Ends the run at a gap or at the end of the line. A run of a single value becomes a dot. */
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

/* Draws marks at the top of the plot, above each step at which some line is NaN or infinite. */
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

/* Draws the lines. A few lines have distinct colours; many share a ramp. */
static void chart_draw_lines(const struct chart_plot *plot)
{
    for (size_t i = 0; i < plot->line_count; i++) {
        draw_line(plot, i);
    }
    if (plot->facts.gap_count > 0) {
        draw_gaps(plot);
    }
}

/* ---- The legend of a chart: one or more columns to the right of the plot ---- */

#define TEXT_SIZE    8.0
#define ROW_HEIGHT   12.5
#define ROW_LEAST    10.0
#define SWATCH_WIDTH 16.0
#define SWATCH_GAP   5.0
#define COLUMN_GAP   12.0
#define COLUMN_MAX   2
#define LABEL_LEAST  24.0

static struct text_style label_style(const struct sheet *sheet)
{
    return (struct text_style){PICTURE_SANS, TEXT_SIZE, sheet->palette->text};
}

/* ---- names without their common parts ---- */

static bool is_between(char byte, bool has_dots)
{
    return byte == '/' || (has_dots && byte == '.');
}

/* The size of the common start of the names, up to and including its last `/`, or also `.` if
 * has_dots is set. */
static size_t common_start(const struct chart_line *lines, size_t count, bool has_dots)
{
    size_t size = lines[0].name.size;

    for (size_t i = 1; i < count; i++) {
        size_t same = 0;

        while (same < size && same < lines[i].name.size &&
               lines[i].name.bytes[same] == lines[0].name.bytes[same]) {
            same++;
        }
        size = same;
    }
    while (size > 0 && !is_between(lines[0].name.bytes[size - 1], has_dots)) {
        size--;
    }
    return size;
}

/* The size of the common end of the names after `start`, from its first separator on (see
 * common_start). */
static size_t
common_end(const struct chart_line *lines, size_t count, size_t start, bool has_dots)
{
    struct slice first = lines[0].name;
    size_t size = first.size - start;

    for (size_t i = 1; i < count; i++) {
        struct slice name = lines[i].name;
        size_t same = 0;

        while (same < size && same < name.size - start &&
               name.bytes[name.size - 1 - same] == first.bytes[first.size - 1 - same]) {
            same++;
        }
        size = same;
    }
    while (size > 0 && !is_between(first.bytes[first.size - size], has_dots)) {
        size--;
    }
    return size;
}

static struct slice label_of(const struct chart_line *line, size_t start, size_t end)
{
    size_t size = line->name.size;

    return start + end < size ? slice_part(line->name, start, size - end) : line->name;
}

/* ---- size ---- */

static double row_height(double height, size_t rows)
{
    return fmax(ROW_LEAST, fmin(ROW_HEIGHT, height / fmax(1, (double)rows)));
}

/* Makes the labels. Returns the width of the widest one before it is shortened. */
static double make_labels(struct chart_legend *legend,
                          struct sheet *sheet,
                          const struct chart_line *lines,
                          size_t count,
                          double width,
                          bool has_dots)
{
    size_t start = common_start(lines, count, has_dots);
    size_t end = common_end(lines, count, start, has_dots);
    struct text_style style = label_style(sheet);
    double widest = 0;

    for (size_t i = 0; i < legend->shown; i++) {
        struct slice label = sheet_clean(sheet, label_of(&lines[i], start, end));

        widest = fmax(widest, style_width(style, label));
        legend->labels[i] = sheet_shorten(sheet, style, label, width, SHORTEN_MIDDLE);
    }
    return widest;
}

static void chart_legend_prepare(struct chart_legend *legend,
                                 struct sheet *sheet,
                                 const struct chart_line *lines,
                                 size_t count,
                                 double width,
                                 double height)
{
    size_t rows = (size_t)fmax(1, floor(height / ROW_LEAST));
    double label_width, widest;

    *legend = (struct chart_legend){.width = 0};
    legend->columns = count > rows ? COLUMN_MAX : 1;
    label_width = (width - COLUMN_GAP) / (double)legend->columns - SWATCH_WIDTH -
                  SWATCH_GAP - COLUMN_GAP;
    if (count < 2 || label_width < LABEL_LEAST) {
        return; /* the page is too narrow for a legend */
    }
    legend->shown = count <= rows * COLUMN_MAX ? count : rows * COLUMN_MAX - 1;
    legend->labels =
        arena_allocate(&sheet->picture->arena, legend->shown, sizeof *legend->labels);
    if (legend->labels == NULL) {
        return;
    }
    widest = make_labels(legend, sheet, lines, count, label_width, false);
    if (widest > label_width) {
        widest = make_labels(legend, sheet, lines, count, label_width, true);
    }
    legend->column_width =
        SWATCH_WIDTH + SWATCH_GAP + fmin(fmax(widest, 48), label_width);
    legend->width = (double)legend->columns * legend->column_width +
                    (double)(legend->columns - 1) * COLUMN_GAP;
}

/* ---- drawing ---- */

static void draw_row(const struct chart_legend *legend,
                     struct sheet *sheet,
                     size_t i,
                     size_t count,
                     double x,
                     double y)
{
    struct picture_item *item;
    double thickness = fmax(chart_thickness(count), 1.5);

    item = sheet_rectangle(sheet, x, y - thickness / 2, SWATCH_WIDTH, thickness);
    item->fill = chart_color(sheet, i, count);
    item->radius = thickness / 2;
    sheet_text(sheet, label_style(sheet), x + SWATCH_WIDTH + SWATCH_GAP, y + 2.8,
               legend->labels[i]);
}

/* Draws the legend, without the common parts of the names. The rows share `height`. */
static void chart_legend_draw(const struct chart_legend *legend,
                              struct sheet *sheet,
                              size_t count,
                              double x,
                              double y,
                              double height)
{
    size_t rest = count - legend->shown;
    size_t all = legend->shown + (rest > 0);
    size_t rows;
    double each;

    if (legend->width == 0 || legend->labels == NULL) {
        return;
    }
    rows = (all + legend->columns - 1) / legend->columns;
    each = row_height(height, rows);
    sheet_begin(sheet, "legend", SLICE(""));
    for (size_t i = 0; i < all; i++) {
        double left = x + (double)(i / rows) * (legend->column_width + COLUMN_GAP);
        double top = y + ((double)(i % rows) + 0.5) * each;

        if (i < legend->shown) {
            draw_row(legend, sheet, i, count, left, top);
            continue;
        }
        sheet->scratch.size = 0;
        buffer_add(&sheet->scratch, SLICE("and "));
        buffer_add_number(&sheet->scratch, rest);
        buffer_add(&sheet->scratch, SLICE(" more"));
        sheet_text(sheet,
                   (struct text_style){PICTURE_SANS, TEXT_SIZE, sheet->palette->faint},
                   left + SWATCH_WIDTH + SWATCH_GAP, top + 2.8, sheet_keep(sheet));
    }
    sheet_end(sheet);
}

#define USUAL_WIDTH  640.0
#define USUAL_HEIGHT 360.0
#define MARGIN       18.0
#define TITLE_SIZE   13.0
#define LINE_SIZE    8.0
#define LINE_HEIGHT  12.0
#define TICK_SIZE    8.0
#define TICK_GAP     6.0
#define AXIS_ROOM    24.0 /* below the plot, for the numbers and the axis name */
#define LEGEND_GAP   16.0
/* The least width of the plot on any page, in points. */
#define LINES_LEAST 20.0
#define LEGEND_PART 0.42 /* the most, as a part of the page's width */

struct chart {
    struct chart_plot plot;
    const struct chart_options *options; /* borrowed */
    struct chart_legend legend;
    double width, height;
    double left, top, right, bottom; /* of the plot */
};

static struct text_style faint_style(const struct sheet *sheet, double size)
{
    return (struct text_style){PICTURE_SANS, size, sheet->palette->faint};
}

/* ---- words ---- */

static void add_counted(struct buffer *text, size_t count, const char *one)
{
    buffer_add_number(text, count);
    buffer_add_byte(text, ' ');
    buffer_add(text, slice_of(one));
    if (count != 1) {
        buffer_add_byte(text, 's');
    }
}

static void add_dot_between(struct buffer *text)
{
    if (text->size > 0) {
        buffer_add(text, SLICE("  \xC2\xB7  "));
    }
}

static void add_facts(const struct chart *chart, struct buffer *text)
{
    const struct chart_facts *facts = &chart->plot.facts;

    if (chart->plot.line_count > 1) {
        add_counted(text, chart->plot.line_count, "line");
    }
    if (facts->is_log) {
        add_dot_between(text);
        buffer_add(text, SLICE("logarithmic"));
    }
    if (facts->lost_count > 0) {
        add_dot_between(text);
        add_counted(text, facts->lost_count, "value");
        buffer_add(text, SLICE(" not above 0 left out"));
    }
    if (facts->low > facts->high) {
        add_dot_between(text);
        buffer_add(text, SLICE("no value can be drawn"));
    }
}

/* Adds "NaN or infinite: 12 values, the first at step 300 in blocks.3". */
static void add_gaps(const struct chart *chart, struct buffer *text)
{
    const struct chart_facts *facts = &chart->plot.facts;

    buffer_add(text, SLICE("NaN or infinite: "));
    add_counted(text, facts->gap_count, "value");
    buffer_add(text, facts->gap_count == 1 ? SLICE(", at step ")
                                           : SLICE(", the first at step "));
    real_add_short(text, facts->gap_step, 9);
    if (chart->plot.line_count > 1) {
        buffer_add(text, SLICE(" in "));
        buffer_add(text, chart->plot.lines[facts->gap_line].name);
    }
}

/* Draws the text of `scratch` as the next line of the head. Draws nothing if it is empty. */
static void draw_words(const struct chart *chart, uint32_t color, double *y)
{
    struct sheet *sheet = chart->plot.sheet;
    struct text_style style = {PICTURE_SANS, LINE_SIZE, color};
    struct slice text = sheet_keep(sheet);

    if (text.size == 0) {
        return;
    }
    *y += LINE_HEIGHT;
    text = sheet_shorten(sheet, style, text, chart->width - 2 * MARGIN, SHORTEN_MIDDLE);
    sheet_text(sheet, style, MARGIN, *y, text);
}

/* Draws the head, and returns its lower end. */
static double draw_head(struct chart *chart)
{
    struct sheet *sheet = chart->plot.sheet;
    struct text_style style = {PICTURE_SANS_BOLD, TITLE_SIZE, sheet->palette->text};
    struct slice title = chart->options->title;
    double y = MARGIN + TITLE_SIZE * 0.8;

    if (title.size == 0 && chart->plot.line_count == 1) {
        title = chart->plot.lines[0].name;
    }
    title = sheet_clean(sheet, title);
    sheet->picture->title = title;
    sheet_text(
        sheet, style, MARGIN, y,
        sheet_shorten(sheet, style, title, chart->width - 2 * MARGIN, SHORTEN_MIDDLE));
    y += 2;
    sheet->scratch.size = 0;
    add_facts(chart, &sheet->scratch);
    draw_words(chart, sheet->palette->faint, &y);
    if (chart->plot.facts.gap_count > 0) {
        add_gaps(chart, &sheet->scratch);
        draw_words(chart, sheet->palette->alarm, &y);
    }
    return y;
}

/* ---- axes ---- */

static struct slice
tick_text(struct sheet *sheet, const struct axis *axis, double value)
{
    sheet->scratch.size = 0;
    axis_add_number(axis, &sheet->scratch, value);
    return sheet_keep(sheet);
}

static double widest_tick(struct sheet *sheet, const struct axis *axis)
{
    double widest = 0;

    for (size_t i = 0; i < axis->tick_count; i++) {
        struct slice text = tick_text(sheet, axis, axis->ticks[i].value);

        widest = fmax(widest, style_width(faint_style(sheet, TICK_SIZE), text));
    }
    return widest;
}

static void
draw_rule(struct sheet *sheet, double x, double y, double width, uint32_t color)
{
    sheet_rectangle(sheet, x, y - 0.35, width, 0.7)->fill = color;
}

static void draw_y_axis(const struct chart *chart)
{
    struct sheet *sheet = chart->plot.sheet;
    const struct axis *axis = &chart->plot.y;
    struct text_style style = faint_style(sheet, TICK_SIZE);

    for (size_t i = 0; i < axis->tick_count; i++) {
        struct slice text = tick_text(sheet, axis, axis->ticks[i].value);
        double y = axis->ticks[i].place;

        draw_rule(sheet, chart->left, y, chart->right - chart->left,
                  !axis->is_log && axis->ticks[i].value == 0
                      ? sheet->palette->border
                      : sheet->palette->cell_border);
        sheet_text(sheet, style, chart->left - TICK_GAP - style_width(style, text),
                   y + TICK_SIZE * 0.35, text);
    }
}

static void draw_x_axis(const struct chart *chart)
{
    struct sheet *sheet = chart->plot.sheet;
    const struct axis *axis = &chart->plot.x;
    struct text_style style = faint_style(sheet, TICK_SIZE);
    double name_width = style_width(style, SLICE("step"));
    double limit = chart->right - name_width - TICK_GAP;

    draw_rule(sheet, chart->left, chart->bottom, chart->right - chart->left,
              sheet->palette->border);
    for (size_t i = 0; i < axis->tick_count; i++) {
        struct slice text = tick_text(sheet, axis, axis->ticks[i].value);
        double width = style_width(style, text);
        double x = axis->ticks[i].place;

        sheet_rectangle(sheet, x - 0.35, chart->bottom, 0.7, 3)->fill =
            sheet->palette->border;
        if (x + width / 2 <= limit) {
            sheet_text(sheet, style, x - width / 2, chart->bottom + 13, text);
        }
    }
    sheet_text(sheet, style, chart->right - name_width, chart->bottom + 13,
               SLICE("step"));
}

/* ---- the whole chart ---- */

static void lay_out(struct chart *chart, double head_end)
{
    struct sheet *sheet = chart->plot.sheet;
    struct chart_facts *facts = &chart->plot.facts;
    bool has_values = facts->low <= facts->high;

    chart->top = head_end + (facts->gap_count > 0 ? 18 : 14);
    chart->bottom = fmax(chart->top + 20, chart->height - MARGIN - AXIS_ROOM + 6);
    axis_fit(&chart->plot.y, has_values ? facts->low : 0, has_values ? facts->high : 1,
             facts->is_log && has_values, true);
    axis_lay(&chart->plot.y, chart->bottom, chart->top, 40, false);
    if (!has_values) {
        chart->plot.y.tick_count = 0;
    }
    /* Numbers that are wider than this are cut at the page's edge, so that the plot keeps its
     * width. */
    chart->left = fmin(MARGIN + widest_tick(sheet, &chart->plot.y) + TICK_GAP,
                       chart->width - MARGIN - LINES_LEAST);
    chart_legend_prepare(&chart->legend, sheet, chart->plot.lines,
                         chart->plot.line_count, chart->width * LEGEND_PART,
                         chart->bottom - chart->top);
    chart->right = chart->width - MARGIN;
    if (chart->legend.width > 0) {
        chart->right -= chart->legend.width + LEGEND_GAP;
    }
    chart->right = fmax(chart->right, chart->left + LINES_LEAST);
    axis_fit(&chart->plot.x, facts->first_step, facts->last_step, false, false);
    if (facts->first_step == facts->last_step) {
        double room = fmax(0.5, fabs(facts->first_step) * 1e-6);

        chart->plot.x.low = facts->first_step - room;
        chart->plot.x.high = facts->first_step + room;
    }
    axis_lay(&chart->plot.x, chart->left + 3, chart->right - 3, 62, true);
}

static void draw_all(struct chart *chart)
{
    struct sheet *sheet = chart->plot.sheet;
    struct picture *picture = sheet->picture;

    picture->width = chart->width;
    picture->height = chart->height;
    picture->background = sheet->palette->background;
    sheet_rectangle(sheet, 0, 0, chart->width, chart->height)->fill =
        sheet->palette->background;
    lay_out(chart, draw_head(chart));
    draw_y_axis(chart);
    draw_x_axis(chart);
    chart_draw_lines(&chart->plot);
    chart_legend_draw(&chart->legend, sheet, chart->plot.line_count,
                      chart->right + LEGEND_GAP, chart->top,
                      chart->bottom - chart->top);
    picture->pages = arena_allocate(&picture->arena, 1, sizeof *picture->pages);
    if (picture->pages != NULL) {
        picture->pages[0] = (struct picture_page){0, 0, chart->width, chart->height};
        picture->page_count = 1;
    }
}

static double side(double given, double usual)
{
    return given > 0 ? fmin(CHART_SIDE_MOST, fmax(CHART_SIDE_LEAST, given)) : usual;
}

bool chart_draw(struct picture *picture,
                const struct chart_line *lines,
                size_t line_count,
                const struct chart_options *options,
                struct error *error)
{
    struct sheet sheet;
    struct chart chart = {
        .plot = {.sheet = &sheet, .lines = lines, .line_count = line_count},
        .options = options,
        .width = side(options->width, USUAL_WIDTH),
        .height = side(options->height, USUAL_HEIGHT),
    };
    bool has_failed;

    picture_release(picture);
    sheet_init(&sheet, picture, options->theme);
    chart.plot.facts = chart_find_facts(lines, line_count, options->scale);
    draw_all(&chart);
    has_failed = sheet_has_failed(&sheet);
    sheet_release(&sheet);
    if (has_failed) {
        picture_release(picture);
        error_set_memory(error);
    }
    return !has_failed;
}
