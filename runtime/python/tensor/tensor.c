/* Tensors and arrays: sorts objects by kind, and calls the code that describes that kind. */
#include "runtime/base/hash/hash.h"

#include "runtime/base/memory.h"
#include "runtime/python/tensor/device/calls.h"
#include "runtime/python/tensor/private.h"

#include <dlfcn.h>
#include <stdlib.h>

static bool torch_refresh(struct tensor_access *access);
static void torch_release(struct torch_access *torch);

static void type_access_release(struct type_access *access);

/* ---- reading Python objects without running code of the program ---- */

/* A name whose lookup fails counts as missing: no exception is left. */
static PyObject *dict_find(PyObject *dict, const char *name)
{
    PyObject *key = PyUnicode_FromString(name);
    PyObject *value = NULL;

    if (key != NULL) {
        value = PyDict_GetItemWithError(dict, key);
        Py_DECREF(key);
    }
    if (value == NULL) {
        PyErr_Clear();
    }
    return value;
}

static PyObject *lookup_module_dict(const char *module)
{
    PyObject *modules = PyImport_GetModuleDict();

    if (modules == NULL || !PyDict_Check(modules)) {
        return NULL;
    }
    PyObject *found = dict_find(modules, module);
    return found != NULL && PyModule_Check(found) ? PyModule_GetDict(found) : NULL;
}

PyObject *lookup_in_module(const char *module, const char *name)
{
    PyObject *dict = lookup_module_dict(module);

    return dict == NULL ? NULL : dict_find(dict, name);
}

PyTypeObject *lookup_type(const char *module, const char *name)
{
    PyObject *found = lookup_in_module(module, name);

    return found != NULL && PyType_Check(found) ? (PyTypeObject *)found : NULL;
}

PyObject *lookup_in_instance(PyObject *object, const char *name)
{
    PyObject *dict = PyObject_GenericGetDict(object, NULL);
    PyObject *value = NULL;

    if (dict == NULL) {
        PyErr_Clear();
        return NULL;
    }
    if (PyDict_Check(dict)) {
        value = dict_find(dict, name);
    }
    Py_DECREF(dict); /* the instance keeps a reference */
    return value;
}

PyObject *descriptor_get(PyObject *descriptor, PyObject *object)
{
    descrgetfunc get =
        (descrgetfunc)PyType_GetSlot(Py_TYPE(descriptor), Py_tp_descr_get);

    if (get == NULL) {
        PyErr_SetString(PyExc_TypeError, "not a descriptor");
        return NULL;
    }
    return get(descriptor, object, (PyObject *)Py_TYPE(object));
}

static bool type_access_init(struct type_access *access)
{
    PyObject *dict = PyObject_GetAttrString((PyObject *)&PyType_Type, "__dict__");

    *access = (struct type_access){NULL, NULL, NULL};
    if (dict != NULL) {
        access->mro = PyMapping_GetItemString(dict, "__mro__");
        access->dict = PyMapping_GetItemString(dict, "__dict__");
        access->name = PyMapping_GetItemString(dict, "__name__");
        Py_DECREF(dict);
    }
    if (access->mro == NULL || access->dict == NULL || access->name == NULL) {
        PyErr_Clear();
        type_access_release(access);
        return false;
    }
    return true;
}

static void type_access_release(struct type_access *access)
{
    Py_CLEAR(access->mro);
    Py_CLEAR(access->dict);
    Py_CLEAR(access->name);
}

static PyObject *
class_find(const struct type_access *access, PyObject *class, PyObject *key)
{
    PyObject *dict = descriptor_get(access->dict, class);
    PyObject *value = NULL;

    if (dict != NULL) {
        value = PyObject_GetItem(dict, key);
        Py_DECREF(dict);
    }
    if (value == NULL) {
        PyErr_Clear();
        return NULL;
    }
    Py_DECREF(value); /* the class keeps a reference */
    return value;
}

PyObject *
type_find(const struct type_access *access, PyTypeObject *type, const char *name)
{
    PyObject *mro = descriptor_get(access->mro, (PyObject *)type);
    PyObject *key = PyUnicode_FromString(name);
    PyObject *found = NULL;

    if (mro != NULL && key != NULL && PyTuple_Check(mro)) {
        for (Py_ssize_t i = 0; i < PyTuple_Size(mro) && found == NULL; i++) {
            PyObject *class = PyTuple_GetItem(mro, i);
            if (PyType_Check(class)) {
                found = class_find(access, class, key);
            }
        }
    }
    PyErr_Clear();
    Py_XDECREF(key);
    Py_XDECREF(mro);
    return found;
}

struct text_entry {
    struct text_entry *next; /* owned */
    char text[];
};

static void text_set_release(struct text_set *set)
{
    for (size_t i = 0; i < TEXT_BUCKET_COUNT; i++) {
        while (set->buckets[i] != NULL) {
            struct text_entry *entry = set->buckets[i];
            set->buckets[i] = entry->next;
            memory_free(entry);
        }
    }
    set->count = 0;
}

const char *text_set_add(struct text_set *set, const char *text)
{
    size_t size = strlen(text);
    size_t bucket = hash_64((struct slice){text, size}) % TEXT_BUCKET_COUNT;

    for (struct text_entry *entry = set->buckets[bucket]; entry != NULL;
         entry = entry->next) {
        if (strcmp(entry->text, text) == 0) {
            return entry->text;
        }
    }
    struct text_entry *added = memory_allocate(1, sizeof *added + size + 1);
    if (added == NULL) {
        return "?";
    }
    memcpy(added->text, text, size + 1);
    added->next = set->buckets[bucket];
    set->buckets[bucket] = added;
    set->count++;
    return added->text;
}

const char *text_set_add_object(struct text_set *set, PyObject *object)
{
    PyObject *string = PyObject_Str(object);
    const char *text = string == NULL ? NULL : PyUnicode_AsUTF8AndSize(string, NULL);
    const char *kept = "?";

    if (text == NULL) {
        PyErr_Clear();
    } else {
        kept = text_set_add(set, strncmp(text, "torch.", 6) == 0 ? text + 6 : text);
    }
    Py_XDECREF(string);
    return kept;
}

/* NumPy's arrays and scalars, read through the array interface of the base types:
 * `__array_struct__`. */

/* The array interface, version 3, as NumPy documents it. */
struct array_interface {
    int two;
    int dimension_count;
    char kind;
    int item_size;
    int flags;
    intptr_t *shape;
    intptr_t *strides;
    void *data;
    PyObject *description;
};
#define INTERFACE_IS_NATIVE 0x200

static bool numpy_refresh(struct tensor_access *access)
{
    static const char *const modules[] = {
        "numpy._core._multiarray_umath",
        "numpy.core._multiarray_umath",
    };
    struct numpy_access *numpy = &access->numpy;

    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        PyTypeObject *array = lookup_type(modules[i], "ndarray");
        PyTypeObject *scalar = lookup_type("numpy", "generic");
        if (numpy->array_type == NULL && array != NULL) {
            PyObject *descriptor = type_find(&access->types, array, "__array_struct__");
            if (descriptor != NULL) {
                numpy->array_type = (PyTypeObject *)Py_NewRef((PyObject *)array);
                numpy->array_struct = Py_NewRef(descriptor);
            }
        }
        if (numpy->array_type != NULL && numpy->scalar_type == NULL && scalar != NULL) {
            PyObject *descriptor =
                type_find(&access->types, scalar, "__array_struct__");
            if (descriptor != NULL) {
                numpy->scalar_type = (PyTypeObject *)Py_NewRef((PyObject *)scalar);
                numpy->scalar_struct = Py_NewRef(descriptor);
            }
        }
    }
    return numpy->array_type != NULL;
}

static void numpy_release(struct numpy_access *numpy)
{
    Py_CLEAR(numpy->array_type);
    Py_CLEAR(numpy->scalar_type);
    Py_CLEAR(numpy->array_struct);
    Py_CLEAR(numpy->scalar_struct);
}

static bool is_scalar_type(const struct numpy_access *numpy, PyTypeObject *type)
{
    return numpy->scalar_type != NULL && PyType_IsSubtype(type, numpy->scalar_type);
}

static bool numpy_has_type(struct tensor_access *access, PyTypeObject *type)
{
    return PyType_IsSubtype(type, access->numpy.array_type) ||
           is_scalar_type(&access->numpy, type);
}

static enum dtype dtype_of(const struct array_interface *interface)
{
    const struct {
        char kind;
        uint8_t item_size;
        uint8_t dtype;
    } known[] = {
        {'b', 1, DTYPE_BOOL},      {'u', 1, DTYPE_UINT8},       {'i', 1, DTYPE_INT8},
        {'u', 2, DTYPE_UINT16},    {'i', 2, DTYPE_INT16},       {'u', 4, DTYPE_UINT32},
        {'i', 4, DTYPE_INT32},     {'u', 8, DTYPE_UINT64},      {'i', 8, DTYPE_INT64},
        {'f', 2, DTYPE_FLOAT16},   {'f', 4, DTYPE_FLOAT32},     {'f', 8, DTYPE_FLOAT64},
        {'c', 8, DTYPE_COMPLEX64}, {'c', 16, DTYPE_COMPLEX128},
    };

    if (interface->item_size > 1 && !(interface->flags & INTERFACE_IS_NATIVE)) {
        return DTYPE_OTHER;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].kind == interface->kind &&
            known[i].item_size == interface->item_size) {
            return known[i].dtype;
        }
    }
    return DTYPE_OTHER;
}

/* The type as NumPy writes it: ">f4", "<U3", "|V12". */
static const char *dtype_text_of(struct tensor_access *access,
                                 const struct array_interface *interface)
{
    const uint16_t probe = 1;
    bool is_little = *(const uint8_t *)&probe == 1;
    bool is_swapped = !(interface->flags & INTERFACE_IS_NATIVE);
    char order = is_little != is_swapped ? '<' : '>';
    int size = interface->item_size;
    char text[32];

    switch (interface->kind) {
    case 'O':
        return "object";
    case 'S':
    case 'V':
        order = '|';
        break;
    case 'U':
        size /= 4; /* characters */
        break;
    }
    PyOS_snprintf(text, sizeof text, "%c%c%d", order, interface->kind, size);
    return access->texts.count > TEXT_COUNT_MAX ? "other"
                                                : text_set_add(&access->texts, text);
}

/* The values of a masked array are incomplete without the mask, which is stored apart. */
static bool is_masked(PyTypeObject *type)
{
    PyTypeObject *masked = lookup_type("numpy.ma.core", "MaskedArray");

    if (masked == NULL) {
        masked = lookup_type("numpy.ma", "MaskedArray");
    }
    return masked != NULL && PyType_IsSubtype(type, masked);
}

static void
set_type(struct tensor_access *access, PyObject *object, struct tensor *tensor)
{
    PyTypeObject *type = Py_TYPE(object);

    if (type == access->numpy.array_type) {
        return;
    }
    PyObject *name = descriptor_get(access->types.name, (PyObject *)type);
    if (name != NULL && PyUnicode_CheckExact(name)) {
        tensor->type = text_set_add_object(&access->texts, name);
    }
    Py_XDECREF(name);
    PyErr_Clear();
    if (is_masked(type)) {
        tensor->note = "masked";
    }
}

static int interface_read(struct tensor_access *access,
                          const struct array_interface *interface,
                          struct tensor *tensor)
{
    struct array *array = &tensor->array;

    if (interface->two != 2 || interface->dimension_count < 0 ||
        interface->dimension_count > ARRAY_DIMENSION_MAX) {
        return -1;
    }
    array->dtype = dtype_of(interface);
    array->dimension_count = (uint32_t)interface->dimension_count;
    array->strides = tensor->dimensions + ARRAY_DIMENSION_MAX;
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        tensor->dimensions[i] = interface->shape[i];
        tensor->dimensions[ARRAY_DIMENSION_MAX + i] = interface->strides[i];
    }
    tensor->data = (uint64_t)(uintptr_t)interface->data;
    tensor->flags |= LOG_FORM_NUMPY;
    if (array->dtype == DTYPE_OTHER) {
        tensor->dtype_text = dtype_text_of(access, interface);
        tensor->note = tensor->note[0] == '\0' ? "dtype not read" : tensor->note;
        array->strides = NULL;
    } else if (tensor->note[0] == '\0') {
        array->data = interface->data;
    }
    return 0;
}

static int
numpy_describe(struct tensor_access *access, PyObject *object, struct tensor *tensor)
{
    const struct numpy_access *numpy = &access->numpy;
    bool is_scalar = is_scalar_type(numpy, Py_TYPE(object));
    PyObject *capsule =
        descriptor_get(is_scalar ? numpy->scalar_struct : numpy->array_struct, object);
    const struct array_interface *interface =
        capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, NULL);
    int status = -1;

    if (interface != NULL) {
        set_type(access, object, tensor);
        status = interface_read(access, interface, tensor);
    }
    PyErr_Clear();
    if (is_scalar && status == 0) {
        tensor->owner =
            capsule; /* the capsule keeps the copy that the data pointer points into */
    } else {
        Py_XDECREF(capsule);
    }
    return status;
}

struct tensor_access *tensor_access_new(void)
{
    struct tensor_access *access = memory_allocate_zeroed(1, sizeof *access);

    if (access == NULL) {
        return NULL;
    }
    if (!type_access_init(&access->types)) {
        memory_free(access);
        return NULL;
    }
    return access;
}

void tensor_access_free(struct tensor_access *access)
{
    if (access == NULL) {
        return;
    }
    torch_release(&access->torch);
    numpy_release(&access->numpy);
    text_set_release(&access->texts);
    type_access_release(&access->types);
    memory_free(access);
}

enum tensor_class tensor_classify(struct tensor_access *access, PyTypeObject *type)
{
    PyObject *error_type, *error, *traceback;
    enum tensor_class class = TENSOR_CLASS_NONE;

    PyErr_Fetch(&error_type, &error, &traceback);
    if (torch_refresh(access)) {
        class = torch_classify(access, type);
    }
    if (class == TENSOR_CLASS_NONE && numpy_refresh(access) &&
        numpy_has_type(access, type)) {
        class = TENSOR_CLASS_NUMPY;
    }
    PyErr_Restore(error_type, error, traceback);
    return class;
}

/* Memory of at least this many bytes is held while it is read. Smaller pieces of freed memory
 * are rarely returned to the system, and holding one costs as much as measuring this many bytes. */
#define HOLD_SIZE        ((uint64_t)64 * 1024)
#define HOLD_ATTEMPT_MAX 4
#define ELEMENT_SIZE_MAX 16 /* in bytes, of any dtype */

static int describe(struct tensor_access *access,
                    PyObject *object,
                    enum tensor_class class,
                    struct tensor *tensor)
{
    PyObject *error_type, *error, *traceback;
    int status = -1;

    tensor_init(tensor, object);
    if (class == TENSOR_CLASS_EXACT && torch_describe_plain(access, object, tensor)) {
        return 0;
    }
    PyErr_Fetch(&error_type, &error, &traceback);
    tensor_init(tensor, object);
    if (class == TENSOR_CLASS_NUMPY) {
        status = numpy_describe(access, object, tensor);
    } else if (class != TENSOR_CLASS_NONE) {
        status = torch_describe(access, object, class, tensor);
    }
    if (status < 0) {
        tensor_release(tensor);
    }
    PyErr_Restore(error_type, error, traceback);
    return status;
}

static inline bool is_to_be_held(const struct tensor *tensor)
{
    const struct array *array = &tensor->array;
    uint64_t count = array_count(array);

    return count >= HOLD_SIZE / ELEMENT_SIZE_MAX && array->data != NULL &&
           tensor->owner == NULL && count >= HOLD_SIZE / dtype_size(array->dtype);
}

/* The first attempt finds the tensor's memory. Another thread may have run set_ meanwhile, which
 * torch does without the GIL: then the described memory is not the held one. */
static __attribute__((noinline)) int describe_large(struct tensor_access *access,
                                                    PyObject *object,
                                                    enum tensor_class class,
                                                    struct tensor *tensor)
{
    int status = 0;

    for (int i = 0; i < HOLD_ATTEMPT_MAX; i++) {
        PyObject *storage = tensor_hold(access, object);
        uint64_t data = tensor->data;

        if (storage == NULL) {
            return 0;
        }
        tensor_release(tensor);
        status = describe(access, object, class, tensor);
        if (status < 0 || tensor->owner != NULL || tensor->data == data) {
            tensor->owner = tensor->owner == NULL ? storage : tensor->owner;
            return status;
        }
        Py_DECREF(storage);
    }
    tensor->array.data = NULL;
    tensor->note = "replaced while it was read";
    return 0;
}

int tensor_describe(struct tensor_access *access,
                    PyObject *object,
                    enum tensor_class class,
                    struct tensor *tensor)
{
    int status = describe(access, object, class, tensor);

    return status == 0 && class != TENSOR_CLASS_NUMPY && is_to_be_held(tensor)
               ? describe_large(access, object, class, tensor)
               : status;
}

void tensor_init(struct tensor *tensor, PyObject *object)
{
    tensor->array = (struct array){.shape = tensor->dimensions};
    tensor->object = (uint64_t)(uintptr_t)object;
    tensor->data = 0;
    tensor->offset = 0;
    tensor->version = 0;
    tensor->flags = 0;
    tensor->type = "";
    tensor->dtype_text = "";
    tensor->device = "";
    tensor->layout = "";
    tensor->note = "";
    tensor->is_on_device = false;
    tensor->owner = NULL;
}

void tensor_release(struct tensor *tensor)
{
    Py_CLEAR(tensor->owner);
}

/* Not inlined: the layout is almost always known. */
static __attribute__((noinline)) uint32_t ask_for_version(struct tensor_access *access,
                                                          PyObject *object)
{
    PyObject *error_type, *error, *traceback;
    uint32_t version;

    PyErr_Fetch(&error_type, &error, &traceback);
    version = torch_version(access, object);
    PyErr_Restore(error_type, error, traceback);
    return version;
}

HOT uint32_t tensor_version(struct tensor_access *access, PyObject *object)
{
    uint32_t version;

    return torch_peek_version(access, object, &version)
               ? version
               : ask_for_version(access, object);
}

/* ---- the parts of PyTorch that the program has loaded: types, functions and symbols ---- */

static PyObject *keep(PyObject *borrowed)
{
    return borrowed == NULL ? NULL : Py_NewRef(borrowed);
}

/* `holder.name`, where the holder is one of torch's own types or functions. */
static PyObject *attribute_find(PyObject *holder, const char *name)
{
    PyObject *value = holder == NULL ? NULL : PyObject_GetAttrString(holder, name);

    if (value == NULL) {
        PyErr_Clear();
    }
    return value;
}

static void objects_find(const struct type_access *types,
                         PyTypeObject *base,
                         struct torch_objects *objects)
{
    const struct {
        PyObject **place;
        const char *name;
    } members[] = {
        {&objects->cdata, "_cdata"},
        {&objects->shape, "shape"},
        {&objects->dtype, "dtype"},
        {&objects->device, "device"},
        {&objects->layout, "layout"},
        {&objects->version, "_version"},
        {&objects->requires_grad, "requires_grad"},
        {&objects->stride, "stride"},
        {&objects->storage_offset, "storage_offset"},
        {&objects->data_ptr, "data_ptr"},
        {&objects->untyped_storage, "untyped_storage"},
        {&objects->stored_count, "_nnz"},
        {&objects->narrow, "narrow"},
        {&objects->as_strided, "as_strided"},
        {&objects->conj, "conj"},
        {&objects->negative_view, "_neg_view"},
        {&objects->zero_in_place, "zero_"},
    };
    const struct {
        PyObject **place;
        const char *module;
        const char *name;
    } functions[] = {
        {&objects->dispatch_keys, "torch._C", "_dispatch_keys"},
        {&objects->included_keys, "torch._C", "_dispatch_tls_local_include_set"},
        {&objects->dispatch_stack_length, "torch._C", "_len_torch_dispatch_stack"},
        {&objects->transform_stack_top, "torch._C._functorch",
         "peek_interpreter_stack"},
        {&objects->get_unwrapped, "torch._C._functorch", "get_unwrapped"},
        {&objects->tracing_state, "torch._C", "_get_tracing_state"},
        {&objects->profiler_enabled, "torch._C._autograd", "_profiler_enabled"},
        {&objects->disable_function, "torch._C", "DisableTorchFunction"},
        {&objects->inference_mode, "torch._C", "_InferenceMode"},
        {&objects->disabled_dispatch, "torch._C", "_disabled_torch_dispatch_impl"},
    };

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        *members[i].place = keep(type_find(types, base, members[i].name));
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        *functions[i].place =
            keep(lookup_in_module(functions[i].module, functions[i].name));
    }
    objects->zeros =
        attribute_find(lookup_in_module("torch._C", "_VariableFunctions"), "zeros");
}

static void objects_release(struct torch_objects *objects)
{
    PyObject **places = (PyObject **)objects;

    for (size_t i = 0; i < sizeof *objects / sizeof *places; i++) {
        Py_CLEAR(places[i]);
    }
}

void *torch_symbol_find(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    void *symbol = dlsym(handle == NULL ? RTLD_DEFAULT : handle, name);

    if (handle != NULL) {
        dlclose(handle); /* the count of the library's users stays as it was */
    }
    return symbol;
}

#ifdef __APPLE__
    #define LIBRARY_SUFFIX ".dylib"
#else
    #define LIBRARY_SUFFIX ".so"
#endif

static bool functions_find(struct torch_functions *functions)
{
    const char *torch = TORCH_LIBRARY;
    const struct {
        void *place;
        const char *library;
        const char *name;
    } wanted[] = {
        {&functions->get_dimension_count, torch, "aoti_torch_get_dim"},
        {&functions->get_sizes, torch, "aoti_torch_get_sizes"},
        {&functions->get_strides, torch, "aoti_torch_get_strides"},
        {&functions->get_dtype, torch, "aoti_torch_get_dtype"},
        {&functions->get_storage_offset, torch, "aoti_torch_get_storage_offset"},
        {&functions->get_storage_size, torch, "aoti_torch_get_storage_size"},
        {&functions->get_device_type, torch, "aoti_torch_get_device_type"},
        {&functions->get_device_index, torch, "aoti_torch_get_device_index"},
        {&functions->requires_grad, "libc10" LIBRARY_SUFFIX,
         "_ZNK3c1010TensorImpl13requires_gradEv"},
    };

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *symbol = torch_symbol_find(wanted[i].library, wanted[i].name);
        if (symbol == NULL) {
            return false;
        }
        memcpy(wanted[i].place, &symbol, sizeof symbol);
    }
    /* The first does not make a copy-on-write tensor its own copy; torch has it since 2.10. */
    void *get_data = torch_symbol_find(torch, "torch_get_const_data_ptr");
    if (get_data == NULL) {
        get_data = torch_symbol_find(torch, "aoti_torch_get_data_ptr");
    }
    memcpy(&functions->get_data, &get_data, sizeof get_data);
    return get_data != NULL;
}

static bool device_is_possible(void)
{
    struct device_functions functions;

    return device_functions_find(&functions);
}

static void type_refresh(PyTypeObject **type, const char *module, const char *name)
{
    if (*type == NULL) {
        *type = (PyTypeObject *)keep((PyObject *)lookup_type(module, name));
    }
}

static bool torch_refresh(struct tensor_access *access)
{
    struct torch_access *torch = &access->torch;

    if (torch->is_complete) {
        return true;
    }
    type_refresh(&torch->base_type, "torch._C", "TensorBase");
    type_refresh(&torch->base_type, "torch._C", "_TensorBase"); /* torch < 2.1 */
    if (torch->base_type == NULL) {
        return false;
    }
    type_refresh(&torch->tensor_type, "torch", "Tensor");
    type_refresh(&torch->parameter_type, "torch.nn.parameter", "Parameter");
    type_refresh(&torch->uninitialized_type, "torch.nn.parameter",
                 "UninitializedTensorMixin");
    /* torch.Tensor is made after all of torch._C. */
    if (torch->tensor_type != NULL && !torch->is_ready) {
        const char *tensors = getenv("MONITORCH_TEST_TENSORS");
        const char *device = getenv("MONITORCH_TEST_DEVICE");
        objects_find(&access->types, torch->base_type, &torch->objects);
        torch_keys_find(torch);
        if ((tensors != NULL && strcmp(tensors, "getters") == 0) ||
            !functions_find(&torch->functions)) {
            torch->layout.state = LAYOUT_REFUSED;
        }
        torch->measures_devices = device_is_possible();
        torch->tests_devices =
            torch->measures_devices && device != NULL && strcmp(device, "1") == 0;
        torch->is_ready = true;
    }
    torch->is_complete = torch->is_ready && torch->parameter_type != NULL &&
                         torch->uninitialized_type != NULL;
    return true;
}

static void torch_release(struct torch_access *torch)
{
    Py_CLEAR(torch->base_type);
    Py_CLEAR(torch->tensor_type);
    Py_CLEAR(torch->parameter_type);
    Py_CLEAR(torch->uninitialized_type);
    objects_release(&torch->objects);
}
