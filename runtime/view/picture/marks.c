/* Marks: how highlighted nodes are drawn. Each mark has a card, a word and, if it is grave,
 * edges of its own. Colour is never the only sign. */
#include "runtime/view/picture/marks.h"

#define REMARK_SIZE   7.0
#define REMARK_HEIGHT 10.0

static const struct {
    const char *word;    /* in the box */
    const char *meaning; /* in the legend */
} texts[FLOW_MARK_COUNT] = {
    [FLOW_MARK_NONE] = {"", ""},
    [FLOW_MARK_EQUAL] = {"= equal", "= equal in both traces"},
    [FLOW_MARK_MEANT] = {"Inf by name",
                         "Inf that the line writes by name, as a mask does"},
    [FLOW_MARK_PASSED] = {"\xE2\x86\x92 passed on",
                          "\xE2\x86\x92 passed on: NaN or Inf was in its inputs"},
    [FLOW_MARK_INHERITED] = {"\xE2\x89\xA0 inherited",
                             "\xE2\x89\xA0 inherited: its inputs differ"},
    [FLOW_MARK_FIRST] = {"! first NaN", "! first NaN: no recorded input has one"},
    [FLOW_MARK_ONLY] = {"+ only in B", "+ only in B"},
    [FLOW_MARK_OWN] = {"\xE2\x89\xA0 differs here",
                       "\xE2\x89\xA0 differs here: its inputs are equal"},
    [FLOW_MARK_PRODUCER] = {"! NaN or Inf made here",
                            "! NaN or Inf made here, from finite values"},
};

/* Whether the mark is one of the most prominent. */
static bool is_loud(enum flow_mark mark)
{
    return mark == FLOW_MARK_OWN || mark == FLOW_MARK_PRODUCER ||
           mark == FLOW_MARK_FIRST;
}

struct slice mark_word(enum flow_mark mark)
{
    return slice_of(texts[mark].word);
}

const char *mark_meaning(enum flow_mark mark)
{
    return texts[mark].meaning;
}

struct mark_style mark_style_of(const struct picture_palette *palette,
                                enum flow_mark mark)
{
    switch (mark) {
    case FLOW_MARK_OWN:
    case FLOW_MARK_PRODUCER:
    case FLOW_MARK_FIRST:
        return (struct mark_style){palette->loud, palette->loud_card, 2.6, 0};
    case FLOW_MARK_ONLY:
        return (struct mark_style){palette->only, palette->only_card, 1.6, 5};
    case FLOW_MARK_INHERITED:
    case FLOW_MARK_PASSED:
        return (struct mark_style){palette->inherited, palette->inherited_card, 1.4, 0};
    case FLOW_MARK_MEANT:
        return (struct mark_style){palette->faint, palette->card, 1.4, 3};
    case FLOW_MARK_EQUAL:
    case FLOW_MARK_NONE:
    case FLOW_MARK_COUNT:
        break;
    }
    return (struct mark_style){palette->faint, palette->card, 0.75, 0};
}

void pill_of_mark(struct pills *pills, struct sheet *sheet, enum flow_mark mark)
{
    pill_add(pills, sheet, mark_word(mark), mark_style_of(sheet->palette, mark).color,
             is_loud(mark) ? sheet->palette->on_loud : 0);
}

bool mark_is_handed_on(const struct flow_graph *graph, const struct flow_edge *edge)
{
    return edge->kind != GRAPH_SHAPE &&
           graph->nodes[edge->source].mark >= FLOW_MARK_PASSED &&
           graph->nodes[edge->target].mark >= FLOW_MARK_PASSED;
}

void mark_edge(const struct sheet *sheet, struct picture_item *curve)
{
    curve->stroke = sheet->palette->loud;
    curve->fill = curve->stroke;
    curve->stroke_width += 0.9;
}

/* ---- remarks ---- */

static struct text_style remark_style(const struct remark *remark,
                                      const struct sheet *sheet)
{
    return (struct text_style){remark->is_loud ? PICTURE_SANS_BOLD : PICTURE_SANS,
                               REMARK_SIZE, sheet->palette->text};
}

void remark_prepare(struct remark *remark,
                    struct sheet *sheet,
                    const struct flow_node *node,
                    double width)
{
    struct slice text = sheet_clean(sheet, node->remark);

    remark->is_loud = is_loud(node->mark);
    remark->line_count = sheet_wrap(sheet, remark_style(remark, sheet), text, width,
                                    remark->lines, REMARK_LINE_MAX);
}

double remark_width(const struct remark *remark, const struct sheet *sheet)
{
    double widest = 0;

    for (uint32_t i = 0; i < remark->line_count; i++) {
        double width = style_width(remark_style(remark, sheet), remark->lines[i]);

        widest = width > widest ? width : widest;
    }
    return widest;
}

double remark_height(const struct remark *remark)
{
    return remark->line_count * REMARK_HEIGHT;
}

void remark_draw(const struct remark *remark, struct sheet *sheet, double x, double y)
{
    for (uint32_t i = 0; i < remark->line_count; i++) {
        y += REMARK_HEIGHT;
        sheet_text(sheet, remark_style(remark, sheet), x, y - 3, remark->lines[i]);
    }
}
