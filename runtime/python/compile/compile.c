/* The compilation of a source to code objects with the positions of the original text. */
#include "instrument/text/encoding.h"
#include "runtime/base/memory.h"
#include "runtime/python/compile/module.h"
#include "runtime/python/compile/position_map.h"
#include "runtime/site/site.h"

#include <stdlib.h>
#include <structmember.h>

/* ---- a request, from its arguments ---- */

struct slice bytes_slice(PyObject *bytes)
{
    char *start = NULL;
    Py_ssize_t size = 0;

    PyBytes_AsStringAndSize(bytes, &start, &size);
    return (struct slice){start, (size_t)size};
}

/* Encodes a source. If it declares an encoding other than UTF-8, that one is used, so that the
 * declaration stays true. If that fails, the compiler reports the error. */
static PyObject *string_as_bytes(PyObject *string)
{
    PyObject *bytes = PyUnicode_AsUTF8String(string);
    struct decoded decoded;
    struct buffer encoded = BUFFER_INIT;
    struct error error = ERROR_INIT;
    struct arena arena;

    if (bytes == NULL) {
        return NULL;
    }
    arena_init(&arena);
    if (encoding_decode(bytes_slice(bytes), "", &arena, &decoded, &error) &&
        !decoded.is_utf8 &&
        encoding_encode(&decoded, bytes_slice(bytes), &encoded, &error)) {
        Py_DECREF(bytes);
        bytes = PyBytes_FromStringAndSize(encoded.bytes, (Py_ssize_t)encoded.size);
    }
    arena_release(&arena);
    buffer_release(&encoded);
    return bytes;
}

PyObject *source_as_bytes(PyObject *source)
{
    if (PyUnicode_Check(source)) {
        return string_as_bytes(source);
    }
    if (PyBytes_Check(source)) {
        return Py_NewRef(source);
    }
    PyObject *view = PyMemoryView_FromObject(source);
    if (view == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Format(PyExc_TypeError, "a source is bytes or str, not %R",
                         (PyObject *)Py_TYPE(source));
        }
        return NULL;
    }
    PyObject *bytes = PyBytes_FromObject(view);
    Py_DECREF(view);
    return bytes;
}

/* The sequence as a tuple, empty for NULL. A single string is refused: its items would be
 * letters. */
static PyObject *argument_as_tuple(PyObject *argument, const char *name)
{
    if (argument == NULL) {
        return PyTuple_New(0);
    }
    if (PyUnicode_Check(argument) || PyBytes_Check(argument)) {
        PyErr_Format(PyExc_TypeError, "%s is a sequence of strings, not one string",
                     name);
        return NULL;
    }
    return PySequence_Tuple(argument);
}

/* Reads globs. The slices borrow from the tuple's strings. Returns -1 with an exception set. */
static int globs_read(PyObject *tuple, struct slice *slices, const char *name)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); i++) {
        PyObject *item = PyTuple_GetItem(tuple, i);
        Py_ssize_t size;

        if (!PyUnicode_Check(item)) {
            PyErr_Format(PyExc_TypeError, "%s holds %R, a string was expected", name,
                         item);
            return -1;
        }
        const char *bytes = PyUnicode_AsUTF8AndSize(item, &size);
        if (bytes == NULL) {
            return -1;
        }
        slices[i] = (struct slice){bytes, (size_t)size};
    }
    return 0;
}

static int line_number_read(PyObject *object, size_t *number)
{
    *number = PyLong_AsSize_t(object);
    return *number == (size_t)-1 && PyErr_Occurred() ? -1 : 0;
}

/* Reads `(first, last)`, or one line number. Returns -1 with an exception set. */
static int range_read(PyObject *object, struct line_range *range)
{
    if (PyLong_Check(object)) {
        if (line_number_read(object, &range->first) < 0) {
            return -1;
        }
        range->last = range->first;
    } else {
        PyObject *pair = PySequence_Tuple(object);
        if (pair == NULL) {
            return -1;
        }
        int status = -1;
        if (PyTuple_Size(pair) != 2) {
            PyErr_Format(PyExc_ValueError, "lines holds %R, (first, last) was expected",
                         object);
        } else if (line_number_read(PyTuple_GetItem(pair, 0), &range->first) == 0) {
            status = line_number_read(PyTuple_GetItem(pair, 1), &range->last);
        }
        Py_DECREF(pair);
        if (status < 0) {
            return -1;
        }
    }
    if (range->first < 1 || range->last < range->first) {
        PyErr_Format(
            PyExc_ValueError,
            "lines holds %R: lines count from 1, the last is not before the first",
            object);
        return -1;
    }
    return 0;
}

static int lines_read(struct request *request, PyObject *argument)
{
    PyObject *tuple = argument_as_tuple(argument, "lines");
    if (tuple == NULL) {
        return -1;
    }
    Py_ssize_t count = PyTuple_Size(tuple);
    int status = 0;

    request->lines = memory_allocate((size_t)count, sizeof *request->lines);
    if (request->lines == NULL) {
        PyErr_NoMemory();
        status = -1;
    }
    for (Py_ssize_t i = 0; i < count && status == 0; i++) {
        status = range_read(PyTuple_GetItem(tuple, i), &request->lines[i]);
    }
    request->selection.lines = request->lines;
    request->selection.line_count = (size_t)count;
    Py_DECREF(tuple);
    return status;
}

static int globs_read_all(struct request *request,
                          const struct selection_arguments *arguments)
{
    request->functions = argument_as_tuple(arguments->functions, "functions");
    request->spy_names = argument_as_tuple(arguments->spy, "spy");
    if (request->functions == NULL || request->spy_names == NULL) {
        return -1;
    }
    size_t function_count = (size_t)PyTuple_Size(request->functions);
    size_t spy_count = (size_t)PyTuple_Size(request->spy_names);
    request->slices =
        memory_allocate(function_count + spy_count, sizeof *request->slices);
    if (request->slices == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (globs_read(request->functions, request->slices, "functions") < 0 ||
        globs_read(request->spy_names, request->slices + function_count, "spy") < 0) {
        return -1;
    }
    request->selection.functions = request->slices;
    request->selection.function_count = function_count;
    request->selection.spy_names = request->slices + function_count;
    request->selection.spy_count = spy_count;
    return 0;
}

static int prefix_read(struct request *request, PyObject *argument)
{
    Py_ssize_t size;

    if (argument == NULL || argument == Py_None) {
        return 0;
    }
    if (!PyUnicode_Check(argument)) {
        PyErr_Format(PyExc_TypeError, "prefix is a string or None, not %R", argument);
        return -1;
    }
    const char *bytes = PyUnicode_AsUTF8AndSize(argument, &size);
    if (bytes == NULL) {
        return -1;
    }
    if (size == 0) {
        PyErr_SetString(PyExc_ValueError,
                        "the prefix is empty, expected _mt0x or None");
        return -1;
    }
    request->prefix = Py_NewRef(argument);
    request->selection.prefix = (struct slice){bytes, (size_t)size};
    return 0;
}

static int selection_read(struct request *request,
                          const struct selection_arguments *arguments)
{
    struct selection *selection = &request->selection;

    if (globs_read_all(request, arguments) < 0 ||
        lines_read(request, arguments->lines) < 0 ||
        prefix_read(request, arguments->prefix) < 0) {
        return -1;
    }
    selection->everything = arguments->everything != 0;
    selection->every_line = arguments->every_line != 0;
    if (arguments->forward != NULL && arguments->forward != Py_None) {
        int is_true = PyObject_IsTrue(arguments->forward);
        selection->forward = is_true > 0;
        return is_true < 0 ? -1 : 0;
    }
    selection->forward = selection_is_empty(selection);
    return 0;
}

int request_init(struct request *request,
                 PyObject *source,
                 PyObject *path,
                 const struct selection_arguments *arguments)
{
    struct request made = {0};

    if (PyUnicode_FSConverter(path, &made.path) == 0) {
        made.path = NULL;
        return -1;
    }
    made.source = source_as_bytes(source);
    if (made.source == NULL || selection_read(&made, arguments) < 0) {
        request_release(&made);
        return -1;
    }
    *request = made;
    return 0;
}

void request_release(struct request *request)
{
    Py_CLEAR(request->source);
    Py_CLEAR(request->path);
    Py_CLEAR(request->functions);
    Py_CLEAR(request->spy_names);
    Py_CLEAR(request->prefix);
    memory_free(request->slices);
    memory_free(request->lines);
    *request = (struct request){0};
}

/* Reads `:LINE:COLUMN: ` at the start of the text. Returns false if the text starts with
 * something else. */
static bool read_place(const char *text, unsigned long *line, unsigned long *column)
{
    char *end;

    if (text[0] != ':' || text[1] < '0' || text[1] > '9') {
        return false;
    }
    *line = strtoul(text + 1, &end, 10);
    if (end[0] != ':' || end[1] < '0' || end[1] > '9') {
        return false;
    }
    *column = strtoul(end + 1, &end, 10);
    return end[0] == ':';
}

static int set_number(PyObject *object, const char *name, unsigned long number)
{
    PyObject *value = PyLong_FromUnsignedLong(number);
    int status = value == NULL ? -1 : PyObject_SetAttrString(object, name, value);

    Py_XDECREF(value);
    return status;
}

static int set_place(PyObject *exception, PyObject *path, const struct error *error)
{
    unsigned long line, column;
    PyObject *name =
        PyUnicode_DecodeFSDefaultAndSize(PyBytes_AsString(path), PyBytes_Size(path));
    int status = name == NULL ? -1 : PyObject_SetAttrString(exception, "path", name);

    Py_XDECREF(name);
    if (status < 0) {
        return -1;
    }
    /* The path is skipped if the text starts with it, since it may contain such a place itself.
     * The text starts otherwise if characters of the path were replaced. */
    size_t path_size = (size_t)PyBytes_Size(path);
    size_t text_size = strlen(error->text);
    size_t start = path_size <= text_size &&
                           memcmp(error->text, PyBytes_AsString(path), path_size) == 0
                       ? path_size
                       : 0;
    for (const char *place = error->text + start; *place != '\0'; place++) {
        if (read_place(place, &line, &column)) {
            return set_number(exception, "line", line) < 0 ||
                           set_number(exception, "column", column) < 0
                       ? -1
                       : 0;
        }
    }
    return 0;
}

void raise_error(const struct module_state *state,
                 PyObject *path,
                 const struct error *error)
{
    PyObject *type = state->error_type;

    if (error->kind == ERROR_MEMORY) {
        PyErr_NoMemory();
        return;
    }
    if (error->kind == ERROR_SYSTEM) {
        type = PyExc_OSError;
    } else if (error->kind == ERROR_USAGE) {
        type = PyExc_ValueError;
    }
    PyObject *text = PyUnicode_DecodeUTF8(error->text, (Py_ssize_t)strlen(error->text),
                                          "surrogateescape");
    PyObject *exception = text == NULL ? NULL : PyObject_CallFunction(type, "O", text);
    if (exception != NULL &&
        (type != state->error_type || set_place(exception, path, error) == 0)) {
        PyErr_SetObject(type, exception);
    }
    Py_XDECREF(exception);
    Py_XDECREF(text);
}

/* ---- the type Result: the instrumented text, its site table and notes ---- */

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

/* The insertions as a tuple of (offset, text, anchor start, anchor end), in bytes of the UTF-8
 * text. */
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

/* Makes a Result that owns `made`. `made` is released on failure. */
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

/* ast.PyCF_ONLY_AST. It is refused, since a tree would keep the positions of the instrumented
 * text. */
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

    /* CPython 3.10 has only lines, which are right already. */
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

/* Compiles the original. If that fails too, its exception replaces the one that is set, and true
 * is returned. */
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

/* Clears the exception if it says that only the instrumented text does not compile. That happens
 * if the stack is smaller than DEPTH_LEVEL_LIMIT assumes. Returns whether the exception was
 * cleared. */
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
