/* The state of folding, and flow_mix. Private to this folder. */
#ifndef MONITORCH_VIEW_FLOW_FOLD_H
#define MONITORCH_VIEW_FLOW_FOLD_H

#include "runtime/view/flow/build.h"

/* At least this many turns or calls that are alike are shown as one. */
#define FLOW_ALIKE_MIN 2

/* How often each kind of turn, call or node occurs in one unit. */
struct flow_kinds {
    struct number_map index; /* hash of the kind -> index */
    uint32_t *counts;        /* owned */
    uint32_t *removed;       /* owned: number of places already given out */
    size_t count_capacity, removed_capacity;
    uint32_t count;
};

/* The shape of a unit. Units with equal shapes are alike. */
struct flow_shape {
    uint64_t key;  /* hash of the function and path, or of the loop */
    uint64_t body; /* sum of the hashes of its items; 0: it is empty */
};

struct flow_folding {
    struct flow_builder *builder;
    struct flow_shape *shapes; /* owned; by unit */
    struct flow_kinds unit_kinds;
    struct flow_kinds node_kinds;
    struct flow_kinds leaf_kinds; /* of nodes, numbers in paths ignored */
    struct number_map wild_texts; /* text -> the text with `#` for numbers */
};

uint64_t flow_mix(uint64_t hash, uint64_t number);

#endif
