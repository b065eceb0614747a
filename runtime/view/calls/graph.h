/* The graph that is drawn of a call tree: a box for each node, and an arrow from each node to
 * those below it. docs/reference/calls.md has the rules. */
#ifndef MONITORCH_VIEW_CALLS_GRAPH_H
#define MONITORCH_VIEW_CALLS_GRAPH_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/view/calls/tree.h"
#include "runtime/view/picture/picture.h"
#include "runtime/view/picture/render.h"

struct call_graph_options {
    bool has_repetition; /* labels show the number of indices: "layers x 2" */
    bool has_leaves;     /* else call_tree_prune is applied first */
    bool merges_names;   /* merges all nodes of one name */
    bool has_shapes;     /* boxes show the shape if it is known */
};
#define CALL_GRAPH_OPTIONS_DEFAULT                                                     \
    ((struct call_graph_options){.has_repetition = true, .has_shapes = true})

struct call_graph_edge {
    uint32_t source; /* index of a node */
    uint32_t target;
};

struct call_graph {
    const struct call_tree
        *tree;               /* the drawn tree: the caller's, or one of the next two */
    struct call_tree pruned; /* owned, as the next */
    struct call_tree merged; /* owned; all nodes are children of the root */
    /* Whether the root is drawn. It is if paths start with more than one name, or if there is
     * the path "root", which is the model itself and gets no other node. */
    bool has_root;
    const struct call_node
        *model;     /* the node of the path "root"; borrowed from a tree; may be NULL */
    bool *is_drawn; /* owned; by node */
    uint32_t drawn_count;
    struct call_graph_edge *edges; /* owned; between drawn nodes, without duplicates */
    size_t edge_count;
    struct call_graph_options options;
};

void call_graph_init(struct call_graph *graph);
void call_graph_release(struct call_graph *graph);

/* Builds a graph that was initialised and will not be moved. The tree must live as long as the
 * graph. Returns false if memory runs out; the graph has to be released in any case. */
bool call_graph_build(struct call_graph *graph,
                      const struct call_tree *tree,
                      const struct call_graph_options *options,
                      struct error *error);

/* The node whose calls and shape a node shows: the model's node for the root. */
static inline const struct call_node *call_graph_shown(const struct call_graph *graph,
                                                       uint32_t node)
{
    return node == 0 && graph->model != NULL ? graph->model : &graph->tree->nodes[node];
}

/* Whether a node shows its number of calls. It does not if that is 1, or 1 for each index. */
static inline bool call_graph_shows_calls(const struct call_graph *graph,
                                          const struct call_node *drawn)
{
    return graph->options.has_repetition && drawn->call_count > 1 &&
           drawn->call_count != drawn->index_count;
}

/* The size of the page in inches. 0: as large as the content, or in proportion to the other
 * size. */
#define CALL_PAGE_MOST 1000.0
struct call_page {
    double width;
    double height;
};

/* ---- as DOT and as text ---- */

/* An attribute of a graph, or of its nodes and edges: `kind` is "graph", "node" or "edge". */
struct call_attribute {
    struct slice kind;
    struct slice name;
    struct slice value;
};

/* Appends a `digraph` with the attributes in their order. Returns false if memory runs out. */
bool call_graph_add_dot(const struct call_graph *graph,
                        const struct call_attribute *attributes,
                        size_t attribute_count,
                        struct buffer *text);

/* ---- graph_picture.c ---- */

struct call_picture_options {
    enum picture_theme theme;
    struct slice title;    /* "": none */
    struct call_page page; /* the picture has this proportion if both sizes are given */
};

/* Draws the graph into a picture that was initialised. Returns false if memory runs out. */
bool call_graph_draw(const struct call_graph *graph,
                     const struct call_picture_options *options,
                     struct picture *picture,
                     struct error *error);

/* ---- as a file ---- */

struct call_render_options {
    enum render_format format;
    double dpi; /* for PNG */
    struct call_picture_options picture;
    const struct call_attribute *attributes; /* for DOT; borrowed */
    size_t attribute_count;
};

/* Appends the file's content to `bytes`. Returns false if memory runs out, if cairo is not
 * installed, or if the picture has too many pixels. */
bool call_graph_render(const struct call_graph *graph,
                       const struct call_render_options *options,
                       struct buffer *bytes,
                       struct error *error);

/* Appends the tree for a terminal, one line for each node. Returns
 * false if memory runs out. */
bool call_graph_add_text(const struct call_graph *graph,
                         bool has_color,
                         struct buffer *text);

#endif
