/* Walks over an array's elements in logical order, for all strides. Private to the files that
 * read arrays. */
#ifndef MONITORCH_ARRAY_WALK_H
#define MONITORCH_ARRAY_WALK_H

#include "runtime/array/array.h"

#include <stddef.h>

/* An array with as few dimensions as its strides allow, none of them of size 1. */
struct array_walk {
    const struct array *array; /* borrowed */
    size_t size;               /* of an element */
    uint32_t dimension_count;
    uint64_t shape[ARRAY_DIMENSION_MAX];
    int64_t strides[ARRAY_DIMENSION_MAX];
};

/* The array must have elements of a known size. */
void array_walk_init(struct array_walk *walk, const struct array *array);
/* Writes `count` elements, starting with element `first`. */
void array_walk_copy(const struct array_walk *walk,
                     uint64_t first,
                     uint64_t count,
                     unsigned char *out);

/* The number of elements, from `first` on and at most `count`, that are copied fastest at once.
 * If the rows are interleaved in memory, these are whole rows. At least 1 if `count` is. */
uint64_t array_walk_fit(const struct array_walk *walk, uint64_t first, uint64_t count);

/* Whether the values are the numbers in memory, neither conjugated nor negated. */
static inline bool array_is_resolved(const struct array *array)
{
    return !array->is_conjugated && !array->is_negated;
}

/* Conjugates and negates elements that were copied out of the array. */
void array_resolve(const struct array *array, uint64_t count, unsigned char *bytes);

#endif
