/* Saved tensors: a folder in a capsule, its entries as tuples, values as bytearrays. */
#include "runtime/python/view/view.h"

#include "runtime/base/memory.h"
#include "runtime/saved/folder.h"

#include <stdbool.h>

#define CAPSULE_NAME "monitorch._view.saved_folder"

struct saved_capsule {
    struct saved_folder *folder; /* owned */
    bool is_busy;                /* a thread reads without the GIL */
};

static void capsule_free(PyObject *object)
{
    struct saved_capsule *capsule = PyCapsule_GetPointer(object, CAPSULE_NAME);

    saved_folder_close(capsule->folder);
    memory_free(capsule);
}

/* Makes a capsule that owns the folder. The folder is closed on failure. */
static PyObject *capsule_new(struct saved_folder *folder)
{
    struct saved_capsule *capsule = memory_allocate(1, sizeof *capsule);
    PyObject *object = NULL;

    if (capsule == NULL) {
        PyErr_NoMemory();
    } else {
        *capsule = (struct saved_capsule){folder, false};
        object = PyCapsule_New(capsule, CAPSULE_NAME, capsule_free);
    }
    if (object == NULL) {
        saved_folder_close(folder);
        memory_free(capsule);
    }
    return object;
}

/* ---- entries ---- */

static PyObject *text_new(struct slice text)
{
    return PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.size, "replace");
}

/* A str of a file name, which need not be UTF-8. */
static PyObject *file_name_new(struct slice name)
{
    return PyUnicode_DecodeFSDefaultAndSize(name.bytes, (Py_ssize_t)name.size);
}

static PyObject *order_new(uint64_t order)
{
    if (order == SAVED_ORDER_UNKNOWN) {
        Py_RETURN_NONE;
    }
    return PyLong_FromUnsignedLongLong(order);
}

/* A tuple of numbers. */
static PyObject *sizes_new(const int64_t *sizes, uint32_t count)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);

    for (uint32_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *size = PyLong_FromLongLong(sizes[i]);

        if (size == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, size) < 0) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

static PyObject *strides_new(const struct array *array)
{
    if (array->strides == NULL) {
        Py_RETURN_NONE;
    }
    return sizes_new(array->strides, array->dimension_count);
}

static PyObject *entry_new(const struct saved_entry *entry)
{
    static const char *const formats[] = {
        [SAVED_PT] = "pt",
        [SAVED_SAFETENSORS] = "safetensors",
        [SAVED_TRACE] = "mtrace",
    };
    const struct saved_tensor *tensor = &entry->tensor;

    return Py_BuildValue("NNNKNNNksNsN", text_new(tensor->key.prefix),
                         text_new(tensor->key.module_path), text_new(tensor->key.name),
                         (unsigned long long)tensor->key.call, order_new(tensor->order),
                         text_new(tensor->file), text_new(tensor->function),
                         (unsigned long)tensor->line, dtype_text(tensor->array.dtype),
                         sizes_new(tensor->array.shape, tensor->array.dimension_count),
                         formats[entry->format], file_name_new(entry->file_name));
}

static PyObject *entries_new(const struct saved_folder *folder)
{
    PyObject *list = PyList_New((Py_ssize_t)saved_folder_count(folder));

    for (size_t i = 0; list != NULL && i < saved_folder_count(folder); i++) {
        PyObject *entry = entry_new(saved_folder_entry(folder, i));

        if (entry == NULL || PyList_SetItem(list, (Py_ssize_t)i, entry) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static PyObject *damages_new(const struct saved_folder *folder)
{
    PyObject *list = PyList_New(0);
    const char *damage;

    for (size_t i = 0;
         list != NULL && (damage = saved_folder_damage(folder, i)) != NULL; i++) {
        PyObject *text = file_name_new(slice_of(damage));

        if (text == NULL || PyList_Append(list, text) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(text);
    }
    return list;
}

const char view_saved_open_doc[] = PyDoc_STR(
    "saved_open(path) -> (folder, entries, damage)\n\n"
    "The saved tensors of a folder, or of one file. An entry is (prefix, module,\n"
    "name, call, order, file, function, line, dtype, shape, format, file name);\n"
    "the order is None where it is not known.");

PyObject *view_saved_open(PyObject *module, PyObject *path)
{
    struct error error = ERROR_INIT;
    struct saved_folder *folder;
    PyObject *bytes;
    PyObject *capsule;

    (void)module;
    if (!PyUnicode_FSConverter(path, &bytes)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS folder = saved_folder_open(PyBytes_AsString(bytes), &error);
    Py_END_ALLOW_THREADS Py_DECREF(bytes);
    if (folder == NULL) {
        view_raise(&error);
        return NULL;
    }
    capsule = capsule_new(folder);
    if (capsule == NULL) {
        return NULL;
    }
    return Py_BuildValue("NNN", capsule, entries_new(folder), damages_new(folder));
}

/* ---- values ---- */

/* Finds the size in bytes from the first element to the end of the last. Returns false if it
 * overflows. */
static bool measure(const struct array *array, uint64_t *size)
{
    uint64_t count = array_count(array);
    uint64_t item = dtype_size(array->dtype);

    if (array->strides == NULL || count == 0) {
        return !__builtin_mul_overflow(count, item, size);
    }
    *size = item;
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        *size += (uint64_t)(array->shape[i] - 1) * (uint64_t)array->strides[i];
    }
    return true;
}

/* The size of an element in Python. Types that only torch has become 32-bit floats, which
 * represent them exactly. */
static size_t wide_size(enum dtype dtype)
{
    size_t size = dtype_size(dtype);

    switch (dtype_class(dtype)) {
    case DTYPE_CLASS_FLOATING:
        return size < sizeof(float) ? sizeof(float) : size;
    case DTYPE_CLASS_COMPLEX:
        return size < 2 * sizeof(float) ? 2 * sizeof(float) : size;
    default:
        return size;
    }
}

static void widen(const struct array *array, uint64_t first, float *to)
{
    unsigned char item[16]; /* as large as the largest dtype */
    struct dtype_value value;

    array_read(array, first, 1, item);
    value = dtype_read(array->dtype, item);
    to[0] = (float)value.real;
    if (value.class == DTYPE_CLASS_COMPLEX) {
        to[1] = (float)value.imaginary;
    }
}

/* The values in row-major order, with conjugation and negation applied, and elements of
 * wide_size. */
static PyObject *packed_new(const struct array *array)
{
    uint64_t count = array_count(array);
    size_t item = wide_size(array->dtype);
    uint64_t size;
    PyObject *bytes;
    char *next;

    if (__builtin_mul_overflow(count, (uint64_t)item, &size) || size > PY_SSIZE_T_MAX) {
        return PyErr_NoMemory();
    }
    bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (bytes == NULL) {
        return NULL;
    }
    next = PyByteArray_AsString(bytes);
    if (item == dtype_size(array->dtype)) {
        array_read(array, 0, count, next);
        return bytes;
    }
    for (uint64_t i = 0; i < count; i++) {
        widen(array, i, (float *)(void *)(next + i * item));
    }
    return bytes;
}

static PyObject *raw_new(const struct array *array)
{
    uint64_t size;

    if (!measure(array, &size) || size > PY_SSIZE_T_MAX) {
        return PyErr_NoMemory();
    }
    return PyByteArray_FromStringAndSize(array->data, (Py_ssize_t)size);
}

/* Reads the values into `bytes`, or into `array` if `bytes` is NULL. Returns false with an
 * exception set. */
static bool read_values(struct saved_capsule *capsule,
                        size_t index,
                        struct array *array,
                        void *bytes)
{
    struct error error = ERROR_INIT;
    bool is_read;

    capsule->is_busy = true;
    Py_BEGIN_ALLOW_THREADS is_read =
        bytes == NULL ? saved_folder_read(capsule->folder, index, array, &error)
                      : saved_folder_read_into(capsule->folder, index, bytes, &error);
    Py_END_ALLOW_THREADS capsule->is_busy = false;
    if (!is_read) {
        view_raise(&error);
    }
    return is_read;
}

/* Reads an entry that is contiguous in the file directly into the result's memory. */
static PyObject *read_piece(struct saved_capsule *capsule, size_t index)
{
    const struct saved_entry *entry = saved_folder_entry(capsule->folder, index);
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)entry->size);

    if (bytes == NULL ||
        !read_values(capsule, index, NULL, PyByteArray_AsString(bytes))) {
        Py_XDECREF(bytes);
        return NULL;
    }
    return Py_BuildValue("NNOO", bytes, strides_new(&entry->tensor.array), Py_False,
                         Py_False);
}

static PyObject *read_array(struct saved_capsule *capsule, size_t index, bool is_packed)
{
    struct array array;
    PyObject *result;

    if (!read_values(capsule, index, &array, NULL)) {
        return NULL;
    }
    if (is_packed) {
        result = Py_BuildValue("NOOO", packed_new(&array), Py_None, Py_False, Py_False);
    } else {
        result = Py_BuildValue("NNNN", raw_new(&array), strides_new(&array),
                               PyBool_FromLong(array.is_conjugated),
                               PyBool_FromLong(array.is_negated));
    }
    saved_folder_forget(capsule->folder);
    return result;
}

const char view_saved_read_doc[] = PyDoc_STR(
    "saved_read(folder, index, is_packed) -> (bytearray, strides, conj, neg)\n\n"
    "The values of an entry. Packed: in row-major order, all resolved. Else as they\n"
    "are in the file, with strides in bytes, or None if they are packed.\n"
    "One thread at a time.");

PyObject *view_saved_read(PyObject *module, PyObject *args)
{
    PyObject *object;
    Py_ssize_t index;
    int is_packed;
    struct saved_capsule *capsule;

    (void)module;
    if (!PyArg_ParseTuple(args, "Onp:saved_read", &object, &index, &is_packed)) {
        return NULL;
    }
    capsule = PyCapsule_GetPointer(object, CAPSULE_NAME);
    if (capsule == NULL) {
        return NULL;
    }
    if (index < 0 || (size_t)index >= saved_folder_count(capsule->folder)) {
        PyErr_SetString(PyExc_IndexError, "no such saved tensor");
        return NULL;
    }
    if (capsule->is_busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread reads the folder");
        return NULL;
    }
    if (!is_packed && saved_folder_entry(capsule->folder, (size_t)index)->size > 0) {
        return read_piece(capsule, (size_t)index);
    }
    return read_array(capsule, (size_t)index, is_packed != 0);
}
