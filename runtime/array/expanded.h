/* Expanded arrays: arrays with dimensions of stride 0, along which one element is repeated. In a
 * large one, each element in memory is measured and stored only once. */
#ifndef MONITORCH_ARRAY_EXPANDED_H
#define MONITORCH_ARRAY_EXPANDED_H

#include "runtime/array/array.h"

/* Up to this many bytes, an expanded array is read like any other. */
#define EXPANDED_SIZE ((uint64_t)1024 * 1024)

struct expanded_array {
    struct array once; /* the array with length 1 along dimensions of stride 0 */
    uint64_t times;    /* how often the array repeats each of its elements */
    int64_t shape[ARRAY_DIMENSION_MAX]; /* of `once` */
};

/* Whether the array is expanded and large. `found` must not move while its array is used. */
bool expanded_find(const struct array *array, struct expanded_array *found);

/* Returns the strides, in bytes, that make the whole array out of the packed elements of `once`. */
void expanded_pack_strides(const struct expanded_array *expanded, int64_t *strides);

#endif
