/* L2 norms of the rows of an array, saved instead of its values if only norms are wanted. */
#ifndef MONITORCH_ARRAY_ROW_NORMS_H
#define MONITORCH_ARRAY_ROW_NORMS_H

#include "runtime/array/array.h"

struct row_norms {
    /* One norm for each index of the first dimension; for an array without dimensions its
     * magnitude, without dimensions as well. */
    struct array array;
    int64_t shape[1];
    void *bytes; /* owned: the norms */
};

/* Computes the norms. Returns false if memory runs out. Sums are doubles. The norms have the
 * array's dtype, or that of its parts if it is complex, or float32 if that is no float of 16
 * bits or more. The array's values must be numbers. `norms` must not move. */
bool row_norms_init(struct row_norms *norms, const struct array *array);
void row_norms_release(struct row_norms *norms);

#endif
