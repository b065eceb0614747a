/* Plain tensors: strided, in memory, read through libtorch's C interface, or where they lie: nothing
 * is called that looks at modes, traces or subclasses. */
#include "runtime/python/tensor/private.h"

#include "runtime/base/hot.h"

/* ScalarType's numbers, which libtorch's C interface uses, as they have been since 1.0. */
static const uint8_t dtypes_by_number[] = {
    [0] = DTYPE_UINT8,
    [1] = DTYPE_INT8,
    [2] = DTYPE_INT16,
    [3] = DTYPE_INT32,
    [4] = DTYPE_INT64,
    [5] = DTYPE_FLOAT16,
    [6] = DTYPE_FLOAT32,
    [7] = DTYPE_FLOAT64,
    [8] = DTYPE_COMPLEX32,
    [9] = DTYPE_COMPLEX64,
    [10] = DTYPE_COMPLEX128,
    [11] = DTYPE_BOOL,
    [12] = DTYPE_QINT8,
    [13] = DTYPE_QUINT8,
    [14] = DTYPE_QINT32,
    [15] = DTYPE_BFLOAT16,
    [16] = DTYPE_QUINT4X2,
    [17] = DTYPE_QUINT2X4,
    [23] = DTYPE_FLOAT8_E5M2,
    [24] = DTYPE_FLOAT8_E4M3FN,
    [25] = DTYPE_FLOAT8_E5M2FNUZ,
    [26] = DTYPE_FLOAT8_E4M3FNUZ,
    [27] = DTYPE_UINT16,
    [28] = DTYPE_UINT32,
    [29] = DTYPE_UINT64,
    [44] = DTYPE_FLOAT8_E8M0FNU,
    [45] = DTYPE_FLOAT4_E2M1FN_X2,
};
#define DTYPE_NUMBER_COUNT (sizeof dtypes_by_number / sizeof *dtypes_by_number)

bool torch_fits_storage(const struct array *array, int64_t offset, int64_t size)
{
    int64_t item = (int64_t)dtype_size(array->dtype);
    int64_t end, step;

    if (offset < 0 || __builtin_mul_overflow(offset, item, &end) ||
        __builtin_add_overflow(end, item, &end)) {
        return false;
    }
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        if (array->shape[i] == 0) {
            return true;
        }
        if (array->strides[i] < 0 ||
            __builtin_mul_overflow(array->shape[i] - 1, array->strides[i], &step) ||
            __builtin_add_overflow(end, step, &end)) {
            return false;
        }
    }
    return end <= size;
}

void torch_set_dtype(struct tensor_access *access,
                     PyObject *object,
                     enum dtype dtype,
                     struct tensor *tensor)
{
    PyObject *found;
    struct torch_guard guard;

    tensor->array.dtype = dtype;
    if (dtype != DTYPE_OTHER || !torch_guard_enter(&access->torch, &guard)) {
        return;
    }
    found = descriptor_get(access->torch.objects.dtype, object);
    if (found != NULL) {
        const char *text = text_set_add_object(&access->texts, found);
        tensor->array.dtype = dtype_find(slice_of(text));
        if (tensor->array.dtype == DTYPE_OTHER) {
            tensor->dtype_text = text;
        }
        Py_DECREF(found);
    }
    PyErr_Clear();
    torch_guard_leave(&guard);
}

/* Where a TensorImpl has its sizes and strides. */
static bool find_dimensions(const struct torch_access *torch,
                            void *impl,
                            int64_t *count,
                            int64_t **sizes,
                            int64_t **strides)
{
    const struct tensor_layout *layout = &torch->layout;
    const struct torch_functions *functions = &torch->functions;

    if (layout->state == LAYOUT_KNOWN && layout->strides != 0 &&
        layout_word(impl, layout->sizes) <= LAYOUT_INLINE_DIMENSIONS) {
        *count = (int64_t)layout_word(impl, layout->sizes);
        *sizes = (int64_t *)((char *)impl + layout->sizes + sizeof(int64_t));
        *strides = (int64_t *)((char *)impl + layout->strides);
        return true;
    }
    return functions->get_dimension_count(&impl, count) == 0 && *count >= 0 &&
           *count <= ARRAY_DIMENSION_MAX && functions->get_sizes(&impl, sizes) == 0 &&
           functions->get_strides(&impl, strides) == 0;
}

/* Shape and strides, the latter in bytes. */
static bool
dimensions_read(const struct torch_access *torch, void *impl, struct tensor *tensor)
{
    int64_t count, *sizes, *strides;
    int64_t item = (int64_t)dtype_size(tensor->array.dtype);

    if (!find_dimensions(torch, impl, &count, &sizes, &strides)) {
        return false;
    }
    tensor->array.dimension_count = (uint32_t)count;
    tensor->array.strides = tensor->dimensions + ARRAY_DIMENSION_MAX;
    for (int64_t i = 0; i < count; i++) {
        tensor->dimensions[i] = sizes[i];
        if (__builtin_mul_overflow(strides[i], item,
                                   &tensor->dimensions[ARRAY_DIMENSION_MAX + i])) {
            tensor->array.strides = NULL;
        }
    }
    return true;
}

/* For a tensor whose memory is a device's. */
static void
set_device(struct tensor_access *access, void *handle, struct tensor *tensor)
{
    static const char *const names[] = {
        [1] = "cuda",
        [6] = "hip",
        [12] = "xpu",
        [13] = "mps",
    };
    const struct torch_functions *functions = &access->torch.functions;
    int32_t type = 0, index = 0;
    char text[32];

    if (functions->get_device_type(handle, &type) == 0 &&
        functions->get_device_index(handle, &index) == 0 && type > 0 &&
        (size_t)type < sizeof names / sizeof *names && names[type] != NULL) {
        PyOS_snprintf(text, sizeof text, "%s:%d", names[type], index < 0 ? 0 : index);
        tensor->device = text_set_add(&access->texts, text);
    } else {
        tensor->device = "other";
    }
}

void torch_set_on_device(const struct torch_access *torch, struct tensor *tensor)
{
    tensor->is_on_device = tensor->note[0] == '\0' && torch->measures_devices;
    if (!tensor->is_on_device && tensor->note[0] == '\0') {
        tensor->note = "other device";
    }
}

HOT enum dtype torch_find_dtype(int32_t number)
{
    return number >= 0 && (size_t)number < DTYPE_NUMBER_COUNT
               ? (enum dtype)dtypes_by_number[number]
               : DTYPE_OTHER;
}

static bool ask_for_storage(const struct torch_functions *functions,
                            void *impl,
                            struct tensor *tensor,
                            int64_t *size,
                            const void **data)
{
    return functions->get_storage_offset(&impl, &tensor->offset) == 0 &&
           functions->get_storage_size(&impl, size) == 0 &&
           functions->get_data(&impl, data) == 0;
}

/* The same where it lies, as far as that is known. */
static bool peek_storage(const struct tensor_layout *layout,
                         const void *impl,
                         struct tensor *tensor,
                         int64_t *size,
                         const void **data)
{
    struct layout_memory memory;

    if (!layout_find_memory(layout, impl, dtype_size(tensor->array.dtype), &memory)) {
        return false;
    }
    *size = memory.size;
    tensor->offset = memory.offset;
    *data = array_count(&tensor->array) == 0 ? NULL : memory.data;
    return true;
}

/* What follows the dtype. */
static int read_memory(struct tensor_access *access,
                       void *impl,
                       uint64_t keys,
                       struct tensor *tensor)
{
    const void *data;
    int64_t storage_size;

    if (!dimensions_read(&access->torch, impl, tensor) ||
        (!peek_storage(&access->torch.layout, impl, tensor, &storage_size, &data) &&
         !ask_for_storage(&access->torch.functions, impl, tensor, &storage_size,
                          &data))) {
        return -1;
    }
    if ((keys & access->torch.keys.cpu) == 0) {
        set_device(access, &impl, tensor);
    }
    tensor->data = (uint64_t)(uintptr_t)data;
    tensor->array.is_conjugated = (keys & access->torch.keys.conjugate) != 0;
    tensor->array.is_negated = (keys & access->torch.keys.negative) != 0;
    tensor->flags |= (tensor->array.is_conjugated ? LOG_FORM_CONJUGATED : 0u) |
                     (tensor->array.is_negated ? LOG_FORM_NEGATED : 0u);
    if (dtype_size(tensor->array.dtype) == 0 || tensor->array.strides == NULL) {
        tensor->array.strides = NULL;
        tensor->note = "dtype not read";
    } else if (!torch_fits_storage(&tensor->array, tensor->offset, storage_size) ||
               (data == NULL && array_count(&tensor->array) != 0)) {
        tensor->note = "storage too small"; /* resized under it, as sharding does */
    } else if ((keys & access->torch.keys.cpu) == 0 || access->torch.tests_devices) {
        torch_set_on_device(&access->torch, tensor);
    } else if (tensor->note[0] == '\0') {
        /* Without elements nothing is read, but the values are known: there are none. */
        tensor->array.data = data == NULL ? (const void *)tensor->dimensions : data;
    }
    return 0;
}

int torch_read_plain(struct tensor_access *access,
                     PyObject *object,
                     void *impl,
                     uint64_t keys,
                     struct tensor *tensor)
{
    int32_t number;

    if (access->torch.functions.get_dtype(&impl, &number) != 0) {
        return -1;
    }
    torch_set_dtype(access, object, torch_find_dtype(number), tensor);
    return read_memory(access, impl, keys, tensor);
}

static bool read_dtype(const struct torch_access *torch, void *impl, int32_t *number)
{
    const struct tensor_layout *layout = &torch->layout;
    uint16_t peeked;

    if (layout->storage == 0) {
        return torch->functions.get_dtype(&impl, number) == 0;
    }
    memcpy(&peeked, (const char *)impl + layout->dtype, sizeof(peeked));
    *number = peeked;
    return true;
}

bool torch_describe_plain(struct tensor_access *access,
                          PyObject *object,
                          struct tensor *tensor)
{
    const struct torch_access *torch = &access->torch;
    const struct tensor_layout *layout = &torch->layout;
    void *impl = layout->state == LAYOUT_KNOWN ? layout_impl(layout, object) : NULL;
    uint64_t keys = impl == NULL ? 0 : layout_word(impl, layout->keys);
    int32_t number = -1;

    if (impl == NULL || !torch_keys_are_plain(&torch->keys, keys) ||
        (keys & torch->keys.cpu) == 0 || !read_dtype(torch, impl, &number)) {
        return false;
    }
    tensor->array.dtype = torch_find_dtype(number);
    if (tensor->array.dtype == DTYPE_OTHER) {
        return false; /* Python tells its name */
    }
    tensor->version = layout_version(layout, impl);
    tensor->flags =
        (Py_TYPE(object) == torch->parameter_type ? LOG_FORM_PARAMETER : 0u) |
        (torch_requires_grad(torch, impl) ? LOG_FORM_REQUIRES_GRAD : 0u);
    return read_memory(access, impl, keys, tensor) == 0;
}
