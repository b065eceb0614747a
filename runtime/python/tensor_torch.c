/* PyTorch: the types of its tensors, and plain tensors read through libtorch's C interface: nothing is called that looks at modes, traces or subclasses. */
#include "runtime/python/tensor_private.h"

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

/* ---- types ---- */

enum tensor_class torch_classify(struct tensor_access *access, PyTypeObject *type)
{
    const struct torch_access *torch = &access->torch;

    if (type == torch->tensor_type || type == torch->parameter_type) {
        return TENSOR_CLASS_EXACT;
    }
    if (!PyType_IsSubtype(type, torch->base_type)) {
        return TENSOR_CLASS_NONE;
    }
    PyObject *dispatch = type_find(&access->types, type, "__torch_dispatch__");
    return dispatch == NULL || dispatch == torch->objects.disabled_dispatch
               ? TENSOR_CLASS_SUBCLASS
               : TENSOR_CLASS_WRAPPER;
}

/* A subclass's name, and what else its type says. */
static void
set_type(struct tensor_access *access, PyObject *object, struct tensor *tensor)
{
    const struct torch_access *torch = &access->torch;
    PyTypeObject *type = Py_TYPE(object);
    PyObject *name = descriptor_get(access->types.name, (PyObject *)type);

    if (name != NULL && PyUnicode_CheckExact(name)) {
        tensor->type = text_set_add_object(&access->texts, name);
    }
    Py_XDECREF(name);
    PyErr_Clear();
    /* Parameters of other types are told by a mark in the instance. */
    if ((torch->parameter_type != NULL &&
         PyType_IsSubtype(type, torch->parameter_type)) ||
        lookup_in_instance(object, "_is_param") == Py_True) {
        tensor->flags |= LOG_FORM_PARAMETER;
    }
    if (torch->uninitialized_type != NULL &&
        PyType_IsSubtype(type, torch->uninitialized_type)) {
        tensor->note = "uninitialised";
    }
}

/* ---- plain tensors ---- */

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

/* Shape and strides, the latter in bytes. */
static bool dimensions_read(const struct torch_functions *functions,
                            void *handle,
                            struct tensor *tensor)
{
    int64_t count, *sizes, *strides;
    int64_t item = (int64_t)dtype_size(tensor->array.dtype);

    if (functions->get_dimension_count(handle, &count) != 0 || count < 0 ||
        count > ARRAY_DIMENSION_MAX || functions->get_sizes(handle, &sizes) != 0 ||
        functions->get_strides(handle, &strides) != 0) {
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

int torch_read_plain(struct tensor_access *access,
                     PyObject *object,
                     void *impl,
                     uint64_t keys,
                     struct tensor *tensor)
{
    const struct torch_functions *functions = &access->torch.functions;
    void *handle = &impl;
    const void *data;
    int32_t number;
    int64_t storage_size;

    if (functions->get_dtype(handle, &number) != 0) {
        return -1;
    }
    enum dtype dtype = number >= 0 && (size_t)number < DTYPE_NUMBER_COUNT
                           ? dtypes_by_number[number]
                           : DTYPE_OTHER;
    torch_set_dtype(access, object, dtype, tensor);
    if (!dimensions_read(functions, handle, tensor) ||
        functions->get_storage_offset(handle, &tensor->offset) != 0 ||
        functions->get_storage_size(handle, &storage_size) != 0 ||
        functions->get_data(handle, &data) != 0) {
        return -1;
    }
    if ((keys & access->torch.keys.cpu) == 0) {
        set_device(access, handle, tensor);
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

static inline uint64_t word_at(const void *start, size_t offset)
{
    uint64_t word;

    memcpy(&word, (const char *)start + offset, sizeof word);
    return word;
}

static inline void *pointer_at(const void *start, size_t offset)
{
    return (void *)(uintptr_t)word_at(start, offset);
}

static uint32_t read_version(const struct tensor_layout *layout, const void *impl)
{
    const void *counter = pointer_at(impl, layout->counter);
    uint32_t version = 0;

    if (counter != NULL) { /* tensors of inference mode have none */
        memcpy(&version, (const char *)counter + layout->version, sizeof version);
    }
    return version;
}

uint32_t torch_version(struct tensor_access *access, PyObject *object)
{
    struct torch_access *torch = &access->torch;
    struct tensor tensor;
    void *impl;

    if (torch->is_ready && torch->layout.state == LAYOUT_UNKNOWN) {
        layout_search(torch);
    }
    if (torch->is_ready && torch->layout.state == LAYOUT_KNOWN) {
        impl = pointer_at(object, torch->layout.impl);
        return impl == NULL ? 0 : read_version(&torch->layout, impl);
    }
    tensor_init(&tensor, object);
    torch_ask_state(access, object, &tensor);
    tensor_release(&tensor);
    return tensor.version;
}

static int describe_by_layout(struct tensor_access *access,
                              PyObject *object,
                              enum tensor_class class,
                              struct tensor *tensor)
{
    const struct torch_access *torch = &access->torch;
    const struct tensor_layout *layout = &torch->layout;
    void *impl = pointer_at(object, layout->impl);

    if (impl == NULL) {
        return -1; /* the garbage collector has cleared it */
    }
    uint64_t keys = word_at(impl, layout->keys);
    tensor->version = read_version(layout, impl);
    if (torch->functions.requires_grad(impl)) {
        tensor->flags |= LOG_FORM_REQUIRES_GRAD;
    }
    if ((keys & ~torch->keys.plain) == 0 && (keys & torch->keys.dense) != 0 &&
        class != TENSOR_CLASS_WRAPPER) {
        return torch_read_plain(access, object, impl, keys, tensor);
    }
    return torch_describe_carefully(access, object, impl, keys, class, tensor);
}

int torch_describe(struct tensor_access *access,
                   PyObject *object,
                   enum tensor_class class,
                   struct tensor *tensor)
{
    struct torch_access *torch = &access->torch;
    PyTypeObject *type = Py_TYPE(object);
    uint64_t keys;

    if (!torch->is_ready || torch->keys.dense == 0) {
        return -1; /* torch is being imported, or is none that we know */
    }
    if (torch->layout.state == LAYOUT_UNKNOWN) {
        layout_search(torch);
    }
    if (type == torch->parameter_type) {
        tensor->flags |= LOG_FORM_PARAMETER;
    } else if (type != torch->tensor_type) {
        set_type(access, object, tensor);
    }
    if (torch->layout.state == LAYOUT_KNOWN) {
        return describe_by_layout(access, object, class, tensor);
    }
    if (!torch_ask_keys(torch, object, &keys)) {
        return -1;
    }
    return torch_describe_carefully(access, object, NULL, keys, class, tensor);
}
