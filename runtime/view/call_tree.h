/* Which modules a forward pass went through: a tree of the segments of their paths, and the graph
 * that is drawn of it. docs/calls.md tells the rules. */
#ifndef MONITORCH_VIEW_CALL_TREE_H
#define MONITORCH_VIEW_CALL_TREE_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALL_NODE_NONE UINT32_MAX

/* Everything is borrowed from the tree's arena. */
struct call_node {
    struct slice name;
    uint64_t count;          /* how many paths go through it */
    uint64_t first_seen;     /* number of the first such path, from 0 */
    uint32_t parent;         /* CALL_NODE_NONE for the root */
    uint32_t first_child;    /* in the order in which they were first seen */
    uint32_t next;           /* the next child of the same parent */
    const uint64_t *indices; /* numbers absorbed from the paths, ascending, each once */
    uint32_t index_count;
    struct slice shape; /* of the first call: "[2, 8] -> [2, 4]"; "" where not told */
};

struct call_tree {
    struct call_node *nodes; /* node 0 is the root */
    uint32_t node_count;
    struct arena arena;
};

/* A path, and what was told behind it. */
struct call_path {
    struct slice path;
    struct slice shape; /* "" */
};

void call_tree_init(struct call_tree *tree);
void call_tree_release(struct call_tree *tree);

/* Segments of digits alone belong to the name before them; a leading one is a name. */
bool call_tree_build(struct call_tree *tree,
                     const struct call_path *paths,
                     size_t count,
                     struct error *error);

struct call_graph_options {
    bool has_repetition; /* labels tell how many indices were seen: "layers x 2" */
    bool has_leaves;     /* else the last segment of each path is left out */
    bool merges_names;   /* nodes of one name are one */
    bool has_shapes;
};
#define CALL_GRAPH_OPTIONS_DEFAULT ((struct call_graph_options){.has_repetition = true})

#endif
