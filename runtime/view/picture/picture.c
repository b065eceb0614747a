/* Drawing of a graph: first the boxes, which have sizes then; then the layout; then everything
 * under and around the boxes, which is moved before them in the order of drawing. */
#include "runtime/view/picture/picture.h"

#include "runtime/base/memory.h"
#include "runtime/view/layout/layout.h"
#include "runtime/view/picture/parts.h"

#include <math.h>

#define MARGIN 18.0
/* Head and legend are at least this wide, however narrow the graph is. */
#define TEXT_WIDTH_LEAST 380.0
/* Above these numbers of boxes, each shows less, so that a graph of 100,000 can be drawn too. */
#define TABLE_NODE_MAX 2500
#define LONG_NODE_MAX  12000
/* Up to this number of boxes, several layouts are tried. */
#define TRIED_NODE_MAX 2500

/* The state of one drawing. */
struct drawing {
    struct sheet sheet;
    const struct flow_graph *graph;        /* borrowed */
    const struct picture_options *options; /* borrowed */
    struct layout layout;
    struct box *boxes; /* this and the next arrays are owned by `arena` */
    struct layout_box *places;
    struct layout_group *group_places;
    struct layout_edge *routes;
    struct group_title *titles;
    struct page_part
        *parts; /* rectangles that no page may cut: boxes, titles, head, legend */
    size_t part_count;
    enum box_detail *details; /* of each box */
    double *group_tops;       /* y of the highest box of each group, in the layout */
    struct head head;
    struct legend legend;
    enum box_detail detail;
    double x; /* place of the graph in the picture */
    double y;
    struct arena arena;
};

void picture_init(struct picture *picture)
{
    *picture = (struct picture){.scale = 1};
    arena_init(&picture->arena);
}

void picture_release(struct picture *picture)
{
    memory_free(picture->items);
    memory_free(picture->points);
    arena_release(&picture->arena);
    picture_init(picture);
}

/* ---- boxes, groups and edges for the layout ---- */

static bool drawing_allocate(struct drawing *drawing)
{
    const struct flow_graph *graph = drawing->graph;
    struct arena *arena = &drawing->arena;

    drawing->boxes = arena_allocate(arena, graph->node_count, sizeof *drawing->boxes);
    drawing->places = arena_allocate(arena, graph->node_count, sizeof *drawing->places);
    drawing->group_places =
        arena_allocate(arena, graph->group_count, sizeof *drawing->group_places);
    drawing->titles =
        arena_allocate(arena, graph->group_count, sizeof *drawing->titles);
    drawing->routes = arena_allocate(arena, graph->edge_count, sizeof *drawing->routes);
    drawing->parts =
        arena_allocate(arena, (size_t)graph->node_count + graph->group_count + 2,
                       sizeof *drawing->parts);
    drawing->details =
        arena_allocate(arena, graph->node_count, sizeof *drawing->details);
    drawing->group_tops =
        arena_allocate(arena, graph->group_count, sizeof *drawing->group_tops);
    return !arena->has_failed;
}

/* Whether the node has the same value as the edge's source, and the picture says nothing more
 * about it. */
static bool is_same_value(const struct flow_graph *graph, const struct flow_edge *edge)
{
    const struct flow_node *node = &graph->nodes[edge->target];
    const struct flow_node *source = &graph->nodes[edge->source];

    return edge->kind == GRAPH_SAME && !edge->is_carried &&
           (node->flags & (FLOW_NODE_CALL | FLOW_NODE_GUESSED)) == 0 &&
           node->mark <= FLOW_MARK_PASSED && node->count == source->count;
}

static void find_details(struct drawing *drawing)
{
    enum { HAS_SOURCE = 1, HAS_TARGET = 2 };
    const struct flow_graph *graph = drawing->graph;
    const struct picture_options *options = drawing->options;
    bool has_ends =
        options->tables == PICTURE_TABLES_ENDS && drawing->detail == BOX_FULL;

    for (uint32_t i = 0; i < graph->node_count; i++) {
        drawing->details[i] = has_ends ? 0 : drawing->detail;
    }
    for (uint32_t i = 0; has_ends && i < graph->edge_count; i++) {
        drawing->details[graph->edges[i].target] |= HAS_SOURCE;
        drawing->details[graph->edges[i].source] |= HAS_TARGET;
    }
    for (uint32_t i = 0; has_ends && i < graph->node_count; i++) {
        drawing->details[i] = drawing->details[i] == (HAS_SOURCE | HAS_TARGET)
                                  ? BOX_WITHOUT_TABLE
                                  : BOX_FULL;
    }
    for (uint32_t i = 0; options->has_chips && i < graph->edge_count; i++) {
        if (is_same_value(graph, &graph->edges[i])) {
            drawing->details[graph->edges[i].target] = BOX_CHIP;
        }
    }
}

static void draw_boxes(struct drawing *drawing)
{
    const struct flow_graph *graph = drawing->graph;
    const struct picture_options *options = drawing->options;
    struct box_options box_options = {
        .has_files = graph->file_count > 1,
        .is_dense = options->is_dense,
        .limits = {options->max_vector, options->max_matrix, options->max_slices},
    };

    for (uint32_t i = 0; i < graph->node_count && !sheet_has_failed(&drawing->sheet);
         i++) {
        struct box *box = &drawing->boxes[i];

        box_options.detail = drawing->details[i];
        box_draw(box, &drawing->sheet, &graph->nodes[i], &box_options);
        drawing->places[i] = (struct layout_box){
            .width = box->width,
            .height = box->height,
            .group = graph->nodes[i].group == FLOW_NONE ? LAYOUT_NONE
                                                        : graph->nodes[i].group,
        };
    }
}

static bool lay_out(struct drawing *drawing, double proportion, struct error *error)
{
    struct layout *layout = &drawing->layout;

    layout->options = (struct layout_options){
        .box_gap = drawing->options->is_dense ? 14.0 : 20.0,
        .layer_gap = drawing->options->is_dense ? 20.0 : 30.0,
        .edge_gap = 9.0,
        .proportion = proportion,
    };
    return layout_compute(layout, error);
}

/* The size by which layouts are compared: the geometric mean of the picture's own area, which
 * may be a strip, and the area of the smallest page of the wanted proportion that holds it,
 * which may be mostly empty. If the user chose the proportion, only the page counts. */
static double size_of(const struct layout *layout, double proportion, double cost)
{
    double page_width = fmax(layout->width, layout->height / proportion);

    if (proportion != PICTURE_OPTIONS_DEFAULT.proportion) {
        return page_width * page_width * proportion;
    }
    return page_width * sqrt(proportion * layout->width * layout->height) * cost;
}

/* Finds the best layout.
 *
 * A picture without columns is read from top to bottom, while the edges of columns lead a long
 * way back up. So one without columns is tried first, and has the lowest cost factor. The layout
 * cannot predict the size of its columns and rows; pages that are a little wider or higher often
 * fit better. But the wanted page is preferred unless others are clearly better, so that one
 * more box does not change the whole picture.
 *
 * Costs up to seven layouts. */
static bool lay_out_best(struct drawing *drawing, struct error *error)
{
    static const struct {
        double factor;
        double cost;
    } tries[] = {{0.0, 0.48}, {1.0, 0.8}, {1.4, 0.85},
                 {2.0, 0.9},  {0.7, 1.0}, {0.5, 1.0}};
    double wanted = drawing->options->proportion;
    size_t count = sizeof tries / sizeof *tries;
    size_t best = 0;
    double best_size = INFINITY;

    if (!(wanted > 0) || drawing->graph->node_count > TRIED_NODE_MAX) {
        return lay_out(drawing, wanted, error);
    }
    for (size_t i = 0; i < count; i++) {
        double size;

        if (!lay_out(drawing, wanted * tries[i].factor, error)) {
            return false;
        }
        /* Pages are stacked without columns if the layout is narrow enough for them. */
        if (i == 0 && drawing->options->has_pages &&
            drawing->layout.width + 2 * MARGIN <=
                drawing->options->page_width / PAGE_SCALE_WHOLE) {
            return true;
        }
        size = size_of(&drawing->layout, wanted, tries[i].cost);
        if (size < best_size) {
            best = i;
            best_size = size;
        }
    }
    return best == count - 1 || lay_out(drawing, wanted * tries[best].factor, error);
}

static bool has_threads(const struct flow_graph *graph)
{
    for (uint32_t i = 1; i < graph->group_count; i++) {
        if (graph->groups[i].thread != graph->groups[0].thread) {
            return true;
        }
    }
    return false;
}

static bool compute_layout(struct drawing *drawing, struct error *error)
{
    const struct flow_graph *graph = drawing->graph;
    struct group_options options = {.has_files = graph->file_count > 1,
                                    .has_threads = has_threads(graph)};
    struct layout *layout = &drawing->layout;

    for (uint32_t i = 0; i < graph->group_count; i++) {
        const struct flow_group *group = &graph->groups[i];

        drawing->group_places[i] = (struct layout_group){
            .parent = group->parent == FLOW_NONE ? LAYOUT_NONE : group->parent};
        group_measure(&drawing->titles[i], &drawing->group_places[i], &drawing->sheet,
                      group, &options);
        if (group->parent != FLOW_NONE) {
            drawing->titles[i].depth = drawing->titles[group->parent].depth + 1;
        }
    }
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        drawing->routes[i] = (struct layout_edge){.source = graph->edges[i].source,
                                                  .target = graph->edges[i].target};
    }
    layout->boxes = drawing->places;
    layout->box_count = graph->node_count;
    layout->groups = drawing->group_places;
    layout->group_count = graph->group_count;
    layout->edges = drawing->routes;
    layout->edge_count = graph->edge_count;
    return lay_out_best(drawing, error);
}

/* ---- placing ---- */

static void measure_around(struct drawing *drawing)
{
    struct picture *picture = drawing->sheet.picture;
    double width = fmax(drawing->layout.width, TEXT_WIDTH_LEAST);

    /* A head must not make a page wider. */
    if (drawing->options->has_pages && drawing->options->page_width > 0) {
        width = fmin(width, fmax(drawing->options->page_width, TEXT_WIDTH_LEAST));
    }
    head_prepare(&drawing->head, &drawing->sheet, drawing->graph, drawing->options,
                 drawing->detail, width);
    legend_prepare(&drawing->legend, &drawing->sheet, drawing->graph, drawing->detail,
                   width);
    width =
        fmax(drawing->layout.width, fmax(drawing->head.width, drawing->legend.width));
    picture->width = ceil(width + 2 * MARGIN);
    picture->height = ceil(drawing->head.height + drawing->layout.height +
                           drawing->legend.height + 2 * MARGIN);
    drawing->x = MARGIN + floor((width - drawing->layout.width) / 2);
    drawing->y = MARGIN + drawing->head.height;
}

static void draw_around(struct drawing *drawing)
{
    const struct flow_graph *graph = drawing->graph;
    struct sheet *sheet = &drawing->sheet;
    struct picture_item *item =
        sheet_rectangle(sheet, 0, 0, sheet->picture->width, sheet->picture->height);

    item->fill = sheet->palette->background;
    head_draw(&drawing->head, sheet, MARGIN, MARGIN);
    for (uint32_t i = 0; i < graph->group_count; i++) {
        group_draw(sheet, &graph->groups[i], &drawing->titles[i],
                   &drawing->group_places[i], drawing->x, drawing->y);
    }
    for (uint32_t i = 0; i < graph->edge_count && !sheet->has_failed; i++) {
        edge_draw(sheet, graph, &graph->edges[i],
                  layout_route(&drawing->layout, &drawing->routes[i]),
                  drawing->routes[i].point_count, drawing->x, drawing->y);
    }
    legend_draw(&drawing->legend, sheet, MARGIN,
                sheet->picture->height - MARGIN - drawing->legend.height);
}

static void add_part(struct drawing *drawing, struct page_part part)
{
    drawing->parts[drawing->part_count++] = part;
}

static void move_boxes(struct drawing *drawing)
{
    for (uint32_t i = 0; i < drawing->graph->node_count; i++) {
        const struct layout_box *place = &drawing->places[i];
        double x = drawing->x + place->x;
        double y = drawing->y + place->y;

        box_move(&drawing->boxes[i], drawing->sheet.picture, x, y);
        add_part(drawing, (struct page_part){x, y, place->width, place->height, false});
    }
}

/* Adds the titles as parts. Each is joined with the highest box below it. */
static void add_titles(struct drawing *drawing)
{
    const struct flow_graph *graph = drawing->graph;
    double *tops = drawing->group_tops;

    for (uint32_t i = 0; i < graph->group_count; i++) {
        tops[i] = INFINITY;
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (graph->nodes[i].group != FLOW_NONE) {
            double *top = &tops[graph->nodes[i].group];

            *top = fmin(*top, drawing->places[i].y);
        }
    }
    for (uint32_t i = graph->group_count; i-- > 0;) {
        const struct layout_group *place = &drawing->group_places[i];
        uint32_t parent = graph->groups[i].parent;

        if (parent != FLOW_NONE) {
            tops[parent] = fmin(tops[parent], tops[i]);
        }
        if (tops[i] < INFINITY) {
            add_part(drawing, (struct page_part){
                                  .x = drawing->x + place->x + place->padding,
                                  .y = drawing->y + place->y,
                                  .width = place->title_width,
                                  .height = tops[i] - place->y + 1,
                                  .is_title = true,
                              });
        }
    }
}

static void add_parts_around(struct drawing *drawing)
{
    const struct picture *picture = drawing->sheet.picture;

    add_part(drawing, (struct page_part){
                          .x = MARGIN,
                          .y = MARGIN,
                          .width = drawing->head.width,
                          .height = drawing->head.height - HEAD_GAP,
                      });
    if (drawing->legend.count > 0) {
        double height = drawing->legend.height - LEGEND_GAP;

        add_part(drawing, (struct page_part){
                              .x = MARGIN,
                              .y = picture->height - MARGIN - height,
                              .width = drawing->legend.width,
                              .height = height,
                          });
    }
}

static bool draw(struct drawing *drawing, struct error *error)
{
    struct picture *picture = drawing->sheet.picture;
    size_t box_item_count;

    if (!drawing_allocate(drawing)) {
        return error_set_memory(error);
    }
    find_details(drawing);
    draw_boxes(drawing);
    box_item_count = picture->item_count;
    if (sheet_has_failed(&drawing->sheet)) {
        return error_set_memory(error);
    }
    if (!compute_layout(drawing, error)) {
        return false;
    }
    measure_around(drawing);
    draw_around(drawing);
    if (sheet_has_failed(&drawing->sheet)) {
        return error_set_memory(error);
    }
    move_boxes(drawing);
    add_titles(drawing);
    add_parts_around(drawing);
    sheet_raise(&drawing->sheet, box_item_count); /* boxes are drawn last, on top */
    if (!pages_cut(picture, drawing->parts, drawing->part_count, drawing->options)) {
        return error_set_memory(error);
    }
    return true;
}

bool picture_draw(struct picture *picture,
                  const struct flow_graph *graph,
                  const struct picture_options *options,
                  struct error *error)
{
    struct drawing drawing = {.graph = graph, .options = options};
    bool is_done;

    picture_release(picture);
    sheet_init(&drawing.sheet, picture, options->theme);
    arena_init(&drawing.arena);
    layout_init(&drawing.layout);
    picture->background = drawing.sheet.palette->background;
    picture->scale = options->scale > 0 ? options->scale : 1;
    drawing.detail = graph->node_count > LONG_NODE_MAX        ? BOX_SHORT
                     : graph->node_count > TABLE_NODE_MAX     ? BOX_WITHOUT_TABLE
                     : options->tables == PICTURE_TABLES_NONE ? BOX_WITHOUT_TABLE
                                                              : BOX_FULL;
    is_done = draw(&drawing, error);
    layout_release(&drawing.layout);
    arena_release(&drawing.arena);
    sheet_release(&drawing.sheet);
    if (!is_done) {
        picture_release(picture);
    }
    return is_done;
}
