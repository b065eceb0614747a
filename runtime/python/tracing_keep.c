/* What a path's values are, whether they have changed, and copies of them.
 *
 * A plain tensor is copied where it lies into memory that many share: a small one costs less so
 * than a call of torch does. It is made a tensor again when somebody asks for it. */
#include "runtime/python/tracing.h"

#include "runtime/base/memory.h"
#include "runtime/python/recorder_values.h"
#include "runtime/python/tensor.h"

#define CHUNK_MAX_SIZE    ((size_t)4 << 20)
#define CHUNK_ALIGNMENT   64
#define UNLOCKED_MIN_SIZE ((size_t)256 << 10) /* as the recorder has it */

static struct traced_path *make_path(struct tracing *tracing, PyObject *name)
{
    void *traced = tracing->traced;
    struct traced_path *path;

    if (!memory_grow(&traced, &tracing->traced_room, tracing->traced_count + 1,
                     sizeof(*tracing->traced))) {
        return NULL;
    }
    tracing->traced = traced;
    path = memory_allocate_zeroed(1, sizeof(*path));
    if (path != NULL) {
        path->name = Py_NewRef(name);
        tracing->traced[tracing->traced_count++] = path;
    }
    return path;
}

static struct traced_path *add_path(struct tracing *tracing, PyObject *name)
{
    PyObject *number = PyLong_FromSize_t(tracing->traced_count);
    struct traced_path *path = NULL;

    if (number != NULL) {
        path = make_path(tracing, name);
        if (path == NULL) {
            PyErr_NoMemory();
        } else if (PyDict_SetItem(tracing->numbers, name, number) < 0) {
            path = NULL; /* it stays, unused */
        }
        Py_DECREF(number);
    }
    return path;
}

struct traced_path *tracing_find_path(struct tracing *tracing, struct slice name)
{
    PyObject *text =
        PyUnicode_DecodeUTF8(name.bytes, (Py_ssize_t)name.size, "surrogateescape");
    PyObject *number = text == NULL ? NULL : PyDict_GetItem(tracing->numbers, text);
    struct traced_path *path = NULL;

    if (number != NULL) {
        path = tracing->traced[PyLong_AsSize_t(number)];
    } else if (text != NULL) {
        path = add_path(tracing, text);
    }
    Py_XDECREF(text);
    return path;
}

void traced_path_forget(struct traced_path *path)
{
    for (unsigned i = 0; i < TRACED_STATE_MAX && path->states[i] != NULL; i++) {
        path->states[i]->kind = TRACED_NOTHING;
        tracing_replace(&path->states[i]->last, NULL);
    }
}

void traced_path_free(struct traced_path *path)
{
    for (size_t i = 0; i < path->kept_count; i++) {
        Py_DECREF(path->kept[i].owner);
    }
    memory_free(path->kept);
    traced_path_forget(path);
    for (unsigned i = 0; i < TRACED_STATE_MAX; i++) {
        memory_free(path->states[i]);
    }
    Py_XDECREF(path->name);
    memory_free(path);
}

/* This thread's; NULL with an exception set. */
static struct traced_state *find_state(struct traced_path *path)
{
    uint64_t thread = session_thread_key();
    unsigned i = 0;

    while (i < TRACED_STATE_MAX && path->states[i] != NULL &&
           path->states[i]->thread != thread) {
        i++;
    }
    if (i == TRACED_STATE_MAX) {
        i = path->next_state++ % TRACED_STATE_MAX;
        path->states[i]->thread = thread;
        path->states[i]->kind = TRACED_NOTHING;
    } else if (path->states[i] == NULL) {
        path->states[i] = memory_allocate_zeroed(1, sizeof(*path->states[i]));
        if (path->states[i] == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        path->states[i]->thread = thread;
    }
    return path->states[i];
}

/* ---- keeping ---- */

/* The next one; NULL with an exception set. It counts once `kept_count` is raised. */
static struct kept *reserve_kept(struct traced_path *path)
{
    void *kept = path->kept;

    if (!memory_grow(&kept, &path->kept_room, path->kept_count + 1,
                     sizeof(*path->kept))) {
        PyErr_NoMemory();
        return NULL;
    }
    path->kept = kept;
    return &path->kept[path->kept_count];
}

/* The reference is taken. */
static bool add_object(struct traced_path *path, PyObject *object, uint64_t iteration)
{
    struct kept *kept = object == NULL ? NULL : reserve_kept(path);

    if (kept == NULL) {
        Py_XDECREF(object);
        return false;
    }
    *kept = (struct kept){.iteration = iteration, .owner = object};
    path->kept_count++;
    return true;
}

/* Lets Python keep it, and call what the user wants to be called. */
static bool keep_by_python(struct tracing *tracing,
                           struct traced_path *path,
                           PyObject *value,
                           uint64_t iteration)
{
    PyObject *kept;

    if (tracing->calls.save != Py_None) {
        kept = PyObject_CallFunction(tracing->calls.save, "OOK", path->name, value,
                                     (unsigned long long)iteration);
    } else {
        kept =
            PyObject_CallFunctionObjArgs(tracing->calls.keep, path->name, value, NULL);
    }
    if (kept == Py_NotImplemented) {
        Py_DECREF(kept);
        return true;
    }
    return add_object(path, kept, iteration);
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
    if (size > TRACING_CHUNK_SIZE / 2) {
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

/* False with an exception set. */
static bool copy_tensor(struct tracing *tracing,
                        struct traced_path *path,
                        PyObject *value,
                        const struct tensor *tensor,
                        uint64_t iteration)
{
    const struct array *array = &tensor->array;
    uint64_t count = array_count(array);
    struct kept copy = {.iteration = iteration,
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
    kept = reserve_kept(path);
    if (kept == NULL) {
        Py_DECREF(copy.owner);
        return false;
    }
    *kept = copy;
    path->kept_count++;
    return true;
}

/* `tensor` is NULL where nothing could be found out. */
static bool keep_tensor(struct tracing *tracing,
                        struct traced_path *path,
                        PyObject *value,
                        enum tensor_class class,
                        const struct tensor *tensor,
                        uint64_t iteration)
{
    if (tracing->calls.save != Py_None || class != TENSOR_CLASS_EXACT ||
        tensor == NULL || tensor->array.data == NULL ||
        tensor->array.dimension_count > KEPT_DIMENSION_MAX ||
        dtype_class(tensor->array.dtype) == DTYPE_CLASS_OPAQUE) {
        return keep_by_python(tracing, path, value, iteration);
    }
    return copy_tensor(tracing, path, value, tensor, iteration);
}

/* ---- what has changed ---- */

/* Batch norm writes to its buffers, and `.data` to any tensor, without a new version. What
 * autograd follows is not written to so. */
static bool find_hash(const struct tensor *tensor, uint64_t *hash)
{
    struct statistics statistics;

    if (tensor->array.data == NULL || ((tensor->flags & LOG_FORM_REQUIRES_GRAD) != 0 &&
                                       (tensor->flags & LOG_FORM_PARAMETER) == 0)) {
        return false;
    }
    value_measure(tensor, STATISTICS_WANT_HASH, 1, &statistics, hash);
    return true;
}

/* A tensor is the same as long as it is the same object, of the same version, in the same
 * iteration. */
static bool tell_tensor(struct tracing *tracing,
                        struct traced_path *path,
                        struct traced_state *state,
                        PyObject *value,
                        enum tensor_class class,
                        uint64_t iteration)
{
    struct tensor_access *access = tracing->session->access;
    uint32_t version = tensor_version(access, value);
    bool is_object = state->kind == TRACED_TENSOR && state->last != NULL &&
                     PyWeakref_GetObject(state->last) == value;
    bool is_same =
        is_object && state->version == version && state->iteration == iteration;
    struct tensor tensor;
    uint64_t hash = 0;
    bool is_described, has_hash, is_good = true;

    if (is_same && !state->has_hash) {
        return true;
    }
    is_described = tensor_describe(access, value, class, &tensor) == 0;
    has_hash = is_described && find_hash(&tensor, &hash);
    if (!is_same || !has_hash || hash != state->hash) {
        if (!is_object) {
            tracing_replace(&state->last, PyWeakref_NewRef(value, NULL));
            PyErr_Clear(); /* without one it is another each time */
        }
        state->kind = TRACED_TENSOR;
        state->version = version;
        state->iteration = iteration;
        state->has_hash = has_hash;
        state->hash = hash;
        is_good = keep_tensor(tracing, path, value, class,
                              is_described ? &tensor : NULL, iteration);
    }
    if (is_described) {
        tensor_release(&tensor);
    }
    return is_good;
}

/* Numbers, texts and None, of exactly these types: their comparison is Python's own. */
static bool is_plain(PyObject *value)
{
    return value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value) ||
           PyFloat_CheckExact(value) || PyUnicode_CheckExact(value) ||
           PyComplex_CheckExact(value) || PyBytes_CheckExact(value);
}

static bool tell_plain(struct tracing *tracing,
                       struct traced_path *path,
                       struct traced_state *state,
                       PyObject *value,
                       uint64_t iteration)
{
    int is_equal = 0;

    if (state->kind == TRACED_PLAIN && Py_TYPE(state->last) == Py_TYPE(value)) {
        is_equal = PyObject_RichCompareBool(state->last, value, Py_EQ);
    }
    if (is_equal != 0) {
        return is_equal > 0;
    }
    state->kind = TRACED_PLAIN;
    tracing_replace(&state->last, Py_NewRef(value));
    if (tracing->calls.save != Py_None) {
        return keep_by_python(tracing, path, value, iteration);
    }
    return add_object(path, Py_NewRef(value), iteration);
}

static bool tell_other(struct tracing *tracing,
                       struct traced_path *path,
                       struct traced_state *state,
                       PyObject *value,
                       uint64_t iteration)
{
    PyObject *last = state->kind == TRACED_OTHER ? state->last : Py_None;
    PyObject *now;
    bool is_changed;

    Py_INCREF(last);
    now = PyObject_CallFunction(tracing->calls.compare, "OOK", last, value,
                                (unsigned long long)iteration);
    is_changed = now != last;
    Py_DECREF(last);
    if (now == NULL || !is_changed) {
        Py_XDECREF(now);
        return now != NULL;
    }
    state->kind = TRACED_OTHER;
    tracing_replace(&state->last, now);
    return keep_by_python(tracing, path, value, iteration);
}

bool tracing_tell(struct tracing *tracing,
                  struct traced_path *path,
                  PyObject *value,
                  uint64_t iteration,
                  bool is_named)
{
    const struct type_info *info;
    struct traced_state *state = find_state(path);

    if (state == NULL) {
        return false;
    }
    if (is_plain(value)) {
        return tell_plain(tracing, path, state, value, iteration);
    }
    if (Py_TYPE(value) == tracing->session->traced_method_type) {
        return true; /* of ours */
    }
    info = type_cache_get(&tracing->session->types, Py_TYPE(value));
    if (info->kind == TYPE_TENSOR && info->tensor != TENSOR_CLASS_NUMPY) {
        return tell_tensor(tracing, path, state, value, info->tensor, iteration);
    }
    if (!is_named && (info->is_module || PyModule_Check(value) ||
                      (info->kind == TYPE_OBJECT && PyCallable_Check(value)))) {
        return true;
    }
    return tell_other(tracing, path, state, value, iteration);
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

/* (values, iterations) */
static PyObject *
make_lists(struct tracing *tracing, const struct kept *kept, size_t count)
{
    PyObject *values = PyList_New(0);
    PyObject *iterations = PyList_New(0);
    PyObject *pair = NULL;
    bool is_good = values != NULL && iterations != NULL;

    for (size_t i = 0; is_good && i < count; i++) {
        is_good = append(values, make_value(tracing, &kept[i])) &&
                  append(iterations, PyLong_FromUnsignedLongLong(kept[i].iteration));
    }
    if (is_good) {
        pair = PyTuple_Pack(2, values, iterations);
    }
    Py_XDECREF(values);
    Py_XDECREF(iterations);
    return pair;
}

static bool
take_path(struct tracing *tracing, struct traced_path *path, PyObject *result)
{
    /* Others may trace on while this makes objects. */
    struct kept *kept = path->kept;
    size_t count = path->kept_count;
    PyObject *pair;
    bool is_good;

    if (count == 0) {
        return true;
    }
    path->kept = NULL;
    path->kept_count = path->kept_room = 0;
    pair = make_lists(tracing, kept, count);
    is_good = pair != NULL && PyDict_SetItem(result, path->name, pair) == 0;
    Py_XDECREF(pair);
    for (size_t i = 0; i < count; i++) {
        Py_DECREF(kept[i].owner);
    }
    memory_free(kept);
    return is_good;
}

PyObject *tracing_take(struct tracing *tracing)
{
    PyObject *result = PyDict_New();

    for (size_t i = 0; result != NULL && i < tracing->traced_count; i++) {
        if (!take_path(tracing, tracing->traced[i], result)) {
            Py_CLEAR(result);
        }
    }
    return result;
}
