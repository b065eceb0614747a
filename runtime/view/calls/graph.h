/* The graph that is drawn of a call tree: a box for each node, an arrow from each to those below
 * it. docs/reference/calls.md tells the rules. */
#ifndef MONITORCH_VIEW_CALLS_GRAPH_H
#define MONITORCH_VIEW_CALLS_GRAPH_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/view/calls/tree.h"
#include "runtime/view/picture/picture.h"
#include "runtime/view/picture/render.h"

struct call_graph_options {
    bool has_repetition; /* labels tell how many indices were seen: "layers x 2" */
    bool has_leaves;     /* else call_tree_prune is done first */
    bool merges_names;   /* nodes of one name are one */
    bool has_shapes;     /* boxes tell the shape where it is known */
};
#define CALL_GRAPH_OPTIONS_DEFAULT                                                     \
    ((struct call_graph_options){.has_repetition = true, .has_shapes = true})

struct call_graph_edge {
    uint32_t source; /* numbers of nodes */
    uint32_t target;
};

struct call_graph {
    const struct call_tree *tree; /* what is left to draw: the caller's, or one of: */
    struct call_tree pruned;      /* owned, as the next */
    struct call_tree merged;      /* all nodes below the root */
    /* Whether the root is drawn: where paths begin with more than one name, and where there was
     * the path "root", which is the model itself and no node besides. */
    bool has_root;
    const struct call_node *model; /* of that path; borrowed from a tree; may be NULL */
    bool *is_drawn;                /* owned; for each node */
    uint32_t drawn_count;
    struct call_graph_edge *edges; /* owned; between drawn nodes, each once */
    size_t edge_count;
    struct call_graph_options options;
};

void call_graph_init(struct call_graph *graph);
void call_graph_release(struct call_graph *graph);

/* Makes a graph that was initialised, and not to be moved any more; the tree has to live as long.
 * Fails where memory runs out; to be released in any case. */
bool call_graph_build(struct call_graph *graph,
                      const struct call_tree *tree,
                      const struct call_graph_options *options,
                      struct error *error);

/* The node whose calls and shape are told for a node: the model's own for the root. */
static inline const struct call_node *call_graph_shown(const struct call_graph *graph,
                                                       uint32_t node)
{
    return node == 0 && graph->model != NULL ? graph->model : &graph->tree->nodes[node];
}

/* Whether it is told how many calls there were: where that is no surprise it is not, being one,
 * or one for each index. */
static inline bool call_graph_shows_calls(const struct call_graph *graph,
                                          const struct call_node *drawn)
{
    return graph->options.has_repetition && drawn->call_count > 1 &&
           drawn->call_count != drawn->index_count;
}

/* The size of the page in inches; 0: as large as what is on it. One alone: in proportion. */
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

/* Appends a whole `digraph`, with the attributes in their order. false: out of memory. */
bool call_graph_add_dot(const struct call_graph *graph,
                        const struct call_attribute *attributes,
                        size_t attribute_count,
                        struct buffer *text);

/* ---- graph_picture.c ---- */

struct call_picture_options {
    enum picture_theme theme;
    struct slice title;    /* "": none */
    struct call_page page; /* both given: the picture has their proportion */
};

/* Draws into a picture that was initialised. Fails where memory runs out. */
bool call_graph_draw(const struct call_graph *graph,
                     const struct call_picture_options *options,
                     struct picture *picture,
                     struct error *error);

/* ---- as a file ---- */

struct call_render_options {
    enum render_format format;
    double dpi; /* PNG */
    struct call_picture_options picture;
    const struct call_attribute *attributes; /* DOT; borrowed */
    size_t attribute_count;
};

/* Appends a file's bytes to `bytes`. Fails where memory runs out, where cairo is not on the
 * machine, and for a picture of more pixels than it paints. */
bool call_graph_render(const struct call_graph *graph,
                       const struct call_render_options *options,
                       struct buffer *bytes,
                       struct error *error);

/* Appends the tree for a terminal, a line for each node. Nothing is merged here. false: out of
 * memory. */
bool call_graph_add_text(const struct call_graph *graph,
                         bool has_color,
                         struct buffer *text);

#endif
