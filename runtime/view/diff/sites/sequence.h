/* Alignment of two sequences: it matches members of one with members of the other, in order, so
 * that the sum of scores is large. */
#ifndef MONITORCH_VIEW_DIFF_SITES_SEQUENCE_H
#define MONITORCH_VIEW_DIFF_SITES_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIFF_SEQUENCE_NONE UINT32_MAX

struct diff_sequence {
    const void *context; /* for `score` */
    /* Returns how much suggests that two members are the same; 0: they are not. */
    uint32_t (*score)(const void *context, uint32_t a, uint32_t b);
    /* Members with equal keys are the same. */
    const uint64_t *keys[2]; /* borrowed */
    uint32_t counts[2];
};

/* Sets the counterpart in B of each member of A, or DIFF_SEQUENCE_NONE. Time and memory do not
 * grow with the product of the lengths. Returns false if memory ran out. */
bool diff_sequence_align(const struct diff_sequence *sequence, uint32_t *partners);

#endif
