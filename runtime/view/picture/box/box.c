/* The box of a node: its texts, pills, table and figures, and their places. */
#include "runtime/view/picture/box/box.h"

#include "runtime/view/picture/marks.h"
#include "runtime/view/words/change_text.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/tensor_text.h"

#include <math.h>

/* ---- The statistics of the whole tensor, below its table ---- */

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
        /* There is no std of a single value. */
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

static void figures_prepare(struct figures *figures,
                            struct sheet *sheet,
                            const struct flow_node *node,
                            double width)
{
    bool is_folded = node->count > 1;

    *figures = (struct figures){0};
    if (!node->has_statistics || statistics_finite_count(&node->statistics) == 0) {
        return;
    }
    /* The table shows a single value already. */
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

/* Draws the figures in the number of columns that was found for the width of the box. */
static void
figures_draw(const struct figures *figures, struct sheet *sheet, double x, double y)
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

/* ---- Pills: small words in a box's head that name the value's role and changes ---- */

#define PILL_SIZE      6.5
#define PILL_PADDING   4.0
#define PILL_WIDTH_MAX 220.0

static struct text_style pill_style(uint32_t color)
{
    return (struct text_style){PICTURE_SANS_BOLD, PILL_SIZE, color};
}

void pill_add(struct pills *pills,
              struct sheet *sheet,
              struct slice text,
              uint32_t color,
              uint32_t text_color)
{
    struct text_style style = pill_style(color);
    struct pill *pill;

    if (text.size == 0 || pills->count == PILL_MAX) {
        return;
    }
    text = sheet_shorten(sheet, style, text, PILL_WIDTH_MAX, SHORTEN_MIDDLE);
    pill = &pills->pills[pills->count++];
    *pill = (struct pill){text, color, text_color,
                          style_width(style, text) + 2 * PILL_PADDING};
}

void pill_draw(struct sheet *sheet, const struct pill *pill, double x, double y)
{
    struct picture_item *item = sheet_rectangle(sheet, x, y, pill->width, PILL_HEIGHT);

    item->radius = PILL_HEIGHT / 2;
    item->fill = pill->text_color != 0 ? pill->color : color_fade(pill->color, 0x22);
    sheet_text(sheet,
               pill_style(pill->text_color != 0 ? pill->text_color : pill->color),
               x + PILL_PADDING, y + PILL_HEIGHT - 3.1, pill->text);
}

/* ---- the pills of a node ---- */

static struct slice
prefixed(struct sheet *sheet, struct slice prefix, struct slice text)
{
    sheet->scratch.size = 0;
    buffer_add(&sheet->scratch, prefix);
    buffer_add(&sheet->scratch, text);
    return sheet_keep(sheet);
}

/* Builds `rebound: shape, dtype`. A change of values is left out: the table shows them. */
static struct slice
with_differences(struct sheet *sheet, struct slice word, unsigned differences)
{
    differences &= ~(unsigned)LOG_DIFFERS_VALUES;
    sheet->scratch.size = 0;
    buffer_add(&sheet->scratch, word);
    if (differences != 0) {
        buffer_add(&sheet->scratch, SLICE(": "));
        differences_add(&sheet->scratch, differences, SLICE(", "), SLICE(""));
    }
    return sheet_keep(sheet);
}

static void
add_role(struct pills *pills, struct sheet *sheet, const struct flow_node *node)
{
    const struct picture_palette *palette = sheet->palette;

    if ((node->flags & FLOW_NODE_GUESSED) != 0) {
        pill_add(pills, sheet, prefixed(sheet, SLICE("guess: "), node->guess),
                 palette->guess, palette->on_guess);
    }
    if ((node->flags & FLOW_NODE_ARGUMENT) != 0) {
        pill_add(pills, sheet, SLICE("argument"), palette->argument, 0);
    } else if ((node->flags & FLOW_NODE_SOURCE) != 0) {
        pill_add(pills, sheet, SLICE("(source)"), palette->source, 0);
    }
    if ((node->flags & FLOW_NODE_RESULT) != 0 &&
        !slice_starts(node->name, SLICE("return"))) {
        pill_add(pills, sheet, SLICE("return"), palette->result, 0);
    }
}

static void
add_change(struct pills *pills, struct sheet *sheet, const struct flow_node *node)
{
    const struct picture_palette *palette = sheet->palette;

    if ((node->flags & FLOW_NODE_IN_PLACE) != 0 || node->change == CHANGE_MUTATED) {
        pill_add(pills, sheet,
                 with_differences(sheet, SLICE("in place"), node->difference),
                 palette->in_place, 0);
    } else if (node->change == CHANGE_REBOUND) {
        pill_add(pills, sheet,
                 with_differences(sheet, SLICE("rebound"), node->difference),
                 palette->source, 0);
    }
    if ((node->flags & FLOW_NODE_ALIAS) != 0 || node->change == CHANGE_ALIASED) {
        pill_add(pills, sheet,
                 node->changed_by.size > 0
                     ? prefixed(sheet, SLICE("alias, written at "), node->changed_by)
                     : SLICE("alias"),
                 palette->alias, 0);
    }
}

/* Adds all pills of a node. */
static void
pills_of_node(struct pills *pills, struct sheet *sheet, const struct flow_node *node)
{
    add_role(pills, sheet, node);
    add_change(pills, sheet, node);
    if (node->shape_varies) {
        pill_add(pills, sheet, SLICE("shapes vary"), sheet->palette->source, 0);
    }
}

/* ---- lines of pills ---- */

/* Moves to the next line if the pill does not fit into this one. */
static void next_place(const struct pill *pill, double width, double *x, double *y)
{
    if (*x > 0 && *x + pill->width > width) {
        *x = 0;
        *y += PILL_HEIGHT + PILL_GAP;
    }
}

/* The height of all pills, in lines of at most `width`. */
static double pills_height(const struct pills *pills, double width)
{
    double x = 0;
    double y = 0;

    for (uint32_t i = 0; i < pills->count; i++) {
        next_place(&pills->pills[i], width, &x, &y);
        x += pills->pills[i].width + PILL_GAP;
    }
    return pills->count == 0 ? 0 : y + PILL_HEIGHT;
}

static double pills_width(const struct pills *pills, double limit)
{
    double widest = 0;
    double x = 0;
    double y = 0;

    for (uint32_t i = 0; i < pills->count; i++) {
        next_place(&pills->pills[i], limit, &x, &y);
        x += pills->pills[i].width;
        widest = x > widest ? x : widest;
        x += PILL_GAP;
    }
    return widest;
}

/* Draws the pills in lines of at most `width`. */
static void pills_draw(
    const struct pills *pills, struct sheet *sheet, double x, double y, double width)
{
    double at = 0;
    double down = 0;

    for (uint32_t i = 0; i < pills->count; i++) {
        next_place(&pills->pills[i], width, &at, &down);
        pill_draw(sheet, &pills->pills[i], x + at, y + down);
        at += pills->pills[i].width + PILL_GAP;
    }
}

/* The texts below belong to the sheet. A part that the box does not have is an empty text, or
 * has a width of 0. */

/* The text styles of a box. */
enum style_kind {
    STYLE_NAME,
    STYLE_PLACE,
    STYLE_FORM,
    STYLE_NOTE,
    STYLE_GRADIENT,
    STYLE_CODE
};

static struct text_style box_style(const struct sheet *sheet, enum style_kind kind);

/* ---- The texts in the box of a node ---- */

/* `model.py:31`, `line 31` */
static struct slice box_place(struct sheet *sheet,
                              const struct flow_node *node,
                              const struct box_options *options)
{
    struct buffer *text = &sheet->scratch;
    struct slice file = path_last_part(node->file);

    text->size = 0;
    if (options->has_files && file.size > 0) {
        buffer_add(text, sheet_shorten(sheet, box_style(sheet, STYLE_PLACE),
                                       sheet_clean(sheet, file), 110, SHORTEN_START));
        buffer_add_byte(text, ':');
    } else if (node->line > 0) {
        buffer_add(text, SLICE("line "));
    }
    if (node->line > 0) {
        buffer_add_number(text, node->line);
    }
    return sheet_keep(sheet);
}

static void add_part(struct buffer *text, struct slice part)
{
    if (part.size == 0) {
        return;
    }
    if (text->size > 0) {
        buffer_add(text, SLICE("  "));
    }
    buffer_add_bytes(text, part.bytes, part.size < 80 ? part.size : 80);
}

/* Adds the only element of a value that has no table: `= 4.188`, folded `= 4.188 … 4.301`. */
static void add_only_value(struct buffer *text, const struct flow_node *node)
{
    bool is_folded = node->count > 1;

    if (node->dimension_count > 0 || !node->has_statistics ||
        statistics_finite_count(&node->statistics) == 0 ||
        dtype_class(node->dtype) == DTYPE_CLASS_COMPLEX) {
        return;
    }
    buffer_add(text, SLICE("  = "));
    if (is_folded) {
        add_range(text, (struct flow_range){node->min.low, node->max.high});
    } else {
        bound_text_add(text, dtype_class(node->dtype), node->statistics.min, DIGITS);
    }
}

/* `Parameter  float32 [8, 8]  cuda:0  grad` */
static struct slice
box_form(struct sheet *sheet, const struct flow_node *node, bool has_table)
{
    struct buffer *text = &sheet->scratch;
    bool is_scalar = slice_equal(node->type, node->dtype_text);

    text->size = 0;
    if (node->kind != VALUE_TENSOR) {
        return sheet_clean(sheet, node->text);
    }
    if (node->keeps.size > 0) {
        add_part(text, node->keeps);
        buffer_add(text, SLICE(" \xE2\x86\x92"));
    }
    if (node->type.size > 0 && !is_scalar) {
        add_part(text, type_without_main(node->type));
    } else if ((node->flags & FLOW_NODE_PARAMETER) != 0) {
        add_part(text, SLICE("Parameter"));
    }
    add_part(text, node->dtype_text);
    buffer_add_byte(text, ' ');
    dimensions_add(text, node->shape, node->dimension_count);
    if (!slice_equal(node->layout, SLICE("strided"))) {
        add_part(text, node->layout);
    }
    if (!slice_equal(node->device, SLICE("cpu"))) {
        add_part(text, node->device);
    }
    if (node->requires_grad) {
        add_part(text, SLICE("grad"));
    }
    if (!has_table) {
        add_only_value(text, node);
    }
    return sheet_keep(sheet);
}

/* `gradient  -0.0041 … 0.0052`, over all values that the node stands for. "": no gradient was
 * recorded. */
static struct slice box_gradient(struct sheet *sheet, const struct flow_node *node)
{
    const struct flow_gradient *gradient = &node->gradient;
    struct buffer *text = &sheet->scratch;

    if (gradient->count == 0) {
        return SLICE("");
    }
    text->size = 0;
    buffer_add(text, SLICE("gradient  "));
    if (gradient->range.low <= gradient->range.high) {
        add_range(text, gradient->range);
    }
    if (gradient->bad_count > 0) {
        buffer_add(text, gradient->range.low <= gradient->range.high ? SLICE(", ")
                                                                     : SLICE(""));
        buffer_add(text, SLICE("NaN or Inf"));
    }
    if (gradient->bad_count > 0 && gradient->count > 1) {
        buffer_add_format(text, " in %llu of %llu",
                          (unsigned long long)gradient->bad_count,
                          (unsigned long long)gradient->count);
    }
    return sheet_keep(sheet);
}

static bool is_empty(const struct flow_node *node)
{
    for (uint32_t i = 0; i < node->dimension_count; i++) {
        if (node->shape[i] == 0) {
            return true;
        }
    }
    return false;
}

/* The note below the form: the inside of a call, or other facts in words. */
static struct slice box_note(struct sheet *sheet, const struct flow_node *node)
{
    if ((node->flags & (FLOW_NODE_CALL | FLOW_NODE_UPDATE)) != 0) {
        return sheet_clean(sheet, node->inside);
    }
    if (node->kind != VALUE_TENSOR) {
        return SLICE("");
    }
    if (node->note.size > 0) {
        return sheet_clean(sheet, node->note);
    }
    if (is_empty(node)) {
        return SLICE("empty: no values");
    }
    return node->has_statistics && statistics_finite_count(&node->statistics) == 0
               ? SLICE("no finite value")
               : SLICE("");
}

static void add_count(struct buffer *text, uint64_t count, struct slice noun)
{
    if (count == 0) {
        return;
    }
    if (text->size > 0) {
        buffer_add(text, SLICE(", "));
    }
    buffer_add_number(text, count);
    buffer_add(text, noun);
}

/* Whether the value has no other non-finite elements than -Inf, as in a mask; or the mark says
 * that the infinities are intended. */
static bool is_masked(const struct flow_node *node)
{
    bool has_all = node->count > 1;
    uint64_t odd = has_all ? node->nan_count + node->posinf_count
                           : node->statistics.nan_count + node->statistics.posinf_count;

    return node->mark == FLOW_MARK_MEANT ||
           (node->mark == FLOW_MARK_NONE && node->has_statistics && odd == 0 &&
            (node->flags & FLOW_NODE_CALL) == 0);
}

/* `3 NaN, 1 +Inf` */
static struct pill box_alarm(struct sheet *sheet, const struct flow_node *node)
{
    struct buffer *text = &sheet->scratch;
    struct pills pills = {.count = 0};
    bool has_all = node->count > 1;
    const struct statistics *one = &node->statistics;

    text->size = 0;
    if (has_all || node->has_statistics) {
        add_count(text, has_all ? node->nan_count : one->nan_count, SLICE(" NaN"));
        add_count(text, has_all ? node->posinf_count : one->posinf_count,
                  SLICE(" +Inf"));
        add_count(text, has_all ? node->neginf_count : one->neginf_count,
                  SLICE(" -Inf"));
    }
    if (text->size > 0 && !has_all) {
        buffer_add(text, SLICE(" of "));
        buffer_add_number(text, one->count);
    }
    if (text->size == 0 && (node->flags & FLOW_NODE_NONFINITE) != 0) {
        buffer_add(text, (node->flags & FLOW_NODE_CALL) != 0 ? SLICE("NaN inside")
                                                             : SLICE("not finite"));
    }
    if (is_masked(node)) {
        pill_add(&pills, sheet, sheet_keep(sheet), sheet->palette->faint, 0);
    } else {
        pill_add(&pills, sheet, sheet_keep(sheet), sheet->palette->alarm,
                 sheet->palette->on_alarm);
    }
    return pills.count > 0 ? pills.pills[0] : (struct pill){.width = 0};
}

/* `x 50` */
static struct pill box_times(struct sheet *sheet, uint64_t count)
{
    struct pills pills = {.count = 0};

    if (count < 2) {
        return (struct pill){.width = 0};
    }
    sheet->scratch.size = 0;
    buffer_add(&sheet->scratch, SLICE("\xC3\x97 "));
    buffer_add_number(&sheet->scratch, count);
    pill_add(&pills, sheet, sheet_keep(sheet), sheet->palette->source,
             sheet->palette->card);
    return pills.pills[0];
}

#define PADDING_LEFT   11.0
#define PADDING_RIGHT  8.0
#define PADDING_TOP    6.0
#define PADDING_BOTTOM 7.0
#define CHIP_BOTTOM    3.0
#define WIDTH_LEAST    64.0
/* Texts widen a box up to this width only; a table may widen it further. */
#define TEXT_WIDTH_MAX 232.0
#define FIGURES_WIDTH  216.0
#define NAME_SIZE      10.0
#define NAME_HEIGHT    13.0
#define PLACE_SIZE     6.5
#define PLACE_GAP      10.0
#define FORM_SIZE      7.5
#define FORM_HEIGHT    11.0
#define NOTE_SIZE      7.0
#define NOTE_HEIGHT    10.0
#define CODE_SIZE      7.0
#define CODE_HEIGHT    13.0
#define CODE_PADDING   4.0
#define GAP            4.0

/* All texts and parts of a box, measured before anything is drawn. */
struct content {
    struct slice name;
    struct slice place;
    struct slice form;
    struct slice note;
    struct slice gradient;
    struct slice code;
    struct pill times; /* `× 50`; width 0: not folded */
    struct pill alarm; /* `3 NaN, 1 +Inf`; width 0: all are finite */
    struct pills pills;
    struct remark remark;
    struct table table;
    struct figures figures;
    double width; /* without padding */
    double height;
    bool is_chip;
};

static struct text_style box_style(const struct sheet *sheet, enum style_kind kind)
{
    const struct picture_palette *palette = sheet->palette;

    switch (kind) {
    case STYLE_NAME:
        return (struct text_style){PICTURE_SANS_BOLD, NAME_SIZE, palette->text};
    case STYLE_PLACE:
        return (struct text_style){PICTURE_SANS, PLACE_SIZE, palette->faint};
    case STYLE_FORM:
        return (struct text_style){PICTURE_SANS, FORM_SIZE, palette->text};
    case STYLE_NOTE:
        return (struct text_style){PICTURE_SANS, NOTE_SIZE, palette->faint};
    case STYLE_GRADIENT:
        return (struct text_style){PICTURE_SANS, NOTE_SIZE, palette->gradient};
    case STYLE_CODE:
        break;
    }
    return (struct text_style){PICTURE_MONO, CODE_SIZE, palette->code};
}

/* ---- texts ---- */

/* ---- measuring ---- */

static void content_texts(struct content *content,
                          struct sheet *sheet,
                          const struct flow_node *node,
                          const struct box_options *options)
{
    bool is_long = options->detail != BOX_SHORT && options->detail != BOX_CHIP;
    /* Equal nodes are context only: their values are left out. */
    bool is_quiet = node->mark == FLOW_MARK_EQUAL;

    content->name = sheet_clean(sheet, node->name);
    content->place = box_place(sheet, node, options);
    content->times = box_times(sheet, node->count);
    content->alarm = box_alarm(sheet, node);
    if (options->detail == BOX_CHIP) {
        content->is_chip = true;
        return;
    }
    if (options->detail == BOX_FULL && !is_quiet) {
        table_prepare(&content->table, sheet, node, &options->limits);
    }
    pill_of_mark(&content->pills, sheet, node->mark);
    if ((is_long && !options->is_dense) || (node->flags & FLOW_NODE_GUESSED) != 0) {
        pills_of_node(&content->pills, sheet, node);
    }
    remark_prepare(&content->remark, sheet, node, TEXT_WIDTH_MAX);
    if (is_long) {
        content->note = box_note(sheet, node);
        content->gradient = box_gradient(sheet, node);
        content->code = sheet_clean(sheet, node->code);
    }
    if (is_long && !is_quiet && !options->is_dense) {
        figures_prepare(&content->figures, sheet, node, FIGURES_WIDTH);
    }
    content->form = box_form(
        sheet, node, content->table.block_count > 0 || content->figures.count > 0);
}

static double times_width(const struct content *content)
{
    double width = content->times.width > 0 ? content->times.width + PILL_GAP : 0;

    return content->is_chip && content->alarm.width > 0
               ? width + content->alarm.width + PILL_GAP
               : width;
}

static double place_width(const struct content *content, const struct sheet *sheet)
{
    return content->place.size > 0
               ? PLACE_GAP + style_width(box_style(sheet, STYLE_PLACE), content->place)
               : 0;
}

/* Finds the width of the box: that of its widest part. Texts are shortened where they would
 * exceed TEXT_WIDTH_MAX. */
static void content_width(struct content *content, struct sheet *sheet)
{
    double width = WIDTH_LEAST;
    double most = fmax(TEXT_WIDTH_MAX, content->table.width);
    double beside = times_width(content) + place_width(content, sheet);
    const struct slice texts[] = {content->form, content->note};
    const enum style_kind kinds[] = {STYLE_FORM, STYLE_NOTE};

    width =
        fmax(width, style_width(box_style(sheet, STYLE_NAME), content->name) + beside);
    width = fmax(width, style_width(box_style(sheet, STYLE_CODE), content->code) +
                            2 * CODE_PADDING);
    width =
        fmax(width, style_width(box_style(sheet, STYLE_GRADIENT), content->gradient) +
                        2 * CODE_PADDING);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        width = fmax(width, style_width(box_style(sheet, kinds[i]), texts[i]));
    }
    width = fmax(width, pills_width(&content->pills, TEXT_WIDTH_MAX));
    width = fmax(width, remark_width(&content->remark, sheet));
    width = fmax(width, content->alarm.width);
    width = fmin(width, most);
    width = fmax(width, content->table.width);
    content->width = ceil(fmax(width, content->figures.width));
    content->name = sheet_shorten(sheet, box_style(sheet, STYLE_NAME), content->name,
                                  content->width - beside, SHORTEN_MIDDLE);
    content->form = sheet_shorten(sheet, box_style(sheet, STYLE_FORM), content->form,
                                  content->width, SHORTEN_MIDDLE);
    content->note = sheet_shorten(sheet, box_style(sheet, STYLE_NOTE), content->note,
                                  content->width, SHORTEN_MIDDLE);
    content->gradient =
        sheet_shorten(sheet, box_style(sheet, STYLE_GRADIENT), content->gradient,
                      content->width - 2 * CODE_PADDING, SHORTEN_MIDDLE);
    content->code = sheet_shorten(sheet, box_style(sheet, STYLE_CODE), content->code,
                                  content->width - 2 * CODE_PADDING, SHORTEN_MIDDLE);
}

/* ---- drawing, from top to bottom ---- */

static double head_draw(const struct content *content, struct sheet *sheet, double y)
{
    struct text_style place = box_style(sheet, STYLE_PLACE);
    double right = PADDING_LEFT + content->width;
    double x = PADDING_LEFT;

    x += sheet_text(sheet, box_style(sheet, STYLE_NAME), x, y + NAME_SIZE - 0.5,
                    content->name);
    if (content->times.width > 0) {
        pill_draw(sheet, &content->times, x + PILL_GAP, y + 0.5);
        x += content->times.width + PILL_GAP;
    }
    if (content->is_chip && content->alarm.width > 0) {
        pill_draw(sheet, &content->alarm, x + PILL_GAP, y + 0.5);
    }
    sheet_text(sheet, place, right - style_width(place, content->place),
               y + NAME_SIZE - 0.5, content->place);
    return y + NAME_HEIGHT;
}

static double line_draw(struct sheet *sheet,
                        enum style_kind kind,
                        struct slice text,
                        double y,
                        double height)
{
    if (text.size == 0) {
        return y;
    }
    sheet_text(sheet, box_style(sheet, kind), PADDING_LEFT, y + height - 3, text);
    return y + height;
}

/* Draws the gradient as a strip in the gradients' colour. */
static double
gradient_draw(const struct content *content, struct sheet *sheet, double y)
{
    struct picture_item *item;

    if (content->gradient.size == 0) {
        return y;
    }
    item = sheet_rectangle(sheet, PADDING_LEFT, y + 1, content->width, FORM_HEIGHT - 1);
    item->radius = 2.5;
    item->fill = sheet->palette->gradient_card;
    sheet_text(sheet, box_style(sheet, STYLE_GRADIENT), PADDING_LEFT + CODE_PADDING,
               y + FORM_HEIGHT - 3, content->gradient);
    return y + FORM_HEIGHT;
}

static void code_draw(const struct content *content, struct sheet *sheet, double y)
{
    struct picture_item *item =
        sheet_rectangle(sheet, PADDING_LEFT, y, content->width, CODE_HEIGHT);

    item->radius = 2.5;
    item->fill = sheet->palette->code_fill;
    sheet_text(sheet, box_style(sheet, STYLE_CODE), PADDING_LEFT + CODE_PADDING,
               y + CODE_HEIGHT - 4.0, content->code);
}

static double content_height(const struct content *content)
{
    double y = PADDING_TOP + NAME_HEIGHT;

    if (content->is_chip) {
        return y + CHIP_BOTTOM;
    }
    y += content->form.size > 0 ? FORM_HEIGHT : 0;
    y += content->pills.count > 0 ? pills_height(&content->pills, content->width) + GAP
                                  : 0;
    y += remark_height(&content->remark);
    y += content->note.size > 0 ? NOTE_HEIGHT : 0;
    y += content->table.block_count > 0 ? content->table.height + GAP : 0;
    y += content->figures.count > 0 ? content->figures.height : 0;
    y += content->gradient.size > 0 ? FORM_HEIGHT : 0;
    y += content->alarm.width > 0 ? PILL_HEIGHT + GAP : 0;
    y += content->code.size > 0 ? CODE_HEIGHT + GAP : 0;
    return y + PADDING_BOTTOM;
}

static void content_draw(const struct content *content, struct sheet *sheet)
{
    double y = head_draw(content, sheet, PADDING_TOP);

    if (content->is_chip) {
        return;
    }
    y = line_draw(sheet, STYLE_FORM, content->form, y, FORM_HEIGHT);
    if (content->pills.count > 0) {
        pills_draw(&content->pills, sheet, PADDING_LEFT, y + GAP / 2, content->width);
        y += pills_height(&content->pills, content->width) + GAP;
    }
    remark_draw(&content->remark, sheet, PADDING_LEFT, y);
    y += remark_height(&content->remark);
    y = line_draw(sheet, STYLE_NOTE, content->note, y, NOTE_HEIGHT);
    if (content->table.block_count > 0) {
        table_draw(&content->table, sheet, PADDING_LEFT, y + GAP / 2);
        y += content->table.height + GAP;
    }
    if (content->figures.count > 0) {
        figures_draw(&content->figures, sheet, PADDING_LEFT, y);
        y += content->figures.height;
    }
    y = gradient_draw(content, sheet, y);
    if (content->alarm.width > 0) {
        pill_draw(sheet, &content->alarm, PADDING_LEFT, y + GAP / 2);
        y += PILL_HEIGHT + GAP;
    }
    if (content->code.size > 0) {
        code_draw(content, sheet, y + GAP);
    }
}

/* The tooltip: `y  line 5`, and for a marked node all of its remark. */
static struct slice title_of(const struct content *content,
                             struct sheet *sheet,
                             const struct flow_node *node)
{
    struct buffer *text = &sheet->scratch;
    struct slice remark = sheet_clean(sheet, node->remark);

    text->size = 0;
    buffer_add(text, content->name);
    buffer_add(text, SLICE("  "));
    buffer_add(text, content->place);
    if (node->mark != FLOW_MARK_NONE) {
        buffer_add(text, SLICE("  "));
        buffer_add(text, mark_word(node->mark));
    }
    if (remark.size > 0) {
        buffer_add(text, SLICE(": "));
        buffer_add(text, remark);
    }
    return sheet_keep(sheet);
}

void box_draw(struct box *box,
              struct sheet *sheet,
              const struct flow_node *node,
              const struct box_options *options)
{
    struct content content = {.width = 0};
    struct card card = {.role = role_of(node), .mark = node->mark};

    content_texts(&content, sheet, node, options);
    content_width(&content, sheet);
    box->width = content.width + PADDING_LEFT + PADDING_RIGHT;
    box->height = content_height(&content);
    card.is_alarming = content.alarm.width > 0 && !is_masked(node);
    box->first_item = sheet->picture->item_count;
    sheet_begin(sheet, "node", title_of(&content, sheet, node));
    card_draw(sheet, &card, 0, 0, box->width, box->height);
    content_draw(&content, sheet);
    sheet_end(sheet);
    box->item_count = sheet->picture->item_count - box->first_item;
}

void box_move(const struct box *box, struct picture *picture, double x, double y)
{
    for (size_t i = 0; i < box->item_count; i++) {
        picture->items[box->first_item + i].x += x;
        picture->items[box->first_item + i].y += y;
    }
}
