/* Edges: each leads from a value to a value that was made from it. */
#include "runtime/view/picture/marks.h"
#include "runtime/view/picture/parts.h"

#include <math.h>

#define HEAD_LENGTH 5.5
#define HEAD_WIDTH  5.0
/* The curve ends this far inside the head, so that no gap is seen between the two. */
#define HEAD_OVERLAP 1.0

enum edge_line edge_line_of(const struct flow_edge *edge)
{
    if (edge->is_carried) {
        return EDGE_CARRIED;
    }
    switch (edge->kind) {
    case GRAPH_SAME:
        return EDGE_SAME;
    case GRAPH_WRITE:
        return EDGE_WRITE;
    case GRAPH_ALIAS:
        return EDGE_ALIAS;
    case GRAPH_SHAPE:
        return EDGE_SHAPE;
    case GRAPH_VALUE:
        break;
    }
    return EDGE_VALUE;
}

void edge_style(const struct sheet *sheet,
                enum edge_line style,
                uint64_t count,
                struct picture_item *item)
{
    const struct picture_palette *palette = sheet->palette;
    const struct {
        uint32_t color;
        double width;
        double dash;
    } styles[EDGE_LINE_COUNT] = {
        [EDGE_VALUE] = {palette->edge, 0.9, 0},
        [EDGE_SAME] = {palette->edge_same, 0.9, 1.6},
        [EDGE_WRITE] = {palette->in_place, 1.5, 0},
        [EDGE_ALIAS] = {palette->alias, 1.3, 4.5},
        [EDGE_CARRIED] = {palette->edge_carried, 1.3, 7},
        [EDGE_SHAPE] = {palette->edge_same, 0.6, 3.2},
    };

    item->stroke = styles[style].color;
    item->fill = styles[style].color;
    item->stroke_width = styles[style].width + (count > 1 ? 0.6 : 0);
    item->dash = styles[style].dash;
    item->has_arrow = true;
}

/* ---- arrows ---- */

/* The direction of the arrow: from the last control point that differs from the end point to the
 * end point. */
static void direction_of(const struct picture *picture,
                         const struct picture_item *curve,
                         double *x,
                         double *y)
{
    const struct picture_point *points = picture->points + curve->first_point;
    const struct picture_point *end = points + curve->point_count - 1;

    for (const struct picture_point *from = end; from-- > points;) {
        double length = hypot(end->x - from->x, end->y - from->y);

        if (length > 1e-6) {
            *x = (end->x - from->x) / length;
            *y = (end->y - from->y) / length;
            return;
        }
    }
    *x = 0;
    *y = 1;
}

void edge_finish(struct sheet *sheet, struct picture_item *curve)
{
    struct picture *picture = sheet->picture;
    struct picture_point *end;
    double back = HEAD_LENGTH - HEAD_OVERLAP;
    double x;
    double y;

    if (curve->point_count < 4) {
        return;
    }
    direction_of(picture, curve, &x, &y);
    end = picture->points + curve->first_point + curve->point_count - 1;
    end[0].x -= x * back;
    end[0].y -= y * back;
    /* Moves the control point too, so that the curve keeps its direction at the end. */
    end[-1].x -= x * back;
    end[-1].y -= y * back;
}

void picture_arrow(const struct picture *picture,
                   const struct picture_item *curve,
                   struct picture_point corners[3])
{
    const struct picture_point *end =
        picture->points + curve->first_point + curve->point_count - 1;
    double tip = HEAD_LENGTH - HEAD_OVERLAP;
    double half = HEAD_WIDTH / 2 + curve->stroke_width * 0.4;
    double x;
    double y;

    direction_of(picture, curve, &x, &y);
    corners[0] = (struct picture_point){end->x + x * tip, end->y + y * tip};
    corners[1] = (struct picture_point){end->x - x * HEAD_OVERLAP - y * half,
                                        end->y - y * HEAD_OVERLAP + x * half};
    corners[2] = (struct picture_point){end->x - x * HEAD_OVERLAP + y * half,
                                        end->y - y * HEAD_OVERLAP - x * half};
}

/* ---- drawing ---- */

static struct slice title_of(struct sheet *sheet,
                             const struct flow_graph *graph,
                             const struct flow_edge *edge)
{
    struct buffer *text = &sheet->scratch;
    struct slice source = sheet_clean(sheet, graph->nodes[edge->source].name);
    struct slice target = sheet_clean(sheet, graph->nodes[edge->target].name);

    text->size = 0;
    buffer_add(text, source);
    buffer_add(text, SLICE(" \xE2\x86\x92 "));
    buffer_add(text, target);
    if (edge->count > 1) {
        buffer_add(text, SLICE(" \xC3\x97 "));
        buffer_add_number(text, edge->count);
    }
    return sheet_keep(sheet);
}

void edge_draw(struct sheet *sheet,
               const struct flow_graph *graph,
               const struct flow_edge *edge,
               const struct layout_point *route,
               size_t point_count,
               double x,
               double y)
{
    static const char *const classes[EDGE_LINE_COUNT] = {
        [EDGE_VALUE] = "edge value",     [EDGE_SAME] = "edge same",
        [EDGE_WRITE] = "edge write",     [EDGE_ALIAS] = "edge alias",
        [EDGE_CARRIED] = "edge carried", [EDGE_SHAPE] = "edge shape",
    };
    enum edge_line style = edge_line_of(edge);
    struct picture_item *item;

    sheet_begin(sheet, classes[style], title_of(sheet, graph, edge));
    item = sheet_add(sheet, PICTURE_CURVE);
    edge_style(sheet, style, edge->count, item);
    if (edge->is_unsure) {
        item->stroke_width /= 2;
    }
    if (mark_is_handed_on(graph, edge)) {
        mark_edge(sheet, item);
    }
    item->first_point = sheet->picture->point_count;
    for (size_t i = 0; i < point_count; i++) {
        sheet_point(sheet, x + route[i].x, y + route[i].y);
    }
    item->point_count = sheet->picture->point_count - item->first_point;
    edge_finish(sheet, item);
    sheet_end(sheet);
}
