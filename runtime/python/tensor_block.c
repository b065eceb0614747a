/* Plain tensors whose values lie in memory without gaps, found in few steps: what most tensors are.
 * Nothing is called but libtorch's answer whether autograd follows the tensor. */
#include "runtime/python/tensor_private.h"

#include "runtime/base/hot.h"

/* How many values there are, and whether they lie there as a new tensor's do; false: none, or too many. */
HOT static bool
read_shape(const int64_t *sizes, const int64_t *strides, struct tensor_block *block)
{
    int64_t count = 1;

    block->is_in_order = true;
    for (uint32_t i = block->dimension_count; i-- > 0;) {
        int64_t size = sizes[i];

        if (size != 1 && strides[i] != count) {
            block->is_in_order = false;
        }
        if (size <= 0 || __builtin_mul_overflow(count, size, &count)) {
            return false;
        }
    }
    block->count = (uint64_t)count;
    return true;
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
    size_t item_size = dtype_size(block->dtype);
    struct layout_memory memory;

    if (!layout_find_memory(layout, impl, item_size, &memory) ||
        __builtin_mul_overflow(block->count, item_size, &block->size) ||
        memory.start > memory.size ||
        block->size > (uint64_t)(memory.size - memory.start)) {
        return false;
    }
    block->data = memory.data;
    return true;
}

/* `object` is of the type itself, or a parameter. */
HOT static bool find_block(const struct torch_access *torch,
                           PyObject *object,
                           struct tensor_block *block)
{
    const struct tensor_layout *layout = &torch->layout;
    const void *impl;
    const int64_t *sizes, *strides;
    uint64_t keys, count;
    uint16_t number;

    if (layout->state != LAYOUT_KNOWN || layout->strides == 0 || torch->tests_devices ||
        (impl = layout_impl(layout, object)) == NULL) {
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
    if (dtype_class(block->dtype) == DTYPE_CLASS_OPAQUE ||
        !read_shape(sizes, strides, block) || !find_memory(layout, impl, block) ||
        (!block->is_in_order && !find_order(sizes, strides, block))) {
        return false;
    }
    block->version = layout_version(layout, impl);
    block->requires_grad = torch->functions.requires_grad(impl);
    return true;
}

HOT enum tensor_block_answer tensor_find_block(const struct tensor_access *access,
                                               PyObject *object,
                                               struct tensor_block *block)
{
    const struct torch_access *torch = &access->torch;
    const PyTypeObject *type = Py_TYPE(object);

    block->is_parameter = type == torch->parameter_type;
    if (type != torch->tensor_type && !block->is_parameter) {
        return TENSOR_BLOCK_FOREIGN;
    }
    return find_block(torch, object, block) ? TENSOR_BLOCK_FOUND : TENSOR_BLOCK_NONE;
}
