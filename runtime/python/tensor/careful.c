/* Tensors that are no plain memory (sparse, fake, batched …), and any tensor while the layout
 * of tensor objects is not known: by torch's public getters, guarded so that they call nobody. */
#include "runtime/python/tensor/private.h"

/* A fake tensor's own device: the tensor inside is of the device "meta". */
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

/* The sizes in the tensor object itself: what a wrapper answers when asked may be computed by
 * code of the user's. Symbolic sizes are not there; the object then says one dimension of 0. */
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

    /* Asking is an operation: a mode, a transform or a tracer would see it. */
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

/* The tensor under torch.func.grad's wrappers, where it is plain memory: its values are what
 * the wrapper's are. */
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
        Py_DECREF(inner); /* the wrapper keeps it; `owner` is what lies still deeper */
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

int torch_describe_carefully(struct tensor_access *access,
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
