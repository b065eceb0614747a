/* Source to code objects whose positions are the original's. */
#include "instrument/text/encoding.h"
#include "runtime/base/memory.h"
#include "runtime/python/compile/module.h"
#include "runtime/python/compile/position_map.h"
#include "runtime/site/site.h"

#include <structmember.h>

/* ---- The type of what `instrument` returns: the text, and what is known of it ---- */

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

static PyObject *result_text(PyObject *result)
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

/* ast.PyCF_ONLY_AST: a tree's positions would stay those of the instrumented text. */
#define FLAG_ONLY_AST 0x400

static PyObject *
compile_text(PyObject *text, PyObject *filename, int optimize, int flags)
{
    PyObject *builtins = PyImport_ImportModule("builtins");
    if (builtins == NULL) {
        return NULL;
    }
    PyObject *code = PyObject_CallMethod(builtins, "compile", "OOsiii", text, filename,
                                         "exec", flags, 1, optimize);
    Py_DECREF(builtins);
    return code;
}

static void raise_plain_error(const struct module_state *state,
                              const struct error *error)
{
    if (error->kind == ERROR_MEMORY) {
        PyErr_NoMemory();
    } else {
        PyErr_SetString(state->error_type, error->text);
    }
}

/* The code's location table, mapped; new bytes. */
static PyObject *table_map(const struct module_state *state,
                           PyObject *code,
                           const struct position_map *map)
{
    PyObject *line = PyObject_GetAttrString(code, "co_firstlineno");
    PyObject *table = PyObject_GetAttrString(code, "co_linetable");
    struct buffer mapped = BUFFER_INIT;
    struct error error = ERROR_INIT;
    PyObject *bytes = NULL;

    if (line != NULL && table != NULL && PyBytes_Check(table)) {
        int first_line = (int)PyLong_AsLong(line);
        if (position_map_table(map, bytes_slice(table), first_line, &mapped, &error)) {
            bytes = PyBytes_FromStringAndSize(mapped.bytes, (Py_ssize_t)mapped.size);
        } else {
            raise_plain_error(state, &error);
        }
    }
    buffer_release(&mapped);
    Py_XDECREF(table);
    Py_XDECREF(line);
    return bytes;
}

static PyObject *code_map(const struct module_state *state,
                          PyObject *code,
                          const struct position_map *map);

/* The code's constants with the code objects among them mapped; a new tuple. */
static PyObject *constants_map(const struct module_state *state,
                               PyObject *code,
                               const struct position_map *map)
{
    PyObject *constants = PyObject_GetAttrString(code, "co_consts");
    if (constants == NULL) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_Size(constants);
    PyObject *mapped = PyTuple_New(count);

    for (Py_ssize_t i = 0; mapped != NULL && i < count; i++) {
        PyObject *constant = PyTuple_GetItem(constants, i);
        PyObject *item = Py_TYPE(constant) == Py_TYPE(code)
                             ? code_map(state, constant, map)
                             : Py_NewRef(constant);
        if (item == NULL || PyTuple_SetItem(mapped, i, item) < 0) {
            Py_CLEAR(mapped);
        }
    }
    Py_DECREF(constants);
    return mapped;
}

static PyObject *code_replace(PyObject *code, PyObject *table, PyObject *constants)
{
    PyObject *replace = PyObject_GetAttrString(code, "replace");
    PyObject *no_arguments = PyTuple_New(0);
    PyObject *keywords =
        Py_BuildValue("{s:O,s:O}", "co_linetable", table, "co_consts", constants);
    PyObject *replaced = NULL;

    if (replace != NULL && no_arguments != NULL && keywords != NULL) {
        replaced = PyObject_Call(replace, no_arguments, keywords);
    }
    Py_XDECREF(keywords);
    Py_XDECREF(no_arguments);
    Py_XDECREF(replace);
    return replaced;
}

static PyObject *code_map(const struct module_state *state,
                          PyObject *code,
                          const struct position_map *map)
{
    PyObject *mapped = NULL;

    if (Py_EnterRecursiveCall(" while positions are mapped")) {
        return NULL;
    }
    PyObject *table = table_map(state, code, map);
    PyObject *constants = table == NULL ? NULL : constants_map(state, code, map);
    if (constants != NULL) {
        mapped = code_replace(code, table, constants);
    }
    Py_XDECREF(constants);
    Py_XDECREF(table);
    Py_LeaveRecursiveCall();
    return mapped;
}

PyObject *code_map_result(const struct module_state *state,
                          PyObject *code,
                          PyObject *result,
                          PyObject *source,
                          const char *path)
{
    const struct instrumented *made = result_instrumented(result);
    struct position_map map;
    struct error error = ERROR_INIT;
    struct decoded original;
    struct arena arena;
    PyObject *mapped = NULL;

    /* CPython 3.10 knows lines only, and those are right already. */
    if (!PyObject_HasAttrString(code, "co_positions") || !made->is_changed) {
        return Py_NewRef(code);
    }
    arena_init(&arena);
    if (!encoding_decode(bytes_slice(source), path, &arena, &original, &error) ||
        !position_map_init(&map, original.utf8, made->insertions, made->insertion_count,
                           &error)) {
        raise_plain_error(state, &error);
    } else {
        mapped = code_map(state, code, &map);
        position_map_release(&map);
    }
    arena_release(&arena);
    return mapped;
}

/* Forgets the exception that is set if the original itself does not compile: what Python says
 * to that is raised in its place. Tells whether it was so. */
static bool raise_original_error(const struct request *request,
                                 PyObject *filename,
                                 int optimize,
                                 int flags)
{
    PyObject *type, *value, *traceback;

    if (bytes_slice(request->source).size > INSTRUMENT_SIZE_LIMIT) {
        return false;
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *code = compile_text(request->source, filename, optimize, flags);
    if (code != NULL) {
        Py_DECREF(code);
        PyErr_Restore(type, value, traceback);
        return false;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return true;
}

/* Raises an InstrumentError caused by the exception that is set. */
static void raise_compile_failure(const struct module_state *state, PyObject *path)
{
    PyObject *cause_type, *cause, *cause_traceback;
    PyObject *type, *value, *traceback;
    struct error error = ERROR_INIT;

    PyErr_Fetch(&cause_type, &cause, &cause_traceback);
    PyErr_NormalizeException(&cause_type, &cause, &cause_traceback);
    error_set(&error, ERROR_INPUT,
              "%s: the instrumented text does not compile, though the original does",
              PyBytes_AsString(path));
    raise_error(state, path, &error);
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value != NULL && cause != NULL) {
        PyException_SetCause(value, Py_NewRef(cause));
    }
    PyErr_Restore(type, value, traceback);
    Py_XDECREF(cause_type);
    Py_XDECREF(cause);
    Py_XDECREF(cause_traceback);
}

static PyObject *compile_result(const struct module_state *state,
                                const struct request *request,
                                PyObject *result,
                                PyObject *filename,
                                int optimize,
                                int flags)
{
    bool is_changed = result_instrumented(result)->is_changed;
    PyObject *code = compile_text(result_text(result), filename, optimize, flags);

    if (code == NULL) {
        if (is_changed && PyErr_ExceptionMatches(PyExc_Exception) &&
            !raise_original_error(request, filename, optimize, flags)) {
            raise_compile_failure(state, request->path);
        }
        return NULL;
    }
    PyObject *mapped = code_map_result(state, code, result, request->source,
                                       PyBytes_AsString(request->path));
    Py_DECREF(code);
    return mapped;
}

static PyObject *compile_once(const struct module_state *state,
                              const struct request *request,
                              PyObject *filename,
                              int optimize,
                              int flags)
{
    PyObject *result = result_new(state, request);
    if (result == NULL) {
        if (PyErr_ExceptionMatches(state->error_type)) {
            raise_original_error(request, filename, optimize, flags);
        }
        return NULL;
    }
    PyObject *code = compile_result(state, request, result, filename, optimize, flags);
    PyObject *pair = code == NULL ? NULL : PyTuple_Pack(2, code, result);
    Py_XDECREF(code);
    Py_DECREF(result);
    return pair;
}

/* Forgets the exception that is set if it says that the instrumented text alone does not compile:
 * there may be less stack than DEPTH_LEVEL_LIMIT counts on. Returns whether it was so. */
static bool forget_compile_failure(const struct module_state *state)
{
    PyObject *type, *value, *traceback, *cause = NULL;

    if (!PyErr_ExceptionMatches(state->error_type)) {
        return false;
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value != NULL) {
        cause = PyException_GetCause(value);
    }
    if (cause == NULL) {
        PyErr_Restore(type, value, traceback);
        return false;
    }
    Py_DECREF(cause);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return true;
}

PyObject *compile_request(const struct module_state *state,
                          const struct request *request,
                          PyObject *filename,
                          int optimize,
                          int flags)
{
    static const uint32_t level_limits[] = {0, 500, 100};
    struct request limited = *request;
    PyObject *pair = NULL;

    if (flags & FLAG_ONLY_AST) {
        PyErr_SetString(PyExc_ValueError, "flags ask for a tree, not for code");
        return NULL;
    }
    for (size_t i = 0; i < sizeof level_limits / sizeof *level_limits; i++) {
        if (i > 0 && !forget_compile_failure(state)) {
            return NULL;
        }
        limited.selection.level_limit = level_limits[i];
        pair = compile_once(state, &limited, filename, optimize, flags);
        if (pair != NULL) {
            break;
        }
    }
    return pair;
}
