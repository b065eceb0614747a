/* NumPy's arrays and scalars, by the array interface of the base types: `__array_struct__`. */
#include "runtime/python/tensor/private.h"

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

bool numpy_refresh(struct tensor_access *access)
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

void numpy_release(struct numpy_access *numpy)
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

bool numpy_has_type(struct tensor_access *access, PyTypeObject *type)
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

/* As NumPy writes types: ">f4", "<U3", "|V12". */
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

/* A mask lies beside the values and tells which of them count. */
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

int numpy_describe(struct tensor_access *access,
                   PyObject *object,
                   struct tensor *tensor)
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
            capsule; /* it keeps the copy that the data pointer points into */
    } else {
        Py_XDECREF(capsule);
    }
    return status;
}
