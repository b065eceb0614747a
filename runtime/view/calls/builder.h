/* The builder of a call tree, node by node. */
#ifndef MONITORCH_VIEW_CALLS_BUILDER_H
#define MONITORCH_VIEW_CALLS_BUILDER_H

#include "runtime/base/text_table.h"
#include "runtime/view/calls/tree.h"

struct call_seen_index {
    uint32_t node;
    uint64_t index;
};

struct call_builder {
    struct call_tree *tree;     /* borrowed */
    struct text_table names;    /* owned, as all below */
    struct number_map children; /* (parent, name) -> node */
    uint32_t *last_children;    /* by node: its last child; CALL_NODE_NONE: none */
    size_t last_capacity;
    struct call_seen_index *seen; /* in any order, with duplicates */
    size_t seen_count;
    size_t seen_capacity;
};

/* Starts a tree that has only a root. The builder has to be released in any case. This and the
 * functions below return false if memory runs out. */
bool call_builder_init(struct call_builder *builder,
                       struct call_tree *tree,
                       struct slice root_name);
void call_builder_release(struct call_builder *builder);

/* The child of that name, created with count 0 if there is none. CALL_NODE_NONE: out of memory,
 * or too many nodes. */
uint32_t
call_builder_child(struct call_builder *builder, uint32_t parent, struct slice name);

bool call_builder_add_index(struct call_builder *builder,
                            uint32_t node,
                            uint64_t index);

/* Adds the counts, shape and indices of `from` to those of `node`. */
bool call_builder_absorb(struct call_builder *builder,
                         uint32_t node,
                         const struct call_node *from);

/* Moves the collected indices to the nodes. No other call may follow. */
bool call_builder_finish(struct call_builder *builder);

#endif
