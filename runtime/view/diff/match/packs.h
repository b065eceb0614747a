/* Packed weights: a weight of one run that is several of the other's, one after the other: q, k and v in one
 * matrix, the gates of an LSTM, a stack of experts. */
#ifndef MONITORCH_VIEW_DIFF_MATCH_PACKS_H
#define MONITORCH_VIEW_DIFF_MATCH_PACKS_H

#include "runtime/view/diff/match/contents.h"

#define MATCH_PACK_PIECES_MAX 64

struct match_pack {
    unsigned side;  /* of the packed weight; the pieces are the other run's */
    uint32_t whole; /* its content */
    uint32_t pieces
        [MATCH_PACK_PIECES_MAX]; /* contents, as they lie in it if that is known */
    uint32_t count;
    enum match_order order; /* how a piece lies: SAME, TRANSPOSED, or not known */
    bool is_ordered;        /* the samples show where each piece lies */
    bool is_permuted;       /* and that is not the order of their container */
};

struct match_packs {
    struct match_pack *items; /* owned */
    size_t count, capacity;
};

/* Finds them among the weights without a partner, by figures that do not depend on order: count, bounds, sum
 * and sum of squares. false: out of memory. */
bool match_packs_find(struct match_packs *packs, struct match_contents contents[2]);
void match_packs_release(struct match_packs *packs);

/* The pack of B's packed weight; NULL: it is none. */
const struct match_pack *match_packs_of(const struct match_packs *packs,
                                        uint32_t whole);

/* The pack of B that holds A's weight; NULL: none. */
const struct match_pack *match_packs_with(const struct match_packs *packs,
                                          uint32_t piece);

#endif
