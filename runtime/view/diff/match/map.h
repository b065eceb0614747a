/* The map of two runs: which weight and which value of B is which of A. */
#ifndef MONITORCH_VIEW_DIFF_MATCH_MAP_H
#define MONITORCH_VIEW_DIFF_MATCH_MAP_H

#include "runtime/view/diff/match/match.h"

struct match_map_row {
    uint32_t a, b; /* values */
    enum match_order order;
    bool is_weight;
};

struct match_map {
    struct match_map_row *
        rows; /* owned; the weights first, then lines of B in the order of their values */
    size_t count, capacity;
};

/* A row for each weight of B's newest state dict, and for each name of each line of B that A has. false:
 * out of memory. To be released in any case. */
bool match_map_make(struct match_map *map, const struct match *match);
void match_map_release(struct match_map *map);

#endif
