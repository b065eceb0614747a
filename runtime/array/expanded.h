/* Expanded arrays: dimensions of stride 0, along which one element is repeated. Of a large one each
 * element is measured and stored once. */
#ifndef MONITORCH_ARRAY_EXPANDED_H
#define MONITORCH_ARRAY_EXPANDED_H

#include "runtime/array/array.h"

/* Up to so many bytes of elements an expanded array is read like any other. */
#define EXPANDED_SIZE ((uint64_t)1024 * 1024)

struct expanded_array {
    struct array once; /* the same with lengths of 1 along dimensions of stride 0 */
    uint64_t times;    /* how often the array repeats each of its elements */
    int64_t shape[ARRAY_DIMENSION_MAX]; /* of `once` */
};

/* Whether the array is expanded, and large. `found` may not move while its array is used. */
bool expanded_find(const struct array *array, struct expanded_array *found);

/* Where the elements of `once` lie one after the other: the strides, in bytes, with which they are
 * the whole array. */
void expanded_pack_strides(const struct expanded_array *expanded, int64_t *strides);

#endif
