/* PyTorch's tensors: plain ones read in memory, others by torch's public functions. */
#include "runtime/base/memory.h"

#include "runtime/python/tensor/private.h"

/* Plain tensors: strided, in memory, read through libtorch's C interface or from memory. No call
 * depends on modes, traces or subclasses. */

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

static bool torch_fits_storage(const struct array *array, int64_t offset, int64_t size)
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

/* Whether `count` elements reached by shape and strides (in bytes) from `offset` (in elements)
 * lie in a storage of `size` bytes. */
static void torch_set_dtype(struct tensor_access *access,
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

/* Where a TensorImpl stores its sizes and strides. */
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

/* Reads shape and strides, the latter in bytes. */
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

/* Describes a tensor whose memory is a device's. */
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

/* A tensor whose memory is a device's is measured there, or described only. */
static void torch_set_on_device(const struct torch_access *torch, struct tensor *tensor)
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

/* The same, read from memory if the places are known. */
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

/* Reads the storage, offset and shape, after the dtype. */
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
        /* A tensor without elements has known values: none. Its pointer is not read. */
        tensor->array.data = data == NULL ? (const void *)tensor->dimensions : data;
    }
    return 0;
}

/* Reads a tensor with plain keys through the C interface. */
static int torch_read_plain(struct tensor_access *access,
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
        return false; /* Python has its name */
    }
    tensor->version = layout_version(layout, impl);
    tensor->flags =
        (Py_TYPE(object) == torch->parameter_type ? LOG_FORM_PARAMETER : 0u) |
        (torch_requires_grad(torch, impl) ? LOG_FORM_REQUIRES_GRAD : 0u);
    return read_memory(access, impl, keys, tensor) == 0;
}

/* ---- One fact each, by torch's public getters ---- */

/* Whether the function, called without arguments, returns None, False or 0. A function that this
 * torch does not have returns True here. */
static bool says_nothing(PyObject *function)
{
    PyObject *answer = function == NULL ? NULL : PyObject_CallNoArgs(function);
    bool is_nothing =
        function == NULL || answer == Py_None || answer == Py_False ||
        (answer != NULL && PyLong_CheckExact(answer) && PyLong_AsLong(answer) == 0);

    PyErr_Clear();
    Py_XDECREF(answer);
    return is_nothing;
}

/* Modes, transforms and tracers add a dispatch key of theirs to each call of the thread. */
static bool includes_no_listener(const struct torch_access *torch)
{
    PyObject *function = torch->objects.included_keys;
    uint64_t keys;

    return function == NULL ||
           (torch_read_key_set(torch, PyObject_CallNoArgs(function), &keys) &&
            (keys & ~torch->keys.quiet) == 0);
}

bool torch_is_quiet(const struct torch_access *torch)
{
    return includes_no_listener(torch) &&
           says_nothing(torch->objects.dispatch_stack_length) &&
           says_nothing(torch->objects.transform_stack_top) &&
           says_nothing(torch->objects.tracing_state) &&
           says_nothing(torch->objects.profiler_enabled);
}

bool torch_guard_enter(const struct torch_access *torch, struct torch_guard *guard)
{
    guard->function = torch->objects.disable_function == NULL
                          ? NULL
                          : PyObject_CallNoArgs(torch->objects.disable_function);
    PyObject *entered = guard->function == NULL
                            ? NULL
                            : PyObject_CallMethod(guard->function, "__enter__", NULL);
    if (entered == NULL) {
        PyErr_Clear();
        Py_CLEAR(guard->function);
        return false;
    }
    Py_DECREF(entered);
    guard->had_collector = PyGC_Disable() != 0;
    return true;
}

void torch_guard_leave(struct torch_guard *guard)
{
    PyObject *left = PyObject_CallMethod(guard->function, "__exit__", "OOO", Py_None,
                                         Py_None, Py_None);

    if (left == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(left);
    Py_CLEAR(guard->function);
    if (guard->had_collector) {
        PyGC_Enable();
    }
}

void *torch_find_impl(const struct torch_access *torch, PyObject *object)
{
    struct torch_guard guard;
    void *impl = NULL;

    if (torch->layout.state == LAYOUT_KNOWN) {
        memcpy(&impl, (const char *)object + torch->layout.impl, sizeof impl);
    } else if (torch_guard_enter(torch, &guard)) {
        PyObject *address = descriptor_get(torch->objects.cdata, object);
        if (address != NULL && PyLong_CheckExact(address)) {
            impl = PyLong_AsVoidPtr(address);
        }
        Py_XDECREF(address);
        PyErr_Clear();
        torch_guard_leave(&guard);
    }
    return impl;
}

static bool ask_integer(PyObject *number, int64_t *value)
{
    bool is_known = false;

    if (number != NULL && PyLong_CheckExact(number)) {
        *value = PyLong_AsLongLong(number);
        is_known = !PyErr_Occurred();
    }
    PyErr_Clear();
    return is_known;
}

static bool torch_ask_method_integer(PyObject *method, PyObject *object, int64_t *value)
{
    PyObject *answer =
        method == NULL ? NULL : PyObject_CallFunctionObjArgs(method, object, NULL);
    bool is_known = ask_integer(answer, value);

    Py_XDECREF(answer);
    return is_known;
}

/* A tuple of integers. Symbolic integers are of another type, and their value is not asked for. */
static bool ask_integers(PyObject *tuple, int64_t *values, uint32_t *count)
{
    Py_ssize_t size = tuple != NULL && PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    bool is_known = size >= 0 && size <= ARRAY_DIMENSION_MAX;

    for (Py_ssize_t i = 0; i < size && is_known; i++) {
        is_known = ask_integer(PyTuple_GetItem(tuple, i), &values[i]);
    }
    if (is_known) {
        *count = (uint32_t)size;
    }
    PyErr_Clear();
    return is_known;
}

static bool torch_ask_shape(const struct torch_access *torch,
                            PyObject *object,
                            struct tensor *tensor)
{
    /* A tracer would record this question in its graph. */
    if (!says_nothing(torch->objects.tracing_state)) {
        return false;
    }
    PyObject *shape = descriptor_get(torch->objects.shape, object);
    bool is_known =
        ask_integers(shape, tensor->dimensions, &tensor->array.dimension_count);

    Py_XDECREF(shape);
    PyErr_Clear();
    return is_known;
}

/* The strides in bytes. */
static bool torch_ask_strides(const struct torch_access *torch,
                              PyObject *object,
                              struct tensor *tensor)
{
    int64_t *strides = tensor->dimensions + ARRAY_DIMENSION_MAX;
    int64_t item = (int64_t)dtype_size(tensor->array.dtype);
    uint32_t count = 0;
    PyObject *tuple = PyObject_CallFunctionObjArgs(torch->objects.stride, object, NULL);
    bool is_known = ask_integers(tuple, strides, &count) && item != 0 &&
                    count == tensor->array.dimension_count;

    for (uint32_t i = 0; i < count && is_known; i++) {
        is_known = !__builtin_mul_overflow(strides[i], item, &strides[i]);
    }
    Py_XDECREF(tuple);
    PyErr_Clear();
    return is_known;
}

static int64_t torch_ask_storage_size(const struct torch_access *torch,
                                      PyObject *object)
{
    PyObject *storage = torch->objects.untyped_storage == NULL
                            ? NULL
                            : PyObject_CallFunctionObjArgs(
                                  torch->objects.untyped_storage, object, NULL);
    PyObject *answer =
        storage == NULL ? NULL : PyObject_CallMethod(storage, "nbytes", NULL);
    int64_t size;

    if (!ask_integer(answer, &size)) {
        size = -1; /* then no size fits */
    }
    PyErr_Clear();
    Py_XDECREF(answer);
    Py_XDECREF(storage);
    return size;
}

/* The offset, in bytes. Shape and dtype must be known. */
static const char *
torch_ask_text(struct tensor_access *access, PyObject *descriptor, PyObject *object)
{
    PyObject *answer = descriptor_get(descriptor, object);
    const char *text =
        answer == NULL ? "" : text_set_add_object(&access->texts, answer);

    PyErr_Clear();
    Py_XDECREF(answer);
    return text;
}

/* Version and requires_grad. */
static void
torch_ask_state(struct tensor_access *access, PyObject *object, struct tensor *tensor)
{
    const struct torch_objects *objects = &access->torch.objects;
    int64_t version;
    PyObject *answer = descriptor_get(objects->version, object);

    if (ask_integer(answer, &version)) { /* tensors of inference mode have none */
        tensor->version = (uint32_t)version;
    }
    Py_XDECREF(answer);
    PyErr_Clear();
    answer = descriptor_get(objects->requires_grad, object);
    if (answer == Py_True) {
        tensor->flags |= LOG_FORM_REQUIRES_GRAD;
    }
    Py_XDECREF(answer);
    PyErr_Clear();
}

/* The device of a fake tensor itself: the tensor inside it is on the device "meta". */
static const char *fake_device(struct tensor_access *access, PyObject *object)
{
    static const char *const names[] = {"_fake_device", "fake_device"};
    PyTypeObject *device_type = lookup_type("torch", "device");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PyObject *device = lookup_in_instance(object, names[i]);
        if (device != NULL && Py_TYPE(device) == device_type) {
            const char *text = text_set_add_object(&access->texts, device);
            return strcmp(text, "cpu") == 0 ? "" : text;
        }
    }
    return "";
}

/* The sizes that the tensor object stores. A wrapper's own answer may be computed by code of the
 * program. Symbolic sizes are not stored; the object then has one dimension of 0. */
static bool read_inner_shape(const struct torch_access *torch,
                             const void *impl,
                             struct tensor *tensor)
{
    const char *sizes = (const char *)impl + torch->layout.sizes;
    const char *values = sizes + sizeof(uint64_t);
    uint64_t count;

    memcpy(&count, sizes, sizeof count);
    if (count > ARRAY_DIMENSION_MAX) {
        return false;
    }
    if (count > LAYOUT_INLINE_DIMENSIONS) {
        memcpy(&values, values, sizeof values);
    }
    memcpy(tensor->dimensions, values, count * sizeof *tensor->dimensions);
    for (uint64_t i = 0; i < count; i++) {
        if (tensor->dimensions[i] < 0) {
            return false;
        }
    }
    tensor->array.dimension_count = (uint32_t)count;
    return count != 1 || tensor->dimensions[0] != 0;
}

static const char *backend_text(const struct torch_keys *keys, uint64_t bits)
{
    if (bits & keys->cpu) {
        return "";
    }
    return bits & keys->meta ? "meta" : bits & keys->accelerator ? "cuda" : "other";
}

/* A tensor whose type has a __torch_dispatch__. */
static void describe_wrapper(struct tensor_access *access,
                             PyObject *object,
                             void *impl,
                             uint64_t keys,
                             struct tensor *tensor)
{
    const struct torch_access *torch = &access->torch;
    PyTypeObject *fake_type =
        lookup_type("torch._subclasses.fake_tensor", "FakeTensor");
    bool is_fake = fake_type != NULL && PyType_IsSubtype(Py_TYPE(object), fake_type);
    bool has_shape = false;

    if (is_fake) {
        has_shape = torch_ask_shape(torch, object, tensor);
        if (has_shape && torch_ask_strides(torch, object, tensor)) {
            tensor->array.strides = tensor->dimensions + ARRAY_DIMENSION_MAX;
        }
        tensor->device = fake_device(access, object);
        tensor->note = has_shape ? "fake" : "fake, shape not known";
        return;
    }
    if (keys & torch->keys.nested) {
        tensor->layout = "jagged";
        tensor->note = "nested, shape not known";
        return;
    }
    if (impl != NULL) {
        has_shape = read_inner_shape(torch, impl, tensor);
    }
    tensor->array.dimension_count = has_shape ? tensor->array.dimension_count : 0;
    tensor->device = backend_text(&torch->keys, keys);
    tensor->note = has_shape ? "wrapper" : "wrapper, shape not known";
}

static const char *sparse_note(struct tensor_access *access, PyObject *object)
{
    int64_t count;
    char text[64];

    /* The question is an operation, which a mode, a transform or a tracer would see. */
    if (access->texts.count > TEXT_COUNT_MAX || !torch_is_quiet(&access->torch) ||
        !torch_ask_method_integer(access->torch.objects.stored_count, object, &count)) {
        return "sparse";
    }
    PyOS_snprintf(text, sizeof text, "sparse, %lld stored", (long long)count);
    return text_set_add(&access->texts, text);
}

static const char *
note_of(struct tensor_access *access, PyObject *object, uint64_t keys)
{
    const struct torch_keys *known = &access->torch.keys;

    if (keys & known->batched) {
        return "batched";
    }
    if (keys & known->grad_wrapper) {
        return "grad transform";
    }
    if (keys & known->functional) {
        return "functional";
    }
    if (keys & known->nested) {
        return "nested, shape not known";
    }
    if (keys & known->sparse) {
        return sparse_note(access, object);
    }
    if (keys & known->quantized) {
        return "quantised";
    }
    if (keys & known->mkldnn) {
        return "mkldnn";
    }
    if (keys & known->zero) {
        return "zero tensor";
    }
    return keys & known->meta ? "meta" : "not readable";
}

/* Tensors implemented in C++: their getters run no Python. */
static void describe_native(struct tensor_access *access,
                            PyObject *object,
                            uint64_t keys,
                            struct tensor *tensor)
{
    const struct torch_access *torch = &access->torch;
    const char *device = torch_ask_text(access, torch->objects.device, object);
    const char *layout = torch_ask_text(access, torch->objects.layout, object);

    tensor->device = strcmp(device, "cpu") == 0 ? "" : device;
    tensor->layout = strcmp(layout, "strided") == 0 ? "" : layout;
    tensor->note = note_of(access, object, keys);
    if ((keys & torch->keys.nested) == 0 && !torch_ask_shape(torch, object, tensor)) {
        tensor->array.dimension_count = 0;
        tensor->note = "shape not known";
    } else if (keys & torch->keys.meta && tensor->layout[0] == '\0' &&
               torch_ask_strides(torch, object, tensor)) {
        tensor->array.strides = tensor->dimensions + ARRAY_DIMENSION_MAX;
    }
}

/* The tensor below the wrappers of torch.func.grad, if it is in plain memory. Its values are the
 * wrapper's. */
static bool describe_unwrapped(struct tensor_access *access,
                               PyObject *object,
                               struct tensor *tensor)
{
    const struct torch_access *torch = &access->torch;
    PyObject *inner =
        PyObject_CallFunctionObjArgs(torch->objects.get_unwrapped, object, NULL);
    struct tensor found;

    if (inner == NULL || Py_TYPE(inner) != torch->tensor_type) {
        PyErr_Clear();
        Py_XDECREF(inner);
        return false;
    }
    tensor_init(&found, inner);
    if (torch_describe(access, inner, TENSOR_CLASS_EXACT, &found) < 0 ||
        found.array.data == NULL) {
        tensor_release(&found);
        Py_DECREF(inner);
        return false;
    }
    found.object = tensor->object;
    found.type = tensor->type;
    found.flags |= tensor->flags;
    if (found.owner == NULL) {
        found.owner = inner;
    } else {
        Py_DECREF(
            inner); /* the wrapper keeps a reference; `owner` is the innermost tensor */
    }
    *tensor = found;
    tensor->array.shape = tensor->dimensions;
    tensor->array.strides = tensor->dimensions + ARRAY_DIMENSION_MAX;
    return true;
}

/* Plain memory, read by the getters. */
static void describe_plain(struct tensor_access *access,
                           PyObject *object,
                           uint64_t keys,
                           struct tensor *tensor)
{
    const struct torch_access *torch = &access->torch;
    const struct torch_objects *objects = &torch->objects;
    const char *device = torch_ask_text(access, objects->device, object);
    int64_t data = 0;

    tensor->device = strcmp(device, "cpu") == 0 ? "" : device;
    tensor->array.is_conjugated = (keys & torch->keys.conjugate) != 0;
    tensor->array.is_negated = (keys & torch->keys.negative) != 0;
    tensor->flags |= (tensor->array.is_conjugated ? LOG_FORM_CONJUGATED : 0u) |
                     (tensor->array.is_negated ? LOG_FORM_NEGATED : 0u);
    if (!torch_ask_shape(torch, object, tensor)) {
        tensor->array.dimension_count = 0;
        tensor->note = "shape not known";
        return;
    }
    if (!torch_ask_strides(torch, object, tensor)) {
        tensor->note = "dtype not read";
        return;
    }
    tensor->array.strides = tensor->dimensions + ARRAY_DIMENSION_MAX;
    if (!torch_ask_method_integer(objects->storage_offset, object, &tensor->offset) ||
        !torch_ask_method_integer(objects->data_ptr, object, &data) ||
        !torch_fits_storage(&tensor->array, tensor->offset,
                            torch_ask_storage_size(torch, object)) ||
        (data == 0 && array_count(&tensor->array) != 0)) {
        tensor->note = "storage too small";
    } else if ((keys & torch->keys.cpu) == 0 || torch->tests_devices) {
        torch_set_on_device(torch, tensor);
    } else if (tensor->note[0] == '\0') {
        tensor->array.data = data == 0 ? (const void *)tensor->dimensions
                                       : (const void *)(uintptr_t)data;
    }
    tensor->data = (uint64_t)data;
}

static int torch_describe_carefully(struct tensor_access *access,
                                    PyObject *object,
                                    void *impl,
                                    uint64_t keys,
                                    enum tensor_class class,
                                    struct tensor *tensor)
{
    const struct torch_access *torch = &access->torch;
    const char *type_note = tensor->note;
    struct torch_guard guard;

    if (!torch_guard_enter(torch, &guard)) {
        return -1;
    }
    if (impl == NULL) {
        torch_ask_state(access, object, tensor);
    }
    if (keys & torch->keys.grad_wrapper && torch->objects.get_unwrapped != NULL &&
        (keys & (torch->keys.batched | torch->keys.python)) == 0 &&
        describe_unwrapped(access, object, tensor)) {
        torch_guard_leave(&guard);
        return 0;
    }
    torch_set_dtype(access, object, DTYPE_OTHER, tensor);
    if (class == TENSOR_CLASS_WRAPPER || keys & torch->keys.python) {
        describe_wrapper(access, object, impl, keys, tensor);
    } else if ((keys & ~torch->keys.plain) == 0 && (keys & torch->keys.dense) != 0) {
        describe_plain(access, object, keys, tensor);
    } else {
        describe_native(access, object, keys, tensor);
    }
    if (type_note[0] != '\0') {
        tensor->note = type_note;
    }
    torch_guard_leave(&guard);
    return 0;
}

/* ---- PyTorch's types of tensors, and the function that reads each ---- */

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

uint32_t torch_version(struct tensor_access *access, PyObject *object)
{
    struct torch_access *torch = &access->torch;
    struct tensor tensor;
    uint32_t version;

    if (torch->is_ready && torch->layout.state == LAYOUT_UNKNOWN) {
        layout_search(torch);
    }
    if (torch_peek_version(access, object, &version)) {
        return version;
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
    void *impl = layout_impl(layout, object);

    if (impl == NULL) {
        return -1; /* the garbage collector has cleared it */
    }
    uint64_t keys = layout_word(impl, layout->keys);
    tensor->version = layout_version(layout, impl);
    if (torch_requires_grad(torch, impl)) {
        tensor->flags |= LOG_FORM_REQUIRES_GRAD;
    }
    if (torch_keys_are_plain(&torch->keys, keys) && class != TENSOR_CLASS_WRAPPER) {
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

bool tensor_guard_enter(const struct tensor_access *access, struct torch_guard *guard)
{
    return torch_guard_enter(&access->torch, guard);
}

void tensor_guard_leave(struct torch_guard *guard)
{
    torch_guard_leave(guard);
}

uint64_t tensor_function_address(PyObject *function)
{
    return layout_word(function, sizeof(PyObject));
}
