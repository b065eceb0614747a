/* The L2 norm of each row of an array: what is saved instead of the values where only norms are
 * asked for. */
#ifndef MONITORCH_ARRAY_ROW_NORMS_H
#define MONITORCH_ARRAY_ROW_NORMS_H

#include "runtime/array/array.h"

struct row_norms {
    struct array
        array; /* one norm for each index of the first dimension; of an array without
                           dimensions its magnitude, without a dimension too */
    int64_t shape[1];
    void *bytes; /* owned: the norms */
};

/* False where memory ran out. Sums are doubles; the norms are of the array's dtype, of its parts'
 * where it is complex, and float32 where it is none of 16 bits or more. The array's values must be
 * numbers. `norms` may not move. */
bool row_norms_init(struct row_norms *norms, const struct array *array);
void row_norms_release(struct row_norms *norms);

#endif
