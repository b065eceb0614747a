/* One fact each, by torch's public getters. */
#include "runtime/python/tensor/private.h"

/* Whether the function, asked without arguments, answers None, False or 0; a function that
 * this torch does not have has nothing to tell. */
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

/* Modes, transforms, tracers and the like add a key of theirs to each call of the thread. */
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

bool torch_ask_method_integer(PyObject *method, PyObject *object, int64_t *value)
{
    PyObject *answer =
        method == NULL ? NULL : PyObject_CallFunctionObjArgs(method, object, NULL);
    bool is_known = ask_integer(answer, value);

    Py_XDECREF(answer);
    return is_known;
}

/* A tuple of integers: symbolic ones are of another type, and nobody asks their value. */
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

bool torch_ask_shape(const struct torch_access *torch,
                     PyObject *object,
                     struct tensor *tensor)
{
    /* A tracer would note in its graph that somebody asked. */
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

/* In bytes. */
bool torch_ask_strides(const struct torch_access *torch,
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

int64_t torch_ask_storage_size(const struct torch_access *torch, PyObject *object)
{
    PyObject *storage = torch->objects.untyped_storage == NULL
                            ? NULL
                            : PyObject_CallFunctionObjArgs(
                                  torch->objects.untyped_storage, object, NULL);
    PyObject *answer =
        storage == NULL ? NULL : PyObject_CallMethod(storage, "nbytes", NULL);
    int64_t size;

    if (!ask_integer(answer, &size)) {
        size = -1; /* then nothing fits */
    }
    PyErr_Clear();
    Py_XDECREF(answer);
    Py_XDECREF(storage);
    return size;
}

const char *
torch_ask_text(struct tensor_access *access, PyObject *descriptor, PyObject *object)
{
    PyObject *answer = descriptor_get(descriptor, object);
    const char *text =
        answer == NULL ? "" : text_set_add_object(&access->texts, answer);

    PyErr_Clear();
    Py_XDECREF(answer);
    return text;
}

void torch_ask_state(struct tensor_access *access,
                     PyObject *object,
                     struct tensor *tensor)
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
