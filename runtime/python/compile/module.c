/* The extension module `monitorch._instrument`: the compiler for Python programs. */
#include "runtime/python/compile/module.h"

#include "runtime/base/buffer.h"
#include "runtime/base/hash/hash.h"

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

/* -1 with a TypeError for what is no code object. */
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

/* The text without insertions; new bytes. `path` is bytes. */
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

/* The attributes are there even where the message names no place. */
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
