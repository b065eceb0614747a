/* A chart: its title, what it tells in words, axes, lines, legend. */
#include "runtime/view/picture/chart/chart.h"

#include "runtime/view/picture/chart/parts.h"
#include "runtime/view/words/number_text.h"

#include <math.h>

#define USUAL_WIDTH  640.0
#define USUAL_HEIGHT 360.0
#define MARGIN       18.0
#define TITLE_SIZE   13.0
#define LINE_SIZE    8.0
#define LINE_HEIGHT  12.0
#define TICK_SIZE    8.0
#define TICK_GAP     6.0
#define AXIS_ROOM    24.0 /* below the plot, for numbers and their name */
#define LEGEND_GAP   16.0
/* The width that the lines get on any page, in points. */
#define LINES_LEAST 20.0
#define LEGEND_PART 0.42 /* of the page's width, at most */

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

/* "NaN or infinite: 12 values, the first at step 300 in blocks.3". */
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

/* Draws what is in `scratch` as a line of the head; a line down where there is something. */
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

/* Returns where the head ends. */
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

/* ---- all of it ---- */

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
    /* Numbers that are wider than the page are cut at its edge, so that the lines keep their room. */
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
