/* One value measured by itself, as a dict. */
#include "runtime/python/record/measure.h"

#include "runtime/array/sample.h"
#include "runtime/base/memory.h"
#include "runtime/python/tensor/device/device.h"
#include "runtime/python/visit/values.h"

static PyObject *make_tuple(const int64_t *numbers, uint32_t count, int64_t divisor)
{
    PyObject *tuple;

    if (numbers == NULL) {
        Py_RETURN_NONE;
    }
    tuple = PyTuple_New(count);
    for (uint32_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *number = PyLong_FromLongLong(numbers[i] / divisor);
        if (number == NULL || PyTuple_SetItem(tuple, i, number) < 0) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

static PyObject *make_number(enum dtype dtype, const void *bytes)
{
    struct dtype_value value = dtype_read(dtype, bytes);

    switch (value.class) {
    case DTYPE_CLASS_SIGNED:
        return PyLong_FromLongLong(value.integer);
    case DTYPE_CLASS_UNSIGNED:
        return PyLong_FromUnsignedLongLong(value.natural);
    case DTYPE_CLASS_COMPLEX:
        return PyComplex_FromDoubles(value.real, value.imaginary);
    case DTYPE_CLASS_FLOATING:
        return PyFloat_FromDouble(value.real);
    default:
        Py_RETURN_NONE;
    }
}

static PyObject *make_bound(enum dtype dtype, union statistics_bound bound)
{
    switch (dtype_class(dtype)) {
    case DTYPE_CLASS_SIGNED:
        return PyLong_FromLongLong(bound.integer);
    case DTYPE_CLASS_UNSIGNED:
        return PyLong_FromUnsignedLongLong(bound.natural);
    default:
        return PyFloat_FromDouble(bound.real);
    }
}

static PyObject *make_sample(const struct array *array, unsigned limit)
{
    struct sample_grid grid;
    size_t size = dtype_size(array->dtype);
    PyObject *list = PyList_New(0);
    char *bytes;

    if (list == NULL || array->data == NULL || size == 0) {
        return list;
    }
    sample_grid_init(&grid, array->shape, array->dimension_count, limit);
    bytes = memory_allocate(grid.count, size);
    if (bytes == NULL) {
        Py_DECREF(list);
        return PyErr_NoMemory();
    }
    sample_copy(&grid, array, bytes);
    for (uint64_t i = 0; list != NULL && i < grid.count; i++) {
        PyObject *number = make_number(array->dtype, bytes + i * size);
        if (number == NULL || PyList_Append(list, number) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(number);
    }
    memory_free(bytes);
    return list;
}

/* Puts `value`, whose reference it takes, into the dict. */
static int put(PyObject *dict, const char *name, PyObject *value)
{
    int status = value == NULL ? -1 : PyDict_SetItemString(dict, name, value);

    Py_XDECREF(value);
    return status;
}

static int put_facts(PyObject *dict, const struct tensor *tensor)
{
    const struct array *array = &tensor->array;
    int64_t size = (int64_t)dtype_size(array->dtype);
    bool is_on_cpu = tensor->device[0] == '\0';
    bool is_strided = tensor->layout[0] == '\0';
    const char *dtype =
        array->dtype == DTYPE_OTHER ? tensor->dtype_text : dtype_text(array->dtype);

    if (put(dict, "dtype", PyUnicode_FromString(dtype)) < 0 ||
        put(dict, "shape", make_tuple(array->shape, array->dimension_count, 1)) < 0 ||
        put(dict, "strides",
            make_tuple(array->strides, array->dimension_count, size > 0 ? size : 1)) <
            0 ||
        put(dict, "device", PyUnicode_FromString(is_on_cpu ? "cpu" : tensor->device)) <
            0 ||
        put(dict, "layout",
            PyUnicode_FromString(is_strided ? "strided" : tensor->layout)) < 0 ||
        put(dict, "type", PyUnicode_FromString(tensor->type)) < 0 ||
        put(dict, "note", PyUnicode_FromString(tensor->note)) < 0 ||
        put(dict, "requires_grad",
            PyBool_FromLong(tensor->flags & LOG_FORM_REQUIRES_GRAD)) < 0 ||
        put(dict, "version", PyLong_FromUnsignedLong(tensor->version)) < 0 ||
        put(dict, "offset", PyLong_FromLongLong(tensor->offset)) < 0 ||
        put(dict, "data", PyLong_FromUnsignedLongLong(tensor->data)) < 0 ||
        put(dict, "flags", PyLong_FromUnsignedLong(tensor->flags)) < 0 ||
        put(dict, "is_readable", PyBool_FromLong(array->data != NULL)) < 0) {
        return -1;
    }
    return 0;
}

static int
put_statistics(PyObject *dict, enum dtype dtype, const struct statistics *statistics)
{
    if (put(dict, "count", PyLong_FromUnsignedLongLong(statistics->count)) < 0 ||
        put(dict, "nan", PyLong_FromUnsignedLongLong(statistics->nan_count)) < 0 ||
        put(dict, "posinf", PyLong_FromUnsignedLongLong(statistics->posinf_count)) <
            0 ||
        put(dict, "neginf", PyLong_FromUnsignedLongLong(statistics->neginf_count)) <
            0 ||
        put(dict, "zeros", PyLong_FromUnsignedLongLong(statistics->zero_count)) < 0 ||
        put(dict, "min", make_bound(dtype, statistics->min)) < 0 ||
        put(dict, "max", make_bound(dtype, statistics->max)) < 0 ||
        put(dict, "mean", PyFloat_FromDouble(statistics->mean)) < 0 ||
        put(dict, "std", PyFloat_FromDouble(statistics->std)) < 0) {
        return -1;
    }
    return 0;
}

static void keep_statistics(void *target, const struct statistics *statistics)
{
    *(struct statistics *)target = *statistics;
}

/* Statistics of a tensor on another device, waited for; none where it cannot measure it. */
static int fill_from_device(struct session *session,
                            PyObject *dict,
                            PyObject *value,
                            const struct tensor *tensor)
{
    struct device_queue *queue = device_queue_new(session->access, keep_statistics);
    struct statistics statistics;
    int status = 0;

    if (queue == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (device_queue_add(queue, value, tensor, &statistics)) {
        device_queue_flush(queue);
        if (!device_queue_is_waiting(queue)) {
            status = put_statistics(dict, tensor->array.dtype, &statistics);
        }
    }
    device_queue_free(queue);
    return status;
}

static int fill(PyObject *dict,
                const struct tensor *tensor,
                unsigned sample,
                unsigned wanted,
                unsigned threads)
{
    struct statistics statistics;
    uint64_t hash;

    if (put_facts(dict, tensor) < 0) {
        return -1;
    }
    if (tensor->array.data == NULL) {
        return 0;
    }
    if (wanted != 0) {
        wanted = value_measure(tensor, wanted, threads, &statistics, &hash);
    }
    if ((wanted & STATISTICS_WANT_VALUES) != 0 &&
        put_statistics(dict, tensor->array.dtype, &statistics) < 0) {
        return -1;
    }
    if ((wanted & STATISTICS_WANT_HASH) != 0 &&
        put(dict, "hash", PyLong_FromUnsignedLongLong(hash)) < 0) {
        return -1;
    }
    return sample == 0 ? 0 : put(dict, "sample", make_sample(&tensor->array, sample));
}

PyObject *measure_value(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"value", "sample", "stats", "hash", "threads", NULL};
    struct session *session = PyModule_GetState(module);
    unsigned sample = 64, threads = 1;
    int has_statistics = 1, has_hash = 1;
    struct tensor tensor;
    PyObject *value;
    PyObject *dict;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$IppI:measure", names, &value,
                                     &sample, &has_statistics, &has_hash, &threads)) {
        return NULL;
    }
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(value));
    if (info->kind != TYPE_TENSOR ||
        tensor_describe(session->access, value, info->tensor, &tensor) != 0) {
        Py_RETURN_NONE;
    }
    dict = PyDict_New();
    if (dict != NULL && fill(dict, &tensor, sample,
                             (has_statistics ? STATISTICS_WANT_VALUES : 0) |
                                 (has_hash ? STATISTICS_WANT_HASH : 0),
                             threads) < 0) {
        Py_CLEAR(dict);
    }
    if (dict != NULL && tensor.is_on_device && has_statistics &&
        fill_from_device(session, dict, value, &tensor) < 0) {
        Py_CLEAR(dict);
    }
    tensor_release(&tensor);
    return dict;
}
