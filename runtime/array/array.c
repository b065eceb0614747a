/* Arrays: counting, contiguity and reading. */
#include "runtime/array/array.h"

#include "runtime/array/walk.h"

#include <string.h>

uint64_t array_count(const struct array *array)
{
    uint64_t count = 1;
    bool fits = true;

    for (uint32_t i = 0; i < array->dimension_count; i++) {
        uint64_t length = (uint64_t)array->shape[i];

        if (length == 0) {
            return 0;
        }
        if (count > UINT64_MAX / length) {
            fits = false; /* unless a later dimension is empty */
        }
        count *= length;
    }
    return fits ? count : UINT64_MAX;
}

bool array_is_contiguous(const struct array *array)
{
    int64_t expected = (int64_t)dtype_size(array->dtype);
    bool is_contiguous = true;

    if (array->strides == NULL) {
        return true;
    }
    for (uint32_t i = array->dimension_count; i-- > 0;) {
        int64_t length = array->shape[i];

        if (length == 0) {
            return true;
        }
        if (length == 1 || !is_contiguous) {
            continue; /* a later dimension may still be empty */
        }
        is_contiguous = array->strides[i] == expected &&
                        !__builtin_mul_overflow(expected, length, &expected);
    }
    return is_contiguous;
}

void array_read(const struct array *array, uint64_t first, uint64_t count, void *bytes)
{
    size_t size = dtype_size(array->dtype);
    struct array_walk walk;

    if (count == 0 || size == 0) {
        return;
    }
    if (array_is_contiguous(array)) {
        memcpy(bytes, (const unsigned char *)array->data + first * size, count * size);
        array_resolve(array, count, bytes);
        return;
    }
    array_walk_init(&walk, array);
    array_walk_copy(&walk, first, count, bytes);
}
