/* A call graph as a picture: boxes, the layout of them, arrows, and a title above. */
#include "runtime/view/call_graph.h"

#include "runtime/view/call_box.h"
#include "runtime/view/layout.h"
#include "runtime/view/picture_parts.h"

#include <math.h>

#define MARGIN       18.0
#define TITLE_SIZE   13.0
#define LINE_SIZE    8.0
#define TITLE_HEIGHT 18.0
#define LINE_HEIGHT  11.5
/* The title has at least so much room, however narrow the graph is. */
#define HEAD_WIDTH_LEAST 240.0
/* What is much wider or higher than that is wrapped. */
#define PROPORTION 0.6

struct drawing {
    struct sheet sheet;
    const struct call_graph *graph;             /* borrowed */
    const struct call_picture_options *options; /* borrowed */
    struct layout layout;
    uint32_t *places; /* for each node its box; owned by `arena`, as the next */
    uint32_t *nodes;  /* for each box its node */
    struct call_box *boxes;
    struct layout_box *layout_boxes;
    struct layout_edge *routes;
    uint32_t box_count;
    struct slice title;
    struct slice line;
    double head_width;
    double head_height;
    double x; /* of the graph in the picture */
    double y;
    struct arena arena;
};

/* ---- boxes and their places ---- */

static bool allocate(struct drawing *drawing)
{
    const struct call_graph *graph = drawing->graph;
    struct arena *arena = &drawing->arena;
    size_t count = graph->drawn_count;

    drawing->places =
        arena_allocate(arena, graph->tree->node_count, sizeof *drawing->places);
    drawing->nodes = arena_allocate(arena, count, sizeof *drawing->nodes);
    drawing->boxes = arena_allocate(arena, count, sizeof *drawing->boxes);
    drawing->layout_boxes = arena_allocate(arena, count, sizeof *drawing->layout_boxes);
    drawing->routes = arena_allocate(arena, graph->edge_count, sizeof *drawing->routes);
    return !arena->has_failed;
}

static void measure_boxes(struct drawing *drawing)
{
    const struct call_graph *graph = drawing->graph;

    for (uint32_t i = 0; i < graph->tree->node_count; i++) {
        uint32_t place = drawing->box_count;
        struct call_box *box = &drawing->boxes[place];

        if (!graph->is_drawn[i]) {
            continue;
        }
        call_box_prepare(box, &drawing->sheet, graph, i);
        drawing->layout_boxes[place] = (struct layout_box){
            .width = box->width, .height = box->height, .group = LAYOUT_NONE};
        drawing->nodes[place] = i;
        drawing->places[i] = place;
        drawing->box_count++;
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        drawing->routes[i] =
            (struct layout_edge){.source = drawing->places[graph->edges[i].source],
                                 .target = drawing->places[graph->edges[i].target]};
        drawing->boxes[drawing->routes[i].source].has_children = true;
    }
}

static bool lay_out(struct drawing *drawing, struct error *error)
{
    const struct call_page *page = &drawing->options->page;
    struct layout *layout = &drawing->layout;
    bool has_shape = page->width > 0 && page->height > 0;

    layout->boxes = drawing->layout_boxes;
    layout->box_count = drawing->box_count;
    layout->edges = drawing->routes;
    layout->edge_count = drawing->graph->edge_count;
    layout->options = (struct layout_options){
        .box_gap = 14.0,
        .layer_gap = 34.0,
        .edge_gap = 8.0,
        .proportion = has_shape ? page->height / page->width : PROPORTION,
    };
    return layout_compute(layout, error);
}

/* ---- the head ---- */

static struct text_style title_style(const struct sheet *sheet)
{
    return (struct text_style){PICTURE_SANS_BOLD, TITLE_SIZE, sheet->palette->text};
}

static struct text_style line_style(const struct sheet *sheet)
{
    return (struct text_style){PICTURE_SANS, LINE_SIZE, sheet->palette->faint};
}

static void add_counted(struct buffer *text, uint64_t count, const char *what)
{
    buffer_add_number(text, count);
    buffer_add_byte(text, ' ');
    buffer_add(text, slice_of(what));
    buffer_add(text, count == 1 ? SLICE("") : SLICE("s"));
}

static void prepare_head(struct drawing *drawing)
{
    const struct call_graph *graph = drawing->graph;
    struct sheet *sheet = &drawing->sheet;
    struct slice title = sheet_clean(sheet, drawing->options->title);
    double width = fmax(drawing->layout.width, HEAD_WIDTH_LEAST);

    if (title.size == 0) {
        return;
    }
    sheet->picture->title = title;
    drawing->title =
        sheet_shorten(sheet, title_style(sheet), title, width, SHORTEN_MIDDLE);
    sheet->scratch.size = 0;
    add_counted(&sheet->scratch, graph->tree->nodes[0].count, "call");
    if (!graph->options.has_leaves) {
        buffer_add(&sheet->scratch,
                   SLICE("  \xC2\xB7  the last part of each path is left out"));
    }
    drawing->line =
        sheet_shorten(sheet, line_style(sheet), sheet_keep(sheet), width, SHORTEN_END);
    drawing->head_width = fmax(style_width(title_style(sheet), drawing->title),
                               style_width(line_style(sheet), drawing->line));
    drawing->head_height = TITLE_HEIGHT + LINE_HEIGHT + HEAD_GAP;
}

static void draw_head(struct drawing *drawing)
{
    struct sheet *sheet = &drawing->sheet;

    if (drawing->title.size == 0) {
        return;
    }
    sheet_begin(sheet, "head", SLICE(""));
    sheet_text(sheet, title_style(sheet), MARGIN, MARGIN + TITLE_SIZE - 1,
               drawing->title);
    sheet_text(sheet, line_style(sheet), MARGIN, MARGIN + TITLE_HEIGHT + LINE_SIZE - 1,
               drawing->line);
    sheet_end(sheet);
}

/* ---- the page ---- */

/* The picture's size, made larger in one direction where it has to have a proportion. */
static void set_size(struct drawing *drawing)
{
    const struct call_page *page = &drawing->options->page;
    struct picture *picture = drawing->sheet.picture;
    double width = fmax(drawing->layout.width, drawing->head_width) + 2 * MARGIN;
    double height = drawing->layout.height + drawing->head_height + 2 * MARGIN;

    picture->width = ceil(width);
    picture->height = ceil(height);
    if (page->width > 0 && page->height > 0) {
        picture->width = fmax(width, height * page->width / page->height);
        picture->height = picture->width * page->height / page->width;
    }
    drawing->x = floor((picture->width - drawing->layout.width) / 2);
    drawing->y = MARGIN + drawing->head_height + floor((picture->height - height) / 2);
}

static bool set_page(struct picture *picture)
{
    picture->pages = arena_allocate(&picture->arena, 1, sizeof *picture->pages);
    if (picture->pages == NULL) {
        return false;
    }
    picture->pages[0] = (struct picture_page){0, 0, picture->width, picture->height};
    picture->page_count = 1;
    return true;
}

/* ---- drawing ---- */

static void draw_edge(struct drawing *drawing, const struct layout_edge *edge)
{
    struct sheet *sheet = &drawing->sheet;
    const struct layout_point *route = layout_route(&drawing->layout, edge);
    struct picture_item *item;

    sheet_begin(sheet, "edge value", SLICE(""));
    item = sheet_add(sheet, PICTURE_CURVE);
    edge_style(sheet, EDGE_VALUE, 1, item);
    item->first_point = sheet->picture->point_count;
    for (size_t i = 0; i < edge->point_count; i++) {
        sheet_point(sheet, drawing->x + route[i].x, drawing->y + route[i].y);
    }
    item->point_count = sheet->picture->point_count - item->first_point;
    edge_finish(sheet, item);
    sheet_end(sheet);
}

static void draw_all(struct drawing *drawing)
{
    struct sheet *sheet = &drawing->sheet;
    struct picture_item *ground =
        sheet_rectangle(sheet, 0, 0, sheet->picture->width, sheet->picture->height);

    ground->fill = sheet->palette->background;
    draw_head(drawing);
    for (size_t i = 0; i < drawing->layout.edge_count && !sheet->has_failed; i++) {
        draw_edge(drawing, &drawing->routes[i]);
    }
    for (uint32_t i = 0; i < drawing->box_count; i++) {
        const struct layout_box *place = &drawing->layout_boxes[i];

        call_box_draw(&drawing->boxes[i], sheet, drawing->graph, drawing->nodes[i],
                      drawing->x + place->x, drawing->y + place->y);
    }
}

static bool draw(struct drawing *drawing, struct error *error)
{
    if (!allocate(drawing)) {
        error_set_memory(error);
        return false;
    }
    measure_boxes(drawing);
    if (!lay_out(drawing, error)) {
        return false;
    }
    prepare_head(drawing);
    set_size(drawing);
    draw_all(drawing);
    if (sheet_has_failed(&drawing->sheet) || !set_page(drawing->sheet.picture)) {
        error_set_memory(error);
        return false;
    }
    return true;
}

bool call_graph_draw(const struct call_graph *graph,
                     const struct call_picture_options *options,
                     struct picture *picture,
                     struct error *error)
{
    struct drawing drawing = {.graph = graph, .options = options};
    bool is_done;

    sheet_init(&drawing.sheet, picture, options->theme);
    arena_init(&drawing.arena);
    layout_init(&drawing.layout);
    picture->background = drawing.sheet.palette->background;
    picture->title = SLICE("calls");
    is_done = draw(&drawing, error);
    layout_release(&drawing.layout);
    arena_release(&drawing.arena);
    sheet_release(&drawing.sheet);
    return is_done;
}
