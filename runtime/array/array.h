/* Arrays: descriptions of numbers in memory, the input of statistics, hash and sample. */
#ifndef MONITORCH_ARRAY_ARRAY_H
#define MONITORCH_ARRAY_ARRAY_H

#include "runtime/array/dtype.h"

#include <stdbool.h>
#include <stdint.h>

/* torch's own limit is 64. */
#define ARRAY_DIMENSION_MAX 64

struct array {
    const void *data; /* borrowed: the first element; NULL: not readable */
    enum dtype dtype;
    uint32_t dimension_count;
    const int64_t *shape; /* borrowed; dimension_count lengths; never negative */
    /* Borrowed; in bytes; may be 0 or negative; NULL: contiguous. */
    const int64_t *strides;
    bool is_conjugated; /* the values are the conjugates of the numbers in memory */
    bool is_negated;    /* the values are the negatives of the numbers in memory */
};

/* The number of elements. UINT64_MAX if the product overflows. */
uint64_t array_count(const struct array *array);
/* Whether the elements are adjacent in memory in logical (row-major) order. Dimensions of size 1
 * do not matter; an empty array is contiguous. */
bool array_is_contiguous(const struct array *array);
/* Writes `count` elements, starting with element `first`, in logical order, with conjugation and
 * negation resolved. */
void array_read(const struct array *array, uint64_t first, uint64_t count, void *bytes);

#endif
