/* Decision at places where two traces part: a look ahead at both. */
#ifndef MONITORCH_VIEW_DIFF_ALIGN_WINDOW_H
#define MONITORCH_VIEW_DIFF_ALIGN_WINDOW_H

#include "runtime/view/diff/align/side.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Filter of two sequences. Each member has two keys by which it may be matched. */
struct diff_common {
    uint32_t *kept[2];  /* owned: indices of the members that remain */
    uint64_t *keys[2];  /* owned: their keys */
    uint32_t counts[2]; /* of these */
    size_t capacities[2];
    uint64_t *table; /* owned: a set of keys; 0: empty slot */
    size_t table_capacity;
};

struct diff_window {
    size_t limit;           /* most items to look ahead on each side */
    uint64_t *keys[2];      /* owned: keys of the undecided entries */
    uint32_t *places[2];    /* owned: their indices in the queues */
    bool *has_partner[2];   /* owned */
    uint64_t *like_keys[2]; /* owned: keys without the caller */
    size_t capacity[2];
    uint32_t counts[2];
    uint32_t *partners; /* owned: for those of A */
    size_t partner_capacity;
    struct diff_common common;
    uint32_t *found; /* owned: partners among the common members */
    size_t found_capacity;
    struct diff_moved *moved; /* owned: entries that may have a counterpart elsewhere */
    size_t moved_capacity;
    uint32_t moved_count; /* pairs of these so far, which number them */
    size_t far_size;      /* distance of searches for items of coroutines */
    uint32_t far_credit;  /* how many of these searches may still fail */
    size_t like_size;     /* size from which similar entries are accepted */
};

void diff_window_release(struct diff_window *window);

/* Decides on at least one of the next entries of both sides. Returns false if memory ran out. */
bool diff_window_decide(struct diff_window *window, struct diff_side sides[2]);

#endif
