/* What the parts of folding share. Not for use elsewhere. */
#ifndef MONITORCH_VIEW_FLOW_FOLD_H
#define MONITORCH_VIEW_FLOW_FOLD_H

#include "runtime/view/flow/build.h"

/* From so many on, turns and calls that are alike are shown as one. */
#define FLOW_ALIKE_MIN 2

/* How many of a kind stand in one unit: turns, calls or nodes that are alike. */
struct flow_kinds {
    struct number_map index; /* what the kind is, as a hash -> index */
    uint32_t *counts;        /* owned */
    uint32_t *removed;       /* owned: how many were given their place already */
    size_t count_capacity, removed_capacity;
    uint32_t count;
};

/* A unit, looked at as a shape. */
struct flow_shape {
    uint64_t key;  /* what it is: the function and path, or the loop */
    uint64_t body; /* what stands in it, in any order; 0: nothing */
};

struct flow_folding {
    struct flow_builder *builder;
    struct flow_shape *shapes; /* owned: by unit */
    struct flow_kinds unit_kinds;
    struct flow_kinds node_kinds;
    struct flow_kinds leaf_kinds; /* of nodes, numbers in their paths passed over */
    struct number_map wild_texts; /* text -> the same with numbers passed over */
};

uint64_t flow_mix(uint64_t hash, uint64_t number);

#endif
