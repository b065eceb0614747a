/* Values that are met: what each path was last, and whether it has changed. */
#include "runtime/python/tracer/tracing.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/hot.h"
#include "runtime/python/tensor/tensor.h"
#include "runtime/python/visit/values.h"

/* What a tensor is known again by. A weak reference costs more than to hold the tensor, which can be
 * done as long as the program does. */
enum reference { REFERENCE_WEAK, REFERENCE_HELD };

/* A value that is told. */
struct telling {
    struct tracing *tracing;
    struct traced_path *path;
    struct traced_state *state;
    PyObject *value;
    uint64_t iteration;
    enum reference reference;
    bool is_named;
};

/* ---- keeping ---- */

/* Lets Python keep it, and call what the user wants to be called. */
static bool keep_by_python(const struct telling *telling)
{
    const struct tracing_calls *calls = &telling->tracing->calls;
    PyObject *name = telling->path->name;
    PyObject *kept;

    if (calls->save != Py_None) {
        kept = PyObject_CallFunction(calls->save, "OOK", name, telling->value,
                                     (unsigned long long)telling->iteration);
    } else {
        kept = PyObject_CallFunctionObjArgs(calls->keep, name, telling->value, NULL);
    }
    if (kept == Py_NotImplemented) {
        Py_DECREF(kept);
        return true;
    }
    return tracing_keep_object(telling->tracing, telling->path, kept,
                               telling->iteration);
}

/* `tensor` is NULL where nothing could be found out. */
static bool keep_tensor(const struct telling *telling,
                        enum tensor_class class,
                        const struct tensor *tensor)
{
    if (telling->tracing->calls.save != Py_None || class != TENSOR_CLASS_EXACT ||
        tensor == NULL || tensor->array.data == NULL ||
        tensor->array.dimension_count > TENSOR_BLOCK_DIMENSIONS ||
        dtype_class(tensor->array.dtype) == DTYPE_CLASS_OPAQUE) {
        return keep_by_python(telling);
    }
    return tracing_keep_copy(telling->tracing, telling->path, tensor,
                             telling->iteration);
}

/* ---- what has changed ---- */

static void become(struct traced_state *state, enum traced_kind kind)
{
    state->kind = kind;
    state->has_hash = false;
    if (state->held != NULL) {
        tracing_replace(&state->held, NULL);
    }
}

/* Batch norm writes to its buffers, and `.data` to any tensor, without a new version. What
 * autograd follows is not written to so. */
static bool has_uncounted_writes(bool requires_grad, bool is_parameter)
{
    return !requires_grad || is_parameter;
}

static bool find_hash(const struct tensor *tensor, uint64_t *hash)
{
    struct statistics statistics;

    if (tensor->array.data == NULL ||
        !has_uncounted_writes((tensor->flags & LOG_FORM_REQUIRES_GRAD) != 0,
                              (tensor->flags & LOG_FORM_PARAMETER) != 0)) {
        return false;
    }
    return value_measure(tensor, STATISTICS_WANT_HASH, 1, &statistics, hash) != 0;
}

HOT static bool is_last(const struct traced_state *state, const PyObject *value)
{
    return state->held == value ||
           (state->last != NULL && PyWeakref_GetObject(state->last) == value);
}

/* Whether the value is the tensor that the path was last, and nothing but writes that a version
 * does not count could have changed it. Not inlined: most are not. */
HOT static __attribute__((noinline)) bool is_same_tensor(const struct telling *telling)
{
    const struct traced_state *state = telling->state;

    return state->kind == TRACED_TENSOR && state->iteration == telling->iteration &&
           is_last(state, telling->value) &&
           state->version ==
               tensor_version(telling->tracing->session->access, telling->value);
}

/* From now on the path was this tensor last. */
HOT static void refer_to_tensor(const struct telling *telling)
{
    struct traced_state *state = telling->state;

    if (state->kind == TRACED_TENSOR && is_last(state, telling->value)) {
        return;
    }
    become(state, TRACED_TENSOR);
    if (telling->reference == REFERENCE_WEAK) {
        traced_state_refer_weakly(state, telling->value);
        return;
    }
    tracing_replace(&state->held, Py_NewRef(telling->value));
    if (state->last != NULL) {
        tracing_replace(&state->last, NULL);
    }
}

/* The same bytes in another order are other values. */
static uint64_t hash_block(const struct tensor_block *block)
{
    const struct block_form *form = block->form;
    uint64_t hash = hash_64((struct slice){block->data, form->size});

    for (uint32_t i = 0; !form->is_in_order && i < form->dimension_count; i++) {
        hash = hash * 31 + (uint64_t)form->strides[i];
    }
    return hash;
}

HOT static bool tell_block(const struct telling *telling,
                           const struct tensor_block *block)
{
    struct traced_state *state = telling->state;
    bool has_hash = has_uncounted_writes(block->requires_grad, block->is_parameter);
    uint64_t hash = has_hash ? hash_block(block) : 0;

    if (has_hash && state->has_hash && hash == state->hash && is_same_tensor(telling)) {
        return true;
    }
    /* First: what follows may run code of others, to which the memory belongs. */
    if (!tracing_keep_block(telling->tracing, telling->path, block,
                            telling->iteration)) {
        return false;
    }
    refer_to_tensor(telling);
    state->is_small = true;
    state->version = block->version;
    state->iteration = telling->iteration;
    state->has_hash = has_hash;
    state->hash = hash;
    return true;
}

/* A tensor is the same as long as it is the same object, of the same version, in the same
 * iteration. Not inlined: most go the short way. */
static __attribute__((noinline)) bool tell_tensor(const struct telling *telling,
                                                  enum tensor_class class)
{
    struct tensor_access *access = telling->tracing->session->access;
    struct traced_state *state = telling->state;
    bool is_same = state->has_hash && is_same_tensor(telling);
    struct tensor tensor;
    uint64_t hash = 0;
    bool is_described, has_hash, is_good = true;

    is_described = tensor_describe(access, telling->value, class, &tensor) == 0;
    has_hash = is_described && find_hash(&tensor, &hash);
    if (!is_same || !has_hash || hash != state->hash) {
        refer_to_tensor(telling);
        state->is_small = false;
        state->version =
            is_described ? tensor.version : tensor_version(access, telling->value);
        state->iteration = telling->iteration;
        state->has_hash = has_hash;
        state->hash = hash;
        is_good = keep_tensor(telling, class, is_described ? &tensor : NULL);
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

static bool tell_plain(const struct telling *telling)
{
    struct traced_state *state = telling->state;
    PyObject *value = telling->value;
    int is_equal = 0;

    if (state->kind == TRACED_PLAIN && Py_TYPE(state->last) == Py_TYPE(value)) {
        is_equal = PyObject_RichCompareBool(state->last, value, Py_EQ);
    }
    if (is_equal != 0) {
        return is_equal > 0;
    }
    become(state, TRACED_PLAIN);
    tracing_replace(&state->last, Py_NewRef(value));
    if (telling->tracing->calls.save != Py_None) {
        return keep_by_python(telling);
    }
    return tracing_keep_object(telling->tracing, telling->path, Py_NewRef(value),
                               telling->iteration);
}

static bool tell_other(const struct telling *telling)
{
    struct traced_state *state = telling->state;
    PyObject *last = state->kind == TRACED_OTHER ? state->last : Py_None;
    PyObject *now;
    bool is_changed;

    Py_INCREF(last);
    now = PyObject_CallFunction(telling->tracing->calls.compare, "OOK", last,
                                telling->value, (unsigned long long)telling->iteration);
    is_changed = now != last;
    Py_DECREF(last);
    if (now == NULL || !is_changed) {
        Py_XDECREF(now);
        return now != NULL;
    }
    become(state, TRACED_OTHER);
    tracing_replace(&state->last, now);
    return keep_by_python(telling);
}

/* Not inlined: most are tensors. */
static __attribute__((noinline)) bool tell_object(const struct telling *telling)
{
    const struct session *session = telling->tracing->session;
    PyObject *value = telling->value;
    const struct type_info *info;

    if (is_plain(value)) {
        return tell_plain(telling);
    }
    if (Py_TYPE(value) == session->traced_method_type) {
        return true; /* of ours */
    }
    info = type_cache_get(&telling->tracing->session->types, Py_TYPE(value));
    if (info->kind == TYPE_TENSOR && info->tensor != TENSOR_CLASS_NUMPY) {
        return tell_tensor(telling, info->tensor);
    }
    if (!telling->is_named &&
        (info->is_module || PyModule_Check(value) ||
         (info->kind == TYPE_OBJECT && PyCallable_Check(value)))) {
        return true;
    }
    return tell_other(telling);
}

/* The short way, of most: what is small and lies in memory without gaps. */
HOT static bool tell_new(const struct telling *telling)
{
    const struct kept_form *last = telling->path->form;
    struct tensor_block block;
    enum tensor_block_answer answer =
        tensor_find_block(telling->tracing->session->access, telling->value,
                          last != NULL ? &last->block : NULL, &block);

    if (answer == TENSOR_BLOCK_FOUND && block.form->size < TRACING_LARGE_SIZE &&
        telling->tracing->calls.save == Py_None) {
        return tell_block(telling, &block);
    }
    return answer == TENSOR_BLOCK_FOREIGN ? tell_object(telling)
                                          : tell_tensor(telling, TENSOR_CLASS_EXACT);
}

HOT static bool tell(struct tracing *tracing,
                     struct traced_path *path,
                     PyObject *value,
                     const struct tracing_moment *moment,
                     bool is_named,
                     enum reference reference)
{
    struct telling telling = {
        .tracing = tracing,
        .path = path,
        .state = traced_state_get(path, moment->thread),
        .value = value,
        .iteration = moment->iteration,
        .reference = reference,
        .is_named = is_named,
    };

    if (telling.state == NULL) {
        telling.state = traced_state_add(tracing, path, moment->thread);
        if (telling.state == NULL) {
            return false;
        }
    }
    return (telling.state->iteration == telling.iteration && !telling.state->has_hash &&
            is_same_tensor(&telling)) ||
           tell_new(&telling);
}

bool tracing_tell(struct tracing *tracing,
                  struct traced_path *path,
                  PyObject *value,
                  const struct tracing_moment *moment,
                  bool is_named)
{
    return tell(tracing, path, value, moment, is_named, REFERENCE_WEAK);
}

HOT bool tracing_tell_local(struct tracing *tracing,
                            struct traced_path *path,
                            PyObject *value,
                            const struct tracing_moment *moment,
                            bool is_named)
{
    return tell(tracing, path, value, moment, is_named, REFERENCE_HELD);
}
