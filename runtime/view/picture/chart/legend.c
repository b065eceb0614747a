/* The legend of a chart: a column, or several, right of the plot. */
#include "runtime/view/picture/chart/parts.h"

#include <math.h>

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

/* ---- names without what they have in common ---- */

static bool is_between(char byte, bool has_dots)
{
    return byte == '/' || (has_dots && byte == '.');
}

/* The size of the common beginning, up to and with its last `/`, or `.` where has_dots is set. */
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

/* The same of the end, from its first `/`; of what is left behind `start`. */
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

/* ---- how large it is ---- */

static double row_height(double height, size_t rows)
{
    return fmax(ROW_LEAST, fmin(ROW_HEIGHT, height / fmax(1, (double)rows)));
}

/* Returns how wide the widest label is, before it is shortened. */
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

void chart_legend_prepare(struct chart_legend *legend,
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
        return; /* so narrow a page has none */
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

void chart_legend_draw(const struct chart_legend *legend,
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
