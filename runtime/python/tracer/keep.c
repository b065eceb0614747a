/* The values that a Tracing keeps, and the check whether a path's value has changed. */
#include "runtime/base/hash/hash.h"

#include "runtime/base/memory.h"
#include "runtime/python/tensor/tensor.h"
#include "runtime/python/tracer/tracing.h"
#include "runtime/python/visit/values.h"

#include <assert.h>

/* ---- kept values: copies of tensors, and objects, in the order of their visits ----
 *
 * A plain tensor is copied in C, into memory that many copies share: for a small tensor that
 * costs less than a call of torch. The copy is turned into a tensor when the user asks for it. */

#define CHUNK_MAX_SIZE  ((size_t)4 << 20)
#define CHUNK_ALIGNMENT 64
#define SHARED_MAX_SIZE ((size_t)256 << 10) /* largest copy in shared memory */

/* Adds an empty list. NULL with an exception set. Not inlined: one call serves many values. */
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

/* Adds an item, which the caller must fill. NULL with an exception set. */
HOT static struct kept *add_kept(struct tracing *tracing)
{
    struct kept_list *list = tracing->last_kept;

    assert(list == NULL || list->count <= KEPT_LIST_COUNT);
    if (list == NULL || list->count == KEPT_LIST_COUNT) {
        list = add_list(tracing);
    }
    return list == NULL ? NULL : &list->items[list->count++];
}

/* Keeps an object. Steals the reference; NULL means that an exception is set. Returns false with
 * an exception set. */
static bool tracing_keep_object(struct tracing *tracing,
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

/* Reserves memory for a copy. Returns a new reference to the memory's owner, or NULL with an
 * exception set. */
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

/* Ends one use of the form, which may be NULL. A form without uses becomes a spare one. */
static void kept_form_leave(struct tracing *tracing, struct kept_form *form)
{
    if (form != NULL && --form->user_count == 0) {
        form->next_spare = tracing->spare_forms;
        tracing->spare_forms = form;
    }
}

/* A spare form or a new one; NULL with an exception set. */
static struct kept_form *make_form(struct tracing *tracing)
{
    struct kept_form *form = tracing->spare_forms;

    if (form == NULL) {
        return tracing_allocate(&tracing->arena, 1, sizeof(*form));
    }
    tracing->spare_forms = form->next_spare;
    return form;
}

/* Changes the form of the path's copies. Returns false with an exception set. Not inlined: most
 * copies have the form of the last one. */
static __attribute__((noinline)) bool change_form(struct tracing *tracing,
                                                  struct traced_path *path,
                                                  const struct block_form *block)
{
    struct kept_form *form = make_form(tracing);

    if (form == NULL) {
        return false;
    }
    *form = (struct kept_form){.user_count = 1, .block = *block};
    kept_form_leave(tracing, path->form);
    path->form = form;
    return true;
}

/* The form for a copy of the path, with one more use. NULL with an exception set. */
HOT static struct kept_form *use_form(struct tracing *tracing,
                                      struct traced_path *path,
                                      const struct block_form *block)
{
    if ((path->form == NULL || block != &path->form->block) &&
        !change_form(tracing, path, block)) {
        return NULL;
    }
    path->form->user_count++;
    return path->form;
}

/* Adds a copy. Takes over its owner and its use of a form, also on failure. Returns false with
 * an exception set. */
HOT static inline bool add_copy(struct tracing *tracing, const struct kept *copy)
{
    struct kept *kept = add_kept(tracing);

    if (kept == NULL) {
        Py_DECREF(copy->owner);
        kept_form_leave(tracing, copy->form);
        return false;
    }
    *kept = *copy;
    return true;
}

/* Keeps a copy of a tensor's values in the order of its memory. Returns false with an exception
 * set. */
HOT static bool tracing_keep_block(struct tracing *tracing,
                                   struct traced_path *path,
                                   const struct tensor_block *block,
                                   uint64_t iteration)
{
    size_t size = block->form->size;
    struct kept kept = {.path = path, .iteration = iteration};
    char *bytes;

    kept.form = use_form(tracing, path, block->form);
    if (kept.form == NULL) {
        return false;
    }
    kept.owner = reserve_bytes(tracing, size, &bytes, &kept.offset);
    if (kept.owner == NULL) {
        kept_form_leave(tracing, kept.form);
        return false;
    }
    memory_copy_away(bytes, block->data, size);
    return add_copy(tracing, &kept);
}

static bool is_of_form(const struct block_form *form, const struct array *array)
{
    return form->is_in_order && form->dtype == array->dtype &&
           form->dimension_count == array->dimension_count &&
           memcmp(form->shape, array->shape,
                  array->dimension_count * sizeof(*array->shape)) == 0;
}

/* use_form for a copy of the array's values in row-major order, of `size` bytes. */
static struct kept_form *use_array_form(struct tracing *tracing,
                                        struct traced_path *path,
                                        const struct array *array,
                                        size_t size)
{
    struct block_form form = {
        .dtype = (uint8_t)array->dtype,
        .item_size = (uint8_t)dtype_size(array->dtype),
        .dimension_count = (uint8_t)array->dimension_count,
        .is_in_order = true,
        .torch_dtype = BLOCK_FORM_NO_TENSOR,
        .size = size,
    };

    if (path->form != NULL && is_of_form(&path->form->block, array)) {
        return use_form(tracing, path, &path->form->block);
    }
    memcpy(form.shape, array->shape, array->dimension_count * sizeof(*array->shape));
    return use_form(tracing, path, &form);
}

/* Keeps a copy in row-major order of a tensor whose memory can be read and that has at most
 * TENSOR_BLOCK_DIMENSIONS dimensions. Returns false with an exception set. */
static bool tracing_keep_copy(struct tracing *tracing,
                              struct traced_path *path,
                              const struct tensor *tensor,
                              uint64_t iteration)
{
    const struct array *array = &tensor->array;
    uint64_t count = array_count(array);
    struct kept kept = {.path = path, .iteration = iteration};
    size_t size;
    char *bytes;

    if (__builtin_mul_overflow(count, dtype_size(array->dtype), &size) ||
        size > PTRDIFF_MAX) {
        PyErr_NoMemory();
        return false;
    }
    kept.form = use_array_form(tracing, path, array, size);
    if (kept.form == NULL) {
        return false;
    }
    kept.owner = reserve_bytes(tracing, size, &bytes, &kept.offset);
    if (kept.owner == NULL) {
        kept_form_leave(tracing, kept.form);
        return false;
    }
    array_read(array, 0, count, bytes);
    return add_copy(tracing, &kept);
}

/* ---- turning kept values into Python objects ---- */

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

static PyObject *make_value(struct tracing *tracing, const struct kept *kept)
{
    const struct block_form *form;
    PyObject *strides;

    if (kept->form == NULL) {
        return Py_NewRef(kept->owner);
    }
    form = &kept->form->block;
    strides = form->is_in_order ? Py_NewRef(Py_None)
                                : make_numbers(form->strides, form->dimension_count);
    return PyObject_CallFunction(
        tracing->calls.make, "OnKsNN", kept->owner, (Py_ssize_t)kept->offset,
        (unsigned long long)(form->size / form->item_size), dtype_text(form->dtype),
        make_numbers(form->shape, form->dimension_count), strides);
}

static bool append(PyObject *list, PyObject *item)
{
    bool is_good = item != NULL && PyList_Append(list, item) == 0;

    Py_XDECREF(item);
    return is_good;
}

/* Adds the value to its path's (values, iterations). `pairs` has an item for each path. Returns
 * false with an exception set. */
static bool
measure_one(struct tracing *tracing, const struct kept *kept, PyObject **pairs)
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

/* The dict of paths, in the order in which they first matched. NULL with an exception set. */
static PyObject *measure_all(struct tracing *tracing, const struct kept_list *kept)
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
            is_good = measure_one(tracing, &kept->items[i], pairs);
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
            kept_form_leave(tracing, kept->items[i].form);
        }
        memory_free(tracing->spare);
        tracing->spare = kept;
        kept = next;
    }
}

PyObject *tracing_detach(struct tracing *tracing)
{
    /* The list is detached first: other threads may keep values while objects are made. */
    struct kept_list *kept = tracing->kept;
    PyObject *result;

    tracing->kept = tracing->last_kept = NULL;
    result = measure_all(tracing, kept);
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

/* ---- the paths that have matched, and their states for each thread ---- */

void *tracing_allocate(struct arena *arena, size_t count, size_t size)
{
    void *memory = arena_allocate(arena, count, size);

    if (memory == NULL) {
        return PyErr_NoMemory();
    }
    return memset(memory, 0, count * size);
}

static struct traced_path *make_path(struct tracing *tracing, PyObject *name)
{
    void *traced = tracing->traced;
    struct traced_path *path;

    if (!memory_grow(&traced, &tracing->traced_room, tracing->traced_count + 1,
                     sizeof(*tracing->traced))) {
        return (struct traced_path *)PyErr_NoMemory();
    }
    tracing->traced = traced;
    path = tracing_allocate(&tracing->arena, 1, sizeof(*path));
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
        if (path != NULL && PyDict_SetItem(tracing->numbers, name, number) < 0) {
            path = NULL; /* it stays in the arena, unused */
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
        tracing_replace(&state->held, NULL);
    }
}

void traced_path_release(struct traced_path *path)
{
    traced_path_forget(path);
    Py_XDECREF(path->name);
}

/* Adds a state for the thread. If the path has TRACED_STATE_MAX of them, one is reused, in
 * rotation. NULL with an exception set. */
static struct traced_state *
traced_state_add(struct tracing *tracing, struct traced_path *path, uint64_t thread)
{
    struct traced_state *state = &path->first;

    if (path->state_count == TRACED_STATE_MAX) {
        for (unsigned i = path->next_state++ % TRACED_STATE_MAX; i > 0; i--) {
            state = state->next;
        }
        state->kind = TRACED_NOTHING;
        tracing_replace(&state->held, NULL);
    } else if (path->state_count > 0) {
        state = tracing_allocate(&tracing->arena, 1, sizeof(*state));
        if (state == NULL) {
            return NULL;
        }
        state->next = path->first.next;
        path->first.next = state;
    }
    path->state_count += path->state_count < TRACED_STATE_MAX;
    state->thread = thread;
    return state;
}

/* ---- how long the last tensors of paths are held ---- */

/* Replaces the state's last value by a weak reference to the tensor. */
static void traced_state_refer_weakly(struct traced_state *state, PyObject *value)
{
    tracing_replace(&state->last, PyWeakref_NewRef(value, NULL));
    if (state->last == NULL) {
        PyErr_Clear(); /* without a reference each value counts as changed */
    }
}

/* Releases the held tensor. If others hold it too and `may_come_again`, a weak reference is
 * stored; otherwise it cannot occur again. */
static void drop(struct traced_state *state, bool may_come_again)
{
    PyObject *held = state->held;

    state->held = NULL;
    if (may_come_again && Py_REFCNT(held) > 1) {
        traced_state_refer_weakly(state, held);
    }
    Py_DECREF(held);
}

static void list(struct tracing *tracing, struct traced_state *state)
{
    if (!state->is_listed) {
        state->is_listed = true;
        state->next_listed = tracing->listed;
        tracing->listed = state;
    }
}

HOT void tracing_let_go(struct tracing *tracing,
                        struct traced_path *path,
                        uint64_t thread,
                        bool is_inner)
{
    struct traced_state *state = traced_state_get(path, thread);

    if (state == NULL || state->held == NULL) {
        return;
    }
    if (is_inner && state->is_small && Py_REFCNT(state->held) > 1) {
        list(tracing, state);
    } else {
        drop(state, true);
    }
}

/* Removes a state of the thread from the list. NULL: there is none. */
HOT static struct traced_state *reuse_listed(struct tracing *tracing, uint64_t thread)
{
    struct traced_state **place = &tracing->listed;
    struct traced_state *state;

    while (*place != NULL && (*place)->thread != thread) {
        place = &(*place)->next_listed;
    }
    state = *place;
    if (state != NULL) {
        *place = state->next_listed;
        state->is_listed = false;
    }
    return state;
}

HOT void tracing_let_all_go(struct tracing *tracing, uint64_t thread, bool is_root)
{
    struct traced_state *state;

    while ((state = reuse_listed(tracing, thread)) != NULL) {
        if (state->held != NULL) {
            drop(state, !is_root);
        }
    }
}

/* How a tensor is recognised later. A weak reference costs more than holding the tensor, but a
 * tensor may be held only as long as the program holds it. */
enum reference { REFERENCE_WEAK, REFERENCE_HELD };

/* A value to record. */
struct delivery {
    struct tracing *tracing;
    struct traced_path *path;
    struct traced_state *state;
    PyObject *value;
    uint64_t iteration;
    enum reference reference;
    bool is_named;
};

/* ---- keeping ---- */

/* Passes the value to the user's function, or to Python's function that keeps it. Returns false
 * with an exception set. */
static bool keep_by_python(const struct delivery *delivery)
{
    const struct tracing_calls *calls = &delivery->tracing->calls;
    PyObject *name = delivery->path->name;
    PyObject *kept;

    if (calls->save != Py_None) {
        kept = PyObject_CallFunction(calls->save, "OOK", name, delivery->value,
                                     (unsigned long long)delivery->iteration);
    } else {
        kept = PyObject_CallFunctionObjArgs(calls->keep, name, delivery->value, NULL);
    }
    if (kept == Py_NotImplemented) {
        Py_DECREF(kept);
        return true;
    }
    return tracing_keep_object(delivery->tracing, delivery->path, kept,
                               delivery->iteration);
}

/* Keeps a tensor. `tensor` is NULL if it could not be described. Returns false with an exception
 * set. */
static bool keep_tensor(const struct delivery *delivery,
                        enum tensor_class class,
                        const struct tensor *tensor)
{
    if (delivery->tracing->calls.save != Py_None || class != TENSOR_CLASS_EXACT ||
        tensor == NULL || tensor->array.data == NULL ||
        tensor->array.dimension_count > TENSOR_BLOCK_DIMENSIONS ||
        dtype_class(tensor->array.dtype) == DTYPE_CLASS_OPAQUE) {
        return keep_by_python(delivery);
    }
    return tracing_keep_copy(delivery->tracing, delivery->path, tensor,
                             delivery->iteration);
}

/* ---- changes of values ---- */

static void become(struct traced_state *state, enum traced_kind kind)
{
    state->kind = kind;
    state->has_hash = false;
    if (state->held != NULL) {
        tracing_replace(&state->held, NULL);
    }
}

/* Whether writes to the tensor may leave its version unchanged. Batch norm writes so to its
 * buffers, and `.data` to any tensor. Tensors that autograd follows, except parameters, are not
 * written to in this way. */
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

/* Whether the value is the path's last tensor, and was changed at most by writes that leave the
 * version unchanged. Not inlined: for most values the answer is no. */
HOT static __attribute__((noinline)) bool
is_same_tensor(const struct delivery *delivery)
{
    const struct traced_state *state = delivery->state;

    return state->kind == TRACED_TENSOR && state->iteration == delivery->iteration &&
           is_last(state, delivery->value) &&
           state->version ==
               tensor_version(delivery->tracing->session->access, delivery->value);
}

/* Stores the tensor as the path's last value. */
HOT static void refer_to_tensor(const struct delivery *delivery)
{
    struct traced_state *state = delivery->state;

    if (state->kind == TRACED_TENSOR && is_last(state, delivery->value)) {
        return;
    }
    become(state, TRACED_TENSOR);
    if (delivery->reference == REFERENCE_WEAK) {
        traced_state_refer_weakly(state, delivery->value);
        return;
    }
    tracing_replace(&state->held, Py_NewRef(delivery->value));
    if (state->last != NULL) {
        tracing_replace(&state->last, NULL);
    }
}

/* The hash of the values. It includes the strides, since the same bytes in another order are
 * other values. */
static uint64_t hash_block(const struct tensor_block *block)
{
    const struct block_form *form = block->form;
    uint64_t hash = hash_64((struct slice){block->data, form->size});

    for (uint32_t i = 0; !form->is_in_order && i < form->dimension_count; i++) {
        hash = hash * 31 + (uint64_t)form->strides[i];
    }
    return hash;
}

HOT static bool keep_block(const struct delivery *delivery,
                           const struct tensor_block *block)
{
    struct traced_state *state = delivery->state;
    bool has_hash = has_uncounted_writes(block->requires_grad, block->is_parameter);
    uint64_t hash = has_hash ? hash_block(block) : 0;

    if (has_hash && state->has_hash && hash == state->hash &&
        is_same_tensor(delivery)) {
        return true;
    }
    /* The copy is made first: the next calls may run other code, which owns the memory. */
    if (!tracing_keep_block(delivery->tracing, delivery->path, block,
                            delivery->iteration)) {
        return false;
    }
    refer_to_tensor(delivery);
    state->is_small = true;
    state->version = block->version;
    state->iteration = delivery->iteration;
    state->has_hash = has_hash;
    state->hash = hash;
    return true;
}

/* Records a tensor. It counts as unchanged if it is the same object, of the same version, in the
 * same iteration, with the same hash. Not inlined: most tensors are recorded by keep_block. */
static __attribute__((noinline)) bool record_tensor(const struct delivery *delivery,
                                                    enum tensor_class class)
{
    struct tensor_access *access = delivery->tracing->session->access;
    struct traced_state *state = delivery->state;
    bool is_same = state->has_hash && is_same_tensor(delivery);
    struct tensor tensor;
    uint64_t hash = 0;
    bool is_described, has_hash, is_good = true;

    is_described = tensor_describe(access, delivery->value, class, &tensor) == 0;
    has_hash = is_described && find_hash(&tensor, &hash);
    if (!is_same || !has_hash || hash != state->hash) {
        refer_to_tensor(delivery);
        state->is_small = false;
        state->version =
            is_described ? tensor.version : tensor_version(access, delivery->value);
        state->iteration = delivery->iteration;
        state->has_hash = has_hash;
        state->hash = hash;
        is_good = keep_tensor(delivery, class, is_described ? &tensor : NULL);
    }
    if (is_described) {
        tensor_release(&tensor);
    }
    return is_good;
}

/* Whether the value is a number, a text or None of exactly these types, so that comparing it
 * runs no code of the user. */
static bool is_plain(PyObject *value)
{
    return value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value) ||
           PyFloat_CheckExact(value) || PyUnicode_CheckExact(value) ||
           PyComplex_CheckExact(value) || PyBytes_CheckExact(value);
}

static bool keep_plain(const struct delivery *delivery)
{
    struct traced_state *state = delivery->state;
    PyObject *value = delivery->value;
    int is_equal = 0;

    if (state->kind == TRACED_PLAIN && Py_TYPE(state->last) == Py_TYPE(value)) {
        is_equal = PyObject_RichCompareBool(state->last, value, Py_EQ);
    }
    if (is_equal != 0) {
        return is_equal > 0;
    }
    become(state, TRACED_PLAIN);
    tracing_replace(&state->last, Py_NewRef(value));
    if (delivery->tracing->calls.save != Py_None) {
        return keep_by_python(delivery);
    }
    return tracing_keep_object(delivery->tracing, delivery->path, Py_NewRef(value),
                               delivery->iteration);
}

static bool keep_other(const struct delivery *delivery)
{
    struct traced_state *state = delivery->state;
    PyObject *last = state->kind == TRACED_OTHER ? state->last : Py_None;
    PyObject *now;
    bool is_changed;

    Py_INCREF(last);
    now =
        PyObject_CallFunction(delivery->tracing->calls.compare, "OOK", last,
                              delivery->value, (unsigned long long)delivery->iteration);
    is_changed = now != last;
    Py_DECREF(last);
    if (now == NULL || !is_changed) {
        Py_XDECREF(now);
        return now != NULL;
    }
    become(state, TRACED_OTHER);
    tracing_replace(&state->last, now);
    return keep_by_python(delivery);
}

/* Records a value that is no plain tensor. Not inlined: most values are tensors. */
static __attribute__((noinline)) bool keep_object(const struct delivery *delivery)
{
    PyObject *value = delivery->value;
    const struct type_info *info;

    if (is_plain(value)) {
        return keep_plain(delivery);
    }
    if (traced_method_check(value)) {
        return true; /* an object of this module */
    }
    info = type_cache_get(&delivery->tracing->session->types, Py_TYPE(value));
    if (info->kind == TYPE_TENSOR && info->tensor != TENSOR_CLASS_NUMPY) {
        return record_tensor(delivery, info->tensor);
    }
    if (!delivery->is_named &&
        (info->is_module || PyModule_Check(value) ||
         (info->kind == TYPE_OBJECT && PyCallable_Check(value)))) {
        return true;
    }
    return keep_other(delivery);
}

/* Records a value. The short path serves most values: small tensors without gaps in memory. */
HOT static bool keep_new(const struct delivery *delivery)
{
    const struct kept_form *last = delivery->path->form;
    struct tensor_block block;
    enum tensor_block_answer answer =
        tensor_find_block(delivery->tracing->session->access, delivery->value,
                          last != NULL ? &last->block : NULL, &block);

    if (answer == TENSOR_BLOCK_FOUND && block.form->size < TRACING_LARGE_SIZE &&
        delivery->tracing->calls.save == Py_None) {
        return keep_block(delivery, &block);
    }
    return answer == TENSOR_BLOCK_FOREIGN ? keep_object(delivery)
                                          : record_tensor(delivery, TENSOR_CLASS_EXACT);
}

HOT static bool pass_on(struct tracing *tracing,
                        struct traced_path *path,
                        PyObject *value,
                        const struct tracing_moment *moment,
                        bool is_named,
                        enum reference reference)
{
    struct delivery delivery = {
        .tracing = tracing,
        .path = path,
        .state = traced_state_get(path, moment->thread),
        .value = value,
        .iteration = moment->iteration,
        .reference = reference,
        .is_named = is_named,
    };

    if (delivery.state == NULL) {
        delivery.state = traced_state_add(tracing, path, moment->thread);
        if (delivery.state == NULL) {
            return false;
        }
    }
    return (delivery.state->iteration == delivery.iteration &&
            !delivery.state->has_hash && is_same_tensor(&delivery)) ||
           keep_new(&delivery);
}

bool tracing_keep_value(struct tracing *tracing,
                        struct traced_path *path,
                        PyObject *value,
                        const struct tracing_moment *moment,
                        bool is_named)
{
    return pass_on(tracing, path, value, moment, is_named, REFERENCE_WEAK);
}

HOT bool tracing_keep_local(struct tracing *tracing,
                            struct traced_path *path,
                            PyObject *value,
                            const struct tracing_moment *moment,
                            bool is_named)
{
    return pass_on(tracing, path, value, moment, is_named, REFERENCE_HELD);
}
