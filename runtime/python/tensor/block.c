/* Plain tensors whose values are contiguous in memory, found in few steps. Most tensors are
 * such. The only call is the one to libtorch that asks whether autograd follows the tensor. */
#include "runtime/python/tensor/private.h"

#include "runtime/base/memory.h"

/* The part of TensorImpl that decides the form of the values, read as raw bytes. */
struct raw_form {
    uint64_t dimension_count;
    const int64_t *sizes, *strides;
    uint16_t torch_dtype;
};

HOT static void
read_raw(const struct tensor_layout *layout, const char *impl, struct raw_form *raw)
{
    raw->dimension_count = layout_word(impl, layout->sizes);
    raw->sizes = (const int64_t *)(const void *)(impl + layout->sizes) + 1;
    raw->strides = (const int64_t *)(const void *)(impl + layout->strides);
    memcpy(&raw->torch_dtype, impl + layout->dtype, sizeof(raw->torch_dtype));
}

HOT static bool is_known(const struct block_form *form, const struct raw_form *raw)
{
    uint32_t count = form->dimension_count;

    if (form->torch_dtype != raw->torch_dtype || count != raw->dimension_count) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (form->shape[i] != raw->sizes[i] || form->strides[i] != raw->strides[i]) {
            return false;
        }
    }
    return true;
}

/* Whether the values have no gaps: each dimension's stride is the size of all inner dimensions. */
static bool has_no_gaps(const struct block_form *form)
{
    unsigned count = form->dimension_count, used = 0;
    int64_t expected = 1;

    for (unsigned place = 0; place < count; place++) {
        unsigned i = count;

        while (i-- > 0 && ((used & 1u << i) != 0 ||
                           (form->strides[i] != expected && form->shape[i] != 1))) {}
        if (i >= count) {
            return false;
        }
        used |= 1u << i;
        expected *= form->shape[i];
    }
    return true;
}

/* Returns false if there are no values, too many dimensions, gaps, or a dtype without a fixed
 * size. Not inlined: most tensors have the form that is known already. */
static __attribute__((noinline)) bool find_form(const struct raw_form *raw,
                                                struct block_form *form)
{
    enum dtype dtype = torch_find_dtype(raw->torch_dtype);
    int64_t count = 1, size;

    if (raw->dimension_count > TENSOR_BLOCK_DIMENSIONS ||
        dtype_class(dtype) == DTYPE_CLASS_OPAQUE) {
        return false;
    }
    form->dtype = (uint8_t)dtype;
    form->item_size = (uint8_t)dtype_size(dtype);
    form->torch_dtype = raw->torch_dtype;
    form->dimension_count = (uint8_t)raw->dimension_count;
    form->is_in_order = true;
    for (unsigned i = form->dimension_count; i-- > 0;) {
        form->shape[i] = raw->sizes[i];
        form->strides[i] = raw->strides[i];
        if (form->shape[i] != 1 && form->strides[i] != count) {
            form->is_in_order = false;
        }
        if (form->shape[i] <= 0 ||
            __builtin_mul_overflow(count, form->shape[i], &count)) {
            return false;
        }
    }
    if (__builtin_mul_overflow(count, (int64_t)form->item_size, &size)) {
        return false;
    }
    form->size = (size_t)size;
    return form->is_in_order || has_no_gaps(form);
}

/* Finds the first value, and checks that all values lie inside the storage. */
HOT static bool find_memory(const struct tensor_layout *layout,
                            const void *impl,
                            struct tensor_block *block)
{
    struct layout_memory memory;

    if (!layout_find_memory(layout, impl, block->form->item_size, &memory) ||
        memory.start > memory.size ||
        block->form->size > (uint64_t)(memory.size - memory.start)) {
        return false;
    }
    block->data = memory.data;
    return true;
}

/* `object` is of the type itself, or a parameter. */
HOT static bool find_block(const struct torch_access *torch,
                           PyObject *object,
                           const struct block_form *known,
                           struct tensor_block *block)
{
    const struct tensor_layout *layout = &torch->layout;
    struct raw_form raw;
    const void *impl;
    uint64_t keys;

    if (layout->state != LAYOUT_KNOWN || layout->strides == 0 || torch->tests_devices ||
        (impl = layout_impl(layout, object)) == NULL) {
        return false;
    }
    keys = layout_word(impl, layout->keys);
    if (!torch_keys_are_plain(&torch->keys, keys) || (keys & torch->keys.cpu) == 0 ||
        (keys & (torch->keys.conjugate | torch->keys.negative)) != 0) {
        return false;
    }
    read_raw(layout, impl, &raw);
    if (known != NULL && is_known(known, &raw)) {
        block->form = known;
    } else if (find_form(&raw, &block->new_form)) {
        block->form = &block->new_form;
    } else {
        return false;
    }
    if (!find_memory(layout, impl, block)) {
        return false;
    }
    block->version = layout_version(layout, impl);
    block->requires_grad = torch_requires_grad(torch, impl);
    return true;
}

HOT enum tensor_block_answer tensor_find_block(const struct tensor_access *access,
                                               PyObject *object,
                                               const struct block_form *known,
                                               struct tensor_block *block)
{
    const struct torch_access *torch = &access->torch;
    const PyTypeObject *type = Py_TYPE(object);

    block->is_parameter = type == torch->parameter_type;
    if (type != torch->tensor_type && !block->is_parameter) {
        return TENSOR_BLOCK_FOREIGN;
    }
    return find_block(torch, object, known, block) ? TENSOR_BLOCK_FOUND
                                                   : TENSOR_BLOCK_NONE;
}
