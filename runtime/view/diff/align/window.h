/* What to do where two traces part: a look ahead at both. */
#ifndef MONITORCH_VIEW_DIFF_ALIGN_WINDOW_H
#define MONITORCH_VIEW_DIFF_ALIGN_WINDOW_H

#include "runtime/view/diff/align/side.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each member has a key, and another one by which it may be found as well. */
struct diff_common {
    uint32_t *kept[2];  /* owned: indices of members that are left */
    uint64_t *keys[2];  /* owned: their keys */
    uint32_t counts[2]; /* of these */
    size_t capacities[2];
    uint64_t *table; /* owned: a set of keys; 0: free */
    size_t table_capacity;
};

struct diff_window {
    size_t limit;           /* so many items at most are looked ahead at on each side */
    uint64_t *keys[2];      /* owned: of the entries that are undecided */
    uint32_t *places[2];    /* owned: where they stand in the queues */
    bool *has_partner[2];   /* owned */
    uint64_t *like_keys[2]; /* owned: whatever the caller */
    size_t capacity[2];
    uint32_t counts[2];
    uint32_t *partners; /* owned: for those of A */
    size_t partner_capacity;
    struct diff_common common;
    uint32_t *found; /* owned: partners among what both have */
    size_t found_capacity;
    struct diff_moved *moved; /* owned: entries that may be found elsewhere */
    size_t moved_capacity;
    uint32_t moved_count; /* pairs of these so far: numbers for them */
    size_t far_size;      /* so far ahead, items of coroutines are looked for */
    uint32_t far_credit;  /* how often this may still be in vain */
    size_t like_size;     /* from this size on, what is only alike is taken */
};

void diff_window_release(struct diff_window *window);

/* Decides on at least one of the entries of both sides that come next. false: out of
 * memory. */
bool diff_window_decide(struct diff_window *window, struct diff_side sides[2]);

#endif
