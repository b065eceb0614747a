/* The statistics of the whole tensor, below its table. */
#include "runtime/view/picture/box/box.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/tensor_text.h"

#include <math.h>

#define FIGURE_SIZE   7.0
#define FIGURE_HEIGHT 10.0
#define LABEL_GAP     3.0
#define COLUMN_GAP    9.0
#define DIGITS        4

static struct text_style label_style(const struct sheet *sheet)
{
    return (struct text_style){PICTURE_SANS, FIGURE_SIZE, sheet->palette->faint};
}

static struct text_style value_style(const struct sheet *sheet)
{
    return (struct text_style){PICTURE_SANS, FIGURE_SIZE, sheet->palette->text};
}

static void add_range(struct buffer *text, struct flow_range range)
{
    real_add_short(text, range.low, DIGITS);
    if (range.low != range.high) {
        buffer_add(text, SLICE(" \xE2\x80\xA6 "));
        real_add_short(text, range.high, DIGITS);
    }
}

static void figure_add(struct figures *figures, struct sheet *sheet, struct slice label)
{
    figures->labels[figures->count] = label;
    figures->values[figures->count++] = sheet_keep(sheet);
}

static void
add_ranges(struct figures *figures, struct sheet *sheet, const struct flow_node *node)
{
    const struct {
        struct slice label;
        struct flow_range range;
    } parts[] = {
        {SLICE("min"), node->min},
        {SLICE("max"), node->max},
        {SLICE("mean"), node->mean},
        {SLICE("std"), node->std},
    };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        /* The std of single values is none. */
        if (isnan(parts[i].range.low) && isnan(parts[i].range.high)) {
            continue;
        }
        add_range(&sheet->scratch, parts[i].range);
        figure_add(figures, sheet, parts[i].label);
    }
}

static void
add_values(struct figures *figures, struct sheet *sheet, const struct flow_node *node)
{
    const struct statistics *statistics = &node->statistics;
    enum dtype_class class = dtype_class(node->dtype);
    bool is_complex = class == DTYPE_CLASS_COMPLEX;

    bound_text_add(&sheet->scratch, class, statistics->min, DIGITS);
    figure_add(figures, sheet, is_complex ? SLICE("min |z|") : SLICE("min"));
    bound_text_add(&sheet->scratch, class, statistics->max, DIGITS);
    figure_add(figures, sheet, is_complex ? SLICE("max |z|") : SLICE("max"));
    real_add_short(&sheet->scratch, statistics->mean, DIGITS);
    figure_add(figures, sheet, SLICE("mean"));
    if (!isnan(statistics->std)) {
        real_add_short(&sheet->scratch, statistics->std, DIGITS);
        figure_add(figures, sheet, SLICE("std"));
    }
}

static double
figure_width(const struct figures *figures, struct sheet *sheet, uint32_t i)
{
    return style_width(label_style(sheet), figures->labels[i]) + LABEL_GAP +
           style_width(value_style(sheet), figures->values[i]);
}

static void
figures_arrange(struct figures *figures, struct sheet *sheet, uint32_t across)
{
    figures->across = across;
    figures->width = COLUMN_GAP * (across - 1);
    for (uint32_t i = 0; i < FIGURE_MAX; i++) {
        figures->widths[i] = 0;
    }
    for (uint32_t i = 0; i < figures->count; i++) {
        double *width = &figures->widths[i % across];

        *width = fmax(*width, figure_width(figures, sheet, i));
    }
    for (uint32_t i = 0; i < across; i++) {
        figures->width += figures->widths[i];
    }
    figures->height = FIGURE_HEIGHT * ((figures->count + across - 1) / across);
}

void figures_prepare(struct figures *figures,
                     struct sheet *sheet,
                     const struct flow_node *node,
                     double width)
{
    bool is_folded = node->count > 1;

    *figures = (struct figures){0};
    if (!node->has_statistics || statistics_finite_count(&node->statistics) == 0) {
        return;
    }
    /* A single value is told by the table already. */
    if (node->statistics.count < 2 && !is_folded) {
        return;
    }
    sheet->scratch.size = 0;
    if (is_folded) {
        add_ranges(figures, sheet, node);
    } else {
        add_values(figures, sheet, node);
    }
    if (figures->count == 0) {
        return;
    }
    figures_arrange(figures, sheet, figures->count);
    if (figures->width > width) {
        figures_arrange(figures, sheet, 2);
    }
    if (figures->width > 2 * width) {
        figures_arrange(figures, sheet, 1);
    }
}

void figures_draw(const struct figures *figures,
                  struct sheet *sheet,
                  double x,
                  double y)
{
    for (uint32_t i = 0; i < figures->count; i++) {
        uint32_t column = i % figures->across;
        double at = x;
        double baseline = y + FIGURE_HEIGHT * (1 + i / figures->across) - 2.8;

        for (uint32_t k = 0; k < column; k++) {
            at += figures->widths[k] + COLUMN_GAP;
        }
        at += sheet_text(sheet, label_style(sheet), at, baseline, figures->labels[i]);
        sheet_text(sheet, value_style(sheet), at + LABEL_GAP, baseline,
                   figures->values[i]);
    }
}
