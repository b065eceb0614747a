/* The paths that have matched, what each was last, and whether it has changed. */
#include "runtime/python/tracing.h"

#include "runtime/base/memory.h"
#include "runtime/python/recorder_values.h"
#include "runtime/python/tensor.h"

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
        path->number = tracing->traced_count;
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
    for (struct traced_state *state = &path->first; state != NULL;
         state = state->next) {
        state->kind = TRACED_NOTHING;
        tracing_replace(&state->last, NULL);
    }
}

void traced_path_free(struct traced_path *path)
{
    traced_path_forget(path);
    while (path->first.next != NULL) {
        struct traced_state *state = path->first.next;

        path->first.next = state->next;
        memory_free(state);
    }
    Py_XDECREF(path->name);
    memory_free(path);
}

/* One more, or where there are enough the one that was taken over first; NULL with an exception
 * set. */
static struct traced_state *add_state(struct traced_path *path, uint64_t thread)
{
    struct traced_state *state = &path->first;

    if (path->state_count == TRACED_STATE_MAX) {
        for (unsigned i = path->next_state++ % TRACED_STATE_MAX; i > 0; i--) {
            state = state->next;
        }
        state->kind = TRACED_NOTHING;
    } else if (path->state_count > 0) {
        state = memory_allocate_zeroed(1, sizeof(*state));
        if (state == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        state->next = path->first.next;
        path->first.next = state;
    }
    path->state_count += path->state_count < TRACED_STATE_MAX;
    state->thread = thread;
    return state;
}

/* This thread's; NULL with an exception set. */
static struct traced_state *find_state(struct traced_path *path, uint64_t thread)
{
    for (struct traced_state *state = &path->first; state != NULL;
         state = state->next) {
        if (state->thread == thread) {
            return state;
        }
    }
    return add_state(path, thread);
}

/* ---- keeping ---- */

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
    return tracing_keep_object(tracing, path, kept, iteration);
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
    return tracing_keep_copy(tracing, path, value, tensor, iteration);
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

/* Whether the value is the tensor that the path was last, and nothing but writes that a version
 * does not count could have changed it. */
static bool is_same_tensor(struct tracing *tracing,
                           const struct traced_state *state,
                           PyObject *value,
                           uint64_t iteration)
{
    return state->kind == TRACED_TENSOR && state->iteration == iteration &&
           state->last != NULL && PyWeakref_GetObject(state->last) == value &&
           state->version == tensor_version(tracing->session->access, value);
}

static void refer_to_tensor(struct traced_state *state, PyObject *value)
{
    if (state->kind == TRACED_TENSOR && state->last != NULL &&
        PyWeakref_GetObject(state->last) == value) {
        return;
    }
    state->kind = TRACED_TENSOR;
    tracing_replace(&state->last, PyWeakref_NewRef(value, NULL));
    if (state->last == NULL) {
        PyErr_Clear(); /* without one it is another each time */
    }
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
    bool is_same = state->has_hash && is_same_tensor(tracing, state, value, iteration);
    struct tensor tensor;
    uint64_t hash = 0;
    bool is_described, has_hash, is_good = true;

    is_described = tensor_describe(access, value, class, &tensor) == 0;
    has_hash = is_described && find_hash(&tensor, &hash);
    if (!is_same || !has_hash || hash != state->hash) {
        refer_to_tensor(state, value);
        state->version = is_described ? tensor.version : tensor_version(access, value);
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
    state->has_hash = false;
    tracing_replace(&state->last, Py_NewRef(value));
    if (tracing->calls.save != Py_None) {
        return keep_by_python(tracing, path, value, iteration);
    }
    return tracing_keep_object(tracing, path, Py_NewRef(value), iteration);
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
    state->has_hash = false;
    tracing_replace(&state->last, now);
    return keep_by_python(tracing, path, value, iteration);
}

/* Not inlined: most of what is met is as it was. */
static __attribute__((noinline)) bool tell_state(struct tracing *tracing,
                                                 struct traced_path *path,
                                                 struct traced_state *state,
                                                 PyObject *value,
                                                 uint64_t iteration,
                                                 bool is_named)
{
    const struct type_info *info;

    if (tensor_is_exact(tracing->session->access, Py_TYPE(value))) {
        return tell_tensor(tracing, path, state, value, TENSOR_CLASS_EXACT, iteration);
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

bool tracing_tell(struct tracing *tracing,
                  struct traced_path *path,
                  PyObject *value,
                  const struct tracing_moment *moment,
                  bool is_named)
{
    struct traced_state *state = find_state(path, moment->thread);

    if (state == NULL) {
        return false;
    }
    return (!state->has_hash &&
            is_same_tensor(tracing, state, value, moment->iteration)) ||
           tell_state(tracing, path, state, value, moment->iteration, is_named);
}
