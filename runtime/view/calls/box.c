/* The box of a node in a call graph's picture: its name, how often it was met, its shape. */
#include "runtime/view/calls/box.h"

#include <math.h>

#define NAME_SIZE    10.0
#define SMALL_SIZE   7.5
#define NAME_HEIGHT  14.0
#define SMALL_HEIGHT 10.5
#define PADDING      11.0
#define BORDER       6.0 /* above and below the lines */
#define NAME_MAX     200.0
#define SHAPE_MAX    200.0
#define MORE         SLICE(", \xE2\x80\xA6")
#define WIDTH_LEAST  52.0
/* So many runs of indices are told one by one. */
#define RUN_MAX 4

static struct text_style name_style(const struct sheet *sheet)
{
    return (struct text_style){PICTURE_SANS_BOLD, NAME_SIZE, sheet->palette->text};
}

static struct text_style small_style(const struct sheet *sheet)
{
    return (struct text_style){PICTURE_SANS, SMALL_SIZE, sheet->palette->faint};
}

static struct text_style shape_style(const struct sheet *sheet)
{
    return (struct text_style){PICTURE_MONO, SMALL_SIZE, sheet->palette->code};
}

/* ---- what it says ---- */

/* "0–5, 8": runs of numbers. Whether there were too many is told by an ellipsis. */
static void add_indices(struct buffer *text, const struct call_node *node)
{
    uint32_t i = 0;

    for (uint32_t run = 0; i < node->index_count; run++) {
        uint32_t last = i;

        while (last + 1 < node->index_count &&
               node->indices[last + 1] == node->indices[last] + 1) {
            last++;
        }
        buffer_add(text, run > 0 ? SLICE(", ") : SLICE(""));
        if (run == RUN_MAX) {
            buffer_add(text, SLICE("\xE2\x80\xA6"));
            return;
        }
        buffer_add_number(text, node->indices[i]);
        if (last > i) {
            buffer_add(text, SLICE("\xE2\x80\x93"));
            buffer_add_number(text, node->indices[last]);
        }
        i = last + 1;
    }
}

static void prepare_calls(struct call_box *box,
                          struct sheet *sheet,
                          const struct call_graph *graph,
                          uint32_t node)
{
    const struct call_node *shown = &graph->tree->nodes[node];
    const struct call_node *told = call_graph_told(graph, node);
    bool has_calls = call_graph_tells_calls(graph, told);
    struct buffer *text = &sheet->scratch;

    text->size = 0;
    if (!graph->options.has_repetition) {
        return;
    }
    if (shown->index_count > 1) {
        add_indices(text, shown);
        buffer_add(text, has_calls ? SLICE(" \xC2\xB7 ") : SLICE(""));
    }
    if (has_calls) {
        buffer_add_number(text, told->call_count);
        buffer_add(text, SLICE(" calls"));
    }
    box->calls = sheet_keep(sheet);
}

static void prepare_times(struct call_box *box,
                          struct sheet *sheet,
                          const struct call_node *node,
                          const struct call_graph *graph)
{
    if (!graph->options.has_repetition || node->index_count < 2) {
        return;
    }
    sheet->scratch.size = 0;
    buffer_add(&sheet->scratch, SLICE("\xC3\x97 "));
    buffer_add_number(&sheet->scratch, node->index_count);
    pill_add(&box->times, sheet, sheet_keep(sheet), sheet->palette->argument, 0);
}

/* The first of several shapes, as many as are at most `width` wide. */
static struct slice shorten_shapes(struct sheet *sheet,
                                   struct text_style style,
                                   struct slice shapes,
                                   double width)
{
    size_t end = shapes.size;

    if (style_width(style, shapes) <= width) {
        return shapes;
    }
    while (end > 0 &&
           (shapes.bytes[end - 1] != ']' ||
            style_width(style, slice_part(shapes, 0, end)) + style_width(style, MORE) >
                width)) {
        end--;
    }
    if (end == 0) {
        return sheet_shorten(sheet, style, shapes, width, SHORTEN_END);
    }
    sheet->scratch.size = 0;
    buffer_add(&sheet->scratch, slice_part(shapes, 0, end));
    buffer_add(&sheet->scratch, MORE);
    return sheet_keep(sheet);
}

/* Of many arguments the first are told, and what came out. */
static void prepare_shape(struct call_box *box,
                          struct sheet *sheet,
                          const struct call_graph *graph,
                          uint32_t node)
{
    struct text_style style = shape_style(sheet);
    struct slice shape = sheet_clean(sheet, call_graph_told(graph, node)->shape);
    size_t arrow = slice_find(shape, SLICE(" -> "), 0);
    struct slice inputs = slice_part(shape, 0, arrow);
    struct slice outputs = slice_part(shape, arrow, shape.size);

    if (!graph->options.has_shapes || shape.size == 0) {
        return;
    }
    outputs = shorten_shapes(sheet, style, outputs, SHAPE_MAX / 2);
    inputs =
        shorten_shapes(sheet, style, inputs, SHAPE_MAX - style_width(style, outputs));
    sheet->scratch.size = 0;
    buffer_add(&sheet->scratch, inputs);
    buffer_add(&sheet->scratch, outputs);
    box->shape = sheet_keep(sheet);
}

static double name_width(const struct call_box *box, const struct sheet *sheet)
{
    return style_width(name_style(sheet), box->name) +
           (box->times.count > 0 ? 2 * PILL_GAP + box->times.pills[0].width : 0);
}

void call_box_prepare(struct call_box *box,
                      struct sheet *sheet,
                      const struct call_graph *graph,
                      uint32_t node)
{
    const struct call_node *shown = &graph->tree->nodes[node];
    double width;

    *box = (struct call_box){.calls = SLICE(""), .shape = SLICE("")};
    box->name = sheet_shorten(sheet, name_style(sheet), sheet_clean(sheet, shown->name),
                              NAME_MAX, SHORTEN_MIDDLE);
    prepare_times(box, sheet, shown, graph);
    prepare_calls(box, sheet, graph, node);
    prepare_shape(box, sheet, graph, node);
    width =
        fmax(name_width(box, sheet), fmax(style_width(small_style(sheet), box->calls),
                                          style_width(shape_style(sheet), box->shape)));
    box->width = fmax(ceil(width + 2 * PADDING), WIDTH_LEAST);
    box->height = 2 * BORDER + NAME_HEIGHT + (box->calls.size > 0 ? SMALL_HEIGHT : 0) +
                  (box->shape.size > 0 ? SMALL_HEIGHT : 0);
}

/* ---- drawing ---- */

/* A line in the middle of the box. Gives back the next line's top. */
static double draw_small(const struct call_box *box,
                         struct sheet *sheet,
                         struct text_style style,
                         struct slice text,
                         double x,
                         double y)
{
    if (text.size == 0) {
        return y;
    }
    sheet_text(sheet, style, x + (box->width - style_width(style, text)) / 2,
               y + SMALL_SIZE, text);
    return y + SMALL_HEIGHT;
}

void call_box_draw(const struct call_box *box,
                   struct sheet *sheet,
                   const struct call_graph *graph,
                   uint32_t node,
                   double x,
                   double y)
{
    struct card card = {.role = node == 0           ? ROLE_ARGUMENT
                                : box->has_children ? ROLE_SOURCE
                                                    : ROLE_VALUE};
    double left = x + (box->width - name_width(box, sheet)) / 2;

    sheet_begin(sheet, "node", sheet_clean(sheet, graph->tree->nodes[node].name));
    card_draw(sheet, &card, x, y, box->width, box->height);
    y += BORDER;
    left += sheet_text(sheet, name_style(sheet), left, y + NAME_SIZE, box->name);
    if (box->times.count > 0) {
        pill_draw(sheet, &box->times.pills[0], left + 2 * PILL_GAP,
                  y + (NAME_HEIGHT - PILL_HEIGHT) / 2);
    }
    y = draw_small(box, sheet, small_style(sheet), box->calls, x, y + NAME_HEIGHT);
    draw_small(box, sheet, shape_style(sheet), box->shape, x, y);
    sheet_end(sheet);
}
