/* Source to code objects whose positions are the original's. */
#include "runtime/python/compile/module.h"

#include "instrument/text/encoding.h"
#include "runtime/python/compile/position_map.h"

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
