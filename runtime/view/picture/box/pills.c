/* Small words in a box's head: what the value is and what was done to it. */
#include "runtime/view/picture/box/box.h"
#include "runtime/view/words/change_text.h"

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

/* ---- of a node ---- */

static struct slice
prefixed(struct sheet *sheet, struct slice prefix, struct slice text)
{
    sheet->scratch.size = 0;
    buffer_add(&sheet->scratch, prefix);
    buffer_add(&sheet->scratch, text);
    return sheet_keep(sheet);
}

/* `rebound: shape, dtype`: values are what the table shows. */
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

void pills_of_node(struct pills *pills,
                   struct sheet *sheet,
                   const struct flow_node *node)
{
    add_role(pills, sheet, node);
    add_change(pills, sheet, node);
    if (node->shape_varies) {
        pill_add(pills, sheet, SLICE("shapes vary"), sheet->palette->source, 0);
    }
}

/* ---- in lines ---- */

/* Moves to the next line where the pill does not fit into this one. */
static void next_place(const struct pill *pill, double width, double *x, double *y)
{
    if (*x > 0 && *x + pill->width > width) {
        *x = 0;
        *y += PILL_HEIGHT + PILL_GAP;
    }
}

double pills_height(const struct pills *pills, double width)
{
    double x = 0;
    double y = 0;

    for (uint32_t i = 0; i < pills->count; i++) {
        next_place(&pills->pills[i], width, &x, &y);
        x += pills->pills[i].width + PILL_GAP;
    }
    return pills->count == 0 ? 0 : y + PILL_HEIGHT;
}

double pills_width(const struct pills *pills, double limit)
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

void pills_draw(
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
