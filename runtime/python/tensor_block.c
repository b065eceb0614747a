/* Plain tensors whose values lie in memory without gaps, found in few steps: what most tensors are.
 * Nothing is called but libtorch's answer whether autograd follows the tensor. */
#include "runtime/python/tensor_private.h"

#include "runtime/base/hot.h"

/* As a new tensor lies there. */
HOT static bool
is_row_major(const int64_t *sizes, const int64_t *strides, uint32_t count)
{
    int64_t expected = 1;

    while (count-- > 0) {
        if (sizes[count] != 1) {
            if (strides[count] != expected) {
                return false;
            }
            expected = (int64_t)((uint64_t)expected * (uint64_t)sizes[count]);
        }
    }
    return true;
}

/* How many values there are; 0: none, or too many. */
HOT static uint64_t count_values(const int64_t *sizes, uint32_t count)
{
    int64_t product = 1;

    for (uint32_t i = 0; i < count; i++) {
        if (sizes[i] <= 0 || __builtin_mul_overflow(product, sizes[i], &product)) {
            return 0;
        }
    }
    return (uint64_t)product;
}

/* The dimensions from the innermost on, as they lie there; false where there are gaps. Not inlined:
 * most are in order. */
HOT static __attribute__((noinline)) bool
find_order(const int64_t *sizes, const int64_t *strides, struct tensor_block *block)
{
    unsigned count = block->dimension_count, used = 0;
    int64_t expected = 1;

    for (unsigned place = 0; place < count; place++) {
        unsigned i = count;

        while (i-- > 0 &&
               ((used & 1u << i) != 0 || (strides[i] != expected && sizes[i] != 1))) {}
        if (i >= count) {
            return false;
        }
        used |= 1u << i;
        block->order[place] = (uint8_t)i;
        expected = (int64_t)((uint64_t)expected * (uint64_t)sizes[i]);
    }
    return true;
}

/* Where the values begin, and that they all lie in the storage. */
HOT static bool find_memory(const struct tensor_layout *layout,
                            const void *impl,
                            struct tensor_block *block)
{
    const void *storage = (const void *)(uintptr_t)layout_word(impl, layout->storage);
    uint64_t offset = layout_word(impl, layout->offset);
    size_t item_size = dtype_size(block->dtype);
    uint64_t size, start, end;
    const char *data;

    if (storage == NULL) {
        return false;
    }
    data = (const char *)(uintptr_t)layout_word(storage, layout->storage_data);
    size = layout_word(storage, layout->storage_size);
    /* Numbers that are symbols are negative. */
    if (data == NULL || size > INT64_MAX ||
        __builtin_mul_overflow(offset, item_size, &start) ||
        __builtin_mul_overflow(block->count, item_size, &block->size) ||
        __builtin_add_overflow(start, block->size, &end) || end > size) {
        return false;
    }
    block->data = data + start;
    return true;
}

HOT bool tensor_find_block(const struct tensor_access *access,
                           PyObject *object,
                           struct tensor_block *block)
{
    const struct torch_access *torch = &access->torch;
    const struct tensor_layout *layout = &torch->layout;
    const void *impl;
    const int64_t *sizes, *strides;
    uint64_t keys, count;
    uint16_t number;

    if (layout->state != LAYOUT_KNOWN || layout->storage == 0 || layout->strides == 0 ||
        torch->tests_devices || (impl = layout_impl(layout, object)) == NULL) {
        return false;
    }
    keys = layout_word(impl, layout->keys);
    count = layout_word(impl, layout->sizes);
    if (!torch_keys_are_plain(&torch->keys, keys) || (keys & torch->keys.cpu) == 0 ||
        (keys & (torch->keys.conjugate | torch->keys.negative)) != 0 ||
        count > TENSOR_BLOCK_DIMENSIONS) {
        return false;
    }
    memcpy(&number, (const char *)impl + layout->dtype, sizeof(number));
    block->dtype = torch_find_dtype(number);
    block->dimension_count = (uint32_t)count;
    sizes = (const int64_t *)(const void *)((const char *)impl + layout->sizes) + 1;
    strides = (const int64_t *)(const void *)((const char *)impl + layout->strides);
    block->shape = sizes;
    block->count = count_values(sizes, block->dimension_count);
    block->is_in_order = is_row_major(sizes, strides, block->dimension_count);
    if (block->count == 0 || dtype_class(block->dtype) == DTYPE_CLASS_OPAQUE ||
        !find_memory(layout, impl, block) ||
        (!block->is_in_order && !find_order(sizes, strides, block))) {
        return false;
    }
    block->version = layout_version(layout, impl);
    block->is_parameter = Py_TYPE(object) == torch->parameter_type;
    block->requires_grad = torch->functions.requires_grad(impl);
    return true;
}
