#include "runtime/array/expanded.h"

#include <assert.h>

bool expanded_find(const struct array *array, struct expanded_array *found)
{
    uint64_t count = array_count(array);
    size_t size = dtype_size(array->dtype);

    if (array->strides == NULL || size == 0 || count <= EXPANDED_SIZE / size ||
        count == UINT64_MAX) {
        return false;
    }
    found->times = 1;
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        bool is_repeated = array->strides[i] == 0 && array->shape[i] > 1;

        found->shape[i] = is_repeated ? 1 : array->shape[i];
        found->times *= is_repeated ? (uint64_t)array->shape[i] : 1;
    }
    found->once = *array;
    found->once.shape = found->shape;
    assert(count % found->times == 0);
    return found->times > 1;
}

void expanded_pack_strides(const struct expanded_array *expanded, int64_t *strides)
{
    const struct array *once = &expanded->once;
    int64_t stride = (int64_t)dtype_size(once->dtype);

    for (uint32_t i = once->dimension_count; i-- > 0;) {
        strides[i] = once->shape[i] == 1 ? 0 : stride;
        stride *= once->shape[i];
    }
}
