/* The type of what `instrument` returns: the text, and what is known of it. */
#include "runtime/python/compile/module.h"

#include "runtime/base/memory.h"
#include "runtime/site/site.h"

#include <structmember.h>

struct result_object {
    PyObject_HEAD struct instrumented *instrumented; /* owned; NULL until made */
    PyObject *text;                                  /* owned; bytes */
    PyObject *table;                                 /* owned; str */
    PyObject *notes; /* owned; list of (kind, line, column, text) */
};

static int result_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct result_object *result = (struct result_object *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(result->text);
    Py_VISIT(result->table);
    Py_VISIT(result->notes);
    return 0;
}

static int result_clear(PyObject *self)
{
    struct result_object *result = (struct result_object *)self;

    Py_CLEAR(result->text);
    Py_CLEAR(result->table);
    Py_CLEAR(result->notes);
    return 0;
}

static void result_dealloc(PyObject *self)
{
    struct result_object *result = (struct result_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc type_free = (freefunc)PyType_GetSlot(type, Py_tp_free);

    PyObject_GC_UnTrack(self);
    result_clear(self);
    if (result->instrumented != NULL) {
        instrumented_release(result->instrumented);
        memory_free(result->instrumented);
    }
    type_free(self);
    Py_DECREF(type);
}

static PyObject *result_repr(PyObject *self)
{
    const struct instrumented *made = result_instrumented(self);

    return PyUnicode_FromFormat(
        "<monitorch._instrument.Result: %zu of %zu functions, %u sites%s>",
        made->selected_count, made->function_count, (unsigned)made->table.site_count,
        made->is_changed ? "" : ", unchanged");
}

/* A tuple of (offset, text, anchor start, anchor end), in bytes of the UTF-8 text. */
static PyObject *result_get_insertions(PyObject *self, void *closure)
{
    const struct instrumented *made = result_instrumented(self);
    PyObject *list = PyTuple_New((Py_ssize_t)made->insertion_count);

    (void)closure;
    for (size_t i = 0; list != NULL && i < made->insertion_count; i++) {
        const struct insertion *insertion = &made->insertions[i];
        PyObject *item = Py_BuildValue("ky#kk", (unsigned long)insertion->offset,
                                       made->insertion_text.bytes + insertion->text,
                                       (Py_ssize_t)insertion->size,
                                       (unsigned long)insertion->anchor_start,
                                       (unsigned long)insertion->anchor_end);
        if (item == NULL || PyTuple_SetItem(list, (Py_ssize_t)i, item) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *result_get_function_count(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(result_instrumented(self)->function_count);
}

static PyObject *result_get_selected_count(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(result_instrumented(self)->selected_count);
}

static PyObject *result_get_skipped_count(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(result_instrumented(self)->skipped_count);
}

static PyObject *result_get_is_changed(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(result_instrumented(self)->is_changed);
}

static PyGetSetDef result_properties[] = {
    {"insertions", result_get_insertions, NULL,
     "What was inserted: (offset, text, anchor_start, anchor_end), offsets in bytes of "
     "the\n"
     "source as UTF-8 without its byte order mark. An anchor is the original code "
     "whose\n"
     "columns the inserted code reports; start and end are equal where there is none.",
     NULL},
    {"function_count", result_get_function_count, NULL, "Functions in the source.",
     NULL},
    {"selected_count", result_get_selected_count, NULL,
     "Functions with at least one site or spy call.", NULL},
    {"skipped_count", result_get_skipped_count, NULL,
     "Functions left alone because the parser could not read them.", NULL},
    {"is_changed", result_get_is_changed, NULL,
     "False where nothing was selected: the text equals the source.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef result_members[] = {
    {"text", T_OBJECT_EX, offsetof(struct result_object, text), READONLY,
     "The whole instrumented file, bytes in the source's own encoding."},
    {"table", T_OBJECT_EX, offsetof(struct result_object, table), READONLY,
     "The site table that the file carries; see sites()."},
    {"notes", T_OBJECT_EX, offsetof(struct result_object, notes), READONLY,
     "[(kind, line, column, text)]; kind is 'warning' or 'remark'."},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot result_slots[] = {
    {Py_tp_doc, "What instrument() made of a source."},
    {Py_tp_traverse, result_traverse},
    {Py_tp_clear, result_clear},
    {Py_tp_dealloc, result_dealloc},
    {Py_tp_repr, result_repr},
    {Py_tp_getset, result_properties},
    {Py_tp_members, result_members},
    {0, NULL},
};

static PyType_Spec result_spec = {
    .name = "monitorch._instrument.Result",
    .basicsize = sizeof(struct result_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = result_slots,
};

PyObject *result_type_new(PyObject *module)
{
    return PyType_FromModuleAndSpec(module, &result_spec, NULL);
}

const struct instrumented *result_instrumented(PyObject *result)
{
    return ((struct result_object *)result)->instrumented;
}

PyObject *result_text(PyObject *result)
{
    return ((struct result_object *)result)->text;
}

static PyObject *notes_as_list(const struct instrumented *made)
{
    PyObject *list = PyList_New((Py_ssize_t)made->note_count);

    for (size_t i = 0; list != NULL && i < made->note_count; i++) {
        const struct note *note = &made->notes[i];
        PyObject *text = PyUnicode_DecodeUTF8(note->text.bytes,
                                              (Py_ssize_t)note->text.size, "replace");
        PyObject *item =
            text == NULL
                ? NULL
                : Py_BuildValue(
                      "skkN", note->kind == NOTE_WARNING ? "warning" : "remark",
                      (unsigned long)note->line, (unsigned long)note->column, text);
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *table_as_string(const struct instrumented *made)
{
    struct buffer text = BUFFER_INIT;
    PyObject *string;

    site_table_write(&made->table, &text);
    if (text.has_failed) {
        string = PyErr_NoMemory();
    } else {
        string = PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.size, "strict");
    }
    buffer_release(&text);
    return string;
}

static int result_fill(struct result_object *result)
{
    struct instrumented *made = result->instrumented;

    result->text =
        PyBytes_FromStringAndSize(made->text.bytes, (Py_ssize_t)made->text.size);
    buffer_release(&made->text);
    result->table = table_as_string(made);
    result->notes = notes_as_list(made);
    return result->text == NULL || result->table == NULL || result->notes == NULL ? -1
                                                                                  : 0;
}

/* Takes over `made`, whether it succeeds or not. */
static PyObject *result_wrap(const struct module_state *state,
                             struct instrumented *made)
{
    PyTypeObject *type = (PyTypeObject *)state->result_type;
    allocfunc type_allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *self = type_allocate(type, 0);

    if (self == NULL) {
        instrumented_release(made);
        memory_free(made);
        return NULL;
    }
    ((struct result_object *)self)->instrumented = made;
    if (result_fill((struct result_object *)self) < 0) {
        Py_CLEAR(self);
    }
    return self;
}

PyObject *result_new(const struct module_state *state, const struct request *request)
{
    struct slice source = bytes_slice(request->source);
    const char *path = PyBytes_AsString(request->path);
    struct instrumented *made = memory_allocate(1, sizeof *made);
    struct error error = ERROR_INIT;
    bool is_made;

    if (made == NULL) {
        return PyErr_NoMemory();
    }
    instrumented_init(made);
    Py_BEGIN_ALLOW_THREADS;
    is_made = instrument(source, path, &request->selection, made, &error);
    Py_END_ALLOW_THREADS;
    if (!is_made) {
        raise_error(state, request->path, &error);
        instrumented_release(made);
        memory_free(made);
        return NULL;
    }
    return result_wrap(state, made);
}
