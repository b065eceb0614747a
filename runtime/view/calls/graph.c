/* The graph of a call tree: its construction, and its output as text, DOT or a picture's file. */
#include "runtime/view/calls/graph.h"

#include "runtime/base/memory.h"
#include "runtime/base/number_map.h"
#include "runtime/view/picture/dot/dot.h"
#include "runtime/view/picture/paint/cairo/painter.h"
#include "runtime/view/picture/paint/paint.h"
#include "runtime/view/words/paint.h"

#include <assert.h>

/* A call graph as text: DOT, and a tree for a terminal. */

#define NAME_LIMIT  120 /* in bytes */
#define SHAPE_LIMIT 200

/* Appends the node's label: "layers", or "layers x 2" if the options ask for it. */
static void
call_label_add(const struct call_graph *graph, uint32_t node, struct buffer *text)
{
    assert(node < graph->tree->node_count);

    const struct call_node *shown = &graph->tree->nodes[node];

    buffer_add(text, shown->name);
    if (graph->options.has_repetition && shown->index_count > 1) {
        buffer_add(text, SLICE(" x "));
        buffer_add_number(text, shown->index_count);
    }
}

/* ---- the graph ---- */

static void add_attribute(struct buffer *text, const struct call_attribute *attribute)
{
    buffer_add(text, SLICE("    "));
    buffer_add(text, attribute->kind);
    buffer_add(text, SLICE(" ["));
    dot_word_add(text, attribute->name);
    buffer_add_byte(text, '=');
    dot_word_add(text, attribute->value);
    buffer_add(text, SLICE("];\n"));
}

static void add_node(struct buffer *text, const struct call_graph *graph, uint32_t node)
{
    const struct call_node *shown = call_graph_shown(graph, node);
    struct buffer label = BUFFER_INIT;

    buffer_add_format(text, "    n%lu [label=\"", (unsigned long)node);
    call_label_add(graph, node, &label);
    dot_quoted_add(text, buffer_slice(&label), NAME_LIMIT);
    if (graph->options.has_shapes && shown->shape.size > 0) {
        buffer_add(text, SLICE("\\n"));
        dot_quoted_add(text, shown->shape, SHAPE_LIMIT);
    }
    buffer_add(text, SLICE("\"];\n"));
    text->has_failed |= label.has_failed;
    buffer_release(&label);
}

bool call_graph_add_dot(const struct call_graph *graph,
                        const struct call_attribute *attributes,
                        size_t attribute_count,
                        struct buffer *text)
{
    buffer_add(
        text,
        SLICE("digraph calls {\n"
              "    graph [rankdir=TB];\n"
              "    node [shape=box style=\"rounded,filled\" fillcolor=\"#eef1f4\" "
              "color=\"#8d99a8\" fontname=\"DejaVu Sans,Helvetica,sans-serif\"];\n"
              "    edge [color=\"#55616f\"];\n"));
    for (size_t i = 0; i < attribute_count; i++) {
        add_attribute(text, &attributes[i]);
    }
    for (uint32_t i = 0; i < graph->tree->node_count; i++) {
        if (graph->is_drawn[i]) {
            add_node(text, graph, i);
        }
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        buffer_add_format(text, "    n%lu -> n%lu;\n",
                          (unsigned long)graph->edges[i].source,
                          (unsigned long)graph->edges[i].target);
    }
    buffer_add(text, SLICE("}\n"));
    return !text->has_failed;
}

/* ---- A call graph's tree for a terminal ---- */

/* Deeper nodes are not indented further. */
#define DEPTH_MAX 64

struct text_view {
    const struct call_graph *graph; /* borrowed */
    struct buffer *text;            /* borrowed */
    bool has_color;
    bool has_more[DEPTH_MAX]; /* by depth: whether a vertical line continues below */
};

/* The first drawn node from `node` on among its siblings. CALL_NODE_NONE: none. */
static uint32_t next_drawn(const struct call_graph *graph, uint32_t node)
{
    while (node != CALL_NODE_NONE && !graph->is_drawn[node]) {
        node = graph->tree->nodes[node].next;
    }
    return node;
}

static void add_branch(struct text_view *view, unsigned depth, bool is_last)
{
    paint_start(view->text, view->has_color, PAINT_FAINT);
    for (unsigned i = 1; i < depth && i < DEPTH_MAX; i++) {
        buffer_add(view->text,
                   view->has_more[i] ? SLICE("\xE2\x94\x82   ") : SLICE("    "));
    }
    if (depth > 0) {
        buffer_add(view->text, is_last
                                   ? SLICE("\xE2\x94\x94\xE2\x94\x80\xE2\x94\x80 ")
                                   : SLICE("\xE2\x94\x9C\xE2\x94\x80\xE2\x94\x80 "));
    }
    paint_end(view->text, view->has_color);
    if (depth < DEPTH_MAX) {
        view->has_more[depth] = !is_last;
    }
}

static void add_faint(struct text_view *view, const struct call_node *drawn)
{
    struct buffer *text = view->text;

    paint_start(text, view->has_color, PAINT_FAINT);
    if (call_graph_shows_calls(view->graph, drawn)) {
        buffer_add(text, SLICE("  "));
        buffer_add_number(text, drawn->call_count);
        buffer_add(text, SLICE(" calls"));
    }
    if (view->graph->options.has_shapes && drawn->shape.size > 0) {
        buffer_add(text, SLICE("  "));
        text_add_shortened(text, drawn->shape, SHAPE_LIMIT);
    }
    paint_end(text, view->has_color);
}

static bool add_line(struct text_view *view, uint32_t node, unsigned depth)
{
    assert(node < view->graph->tree->node_count);

    const struct call_node *shown = &view->graph->tree->nodes[node];
    bool is_last = next_drawn(view->graph, shown->next) == CALL_NODE_NONE;
    struct buffer label = BUFFER_INIT;
    bool is_done;

    add_branch(view, depth, is_last);
    call_label_add(view->graph, node, &label);
    paint_start(view->text, view->has_color,
                shown->first_child == CALL_NODE_NONE ? PAINT_MODULE : PAINT_CALL);
    text_add_shortened(view->text, buffer_slice(&label), NAME_LIMIT);
    paint_end(view->text, view->has_color);
    add_faint(view, call_graph_shown(view->graph, node));
    buffer_add_byte(view->text, '\n');
    is_done = !label.has_failed && !view->text->has_failed;
    buffer_release(&label);
    return is_done;
}

/* The node that is printed after `node`, in depth-first order. CALL_NODE_NONE: the end. */
static uint32_t step(const struct call_graph *graph, uint32_t node, unsigned *depth)
{
    const struct call_node *nodes = graph->tree->nodes;
    uint32_t next = next_drawn(graph, nodes[node].first_child);

    if (next != CALL_NODE_NONE) {
        ++*depth;
        return next;
    }
    while (node != 0) {
        next = next_drawn(graph, nodes[node].next);
        if (next != CALL_NODE_NONE) {
            return next;
        }
        node = nodes[node].parent;
        --*depth;
    }
    return CALL_NODE_NONE;
}

bool call_graph_add_text(const struct call_graph *graph,
                         bool has_color,
                         struct buffer *text)
{
    struct text_view view = {.graph = graph, .text = text, .has_color = has_color};
    unsigned depth = 0; /* below the root, whether that is drawn or not */
    uint32_t node = 0;
    unsigned above = graph->has_root ? 0 : 1;

    if (graph->has_root && !add_line(&view, 0, 0)) {
        return false;
    }
    while ((node = step(graph, node, &depth)) != CALL_NODE_NONE) {
        if (!add_line(&view, node, depth - above)) {
            return false;
        }
    }
    return true;
}

/* A call graph as a file. */

#define POINTS_PER_INCH 72.0
/* The least resolution that is readable. */
#define DPI_LEAST 24.0

/* The factor by which a picture is enlarged to the size of its page. */
static double scale_of(const struct picture *picture, const struct call_page *page)
{
    if (page->width > 0) {
        return page->width * POINTS_PER_INCH / picture->width;
    }
    if (page->height > 0) {
        return page->height * POINTS_PER_INCH / picture->height;
    }
    return 1.0;
}

/* The resolution of a picture: less than asked for if the picture would be too large, unless it
 * became unreadable. */
static double dpi_of(const struct picture *picture, double dpi)
{
    double most = cairo_png_dpi_most(picture);

    return dpi > most && most >= DPI_LEAST ? most : dpi;
}

static bool paint(const struct picture *picture,
                  const struct call_render_options *options,
                  struct buffer *bytes,
                  struct error *error)
{
    double scale = scale_of(picture, &options->picture.page);
    struct paint_options paint_options = {
        .format = options->format,
        .dpi =
            options->format == RENDER_PNG ? dpi_of(picture, options->dpi * scale) : 0,
        .page_width = scale == 1.0 ? 0 : picture->width * scale,
        .page_height = scale == 1.0 ? 0 : picture->height * scale,
    };

    return picture_paint(picture, &paint_options, bytes, error);
}

bool call_graph_render(const struct call_graph *graph,
                       const struct call_render_options *options,
                       struct buffer *bytes,
                       struct error *error)
{
    struct picture picture;
    bool is_done;

    if (options->format == RENDER_DOT) {
        return call_graph_add_dot(graph, options->attributes, options->attribute_count,
                                  bytes) ||
               error_set_memory(error);
    }
    picture_init(&picture);
    is_done = call_graph_draw(graph, &options->picture, &picture, error) &&
              paint(&picture, options, bytes, error);
    picture_release(&picture);
    return is_done;
}

void call_graph_init(struct call_graph *graph)
{
    *graph = (struct call_graph){.is_drawn = NULL};
    call_tree_init(&graph->pruned);
    call_tree_init(&graph->merged);
}

void call_graph_release(struct call_graph *graph)
{
    call_tree_release(&graph->pruned);
    call_tree_release(&graph->merged);
    memory_free(graph->is_drawn);
    memory_free(graph->edges);
    call_graph_init(graph);
}

/* ---- the root ---- */

/* Whether the node is the model itself: the root, or the path "root". */
static bool is_model(const struct call_tree *tree, uint32_t node)
{
    return node == 0 || (tree->nodes[node].parent == 0 &&
                         tree->nodes[node].first_child == CALL_NODE_NONE &&
                         slice_equal(tree->nodes[node].name, CALL_ROOT_NAME));
}

static bool draws_root(const struct call_tree *tree)
{
    uint32_t count = 0;

    if (!slice_equal(tree->nodes[0].name, CALL_ROOT_NAME)) {
        return true; /* a part of another tree */
    }
    for (uint32_t i = tree->nodes[0].first_child; i != CALL_NODE_NONE;
         i = tree->nodes[i].next) {
        if (is_model(tree, i)) {
            return true;
        }
        count++;
    }
    return count > 1;
}

/* ---- nodes and edges ---- */

/* The state of a graph's construction. */
struct making {
    const struct call_tree *tree; /* borrowed; the tree before names are merged */
    uint32_t *map;                /* owned; by its nodes: the node in the graph */
    struct number_map known;      /* owned; edges that were added */
};

static bool add_edge(struct call_graph *graph,
                     struct making *making,
                     uint32_t source,
                     uint32_t target)
{
    if (number_map_get(&making->known, number_map_key(source, target)) !=
        NUMBER_MAP_NONE) {
        return true;
    }
    graph->edges[graph->edge_count++] = (struct call_graph_edge){source, target};
    return number_map_put(&making->known, number_map_key(source, target), 0);
}

static bool connect(struct call_graph *graph, struct making *making)
{
    const struct call_tree *tree = making->tree;

    graph->is_drawn =
        memory_allocate_zeroed(graph->tree->node_count, sizeof *graph->is_drawn);
    graph->edges = memory_allocate(tree->node_count, sizeof *graph->edges);
    if (graph->is_drawn == NULL || graph->edges == NULL) {
        return false;
    }
    graph->has_root = draws_root(tree);
    graph->is_drawn[0] = graph->has_root;
    for (uint32_t i = 1; i < tree->node_count; i++) {
        uint32_t parent = tree->nodes[i].parent;

        if (is_model(tree, i)) {
            graph->model = &tree->nodes[i];
            continue;
        }
        graph->is_drawn[making->map[i]] = true;
        if ((parent != 0 || graph->has_root) &&
            !add_edge(graph, making, making->map[parent], making->map[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < graph->tree->node_count; i++) {
        graph->drawn_count += graph->is_drawn[i];
    }
    return true;
}

/* Chooses the tree that is drawn, and fills the map. */
static bool choose_nodes(struct call_graph *graph,
                         struct making *making,
                         const struct call_tree *tree,
                         struct error *error)
{
    if (!graph->options.has_leaves) {
        if (!call_tree_prune(&graph->pruned, tree, error)) {
            return false;
        }
        tree = &graph->pruned;
    }
    making->tree = tree;
    making->map = memory_allocate(tree->node_count, sizeof *making->map);
    if (making->map == NULL) {
        return error_set_memory(error);
    }
    if (graph->options.merges_names) {
        graph->tree = &graph->merged;
        return call_tree_merge(&graph->merged, tree, making->map, error);
    }
    graph->tree = tree;
    for (uint32_t i = 0; i < tree->node_count; i++) {
        making->map[i] = i;
    }
    return true;
}

bool call_graph_build(struct call_graph *graph,
                      const struct call_tree *tree,
                      const struct call_graph_options *options,
                      struct error *error)
{
    struct making making = {.tree = NULL};
    bool is_done;

    graph->options = *options;
    number_map_init(&making.known);
    is_done = choose_nodes(graph, &making, tree, error);
    if (is_done && !connect(graph, &making)) {
        error_set_memory(error);
        is_done = false;
    }
    number_map_release(&making.known);
    memory_free(making.map);
    return is_done;
}
