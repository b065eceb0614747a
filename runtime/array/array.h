/* Numbers in memory, described: the input of statistics, hash and sample. */
#ifndef MONITORCH_ARRAY_ARRAY_H
#define MONITORCH_ARRAY_ARRAY_H

#include "runtime/array/dtype.h"

#include <stdbool.h>
#include <stdint.h>

/* torch's own limit is 64. */
#define ARRAY_DIMENSION_MAX 64

struct array {
    const void *data; /* borrowed: the first element; NULL: cannot be read */
    enum dtype dtype;
    uint32_t dimension_count;
    const int64_t *shape;   /* borrowed; dimension_count of them; never negative */
    const int64_t *strides; /* borrowed; bytes; may be 0 or less; NULL: contiguous */
    bool is_conjugated;     /* the values are the conjugates of what memory holds */
    bool is_negated;        /* the values are the negatives of what memory holds */
};

/* How many elements; UINT64_MAX where the product does not fit. */
uint64_t array_count(const struct array *array);
/* Whether the elements follow each other in memory in logical (row-major) order. Dimensions
 * of size 1 do not matter; an empty array is contiguous. */
bool array_is_contiguous(const struct array *array);
/* Writes `count` elements from the `first`-th on, in logical order, conjugation and negation
 * resolved. */
void array_read(const struct array *array, uint64_t first, uint64_t count, void *bytes);

#endif
