/* Which members of two sequences may be found in the other one at all: only these are worth
 * being aligned. */
#ifndef MONITORCH_VIEW_DIFF_ALIGN_COMMON_H
#define MONITORCH_VIEW_DIFF_ALIGN_COMMON_H

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

/* For arrays of one capacity: as memory_grow, of each of them in turn; `capacity` is theirs as it
 * was, `*grown` what it is when all have grown. */
bool diff_grow_one(
    void **items, size_t capacity, size_t wanted, size_t item_size, size_t *grown);

void diff_common_release(struct diff_common *common);

/* false: out of memory. */
bool diff_common_find(struct diff_common *common,
                      uint64_t *const keys[2],
                      uint64_t *const other_keys[2],
                      const uint32_t counts[2]);

#endif
