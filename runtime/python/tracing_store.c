/* The values that a Tracing keeps: copies of tensors, and objects, one after the other as they came;
 * and what becomes of them when somebody asks.
 *
 * A plain tensor is copied where it lies into memory that many share: a small one costs less so
 * than a call of torch does. It is made a tensor again when somebody asks for it. */
#include "runtime/python/tracing.h"

#include "runtime/base/memory.h"
#include "runtime/python/tensor.h"

#define CHUNK_MAX_SIZE    ((size_t)4 << 20)
#define CHUNK_ALIGNMENT   64
#define SHARED_MAX_SIZE   ((size_t)256 << 10) /* of a copy in memory that others share */
#define UNLOCKED_MIN_SIZE ((size_t)256 << 10) /* as the recorder has it */

/* ---- keeping ---- */

/* The next one; NULL with an exception set. It counts once `kept_count` is raised. */
static struct kept *reserve_kept(struct tracing *tracing)
{
    void *kept = tracing->kept;

    if (!memory_grow(&kept, &tracing->kept_room, tracing->kept_count + 1,
                     sizeof(*tracing->kept))) {
        PyErr_NoMemory();
        return NULL;
    }
    tracing->kept = kept;
    return &tracing->kept[tracing->kept_count];
}

bool tracing_keep_object(struct tracing *tracing,
                         struct traced_path *path,
                         PyObject *object,
                         uint64_t iteration)
{
    struct kept *kept = object == NULL ? NULL : reserve_kept(tracing);

    if (kept == NULL) {
        Py_XDECREF(object);
        return false;
    }
    *kept = (struct kept){.path = path, .iteration = iteration, .owner = object};
    tracing->kept_count++;
    return true;
}

static PyObject *ask_for_chunk(struct tracing *tracing, size_t size, char **bytes)
{
    PyObject *pair = PyObject_CallFunction(tracing->calls.chunk, "n", (Py_ssize_t)size);
    PyObject *owner = NULL;
    unsigned long long address;

    if (pair != NULL && PyArg_ParseTuple(pair, "OK", &owner, &address)) {
        *bytes = (char *)(uintptr_t)address;
        Py_INCREF(owner);
    }
    Py_XDECREF(pair);
    return owner;
}

static bool renew_chunk(struct tracing *tracing)
{
    size_t size = tracing->next_chunk_size;
    char *bytes;
    PyObject *chunk = ask_for_chunk(tracing, size, &bytes);

    if (chunk == NULL) {
        return false;
    }
    tracing_replace(&tracing->chunk, chunk);
    tracing->chunk_bytes = bytes;
    tracing->chunk_size = size;
    tracing->chunk_used = 0;
    tracing->next_chunk_size = size < CHUNK_MAX_SIZE ? 2 * size : size;
    return true;
}

/* Room for a copy; its owner is a new reference, or NULL with an exception set. */
static PyObject *
reserve_bytes(struct tracing *tracing, size_t size, char **bytes, size_t *offset)
{
    if (size > SHARED_MAX_SIZE || size > tracing->next_chunk_size / 2) {
        *offset = 0;
        return ask_for_chunk(tracing, size, bytes);
    }
    if (tracing->chunk == NULL || tracing->chunk_size - tracing->chunk_used < size) {
        if (!renew_chunk(tracing)) {
            return NULL;
        }
    }
    *offset = tracing->chunk_used;
    *bytes = tracing->chunk_bytes + *offset;
    tracing->chunk_used +=
        (size + CHUNK_ALIGNMENT - 1) & ~(size_t)(CHUNK_ALIGNMENT - 1);
    if (tracing->chunk_used > tracing->chunk_size) {
        tracing->chunk_used = tracing->chunk_size;
    }
    return Py_NewRef(tracing->chunk);
}

static void copy_values(struct tracing *tracing,
                        PyObject *value,
                        const struct array *array,
                        uint64_t count,
                        size_t size,
                        char *bytes)
{
    PyObject *storage;

    if (size < UNLOCKED_MIN_SIZE) {
        array_read(array, 0, count, bytes);
        return;
    }
    storage = tensor_hold(tracing->session->access, value);
    Py_BEGIN_ALLOW_THREADS;
    array_read(array, 0, count, bytes);
    Py_END_ALLOW_THREADS;
    Py_XDECREF(storage);
}

bool tracing_keep_copy(struct tracing *tracing,
                       struct traced_path *path,
                       PyObject *value,
                       const struct tensor *tensor,
                       uint64_t iteration)
{
    const struct array *array = &tensor->array;
    uint64_t count = array_count(array);
    struct kept copy = {.path = path,
                        .iteration = iteration,
                        .dtype = array->dtype,
                        .is_copy = true,
                        .dimension_count = array->dimension_count};
    struct kept *kept;
    char *bytes;
    size_t size;

    if (__builtin_mul_overflow(count, dtype_size(array->dtype), &size) ||
        size > PTRDIFF_MAX) {
        PyErr_NoMemory();
        return false;
    }
    copy.owner = reserve_bytes(tracing, size, &bytes, &copy.offset);
    if (copy.owner == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        copy.shape[i] = array->shape[i];
    }
    copy_values(tracing, value, array, count, size, bytes);
    kept = reserve_kept(tracing);
    if (kept == NULL) {
        Py_DECREF(copy.owner);
        return false;
    }
    *kept = copy;
    tracing->kept_count++;
    return true;
}

/* ---- taking ---- */

static PyObject *make_shape(const struct kept *kept)
{
    PyObject *shape = PyTuple_New(kept->dimension_count);

    for (uint32_t i = 0; shape != NULL && i < kept->dimension_count; i++) {
        PyObject *number = PyLong_FromLongLong(kept->shape[i]);

        if (number == NULL || PyTuple_SetItem(shape, i, number) < 0) {
            Py_CLEAR(shape);
        }
    }
    return shape;
}

static PyObject *make_value(struct tracing *tracing, const struct kept *kept)
{
    uint64_t count = 1;

    if (!kept->is_copy) {
        return Py_NewRef(kept->owner);
    }
    for (uint32_t i = 0; i < kept->dimension_count; i++) {
        count *= (uint64_t)kept->shape[i];
    }
    return PyObject_CallFunction(tracing->calls.make, "OnKsN", kept->owner,
                                 (Py_ssize_t)kept->offset, (unsigned long long)count,
                                 dtype_text(kept->dtype), make_shape(kept));
}

static bool append(PyObject *list, PyObject *item)
{
    bool is_good = item != NULL && PyList_Append(list, item) == 0;

    Py_XDECREF(item);
    return is_good;
}

/* Adds the value to its path's (values, iterations); `pairs` has a place for each path. */
static bool take_one(struct tracing *tracing, const struct kept *kept, PyObject **pairs)
{
    PyObject **pair = &pairs[kept->path->number];

    if (*pair == NULL) {
        *pair = Py_BuildValue("([][])");
    }
    return *pair != NULL &&
           append(PyTuple_GetItem(*pair, 0), make_value(tracing, kept)) &&
           append(PyTuple_GetItem(*pair, 1),
                  PyLong_FromUnsignedLongLong(kept->iteration));
}

/* By path, in the order in which paths were met. NULL with an exception set. */
static PyObject *
take_all(struct tracing *tracing, const struct kept *kept, size_t count)
{
    size_t path_count = tracing->traced_count;
    PyObject **pairs = memory_allocate_zeroed(path_count + 1, sizeof(*pairs));
    PyObject *result = PyDict_New();
    bool is_good = pairs != NULL && result != NULL;

    if (pairs == NULL) {
        PyErr_NoMemory();
    }
    for (size_t i = 0; is_good && i < count; i++) {
        is_good = take_one(tracing, &kept[i], pairs);
    }
    for (size_t i = 0; pairs != NULL && i < path_count; i++) {
        is_good = is_good &&
                  (pairs[i] == NULL ||
                   PyDict_SetItem(result, tracing->traced[i]->name, pairs[i]) == 0);
        Py_XDECREF(pairs[i]);
    }
    memory_free(pairs);
    if (!is_good) {
        Py_CLEAR(result);
    }
    return result;
}

static void forget(struct kept *kept, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        Py_DECREF(kept[i].owner);
    }
    memory_free(kept);
}

PyObject *tracing_take(struct tracing *tracing)
{
    /* Others may trace on while this makes objects. */
    struct kept *kept = tracing->kept;
    size_t count = tracing->kept_count;
    PyObject *result;

    tracing->kept = NULL;
    tracing->kept_count = tracing->kept_room = 0;
    result = take_all(tracing, kept, count);
    forget(kept, count);
    return result;
}

void tracing_forget_kept(struct tracing *tracing)
{
    forget(tracing->kept, tracing->kept_count);
    tracing->kept = NULL;
    tracing->kept_count = tracing->kept_room = 0;
}
