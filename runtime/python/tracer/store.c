/* The values that a Tracing keeps: copies of tensors, and objects, one after the other as they came.
 *
 * A plain tensor is copied where it lies into memory that many share: a small one costs less so
 * than a call of torch does. It is made a tensor again when somebody asks for it (take.c). */
#include "runtime/python/tracer/tracing.h"

#include "runtime/base/hot.h"
#include "runtime/base/memory.h"
#include "runtime/python/tensor/tensor.h"

#define CHUNK_MAX_SIZE  ((size_t)4 << 20)
#define CHUNK_ALIGNMENT 64
#define SHARED_MAX_SIZE ((size_t)256 << 10) /* of a copy in memory that others share */

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

void kept_form_leave(struct tracing *tracing, struct kept_form *form)
{
    if (form != NULL && --form->user_count == 0) {
        form->next_spare = tracing->spare_forms;
        tracing->spare_forms = form;
    }
}

/* NULL with an exception set. */
static struct kept_form *make_form(struct tracing *tracing)
{
    struct kept_form *form = tracing->spare_forms;

    if (form == NULL) {
        return tracing_allocate(&tracing->arena, 1, sizeof(*form));
    }
    tracing->spare_forms = form->next_spare;
    return form;
}

/* The path's copies are of that form from now on. False with an exception set. Not inlined: most are as the
 * last one. */
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

/* The form, used once more; NULL with an exception set. */
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

/* The next one. What is owned or used is taken. False with an exception set. */
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

HOT bool tracing_keep_block(struct tracing *tracing,
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

/* Of a copy of the array's values, in row-major order, that many bytes: as use_form. */
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

bool tracing_keep_copy(struct tracing *tracing,
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
