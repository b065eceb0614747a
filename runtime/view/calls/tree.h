/* The tree of the modules that a forward pass called: a node for each segment of their paths.
 * docs/reference/calls.md has the rules. */
#ifndef MONITORCH_VIEW_CALLS_TREE_H
#define MONITORCH_VIEW_CALLS_TREE_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALL_NODE_NONE UINT32_MAX
/* The name of node 0 in a tree built of paths, and the path of the model itself. */
#define CALL_ROOT_NAME SLICE("root")

/* Texts and indices are borrowed from the tree's arena. */
struct call_node {
    struct slice name;
    uint64_t count;       /* number of paths that contain it */
    uint64_t call_count;  /* number of paths that end at it */
    uint64_t first_seen;  /* number of the first of these paths, from 0 */
    uint32_t parent;      /* less than its own number; CALL_NODE_NONE for the root */
    uint32_t first_child; /* children are in the order in which they were first seen */
    uint32_t next;        /* the next child of the same parent */
    const uint64_t *indices; /* that follow it in paths; ascending, no duplicates */
    uint32_t index_count;
    /* "[2, 8] -> [2, 4]", of the first call with a shape. A path that ends with the name is
     * preferred to one that ends with an index. "": no call had one. */
    struct slice shape;
    bool has_own_shape; /* the path of `shape` ended with the name */
};

struct call_tree {
    struct call_node *nodes; /* owned; node 0 is the root */
    uint32_t node_count;
    size_t node_capacity;
    struct arena arena;
};

/* A path, and the shape that follows it. */
struct call_path {
    struct slice path;
    struct slice shape; /* "" */
};

/* Makes an empty tree. Until it is built it can only be released. */
void call_tree_init(struct call_tree *tree);
void call_tree_release(struct call_tree *tree);

/* The functions below build `tree`, which was initialised. They return false if memory runs out
 * or the tree has more than 2^32 nodes. The tree has to be released in any case. */

/* Builds the tree of paths. A segment of digits is an index of the name before it; as the first
 * segment it is a name. */
bool call_tree_build(struct call_tree *tree,
                     const struct call_path *paths,
                     size_t count,
                     struct error *error);

/* Copies the tree without its leaves. Leaves directly below the root are kept. */
bool call_tree_prune(struct call_tree *tree,
                     const struct call_tree *from,
                     struct error *error);

/* Copies the tree and merges each node whose name is digits into its parent, unless it is
 * directly below the root. A tree that was not built by call_tree_build gets the same form. */
bool call_tree_squash(struct call_tree *tree,
                      const struct call_tree *from,
                      struct error *error);

/* Copies the tree with all nodes of one name merged into one, directly below the root. Node i of
 * `from` becomes node map[i]. */
bool call_tree_merge(struct call_tree *tree,
                     const struct call_tree *from,
                     uint32_t *map,
                     struct error *error);

/* Whether the segment is an index: at most 18 digits. Sets `index`. */
bool call_index_read(struct slice segment, uint64_t *index);

/* Appends the tree as nested, indented JSON: {"name", "count", "indices", "children"}, with a
 * newline at the end. Returns false if memory runs out. */
bool call_tree_add_json(const struct call_tree *tree, struct buffer *text);

#endif
