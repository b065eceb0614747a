/* A call graph as a picture: frames and boxes, their layout, arrows, and a title above. */
#include "runtime/view/calls/frames.h"

#include "runtime/base/memory.h"
#include "runtime/view/calls/graph.h"
#include "runtime/view/picture/box/box.h"
#include "runtime/view/picture/parts.h"

#include <assert.h>
#include <math.h>

/* Yards: the parts of a call graph's picture that are laid out separately. */

/* A node with more children than this gets a yard for them. */
#define ROW_MOST 9
/* A sibling of such a node gets a yard for this many children or more. */
#define ROW_LEAST 2

struct yard_search {
    struct call_frames *frames; /* borrowed */
    uint32_t *parents; /* by frame: its parent or LAYOUT_NONE; owned, as all below */
    uint32_t *child_counts; /* by frame */
    uint32_t *yards;        /* by frame: the yard of its children, or LAYOUT_NONE */
    bool *has_wide_child;   /* by frame */
};

static bool yard_search_init(struct yard_search *yard_search)
{
    const struct call_frames *frames = yard_search->frames;
    size_t count = frames->frame_count;

    yard_search->parents = memory_allocate(count, sizeof *yard_search->parents);
    yard_search->child_counts =
        memory_allocate(count, sizeof *yard_search->child_counts);
    yard_search->yards = memory_allocate(count, sizeof *yard_search->yards);
    yard_search->has_wide_child =
        memory_allocate_zeroed(count, sizeof *yard_search->has_wide_child);
    if (yard_search->parents == NULL || yard_search->child_counts == NULL ||
        yard_search->yards == NULL || yard_search->has_wide_child == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        yard_search->parents[i] = LAYOUT_NONE;
        yard_search->child_counts[i] = 0;
        yard_search->yards[i] = LAYOUT_NONE;
    }
    for (size_t i = 0; i < frames->edge_count; i++) {
        yard_search->parents[frames->edges[i].target] = frames->edges[i].source;
        yard_search->child_counts[frames->edges[i].source]++;
    }
    for (size_t i = 0; i < count; i++) {
        if (yard_search->parents[i] != LAYOUT_NONE &&
            yard_search->child_counts[i] > ROW_MOST) {
            yard_search->has_wide_child[yard_search->parents[i]] = true;
        }
    }
    return true;
}

static void yard_search_release(struct yard_search *yard_search)
{
    memory_free(yard_search->parents);
    memory_free(yard_search->child_counts);
    memory_free(yard_search->yards);
    memory_free(yard_search->has_wide_child);
}

static bool has_yard(const struct yard_search *yard_search, uint32_t frame)
{
    uint32_t parent = yard_search->parents[frame];
    bool is_beside = parent != LAYOUT_NONE && yard_search->has_wide_child[parent];

    return yard_search->child_counts[frame] >= (is_beside ? ROW_LEAST : ROW_MOST + 1);
}

/* Numbers the yards, and sets the yard of each frame. Parents precede their children. */
static void find_yards(struct yard_search *yard_search)
{
    struct call_frames *frames = yard_search->frames;

    for (uint32_t i = 0; i < frames->frame_count; i++) {
        uint32_t parent = yard_search->parents[i];

        if (parent != LAYOUT_NONE) {
            frames->frames[i].yard = yard_search->yards[parent] != LAYOUT_NONE
                                         ? yard_search->yards[parent]
                                         : frames->frames[parent].yard;
        }
        if (has_yard(yard_search, i)) {
            yard_search->yards[i] = frames->yard_count++;
        }
    }
}

/* Replaces the edges to frames in a yard by one edge to the yard. */
static void lead_to_yards(struct yard_search *yard_search)
{
    struct call_frames *frames = yard_search->frames;
    uint32_t frame_count = frames->frame_count;
    size_t kept_count = 0;

    for (size_t i = 0; i < frames->edge_count; i++) {
        if (yard_search->yards[frames->edges[i].source] == LAYOUT_NONE) {
            frames->edges[kept_count++] = frames->edges[i];
        }
    }
    for (uint32_t i = 0; i < frame_count; i++) {
        if (yard_search->yards[i] != LAYOUT_NONE) {
            frames->edges[kept_count++] =
                (struct layout_edge){.source = i, .target = frames->frame_count};
            frames->frames[frames->frame_count++] = (struct call_frame){
                .yard = frames->frames[i].yard, .holds = yard_search->yards[i]};
        }
    }
    frames->edge_count = kept_count;
}

/* Finds the yards of frames that form a tree. Returns false if memory runs out. */
static bool call_yards_find(struct call_frames *frames)
{
    struct yard_search yard_search = {.frames = frames};
    bool is_done = yard_search_init(&yard_search);

    if (is_done) {
        find_yards(&yard_search);
        lead_to_yards(&yard_search);
    }
    yard_search_release(&yard_search);
    return is_done;
}

struct call_box {
    double width;
    double height;
    /* Set by the caller: the position in its column, and whether it has children in the graph. */
    double y;
    bool has_children;
    struct slice name;
    struct pills times; /* "× 6"; empty for one index */
    struct slice calls; /* "0–5 · 12 calls"; "" */
    struct slice shape; /* "" */
};

/* At least this many consecutive leaves form a column. */
#define COLUMN_LEAST 3
/* Longer columns are split. */
#define COLUMN_MOST 24

/* Consecutive leaves below one node. */
struct run {
    uint32_t length;
    uint32_t frame; /* CALL_NODE_NONE: none yet */
};

struct finding {
    struct call_frames *frames;     /* borrowed */
    const struct call_graph *graph; /* borrowed */
    uint32_t *parent_counts;        /* by node; owned, as all below */
    uint32_t *open_runs; /* by node: the run of its last child, or CALL_NODE_NONE */
    uint32_t *run_of;    /* by node: its run, or CALL_NODE_NONE */
    struct run *runs;
    uint32_t run_count;
};

static bool finding_init(struct finding *finding, struct arena *arena)
{
    const struct call_graph *graph = finding->graph;
    struct call_frames *frames = finding->frames;
    size_t count = graph->tree->node_count;

    /* Room for yards: each adds a frame and an edge. */
    frames->frames =
        arena_allocate(arena, graph->drawn_count, 2 * sizeof *frames->frames);
    frames->frame_of = arena_allocate(arena, count, sizeof *frames->frame_of);
    frames->has_children = arena_allocate(arena, count, sizeof *frames->has_children);
    frames->edges = arena_allocate(arena, graph->edge_count + graph->drawn_count,
                                   sizeof *frames->edges);
    finding->parent_counts = memory_allocate(count, sizeof *finding->parent_counts);
    finding->open_runs = memory_allocate(count, sizeof *finding->open_runs);
    finding->run_of = memory_allocate(count, sizeof *finding->run_of);
    finding->runs = memory_allocate(graph->edge_count, sizeof *finding->runs);
    if (arena->has_failed || finding->parent_counts == NULL ||
        finding->open_runs == NULL || finding->run_of == NULL ||
        finding->runs == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        frames->has_children[i] = false;
        finding->parent_counts[i] = 0;
        finding->open_runs[i] = CALL_NODE_NONE;
        finding->run_of[i] = CALL_NODE_NONE;
    }
    return true;
}

static void finding_release(struct finding *finding)
{
    memory_free(finding->parent_counts);
    memory_free(finding->open_runs);
    memory_free(finding->run_of);
    memory_free(finding->runs);
}

static void find_runs(struct finding *finding)
{
    const struct call_graph *graph = finding->graph;

    for (size_t i = 0; i < graph->edge_count; i++) {
        finding->parent_counts[graph->edges[i].target]++;
        finding->frames->has_children[graph->edges[i].source] = true;
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        uint32_t target = graph->edges[i].target;
        uint32_t *open = &finding->open_runs[graph->edges[i].source];

        if (finding->parent_counts[target] > 1 ||
            finding->frames->has_children[target]) {
            *open = CALL_NODE_NONE;
            continue;
        }
        if (*open == CALL_NODE_NONE || finding->runs[*open].length == COLUMN_MOST) {
            *open = finding->run_count++;
            finding->runs[*open] = (struct run){.frame = CALL_NODE_NONE};
        }
        finding->runs[*open].length++;
        finding->run_of[target] = *open;
    }
}

static void place_node(struct finding *finding, uint32_t node)
{
    struct call_frames *frames = finding->frames;
    uint32_t run = finding->run_of[node];
    bool is_column = run != CALL_NODE_NONE && finding->runs[run].length >= COLUMN_LEAST;

    if (is_column && finding->runs[run].frame != CALL_NODE_NONE) {
        frames->frame_of[node] = finding->runs[run].frame;
    } else {
        frames->frame_of[node] = frames->frame_count++;
        frames->frames[frames->frame_of[node]] = (struct call_frame){
            .yard = LAYOUT_NONE, .holds = LAYOUT_NONE, .is_column = is_column};
    }
    if (is_column) {
        finding->runs[run].frame = frames->frame_of[node];
    }
    frames->frames[frames->frame_of[node]].box_count++;
}

/* Adds the edges between frames. A column gets the edge of its first box only. */
static void add_edges(struct finding *finding)
{
    const struct call_graph *graph = finding->graph;
    struct call_frames *frames = finding->frames;

    for (size_t i = 0; i < graph->edge_count; i++) {
        uint32_t target = graph->edges[i].target;
        uint32_t run = finding->run_of[target];

        if (run != CALL_NODE_NONE && finding->runs[run].length >= COLUMN_LEAST) {
            if (finding->runs[run].frame == CALL_NODE_NONE) {
                continue;
            }
            finding->runs[run].frame = CALL_NODE_NONE;
        }
        frames->edges[frames->edge_count++] =
            (struct layout_edge){.source = frames->frame_of[graph->edges[i].source],
                                 .target = frames->frame_of[target]};
    }
}

/* Finds boxes, columns and yards. Returns false if memory runs out. */
static bool call_frames_find(struct call_frames *frames,
                             const struct call_graph *graph,
                             struct arena *arena)
{
    struct finding finding = {.frames = frames, .graph = graph};
    bool is_done;

    *frames = (struct call_frames){.frame_count = 0};
    is_done = finding_init(&finding, arena);
    if (is_done) {
        find_runs(&finding);
        for (uint32_t i = 0; i < graph->tree->node_count; i++) {
            if (graph->is_drawn[i]) {
                place_node(&finding, i);
            }
        }
        add_edges(&finding);
    }
    finding_release(&finding);
    return is_done && (graph->options.merges_names || call_yards_find(frames));
}

/* The box of a node in a call graph's picture: its name, number of calls and shape. */

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
/* The most runs of indices that are written out. */
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

/* ---- texts of a box ---- */

/* Appends the indices as runs, "0–5, 8", and an ellipsis if there are more. */
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
    assert(node < graph->tree->node_count);

    const struct call_node *shown = &graph->tree->nodes[node];
    const struct call_node *drawn = call_graph_shown(graph, node);
    bool has_calls = call_graph_shows_calls(graph, drawn);
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
        buffer_add_number(text, drawn->call_count);
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

/* As many of the first shapes as fit into `width`. */
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

/* Sets the text of the shapes of the first arguments and of the result. */
static void prepare_shape(struct call_box *box,
                          struct sheet *sheet,
                          const struct call_graph *graph,
                          uint32_t node)
{
    struct text_style style = shape_style(sheet);
    struct slice shape = sheet_clean(sheet, call_graph_shown(graph, node)->shape);
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

static void call_box_prepare(struct call_box *box,
                             struct sheet *sheet,
                             const struct call_graph *graph,
                             uint32_t node)
{
    assert(node < graph->tree->node_count);

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

/* Draws a centered line of text in the box. Returns the top of the next line. */
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

/* Draws the box with its top left corner at (x, y). */
static void call_box_draw(const struct call_box *box,
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

/* A call graph as a picture: boxes, their layout, arrows, and a title above. */

#define MARGIN       18.0
#define TITLE_SIZE   13.0
#define LINE_SIZE    8.0
#define TITLE_HEIGHT 18.0
#define LINE_HEIGHT  11.5
/* The title has at least this width, however narrow the graph is. */
#define HEAD_WIDTH_LEAST 240.0
#define COLUMN_PADDING   7.0
#define COLUMN_GAP       6.0

struct drawing {
    struct sheet sheet;
    const struct call_graph *graph;             /* borrowed */
    const struct call_picture_options *options; /* borrowed */
    struct call_frames frames;                  /* owned by `arena` */
    struct call_levels levels;
    struct call_box *boxes; /* by node; owned by `arena` */
    double width;           /* of the graph */
    double height;
    struct slice title;
    struct slice line;
    double head_width;
    double head_height;
    double x; /* position of the graph in the picture */
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

/* The space on each side of a column's boxes; 0 for other frames. */
static double padding_of(const struct call_frame *frame)
{
    return frame->is_column ? COLUMN_PADDING : 0;
}

/* Measures boxes and columns. Yards are measured by the layout. */
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

/* Sets the picture's size. It is enlarged in one direction if the page has a proportion. */
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

/* Draws the background of a column or a yard. */
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

/* Draws the backgrounds of yards before those of columns. An outer yard has a smaller number
 * than the yards in it, so it is drawn first. */
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
