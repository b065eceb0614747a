/* What becomes of the values that a Tracing has kept when somebody asks for them. */
#include "runtime/base/memory.h"
#include "runtime/python/tracer/tracing.h"

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
            kept_form_leave(tracing, kept->items[i].form);
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
