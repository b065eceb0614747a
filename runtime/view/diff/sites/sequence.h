/* Which members of one sequence are which of another, in the order of both: as much as
 * possible is found in both, by weight. */
#ifndef MONITORCH_VIEW_DIFF_SITES_SEQUENCE_H
#define MONITORCH_VIEW_DIFF_SITES_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIFF_SEQUENCE_NONE UINT32_MAX

struct diff_sequence {
    const void *context; /* for `score` */
    /* How much speaks for it that these are the same; 0: they are not. */
    uint32_t (*score)(const void *context, uint32_t a, uint32_t b);
    /* Members with the same key are the same. */
    const uint64_t *keys[2]; /* borrowed */
    uint32_t counts[2];
};

/* Sets for each member of A its counterpart in B, or DIFF_SEQUENCE_NONE. Time and memory do
 * not grow with the product of the lengths. false: out of memory. */
bool diff_sequence_align(const struct diff_sequence *sequence, uint32_t *partners);

#endif
