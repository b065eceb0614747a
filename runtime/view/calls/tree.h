/* Which modules a forward pass went through: a tree of the segments of their paths.
 * docs/reference/calls.md tells the rules. */
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
/* What node 0 is called where a tree is built of paths, and the path of the model itself. */
#define CALL_ROOT_NAME SLICE("root")

/* Texts and indices are borrowed from the tree's arena. */
struct call_node {
    struct slice name;
    uint64_t count;          /* how many paths go through it, or end there */
    uint64_t call_count;     /* of these, how many end there */
    uint64_t first_seen;     /* number of the first such path, from 0 */
    uint32_t parent;         /* a smaller number; CALL_NODE_NONE for the root */
    uint32_t first_child;    /* in the order in which they were first seen */
    uint32_t next;           /* the next child of the same parent */
    const uint64_t *indices; /* numbers absorbed from the paths, ascending, each once */
    uint32_t index_count;
    /* "[2, 8] -> [2, 4]", of the first call that told one; a path that ends with the name is
     * preferred to one that ends with an index. "": none did. */
    struct slice shape;
    bool has_own_shape; /* its path ended with the name */
};

struct call_tree {
    struct call_node *nodes; /* owned; node 0 is the root */
    uint32_t node_count;
    size_t node_capacity;
    struct arena arena;
};

/* A path, and what was told behind it. */
struct call_path {
    struct slice path;
    struct slice shape; /* "" */
};

/* An empty tree, which may be released and nothing else. */
void call_tree_init(struct call_tree *tree);
void call_tree_release(struct call_tree *tree);

/* The functions below make `tree`, which was initialised. They fail where memory runs out, and
 * where there are more than 2^32 nodes; the tree is to be released in any case. */

/* Segments of digits alone belong to the name before them; a leading one is a name. */
bool call_tree_build(struct call_tree *tree,
                     const struct call_path *paths,
                     size_t count,
                     struct error *error);

/* The tree without its leaves, but for those that have nothing above them. */
bool call_tree_prune(struct call_tree *tree,
                     const struct call_tree *from,
                     struct error *error);

/* Nodes whose names are digits alone go into the node above them, but for those that have
 * nothing above them: what call_tree_build does to paths, for a tree that was made otherwise. */
bool call_tree_squash(struct call_tree *tree,
                      const struct call_tree *from,
                      struct error *error);

/* All nodes of one name are one, directly below the root. Node i of `from` is node map[i]. */
bool call_tree_merge(struct call_tree *tree,
                     const struct call_tree *from,
                     uint32_t *map,
                     struct error *error);

/* Whether the segment is an index, and which: digits alone, at most 18 of them. */
bool call_index_read(struct slice segment, uint64_t *index);

/* Appends {"name", "count", "indices", "children"}, nested, indented, with a newline at the end.
 * false where memory ran out. */
bool call_tree_add_json(const struct call_tree *tree, struct buffer *text);

#endif
