/* The values that a Tracing keeps: copies of tensors, and objects, one after the other as they came;
 * and what becomes of them when somebody asks.
 *
 * A plain tensor is copied where it lies into memory that many share: a small one costs less so
 * than a call of torch does. It is made a tensor again when somebody asks for it. */
#include "runtime/python/tracing.h"

#include "runtime/base/hot.h"
#include "runtime/base/memory.h"
#include "runtime/python/tensor.h"

#define CHUNK_MAX_SIZE  ((size_t)4 << 20)
#define CHUNK_ALIGNMENT 64
#define SHARED_MAX_SIZE ((size_t)256 << 10) /* of a copy in memory that others share */

/* ---- keeping ---- */

/* Not inlined: it is once for many. */
static __attribute__((noinline)) struct kept_list *add_list(struct tracing *tracing)
{
    struct kept_list *list = tracing->spare;

    if (list == NULL) {
        list = memory_allocate(1, sizeof(*list));
    }
    if (list == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    tracing->spare = NULL;
    list->next = NULL;
    list->count = 0;
    if (tracing->last_kept == NULL) {
        tracing->kept = list;
    } else {
        tracing->last_kept->next = list;
    }
    tracing->last_kept = list;
    return list;
}

/* The next one, which counts from now on; NULL with an exception set. */
HOT static struct kept *add_kept(struct tracing *tracing)
{
    struct kept_list *list = tracing->last_kept;

    if (list == NULL || list->count == KEPT_LIST_COUNT) {
        list = add_list(tracing);
    }
    return list == NULL ? NULL : &list->items[list->count++];
}

bool tracing_keep_object(struct tracing *tracing,
                         struct traced_path *path,
                         PyObject *object,
                         uint64_t iteration)
{
    struct kept *kept = object == NULL ? NULL : add_kept(tracing);

    if (kept == NULL) {
        Py_XDECREF(object);
        return false;
    }
    *kept = (struct kept){.path = path, .iteration = iteration, .owner = object};
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
HOT static PyObject *
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

HOT static void set_shape(struct kept *kept, uint32_t count, const int64_t *shape)
{
    kept->dimension_count = (uint8_t)count;
    for (uint32_t i = 0; i < count; i++) {
        kept->shape[i] = shape[i];
    }
}

/* The next one, of a copy whose owner's reference is taken; NULL with an exception set. */
HOT static struct kept *add_copy(struct tracing *tracing,
                                 struct traced_path *path,
                                 PyObject *owner,
                                 size_t offset,
                                 uint64_t iteration)
{
    struct kept *kept = add_kept(tracing);

    if (kept == NULL) {
        Py_DECREF(owner);
        return NULL;
    }
    kept->path = path;
    kept->iteration = iteration;
    kept->owner = owner;
    kept->offset = offset;
    kept->is_copy = true;
    return kept;
}

HOT bool tracing_keep_block(struct tracing *tracing,
                            struct traced_path *path,
                            const struct tensor_block *block,
                            uint64_t iteration)
{
    size_t offset;
    char *bytes;
    PyObject *owner = reserve_bytes(tracing, block->size, &bytes, &offset);
    struct kept *kept =
        owner == NULL ? NULL : add_copy(tracing, path, owner, offset, iteration);

    if (kept == NULL) {
        return false;
    }
    kept->dtype = (uint8_t)block->dtype;
    kept->is_in_order = block->is_in_order;
    if (!block->is_in_order) {
        memcpy(kept->order, block->order, sizeof(kept->order));
    }
    set_shape(kept, block->dimension_count, block->shape);
    memory_copy_away(bytes, block->data, block->size);
    return true;
}

static void copy_values(struct tracing *tracing,
                        PyObject *value,
                        const struct array *array,
                        uint64_t count,
                        size_t size,
                        char *bytes)
{
    PyObject *storage;

    if (size < TRACING_LARGE_SIZE) {
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
    size_t size, offset;
    struct kept *kept;
    PyObject *owner;
    char *bytes;

    if (__builtin_mul_overflow(count, dtype_size(array->dtype), &size) ||
        size > PTRDIFF_MAX) {
        PyErr_NoMemory();
        return false;
    }
    owner = reserve_bytes(tracing, size, &bytes, &offset);
    if (owner == NULL) {
        return false;
    }
    copy_values(tracing, value, array, count, size, bytes);
    kept = add_copy(tracing, path, owner, offset, iteration);
    if (kept == NULL) {
        return false;
    }
    kept->dtype = (uint8_t)array->dtype;
    kept->is_in_order = true;
    set_shape(kept, array->dimension_count, array->shape);
    return true;
}

/* ---- taking ---- */

static PyObject *make_numbers(const int64_t *numbers, uint32_t count)
{
    PyObject *tuple = PyTuple_New(count);

    for (uint32_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *number = PyLong_FromLongLong(numbers[i]);

        if (number == NULL || PyTuple_SetItem(tuple, i, number) < 0) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

/* In elements; None: row-major. */
static PyObject *make_strides(const struct kept *kept)
{
    int64_t strides[KEPT_DIMENSION_MAX], next = 1;

    if (kept->is_in_order) {
        return Py_NewRef(Py_None);
    }
    for (uint32_t i = 0; i < kept->dimension_count; i++) {
        strides[kept->order[i]] = next;
        next *= kept->shape[kept->order[i]];
    }
    return make_numbers(strides, kept->dimension_count);
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
    return PyObject_CallFunction(
        tracing->calls.make, "OnKsNN", kept->owner, (Py_ssize_t)kept->offset,
        (unsigned long long)count, dtype_text(kept->dtype),
        make_numbers(kept->shape, kept->dimension_count), make_strides(kept));
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
static PyObject *take_all(struct tracing *tracing, const struct kept_list *kept)
{
    size_t path_count = tracing->traced_count;
    PyObject **pairs = memory_allocate_zeroed(path_count + 1, sizeof(*pairs));
    PyObject *result = PyDict_New();
    bool is_good = pairs != NULL && result != NULL;

    if (pairs == NULL) {
        PyErr_NoMemory();
    }
    for (; kept != NULL; kept = kept->next) {
        for (size_t i = 0; is_good && i < kept->count; i++) {
            is_good = take_one(tracing, &kept->items[i], pairs);
        }
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

static void forget(struct tracing *tracing, struct kept_list *kept)
{
    while (kept != NULL) {
        struct kept_list *next = kept->next;

        for (size_t i = 0; i < kept->count; i++) {
            Py_DECREF(kept->items[i].owner);
        }
        memory_free(tracing->spare);
        tracing->spare = kept;
        kept = next;
    }
}

PyObject *tracing_take(struct tracing *tracing)
{
    /* Others may trace on while this makes objects. */
    struct kept_list *kept = tracing->kept;
    PyObject *result;

    tracing->kept = tracing->last_kept = NULL;
    result = take_all(tracing, kept);
    forget(tracing, kept);
    return result;
}

void tracing_forget_kept(struct tracing *tracing)
{
    struct kept_list *kept = tracing->kept;

    tracing->kept = tracing->last_kept = NULL;
    forget(tracing, kept);
    memory_free(tracing->spare);
    tracing->spare = NULL;
}
