/* The extension module `monitorch._instrument`: the compiler for Python programs. */
#include "runtime/python/compile/module.h"

#include "instrument/command/run_options.h"
#include "instrument/text/encoding.h"
#include "runtime/base/buffer.h"
#include "runtime/base/hash/hash.h"
#include "runtime/site/site.h"

#include <assert.h>
#include <signal.h>
#include <unistd.h>

/* ---- the options of `monitorch run` ---- */

/* The --help text of `monitorch run`, and its options as a list of (letter or "", name, argument
 * or None). New references. */
static PyObject *run_help_text(void)
{
    struct buffer text = BUFFER_INIT;
    PyObject *help = NULL;

    help_write(&run_help, &text);
    if (text.has_failed) {
        PyErr_NoMemory();
    } else {
        struct slice whole = buffer_slice(&text);

        help = PyUnicode_FromStringAndSize(whole.bytes, (Py_ssize_t)whole.size);
    }
    buffer_release(&text);
    return help;
}

static PyObject *option_new(const struct argument_rule *rule)
{
    char letter[] = {rule->letter, '\0'};

    return Py_BuildValue("(ssz)", letter, rule->text, rule->argument);
}

static PyObject *run_options_list(void)
{
    PyObject *list = PyList_New(0);

    for (int i = 0; list != NULL && i < run_help.rule_count; i++) {
        const struct argument_rule *rule = &run_help.rules[i];
        PyObject *option = rule->help == NULL ? NULL : option_new(rule);

        if (rule->help != NULL &&
            (option == NULL || PyList_Append(list, option) != 0)) {
            Py_CLEAR(list);
        }
        Py_XDECREF(option);
    }
    return list;
}

/* ---- a site table as dictionaries ---- */

static PyObject *slice_as_string(struct slice text)
{
    return PyUnicode_DecodeUTF8(text.bytes != NULL ? text.bytes : "",
                                (Py_ssize_t)text.size, "replace");
}

static PyObject *key_as_string(const struct site_table *table, const struct site *site)
{
    struct buffer text = BUFFER_INIT;
    PyObject *string;

    site_add_key(table, site, &text);
    string = text.has_failed ? PyErr_NoMemory() : slice_as_string(buffer_slice(&text));
    buffer_release(&text);
    return string;
}

static const char *source_text(enum site_source source)
{
    switch (source) {
    case SITE_SOURCE_VALUE:
        return "value";
    case SITE_SOURCE_PEEK:
        return "peek";
    case SITE_SOURCE_NONE:
        break;
    }
    return "none";
}

static const char *scope_text(enum site_scope scope)
{
    switch (scope) {
    case SITE_SCOPE_LOCAL:
        return "local";
    case SITE_SCOPE_FREE:
        return "free";
    case SITE_SCOPE_GLOBAL:
        break;
    }
    return "global";
}

static PyObject *writes_as_list(const struct site *site)
{
    PyObject *list = PyList_New((Py_ssize_t)site->write_count);

    for (uint32_t i = 0; list != NULL && i < site->write_count; i++) {
        PyObject *item = Py_BuildValue("Ns", slice_as_string(site->writes[i].name),
                                       source_text(site->writes[i].source));
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *reads_as_list(const struct site *site)
{
    PyObject *list = PyList_New((Py_ssize_t)site->read_count);

    for (uint32_t i = 0; list != NULL && i < site->read_count; i++) {
        const struct site_read *read = &site->reads[i];
        PyObject *binding = read->site == SITE_NONE
                                ? Py_NewRef(Py_None)
                                : PyLong_FromUnsignedLong(read->site);
        PyObject *item = Py_BuildValue("NsN", slice_as_string(read->name),
                                       scope_text(read->scope), binding);
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *condition_as_object(const struct site *site)
{
    return site->has_condition ? PyUnicode_FromFormat("%08x", (unsigned)site->condition)
                               : Py_NewRef(Py_None);
}

static PyObject *arm_as_object(const struct site *site)
{
    return site->kind == SITE_BRANCH ? PyLong_FromUnsignedLong(site->arm)
                                     : Py_NewRef(Py_None);
}

static PyObject *site_as_dictionary(const struct site_table *table, uint32_t id)
{
    assert(id < table->site_count);

    const struct site *site = &table->sites[id];
    const struct site_function *function = &table->functions[site->function];

    return Py_BuildValue(
        "{s:k,s:s,s:k,s:k,s:N,s:k,s:k,s:N,s:N,s:N,s:N,s:N,s:N}", "id",
        (unsigned long)id, "kind", site_kind_text(site->kind), "line",
        (unsigned long)site->line, "column", (unsigned long)site->column, "function",
        slice_as_string(function->name), "function_line", (unsigned long)function->line,
        "ordinal", (unsigned long)site->ordinal, "arm", arm_as_object(site),
        "condition", condition_as_object(site), "repeats",
        PyBool_FromLong(site->repeats), "writes", writes_as_list(site), "reads",
        reads_as_list(site), "key", key_as_string(table, site));
}

static PyObject *table_as_list(const struct site_table *table)
{
    PyObject *list = PyList_New((Py_ssize_t)table->site_count);

    for (uint32_t id = 0; list != NULL && id < table->site_count; id++) {
        PyObject *item = site_as_dictionary(table, id);
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)id, item) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* Reads the site table. The text is an instrumented text or a table alone. Returns false if that
 * fails; `error` says why. */
static bool table_find(struct slice text,
                       const char *path,
                       struct arena *arena,
                       struct site_table *table,
                       struct error *error)
{
    struct decoded decoded;
    struct slice table_text;

    if (!encoding_decode(text, path, arena, &decoded, error)) {
        return false;
    }
    if (!instrument_find_table(decoded.utf8, &table_text)) {
        table_text = decoded.utf8;
    }
    return site_table_read(table, table_text, arena, error);
}

/* The sites of a table as a list of dictionaries. `text` is an instrumented text or a table
 * alone. */
static PyObject *sites_list(const struct module_state *state, PyObject *text)
{
    PyObject *bytes = source_as_bytes(text);
    PyObject *path = bytes == NULL ? NULL : PyBytes_FromString("<table>");
    struct arena arena;
    struct site_table table;
    struct error error = ERROR_INIT;
    PyObject *list = NULL;

    arena_init(&arena);
    if (path != NULL) {
        if (table_find(bytes_slice(bytes), PyBytes_AsString(path), &arena, &table,
                       &error)) {
            list = table_as_list(&table);
        } else {
            raise_error(state, path, &error);
        }
    }
    arena_release(&arena);
    Py_XDECREF(path);
    Py_XDECREF(bytes);
    return list;
}

/* ---- running a program ---- */

/* The hook is bound to a list: the function, its arguments, the function to call at the end, and
 * the sys.excepthook that is set for the program (None for none). The list is emptied when the
 * program starts. */
enum { PROGRAM_PART_COUNT = 4 };

struct program {
    PyObject
        *function; /* owned; None if the arguments are a code object and its names */
    PyObject *arguments; /* owned */
    PyObject *end;       /* owned; called at the end */
};

/* Ends the process as Python does after an uncaught KeyboardInterrupt, so that other processes
 * see that it was interrupted. */
static void die_of_interrupt(void)
{
    signal(SIGINT, SIG_DFL);
    kill(getpid(), SIGINT);
}

/* Clears the exception by which the interpreter called this hook. */
static void forget_exception(void)
{
    static const char *const names[] = {"last_type", "last_value", "last_traceback",
                                        "last_exc"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PySys_SetObject(names[i], NULL);
    }
    PyErr_Clear();
}

/* Runs the program. The function is exec or one of runpy; a code object is run without a call of
 * exec. */
static PyObject *program_call(PyObject *function, PyObject *arguments)
{
    if (function != Py_None) {
        return PyObject_Call(function, arguments, NULL);
    }
    PyObject *names = PyTuple_GetItem(arguments, 1);
    return PyEval_EvalCode(PyTuple_GetItem(arguments, 0), names, names);
}

static void flush_stream(const char *name)
{
    PyObject *stream = PySys_GetObject(name);
    PyObject *result =
        stream == NULL ? NULL : PyObject_CallMethod(stream, "flush", NULL);

    Py_XDECREF(result);
    PyErr_Clear();
}

/* Flushes stderr and stdout, as the interpreter does when a script has ended, before functions
 * run at exit. */
static void flush_streams(void)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    flush_stream("stderr");
    flush_stream("stdout");
    PyErr_Restore(type, value, traceback);
}

/* Removes our frames from the traceback of the exception. The interpreter holds that traceback
 * as long as the program runs, and often until the process has ended. The frames refer to the
 * names of __main__, which must be destroyed together with the module, since files that the
 * program left open are written then. */
static void release_frames(PyObject *exception)
{
    PyObject *first = PyTuple_GetItem(exception, 2);
    PyObject *frame = first == NULL ? NULL : PyObject_GetAttrString(first, "tb_frame");
    PyObject *result = frame == NULL ? NULL : PyObject_CallMethod(frame, "clear", NULL);

    if (result != NULL) {
        (void)PyObject_SetAttrString(first, "tb_next", Py_None);
    }
    Py_XDECREF(result);
    Py_XDECREF(frame);
    PyErr_Clear();
}

static void program_end(struct program *program)
{
    PyObject *result = PyObject_CallObject(program->end, NULL);

    if (result == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(result);
}

/* Releases the names of __main__, so that only the module holds them. The process may end before
 * our functions return: by the interpreter's end, or by a hook of the program that raises
 * SystemExit. */
static void program_release_names(struct program *program)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    Py_CLEAR(program->function);
    Py_CLEAR(program->arguments);
    PyErr_Restore(type, value, traceback);
}

static PyObject *program_run_to_end(struct program *program)
{
    Py_LeaveRecursiveCall(); /* so that this hook does not count in the program's recursion depth */
    PyObject *result = program_call(program->function, program->arguments);
    (void)Py_EnterRecursiveCall(""); /* cannot fail: nothing else is running */
    flush_streams();
    program_release_names(program);
    if (result != NULL) {
        Py_DECREF(result);
        program_end(program);
        PyErr_SetNone(PyExc_SystemExit); /* ends the interpreter */
        return NULL;
    }
    if (PyErr_ExceptionMatches(PyExc_SystemExit)) {
        return NULL;
    }
    bool is_interrupt = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
    PyErr_Print();
    program_end(program);
    if (is_interrupt) {
        Py_AtExit(die_of_interrupt);
    }
    Py_RETURN_NONE;
}

/* Takes the program out of the list to which the hook is bound. Returns false with an exception
 * set if it was started already. */
static bool program_read(struct program *program, PyObject *parts)
{
    PyObject *hook;

    if (PyList_Size(parts) != PROGRAM_PART_COUNT) {
        PyErr_SetString(PyExc_RuntimeError, "the program has been started already");
        return false;
    }
    program->function = Py_NewRef(PyList_GetItem(parts, 0));
    program->arguments = Py_NewRef(PyList_GetItem(parts, 1));
    program->end = Py_NewRef(PyList_GetItem(parts, 2));
    hook = PyList_GetItem(parts, 3);
    PySys_SetObject("excepthook", hook == Py_None ? NULL : hook);
    (void)PyList_SetSlice(parts, 0, PROGRAM_PART_COUNT, NULL);
    return true;
}

static PyObject *program_run(PyObject *parts, PyObject *exception)
{
    struct program program;

    forget_exception();
    release_frames(exception);
    if (!program_read(&program, parts)) {
        return NULL;
    }
    PyObject *result = program_run_to_end(&program);
    Py_DECREF(program.end);
    return result;
}

static PyMethodDef program_method = {"excepthook", program_run, METH_VARARGS, NULL};

/* A function for sys.excepthook that runs a program. It is made from the tuple (function or
 * None, its arguments or (code, names), function to call at the end, the hook to set before). A
 * new reference. */
static PyObject *program_new(PyObject *arguments)
{
    PyObject *function, *function_arguments, *end, *hook, *parts, *method;

    if (!PyArg_ParseTuple(arguments, "OO!OO:make_program", &function, &PyTuple_Type,
                          &function_arguments, &end, &hook)) {
        return NULL;
    }
    if (function == Py_None && PyTuple_Size(function_arguments) != 2) {
        PyErr_SetString(PyExc_ValueError, "code and its names were expected");
        return NULL;
    }
    parts = PySequence_List(arguments);
    if (parts == NULL) {
        return NULL;
    }
    /* Some interpreters borrow sys.excepthook while they call it, and this hook removes itself
     * from there. So it is never freed. */
    method = PyCFunction_New(&program_method, parts);
    Py_DECREF(parts);
    return Py_XNewRef(method);
}

#define DEFAULT_PATH "<string>"

static struct module_state *module_get_state(PyObject *module)
{
    return PyModule_GetState(module);
}

PyDoc_STRVAR(
    instrument_doc,
    "instrument(source, path='<string>', *, all=False, forward=None, functions=(),\n"
    "           lines=(), spy=(), every_line=False) -> Result\n\n"
    "Inserts calls into a source, bytes or str. `path` is what messages and site keys\n"
    "call it. `forward` is on where nothing else is selected; `every_line` gives sites "
    "to\n"
    "statements that bind nothing too. Raises InstrumentError where the source cannot "
    "be\n"
    "instrumented.");

static PyObject *module_instrument(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"source", "path", "all",        "forward", "functions",
                            "lines",  "spy",  "every_line", NULL};
    struct selection_arguments selection = {0};
    PyObject *source;
    PyObject *path = NULL;
    struct request request;

    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "O|O$pOOOOp:instrument", names, &source, &path,
            &selection.everything, &selection.forward, &selection.functions,
            &selection.lines, &selection.spy, &selection.every_line)) {
        return NULL;
    }
    PyObject *name =
        path != NULL ? Py_NewRef(path) : PyUnicode_FromString(DEFAULT_PATH);
    if (name == NULL) {
        return NULL;
    }
    int status = request_init(&request, source, name, &selection);
    Py_DECREF(name);
    if (status < 0) {
        return NULL;
    }
    PyObject *result = result_new(module_get_state(module), &request);
    request_release(&request);
    return result;
}

PyDoc_STRVAR(
    compile_source_doc,
    "compile_source(source, filename, *, all=False, forward=None, functions=(),\n"
    "               lines=(), spy=(), prefix=None, optimize=-1, flags=0,\n"
    "               every_line=False) -> (code, Result)\n\n"
    "Instruments a source and compiles it. The code's positions are the original's:\n"
    "tracebacks, carets and debuggers see the original. A source that Python itself\n"
    "refuses raises what compile() raises for it. `prefix`, `_mt3x` for instance, is "
    "what\n"
    "the inserted names begin with: for sources that share a namespace.");

static PyObject *
module_compile_source(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"source",    "filename", "all",        "forward",
                            "functions", "lines",    "spy",        "prefix",
                            "optimize",  "flags",    "every_line", NULL};
    struct selection_arguments selection = {0};
    PyObject *source, *filename;
    int optimize = -1;
    int flags = 0;
    struct request request;

    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "OO|$pOOOOOiip:compile_source", names, &source, &filename,
            &selection.everything, &selection.forward, &selection.functions,
            &selection.lines, &selection.spy, &selection.prefix, &optimize, &flags,
            &selection.every_line)) {
        return NULL;
    }
    if (request_init(&request, source, filename, &selection) < 0) {
        return NULL;
    }
    PyObject *pair =
        compile_request(module_get_state(module), &request, filename, optimize, flags);
    request_release(&request);
    return pair;
}

/* Returns -1 with a TypeError if the object is no code object. */
static int check_code(PyObject *code)
{
    PyObject *types = PyImport_ImportModule("types");
    PyObject *type = types == NULL ? NULL : PyObject_GetAttrString(types, "CodeType");
    int status = type == NULL ? -1 : PyObject_IsInstance(code, type);

    if (status == 0) {
        PyErr_Format(PyExc_TypeError, "code is a code object, not %R", code);
        status = -1;
    }
    Py_XDECREF(type);
    Py_XDECREF(types);
    return status;
}

static bool is_source_of(PyObject *bytes, PyObject *result)
{
    const struct site_table *table = &result_instrumented(result)->table;
    uint64_t hash[2];

    hash_128(bytes_slice(bytes), hash);
    return hash[0] == table->source_hash[0] && hash[1] == table->source_hash[1];
}

PyDoc_STRVAR(
    map_positions_doc,
    "map_positions(code, source, result) -> code\n\n"
    "The code with the positions of `source`, of which `result` is the instrumented "
    "form:\n"
    "for code that something else than compile_source() has compiled of result.text.");

static PyObject *
module_map_positions(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"code", "source", "result", NULL};
    struct module_state *state = module_get_state(module);
    PyObject *code, *source, *result;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO!:map_positions", names, &code,
                                     &source, state->result_type, &result)) {
        return NULL;
    }
    if (check_code(code) < 0) {
        return NULL;
    }
    PyObject *bytes = source_as_bytes(source);
    if (bytes == NULL) {
        return NULL;
    }
    PyObject *mapped = NULL;
    if (is_source_of(bytes, result)) {
        mapped = code_map_result(state, code, result, bytes, DEFAULT_PATH);
    } else {
        PyErr_SetString(PyExc_ValueError, "the result was made of another source");
    }
    Py_DECREF(bytes);
    return mapped;
}

PyDoc_STRVAR(make_program_doc,
             "make_program(function, arguments, end, hook) -> function\n\n"
             "A function for sys.excepthook which calls function(*arguments), or runs\n"
             "code in names for None and (code, names), with sys.excepthook as given,\n"
             "then calls end(), and ends as Python does after a program. It ignores\n"
             "the exception that it is called for.");

static PyObject *module_make_program(PyObject *module, PyObject *arguments)
{
    (void)module;
    return program_new(arguments);
}

/* The text without insertions, as new bytes. `path` is bytes. */
static PyObject *strip_bytes(PyObject *module, PyObject *text, PyObject *path)
{
    struct slice given = bytes_slice(text);
    const char *path_text = PyBytes_AsString(path);
    struct buffer original = BUFFER_INIT;
    struct error error = ERROR_INIT;
    PyObject *stripped = NULL;
    bool is_exact;
    bool is_done;

    Py_BEGIN_ALLOW_THREADS;
    is_done = instrument_strip(given, path_text, &original, &is_exact, &error);
    Py_END_ALLOW_THREADS;
    if (is_done) {
        stripped = PyBytes_FromStringAndSize(original.bytes, (Py_ssize_t)original.size);
    } else {
        raise_error(module_get_state(module), path, &error);
    }
    buffer_release(&original);
    return stripped;
}

PyDoc_STRVAR(strip_doc,
             "strip(text, path='<string>') -> bytes\n\n"
             "The text without anything that instrument() inserted.");

static PyObject *module_strip(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"text", "path", NULL};
    PyObject *source;
    PyObject *path = NULL;
    PyObject *stripped = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O&:strip", names, &source,
                                     PyUnicode_FSConverter, &path)) {
        return NULL;
    }
    if (path == NULL) {
        path = PyBytes_FromString(DEFAULT_PATH);
    }
    PyObject *text = path == NULL ? NULL : source_as_bytes(source);
    if (text != NULL) {
        stripped = strip_bytes(module, text, path);
    }
    Py_XDECREF(text);
    Py_XDECREF(path);
    return stripped;
}

PyDoc_STRVAR(
    is_instrumented_doc,
    "is_instrumented(text) -> bool\n\n"
    "Whether the text carries inserted calls (visible spy_save calls do not count).");

static PyObject *module_is_instrumented(PyObject *module, PyObject *source)
{
    PyObject *text = source_as_bytes(source);

    (void)module;
    if (text == NULL) {
        return NULL;
    }
    bool is_instrumented = instrument_is_instrumented(bytes_slice(text));
    Py_DECREF(text);
    return PyBool_FromLong(is_instrumented);
}

PyDoc_STRVAR(
    sites_doc,
    "sites(text) -> list of dict\n\n"
    "The sites of an instrumented text, or of a site table alone, in order of id.");

static PyObject *module_sites(PyObject *module, PyObject *text)
{
    return sites_list(module_get_state(module), text);
}

PyDoc_STRVAR(run_help_doc, "run_help() -> str\n\nThe --help of `monitorch run`.");

static PyObject *module_run_help(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return run_help_text();
}

PyDoc_STRVAR(
    run_options_doc,
    "run_options() -> list of (letter, name, argument)\n\n"
    "The options of `monitorch run`; the argument is None where there is none.");

static PyObject *module_run_options(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return run_options_list();
}

static PyMethodDef module_methods[] = {
    {"instrument", (PyCFunction)(void (*)(void))module_instrument,
     METH_VARARGS | METH_KEYWORDS, instrument_doc},
    {"compile_source", (PyCFunction)(void (*)(void))module_compile_source,
     METH_VARARGS | METH_KEYWORDS, compile_source_doc},
    {"map_positions", (PyCFunction)(void (*)(void))module_map_positions,
     METH_VARARGS | METH_KEYWORDS, map_positions_doc},
    {"make_program", module_make_program, METH_VARARGS, make_program_doc},
    {"strip", (PyCFunction)(void (*)(void))module_strip, METH_VARARGS | METH_KEYWORDS,
     strip_doc},
    {"is_instrumented", module_is_instrumented, METH_O, is_instrumented_doc},
    {"sites", module_sites, METH_O, sites_doc},
    {"run_help", module_run_help, METH_NOARGS, run_help_doc},
    {"run_options", module_run_options, METH_NOARGS, run_options_doc},
    {NULL, NULL, 0, NULL},
};

/* The class InstrumentError. Its instances have the attributes even if the message names no
 * place. */
static PyObject *error_type_new(void)
{
    PyObject *attributes = Py_BuildValue("{s:O,s:O,s:O}", "path", Py_None, "line",
                                         Py_None, "column", Py_None);
    PyObject *type = NULL;

    if (attributes != NULL) {
        type = PyErr_NewExceptionWithDoc("monitorch._instrument.InstrumentError",
                                         "A source cannot be instrumented: path, line "
                                         "and column are its place, or None.",
                                         PyExc_ValueError, attributes);
    }
    Py_XDECREF(attributes);
    return type;
}

static int module_execute(PyObject *module)
{
    struct module_state *state = module_get_state(module);

    state->error_type = error_type_new();
    state->result_type = result_type_new(module);
    if (state->error_type == NULL || state->result_type == NULL ||
        PyModule_AddObjectRef(module, "InstrumentError", state->error_type) < 0 ||
        PyModule_AddObjectRef(module, "Result", state->result_type) < 0) {
        return -1;
    }
    return PyModule_AddStringConstant(module, "__version__", MONITORCH_VERSION);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct module_state *state = module_get_state(module);

    Py_VISIT(state->error_type);
    Py_VISIT(state->result_type);
    return 0;
}

static int module_clear(PyObject *module)
{
    struct module_state *state = module_get_state(module);

    Py_CLEAR(state->error_type);
    Py_CLEAR(state->result_type);
    return 0;
}

static void module_free(void *module)
{
    module_clear(module);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_execute},
    {0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "monitorch._instrument",
    .m_doc = "Instruments Python sources: see instrument() and compile_source().",
    .m_size = sizeof(struct module_state),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__instrument(void);

PyMODINIT_FUNC PyInit__instrument(void)
{
    return PyModuleDef_Init(&module_definition);
}
