/* A call graph as a picture: boxes, the layout of them, arrows, and a title above. */
#include "runtime/view/call_graph.h"

#include "runtime/view/call_box.h"
#include "runtime/view/call_frames.h"
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
#define PROPORTION     0.6
#define WIDTH_MOST     1600.0
#define COLUMN_PADDING 7.0
#define COLUMN_GAP     6.0
/* Of so many boxes nobody sees where columns begin. */
#define ALIGNED_MOST 5000

struct drawing {
    struct sheet sheet;
    const struct call_graph *graph;             /* borrowed */
    const struct call_picture_options *options; /* borrowed */
    struct layout layout;
    struct call_frames frames; /* what all of these point to is owned by `arena` */
    struct layout_box *places; /* for each frame */
    struct call_box *boxes;    /* for each node */
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

    drawing->boxes =
        arena_allocate(arena, graph->tree->node_count, sizeof *drawing->boxes);
    drawing->places =
        arena_allocate(arena, graph->drawn_count, sizeof *drawing->places);
    return !arena->has_failed && call_frames_find(&drawing->frames, graph, arena);
}

/* How much larger a column is than what is in it, on each side. */
static double padding_of(const struct call_frame *frame)
{
    return frame->is_column ? COLUMN_PADDING : 0;
}

static void measure_boxes(struct drawing *drawing)
{
    const struct call_graph *graph = drawing->graph;
    struct call_frames *frames = &drawing->frames;

    for (uint32_t i = 0; i < graph->tree->node_count; i++) {
        struct call_frame *frame;

        if (!graph->is_drawn[i]) {
            continue;
        }
        call_box_prepare(&drawing->boxes[i], &drawing->sheet, graph, i);
        drawing->boxes[i].has_children = frames->has_children[i];
        frame = &frames->frames[frames->frame_of[i]];
        frame->width = fmax(frame->width, drawing->boxes[i].width);
        drawing->boxes[i].y = frame->height;
        frame->height += drawing->boxes[i].height + COLUMN_GAP;
    }
    for (uint32_t i = 0; i < frames->frame_count; i++) {
        struct call_frame *frame = &frames->frames[i];

        frame->height -= COLUMN_GAP;
        drawing->places[i] =
            (struct layout_box){.width = frame->width + 2 * padding_of(frame),
                                .height = frame->height + 2 * padding_of(frame),
                                .group = LAYOUT_NONE};
    }
}

static bool
lay_out_once(struct drawing *drawing, double proportion, struct error *error)
{
    drawing->layout.options = (struct layout_options){
        .box_gap = 14.0,
        .layer_gap = 34.0,
        .edge_gap = 8.0,
        .proportion = proportion,
    };
    return layout_compute(&drawing->layout, error);
}

/* The top of the highest frame in the layer of `place`: the middles of all stand at one height. */
static double layer_top(const struct drawing *drawing, const struct layout_box *place)
{
    double middle = place->y + place->height / 2;
    double top = place->y;

    for (uint32_t i = 0; i < drawing->frames.frame_count; i++) {
        const struct layout_box *other = &drawing->places[i];

        if (fabs(other->y + other->height / 2 - middle) < 0.5) {
            top = fmin(top, other->y);
        }
    }
    return top;
}

/* Columns are lists, which begin at one height; the layout has their middles there. Above a box
 * its edge is an upright line up to the layer's top: that becomes shorter. */
static void align_columns(struct drawing *drawing)
{
    const struct call_frames *frames = &drawing->frames;

    for (size_t i = 0; i < frames->edge_count && frames->frame_count < ALIGNED_MOST;
         i++) {
        const struct layout_edge *edge = &frames->edges[i];
        struct layout_box *place = &drawing->places[edge->target];
        struct layout_point *end =
            drawing->layout.points + edge->first_point + edge->point_count - 1;
        double top;

        if (!frames->frames[edge->target].is_column || edge->is_back ||
            edge->point_count < 4 || fabs(end[-3].x - end->x) > 1e-6) {
            continue;
        }
        top = fmax(layer_top(drawing, place), end[-3].y);
        if (top < place->y) {
            double part = (top - end[-3].y) / (place->y - end[-3].y);

            end[-1].y = end[-3].y + (end[-1].y - end[-3].y) * part;
            end[-2].y = end[-3].y + (end[-2].y - end[-3].y) * part;
            end[0].y = top;
            place->y = top;
        }
    }
}

/* A tree is read best where each level is a row; what is very wide then is wrapped. */
static bool lay_out(struct drawing *drawing, struct error *error)
{
    const struct call_page *page = &drawing->options->page;
    struct layout *layout = &drawing->layout;
    double wanted =
        page->width > 0 && page->height > 0 ? page->height / page->width : PROPORTION;

    layout->boxes = drawing->places;
    layout->box_count = drawing->frames.frame_count;
    layout->edges = drawing->frames.edges;
    layout->edge_count = drawing->frames.edge_count;
    if (!lay_out_once(drawing, 0, error)) {
        return false;
    }
    if (fmax(layout->width, layout->height / wanted) < WIDTH_MOST) {
        return true;
    }
    return lay_out_once(drawing, wanted, error);
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

static void draw_column(struct drawing *drawing, const struct layout_box *place)
{
    struct sheet *sheet = &drawing->sheet;
    struct picture_item *item =
        sheet_rectangle(sheet, drawing->x + place->x, drawing->y + place->y,
                        place->width, place->height);

    item->radius = COLUMN_PADDING;
    item->fill = group_color(sheet->palette, 0);
    item->stroke = sheet->palette->group_border;
    item->stroke_width = 0.75;
}

static void draw_node(struct drawing *drawing, uint32_t node)
{
    const struct call_frames *frames = &drawing->frames;
    const struct call_frame *frame = &frames->frames[frames->frame_of[node]];
    const struct layout_box *place = &drawing->places[frames->frame_of[node]];
    struct call_box *box = &drawing->boxes[node];
    double padding = padding_of(frame);

    box->width = frame->width;
    call_box_draw(box, &drawing->sheet, drawing->graph, node,
                  drawing->x + place->x + padding,
                  drawing->y + place->y + padding + box->y);
}

static void draw_all(struct drawing *drawing)
{
    struct sheet *sheet = &drawing->sheet;
    struct picture_item *ground =
        sheet_rectangle(sheet, 0, 0, sheet->picture->width, sheet->picture->height);

    ground->fill = sheet->palette->background;
    draw_head(drawing);
    for (size_t i = 0; i < drawing->layout.edge_count && !sheet->has_failed; i++) {
        draw_edge(drawing, &drawing->layout.edges[i]);
    }
    for (uint32_t i = 0; i < drawing->frames.frame_count; i++) {
        if (drawing->frames.frames[i].is_column) {
            draw_column(drawing, &drawing->places[i]);
        }
    }
    for (uint32_t i = 0; i < drawing->graph->tree->node_count; i++) {
        if (drawing->graph->is_drawn[i]) {
            draw_node(drawing, i);
        }
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
    align_columns(drawing);
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
