/* The legend: explains the lines, cards and cells that occur in the picture, and no others. */
#include "runtime/view/picture/marks.h"
#include "runtime/view/picture/parts.h"

#include <math.h>

#define TEXT_SIZE    7.0
#define ROW_HEIGHT   17.0
#define SWATCH_WIDTH 26.0
#define SWATCH_GAP   5.0
#define ENTRY_GAP    16.0
#define RAMP_CELLS   7

enum legend_kind {
    LEGEND_EDGE,
    LEGEND_MANY,
    LEGEND_HANDED,
    LEGEND_MARK,
    LEGEND_ROLE,
    LEGEND_TIMES,
    LEGEND_RAMP, /* `which`: 0 for both signs, 1 without negative values */
    LEGEND_NAN,
    LEGEND_INFINITE,
    LEGEND_LOOP,
};

static const char *const edge_texts[EDGE_LINE_COUNT] = {
    [EDGE_VALUE] = "was made from",
    [EDGE_SAME] = "is the same value",
    [EDGE_WRITE] = "was written in place",
    [EDGE_ALIAS] = "changed through shared memory",
    [EDGE_CARRIED] = "continues in the next turn",
    [EDGE_SHAPE] = "only its shape, dtype or length was read",
};

static const char *const role_texts[ROLE_COUNT] = {
    [ROLE_VALUE] = "made here",
    [ROLE_SOURCE] = "source: was there before",
    [ROLE_ARGUMENT] = "argument",
    [ROLE_RESULT] = "returned",
    [ROLE_IN_PLACE] = "written in place",
    [ROLE_ALIAS] = "changed through another name",
    [ROLE_GUESS] = "argument guessed by monitorch",
    [ROLE_CALL] = "a whole call",
    [ROLE_UPDATE] = "writes gradients or parameters",
};

static struct text_style entry_style(const struct sheet *sheet)
{
    return (struct text_style){PICTURE_SANS, TEXT_SIZE, sheet->palette->faint};
}

static double swatch_width(int kind)
{
    return kind == LEGEND_RAMP ? RAMP_CELLS * 9.0 : SWATCH_WIDTH;
}

static void legend_add(struct legend *legend,
                       struct sheet *sheet,
                       enum legend_kind kind,
                       int which,
                       const char *text)
{
    struct legend_entry *entry;

    if (legend->count == LEGEND_MAX) {
        return;
    }
    entry = &legend->entries[legend->count++];
    entry->kind = (int)kind;
    entry->which = which;
    entry->text = slice_of(text);
    entry->width = swatch_width(entry->kind) + SWATCH_GAP +
                   style_width(entry_style(sheet), entry->text);
}

/* ---- what the picture contains ---- */

struct occurrence {
    bool edges[EDGE_LINE_COUNT];
    bool roles[ROLE_COUNT];
    bool marks[FLOW_MARK_COUNT];
    bool handed;
    bool many_edges;
    bool folded;
    bool loops;
    bool table;
    bool negative;
    bool nan;
    bool infinite;
};

/* Finds the kinds of cells in the sample. In rare cases the table shows fewer of them. */
static void find_cells(struct occurrence *found, const struct flow_node *node)
{
    size_t size = dtype_size(node->dtype);

    if (node->sample == NULL || size == 0 ||
        dtype_class(node->dtype) == DTYPE_CLASS_OPAQUE) {
        return;
    }
    found->table = found->table || node->grid.count > 0;
    for (uint64_t i = 0; i < node->grid.count; i++) {
        struct dtype_value value =
            dtype_read(node->dtype, (const char *)node->sample + i * size);

        found->negative = found->negative || value.real < 0 || value.integer < 0;
        found->infinite =
            found->infinite || isinf(value.real) || isinf(value.imaginary);
        found->nan = found->nan || isnan(value.real) || isnan(value.imaginary);
    }
}

static void find_all(struct occurrence *found,
                     const struct flow_graph *graph,
                     enum box_detail detail)
{
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        found->edges[edge_line_of(&graph->edges[i])] = true;
        found->many_edges = found->many_edges || graph->edges[i].count > 1;
        found->handed = found->handed || mark_is_handed_on(graph, &graph->edges[i]);
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        found->roles[role_of(&graph->nodes[i])] = true;
        found->marks[graph->nodes[i].mark] = true;
        found->folded = found->folded || graph->nodes[i].count > 1;
        if (detail == BOX_FULL && graph->nodes[i].mark != FLOW_MARK_EQUAL) {
            find_cells(found, &graph->nodes[i]);
        }
    }
    for (uint32_t i = 0; i < graph->group_count; i++) {
        found->loops = found->loops || graph->groups[i].kind == FLOW_GROUP_LOOP;
        found->folded = found->folded || graph->groups[i].count > 1;
    }
}

static void legend_measure(struct legend *legend, double wrap)
{
    double x = 0;
    uint32_t rows = 1;

    legend->wrap = wrap;
    legend->width = 0;
    for (uint32_t i = 0; i < legend->count; i++) {
        if (x > 0 && x + legend->entries[i].width > wrap) {
            x = 0;
            rows++;
        }
        legend->width = fmax(legend->width, x + legend->entries[i].width);
        x += legend->entries[i].width + ENTRY_GAP;
    }
    legend->height = legend->count > 0 ? LEGEND_GAP + rows * ROW_HEIGHT : 0;
}

/* Adds the marks, the gravest first. */
static void
add_marks(struct legend *legend, struct sheet *sheet, const struct occurrence *found)
{
    bool is_not_finite = found->marks[FLOW_MARK_PASSED] ||
                         found->marks[FLOW_MARK_FIRST] ||
                         found->marks[FLOW_MARK_PRODUCER];

    for (int i = FLOW_MARK_COUNT; i-- > FLOW_MARK_NONE + 1;) {
        if (found->marks[i]) {
            legend_add(legend, sheet, LEGEND_MARK, i, mark_meaning((enum flow_mark)i));
        }
    }
    if (found->handed) {
        legend_add(legend, sheet, LEGEND_HANDED, 0,
                   is_not_finite ? "passes NaN or an infinity on"
                                 : "passes the difference on");
    }
}

void legend_prepare(struct legend *legend,
                    struct sheet *sheet,
                    const struct flow_graph *graph,
                    enum box_detail detail,
                    double width)
{
    struct occurrence found = {.folded = false};

    *legend = (struct legend){.count = 0};
    find_all(&found, graph, detail);
    add_marks(legend, sheet, &found);
    for (int i = 0; i < EDGE_LINE_COUNT; i++) {
        if (found.edges[i]) {
            legend_add(legend, sheet, LEGEND_EDGE, i, edge_texts[i]);
        }
    }
    if (found.many_edges) {
        legend_add(legend, sheet, LEGEND_MANY, 0, "several times");
    }
    for (int i = 0; i < ROLE_COUNT; i++) {
        if (found.roles[i]) {
            legend_add(legend, sheet, LEGEND_ROLE, i, role_texts[i]);
        }
    }
    if (found.folded) {
        legend_add(legend, sheet, LEGEND_TIMES, 0, "several in one, with their ranges");
    }
    if (found.loops) {
        legend_add(legend, sheet, LEGEND_LOOP, 0, "turns of a loop");
    }
    if (found.table) {
        legend_add(legend, sheet, LEGEND_RAMP, found.negative ? 0 : 1,
                   found.negative ? "negative to positive, by the table's largest"
                                  : "zero to the table's largest");
    }
    if (found.nan) {
        legend_add(legend, sheet, LEGEND_NAN, 0, "not a number");
    }
    if (found.infinite) {
        legend_add(legend, sheet, LEGEND_INFINITE, 0, "infinite");
    }
    legend_measure(legend, width);
}

/* ---- drawing ---- */

static void
draw_edge(struct sheet *sheet, const struct legend_entry *entry, double x, double y)
{
    struct picture_item *item = sheet_add(sheet, PICTURE_CURVE);

    edge_style(sheet,
               entry->kind == LEGEND_EDGE ? (enum edge_line)entry->which : EDGE_VALUE,
               entry->kind == LEGEND_MANY ? 2 : 1, item);
    if (entry->kind == LEGEND_HANDED) {
        mark_edge(sheet, item);
    }
    item->first_point = sheet->picture->point_count;
    sheet_point(sheet, x, y);
    sheet_point(sheet, x + SWATCH_WIDTH / 3, y);
    sheet_point(sheet, x + SWATCH_WIDTH * 2 / 3, y);
    sheet_point(sheet, x + SWATCH_WIDTH, y);
    item->point_count = sheet->picture->point_count - item->first_point;
    edge_finish(sheet, item);
}

static void
draw_ramp(struct sheet *sheet, const struct legend_entry *entry, double x, double y)
{
    for (int i = 0; i < RAMP_CELLS; i++) {
        double part = (double)i / (RAMP_CELLS - 1);
        struct table_cell cell = {.text = SLICE("")};

        cell.part = entry->which == 0 ? 2 * part - 1 : part;
        table_draw_cell(sheet, &cell, x + i * 9.0, y - TABLE_CELL_HEIGHT / 2, 9.0);
    }
}

static void
draw_swatch(struct sheet *sheet, const struct legend_entry *entry, double x, double y)
{
    struct pill times = {.text = SLICE("\xC3\x97 n"),
                         .color = sheet->palette->source,
                         .text_color = sheet->palette->card,
                         .width = SWATCH_WIDTH};
    struct table_cell cell = {.text = SLICE("NaN"), .mark = TABLE_NAN};
    struct card card = {.role = ROLE_VALUE};
    struct picture_item *item;

    switch ((enum legend_kind)entry->kind) {
    case LEGEND_EDGE:
    case LEGEND_MANY:
    case LEGEND_HANDED:
        draw_edge(sheet, entry, x, y);
        break;
    case LEGEND_ROLE:
        card.role = (enum box_role)entry->which;
        card_draw(sheet, &card, x, y - 6, SWATCH_WIDTH, 12);
        break;
    case LEGEND_MARK:
        card.mark = (enum flow_mark)entry->which;
        card_draw(sheet, &card, x, y - 6, SWATCH_WIDTH, 12);
        break;
    case LEGEND_TIMES:
        pill_draw(sheet, &times, x, y - PILL_HEIGHT / 2);
        break;
    case LEGEND_RAMP:
        draw_ramp(sheet, entry, x, y);
        break;
    case LEGEND_INFINITE:
        cell = (struct table_cell){.text = SLICE("+Inf"), .mark = TABLE_INFINITE};
        /* fall through */
    case LEGEND_NAN:
        table_draw_cell(sheet, &cell, x, y - TABLE_CELL_HEIGHT / 2, SWATCH_WIDTH);
        break;
    case LEGEND_LOOP:
        item = sheet_rectangle(sheet, x, y - 6, SWATCH_WIDTH, 12);
        item->radius = 3;
        item->fill = group_color(sheet->palette, 0);
        item->stroke = sheet->palette->group_border;
        item->stroke_width = 0.75;
        item->dash = 4;
        break;
    }
}

void legend_draw(const struct legend *legend, struct sheet *sheet, double x, double y)
{
    double at = 0;

    if (legend->count == 0) {
        return;
    }
    sheet_begin(sheet, "legend", SLICE(""));
    y += LEGEND_GAP + ROW_HEIGHT / 2;
    for (uint32_t i = 0; i < legend->count; i++) {
        const struct legend_entry *entry = &legend->entries[i];

        if (at > 0 && at + entry->width > legend->wrap) {
            at = 0;
            y += ROW_HEIGHT;
        }
        draw_swatch(sheet, entry, x + at, y);
        sheet_text(sheet, entry_style(sheet),
                   x + at + swatch_width(entry->kind) + SWATCH_GAP,
                   y + TEXT_SIZE * 0.36, entry->text);
        at += entry->width + ENTRY_GAP;
    }
    sheet_end(sheet);
}
