/* An array's elements in logical order, whatever its strides. Private to the files that read
 * arrays. */
#ifndef MONITORCH_ARRAY_WALK_H
#define MONITORCH_ARRAY_WALK_H

#include "runtime/array/array.h"

#include <stddef.h>

/* The array with as few dimensions as its strides allow, and none of size 1. */
struct array_walk {
    const struct array *array; /* borrowed */
    size_t size;               /* of an element */
    uint32_t dimension_count;
    uint64_t shape[ARRAY_DIMENSION_MAX];
    int64_t strides[ARRAY_DIMENSION_MAX];
};

/* The array must have elements, and their size be known. */
void array_walk_init(struct array_walk *walk, const struct array *array);
/* Writes `count` elements from the `first`-th on. */
void array_walk_copy(const struct array_walk *walk,
                     uint64_t first,
                     uint64_t count,
                     unsigned char *out);

/* How many elements, at most `count`, are best copied at once from the `first`-th on: where rows
 * lie across the memory, whole ones. At least 1 for a count of 1 or more. */
uint64_t array_walk_fit(const struct array_walk *walk, uint64_t first, uint64_t count);

/* Whether the values are just what memory holds. */
static inline bool array_is_resolved(const struct array *array)
{
    return !array->is_conjugated && !array->is_negated;
}

/* Conjugates and negates elements that were copied out of the array. */
void array_resolve(const struct array *array, uint64_t count, unsigned char *bytes);

#endif
