/* A call graph as a picture: boxes, the layout of them, arrows, and a title above. */
#include "runtime/view/calls/graph.h"

#include "runtime/view/calls/box.h"
#include "runtime/view/calls/levels.h"
#include "runtime/view/picture/parts.h"

#include <math.h>

#define MARGIN       18.0
#define TITLE_SIZE   13.0
#define LINE_SIZE    8.0
#define TITLE_HEIGHT 18.0
#define LINE_HEIGHT  11.5
/* The title has at least so much room, however narrow the graph is. */
#define HEAD_WIDTH_LEAST 240.0
#define COLUMN_PADDING   7.0
#define COLUMN_GAP       6.0

struct drawing {
    struct sheet sheet;
    const struct call_graph *graph;             /* borrowed */
    const struct call_picture_options *options; /* borrowed */
    struct call_frames frames;                  /* owned by `arena` */
    struct call_levels levels;
    struct call_box *boxes; /* for each node; owned by `arena` */
    double width;           /* of the graph */
    double height;
    struct slice title;
    struct slice line;
    double head_width;
    double head_height;
    double x; /* of the graph in the picture */
    double y;
    struct arena arena;
};

/* ---- boxes ---- */

static bool allocate(struct drawing *drawing)
{
    const struct call_graph *graph = drawing->graph;

    drawing->boxes = arena_allocate(&drawing->arena, graph->tree->node_count,
                                    sizeof *drawing->boxes);
    return drawing->boxes != NULL &&
           call_frames_find(&drawing->frames, graph, &drawing->arena);
}

/* How much larger a column is than what is in it, on each side. */
static double padding_of(const struct call_frame *frame)
{
    return frame->is_column ? COLUMN_PADDING : 0;
}

/* Those of yards are not known yet. */
static void measure_boxes(struct drawing *drawing)
{
    const struct call_graph *graph = drawing->graph;
    struct call_frames *frames = &drawing->frames;

    for (uint32_t i = 0; i < graph->tree->node_count; i++) {
        struct call_box *box = &drawing->boxes[i];
        struct call_frame *frame;

        if (!graph->is_drawn[i]) {
            continue;
        }
        call_box_prepare(box, &drawing->sheet, graph, i);
        frame = &frames->frames[frames->frame_of[i]];
        box->has_children = frames->has_children[i];
        box->y = frame->height > 0 ? frame->height + COLUMN_GAP : 0;
        frame->width = fmax(frame->width, box->width);
        frame->height = box->y + box->height;
    }
    for (uint32_t i = 0; i < frames->frame_count; i++) {
        struct call_frame *frame = &frames->frames[i];

        frame->width += 2 * padding_of(frame);
        frame->height += 2 * padding_of(frame);
    }
}

static bool lay_out(struct drawing *drawing, struct error *error)
{
    const struct call_page *page = &drawing->options->page;
    double proportion =
        page->width > 0 && page->height > 0 ? page->height / page->width : 0;
    const struct layout *layout;

    if (!call_levels_lay_out(&drawing->levels, &drawing->frames, proportion,
                             &drawing->arena, error)) {
        return false;
    }
    layout = &drawing->levels.levels[drawing->levels.count - 1].layout;
    drawing->width = layout->width;
    drawing->height = layout->height;
    return true;
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
    double width = fmax(drawing->width, HEAD_WIDTH_LEAST);

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
                   SLICE("  \xC2\xB7  the last part of longer paths is left out"));
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
    double width = fmax(drawing->width, drawing->head_width) + 2 * MARGIN;
    double height = drawing->height + drawing->head_height + 2 * MARGIN;

    picture->width = ceil(width);
    picture->height = ceil(height);
    if (page->width > 0 && page->height > 0) {
        picture->width = fmax(width, height * page->width / page->height);
        picture->height = picture->width * page->height / page->width;
    }
    drawing->x = floor((picture->width - drawing->width) / 2);
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

static void draw_edge(struct drawing *drawing,
                      const struct call_level *level,
                      const struct layout_edge *edge)
{
    struct sheet *sheet = &drawing->sheet;
    const struct layout_point *route = layout_route(&level->layout, edge);
    struct picture_item *item;

    sheet_begin(sheet, "edge value", SLICE(""));
    item = sheet_add(sheet, PICTURE_CURVE);
    edge_style(sheet, EDGE_VALUE, 1, item);
    item->first_point = sheet->picture->point_count;
    for (size_t i = 0; i < edge->point_count; i++) {
        sheet_point(sheet, drawing->x + level->x + route[i].x,
                    drawing->y + level->y + route[i].y);
    }
    item->point_count = sheet->picture->point_count - item->first_point;
    edge_finish(sheet, item);
    sheet_end(sheet);
}

static void draw_edges(struct drawing *drawing)
{
    for (uint32_t i = 0; i < drawing->levels.count; i++) {
        const struct call_level *level = &drawing->levels.levels[i];

        for (size_t k = 0; k < level->layout.edge_count && !drawing->sheet.has_failed;
             k++) {
            draw_edge(drawing, level, &level->layout.edges[k]);
        }
    }
}

/* Of a column or a yard. */
static void draw_ground(struct drawing *drawing, uint32_t number)
{
    struct sheet *sheet = &drawing->sheet;
    const struct call_levels *levels = &drawing->levels;
    const struct call_frame *frame = &drawing->frames.frames[number];
    struct layout_point place = call_place_of(levels, number);
    struct picture_item *item = sheet_rectangle(
        sheet, drawing->x + place.x, drawing->y + place.y, frame->width, frame->height);

    item->radius = COLUMN_PADDING;
    item->fill = group_color(sheet->palette,
                             levels->levels[call_level_of(levels, number)].depth);
    item->stroke = sheet->palette->group_border;
    item->stroke_width = 0.75;
}

/* A yard stands behind those that lie in it, and has a smaller number. */
static void draw_grounds(struct drawing *drawing)
{
    const struct call_frames *frames = &drawing->frames;

    for (uint32_t i = 0; i < frames->frame_count; i++) {
        if (frames->frames[i].holds != LAYOUT_NONE) {
            draw_ground(drawing, i);
        }
    }
    for (uint32_t i = 0; i < frames->frame_count; i++) {
        if (frames->frames[i].is_column) {
            draw_ground(drawing, i);
        }
    }
}

static void draw_node(struct drawing *drawing, uint32_t node)
{
    uint32_t number = drawing->frames.frame_of[node];
    const struct call_frame *frame = &drawing->frames.frames[number];
    struct layout_point place = call_place_of(&drawing->levels, number);
    struct call_box *box = &drawing->boxes[node];
    double padding = padding_of(frame);

    box->width = frame->width - 2 * padding;
    call_box_draw(box, &drawing->sheet, drawing->graph, node,
                  drawing->x + place.x + padding,
                  drawing->y + place.y + padding + box->y);
}

static void draw_all(struct drawing *drawing)
{
    struct sheet *sheet = &drawing->sheet;
    struct picture_item *ground =
        sheet_rectangle(sheet, 0, 0, sheet->picture->width, sheet->picture->height);

    ground->fill = sheet->palette->background;
    draw_head(drawing);
    draw_grounds(drawing);
    draw_edges(drawing);
    for (uint32_t i = 0; i < drawing->graph->tree->node_count; i++) {
        if (drawing->graph->is_drawn[i]) {
            draw_node(drawing, i);
        }
    }
}

static bool draw(struct drawing *drawing, struct error *error)
{
    if (!allocate(drawing)) {
        return error_set_memory(error);
    }
    measure_boxes(drawing);
    if (!lay_out(drawing, error)) {
        return false;
    }
    prepare_head(drawing);
    set_size(drawing);
    draw_all(drawing);
    if (sheet_has_failed(&drawing->sheet) || !set_page(drawing->sheet.picture)) {
        return error_set_memory(error);
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
    picture->background = drawing.sheet.palette->background;
    picture->title = SLICE("calls");
    is_done = draw(&drawing, error);
    call_levels_release(&drawing.levels);
    arena_release(&drawing.arena);
    sheet_release(&drawing.sheet);
    return is_done;
}
