/* Makes a call tree node by node. */
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
    uint32_t *last_children;    /* for each node; CALL_NODE_NONE where it has none */
    size_t last_capacity;
    struct call_seen_index *seen; /* any order, some more than once */
    size_t seen_count;
    size_t seen_capacity;
};

/* The tree has its root then. To be released in any case. false: out of memory, here and below. */
bool call_builder_init(struct call_builder *builder,
                       struct call_tree *tree,
                       struct slice root_name);
void call_builder_release(struct call_builder *builder);

/* The child of that name; made, with count 0, where there is none. CALL_NODE_NONE: out of memory,
 * or too many nodes. */
uint32_t
call_builder_child(struct call_builder *builder, uint32_t parent, struct slice name);

bool call_builder_add_index(struct call_builder *builder,
                            uint32_t node,
                            uint64_t index);

/* Counts, shape and indices of `from` come to those of `node`. */
bool call_builder_absorb(struct call_builder *builder,
                         uint32_t node,
                         const struct call_node *from);

/* Puts the indices to the nodes: the last thing. */
bool call_builder_finish(struct call_builder *builder);

#endif
