/* The extension module `monitorch._view`: draws and loads traces. Apart from the others, so that what only
 * records never loads what draws. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/python/view/view.h"

#include "instrument/output/strip.h"
#include "runtime/base/buffer.h"
#include "runtime/view/picture/render.h"
#include "runtime/view/walk/event_filter.h"

#include <string.h>
#include <time.h>

/* ---- errors, as Python's exceptions ---- */

void view_raise(const struct error *error)
{
    if (error->kind == ERROR_MEMORY) {
        PyErr_NoMemory();
    } else {
        PyErr_SetString(error->kind == ERROR_USAGE ? PyExc_ValueError : PyExc_OSError,
                        error->text);
    }
}

/* ---- the arguments for a picture's style ---- */

int view_read_format(const char *text, bool has_dot, enum render_format *format)
{
    if (!render_format_read(slice_of(text), format) ||
        (*format == RENDER_DOT && !has_dot)) {
        PyErr_Format(PyExc_ValueError, "format: expected %s, not %.80s",
                     has_dot ? "png, svg, pdf or dot" : "png, svg or pdf", text);
        return -1;
    }
    return 0;
}

int view_check_dpi(double dpi)
{
    if (!(dpi >= RENDER_DPI_LEAST && dpi <= RENDER_DPI_MOST)) {
        PyErr_Format(PyExc_ValueError, "dpi: expected %d to %d", RENDER_DPI_LEAST,
                     RENDER_DPI_MOST);
        return -1;
    }
    return 0;
}

int view_read_theme(const char *text, enum picture_theme *theme)
{
    bool is_dark = strcmp(text, "dark") == 0;

    if (!is_dark && strcmp(text, "light") != 0) {
        PyErr_Format(PyExc_ValueError, "theme: expected light or dark, not %.80s",
                     text);
        return -1;
    }
    *theme = is_dark ? PICTURE_DARK : PICTURE_LIGHT;
    return 0;
}

/* How long Python's signals wait, in seconds. */
#define SIGNAL_INTERVAL 0.1

/* What render() was called with, before it is looked at; all borrowed. */
struct render_arguments {
    PyObject *path; /* bytes; owned */
    const char *format;
    long long first_event;
    long long max_nodes;
    const char *fold;
    PyObject *lines, *functions, *files, *names; /* may be NULL */
    long max_vector, max_matrix, max_slices;
    const char *theme;
    const char *title;
    Py_ssize_t title_size;
    double dpi;
};

/* One call. */
struct view_request {
    struct render_options options;
    struct event_filter filter; /* owned */
    PyObject *texts[4];    /* owned; tuples that the filter borrows from; may be NULL */
    PyThreadState *thread; /* while Python runs without us */
    double asked;          /* when signals were last asked for */
    bool is_interrupted;   /* a Python exception is set */
};

/* ---- arguments; -1: a Python exception is set ---- */

static int read_fold(const char *text, enum flow_fold *fold)
{
    static const char *const folds[] = {"auto", "all", "none", NULL};

    for (int i = 0; folds[i] != NULL; i++) {
        if (strcmp(text, folds[i]) == 0) {
            *fold = (enum flow_fold)i;
            return 0;
        }
    }
    PyErr_Format(PyExc_ValueError, "fold: there is no %.80s", text);
    return -1;
}

static int read_limit(const char *name, long number, uint32_t *limit)
{
    if (number < 0 || number > UINT32_MAX) {
        PyErr_Format(PyExc_ValueError, "%s=%ld: expected 0 or more", name, number);
        return -1;
    }
    *limit = (uint32_t)number;
    return 0;
}

static int read_count(const char *name, long long number, uint64_t *count)
{
    if (number < 0) {
        PyErr_Format(PyExc_ValueError, "%s=%lld: expected 0 or more", name, number);
        return -1;
    }
    *count = (uint64_t)number;
    return 0;
}

static int
add_text(struct event_filter *filter, struct glob_list *globs, PyObject *text)
{
    struct error error = ERROR_INIT;
    Py_ssize_t size;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &size);
    struct slice part;

    if (bytes == NULL) {
        return -1;
    }
    part = (struct slice){bytes, (size_t)size};
    if (!(globs == NULL ? event_filter_add_line(filter, part, &error)
                        : event_filter_add_glob(filter, globs, part, &error))) {
        view_raise(&error);
        return -1;
    }
    return 0;
}

/* A sequence of strings; `globs` is NULL for lines. */
static int read_texts(struct event_filter *filter,
                      struct glob_list *globs,
                      const char *name,
                      PyObject *given,
                      PyObject **kept)
{
    if (given == NULL) {
        return 0;
    }
    if (PyUnicode_Check(given)) { /* which is a sequence too */
        PyErr_Format(PyExc_TypeError, "%s: expected several strings, got one", name);
        return -1;
    }
    *kept = PySequence_Tuple(given);
    if (*kept == NULL) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(*kept); i++) {
        if (add_text(filter, globs, PyTuple_GetItem(*kept, i)) < 0) {
            return -1;
        }
    }
    return 0;
}

static int read_filter(struct view_request *request,
                       const struct render_arguments *given)
{
    struct event_filter *filter = &request->filter;

    if (read_texts(filter, NULL, "lines", given->lines, &request->texts[0]) < 0 ||
        read_texts(filter, &filter->functions, "functions", given->functions,
                   &request->texts[1]) < 0 ||
        read_texts(filter, &filter->files, "files", given->files, &request->texts[2]) <
            0 ||
        read_texts(filter, &filter->names, "names", given->names, &request->texts[3]) <
            0) {
        return -1;
    }
    request->options.flow.filter = filter;
    return 0;
}

/* To be released in any case. */
static int request_init(struct view_request *request,
                        const struct render_arguments *given)
{
    struct render_options *options = &request->options;

    *request = (struct view_request){.options = {.strip = strip_source,
                                                 .dpi = given->dpi,
                                                 .picture = PICTURE_OPTIONS_DEFAULT}};
    event_filter_init(&request->filter);
    if (view_read_format(given->format, true, &options->format) < 0 ||
        view_check_dpi(given->dpi) < 0 ||
        view_read_theme(given->theme, &options->picture.theme) < 0 ||
        read_fold(given->fold, &options->flow.fold) < 0 ||
        read_count("first_event", given->first_event, &options->flow.first_event) < 0 ||
        read_count("max_nodes", given->max_nodes, &options->flow.max_nodes) < 0 ||
        read_limit("max_vector", given->max_vector, &options->picture.max_vector) < 0 ||
        read_limit("max_matrix", given->max_matrix, &options->picture.max_matrix) < 0 ||
        read_limit("max_slices", given->max_slices, &options->picture.max_slices) < 0) {
        return -1;
    }
    options->picture.title = (struct slice){given->title, (size_t)given->title_size};
    return read_filter(request, given);
}

static void request_release(struct view_request *request)
{
    event_filter_release(&request->filter);
    for (size_t i = 0; i < sizeof request->texts / sizeof *request->texts; i++) {
        Py_XDECREF(request->texts[i]);
    }
}

/* ---- drawing ---- */

/* Ctrl-C is answered also while a large trace is drawn. */
static bool ask_for_signals(void *context, enum render_stage stage, uint64_t count)
{
    struct view_request *request = context;
    struct timespec time;
    double now;

    (void)stage;
    (void)count;
    clock_gettime(CLOCK_MONOTONIC, &time);
    now = (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
    if (now < request->asked + SIGNAL_INTERVAL) {
        return true;
    }
    request->asked = now;
    PyEval_RestoreThread(request->thread);
    request->is_interrupted = PyErr_CheckSignals() < 0;
    request->thread = PyEval_SaveThread();
    return !request->is_interrupted;
}

static PyObject *rendered_new(struct slice bytes, const struct render_result *result)
{
    return Py_BuildValue("{s:y#,s:k,s:K,s:K}", "data", bytes.bytes,
                         (Py_ssize_t)bytes.size, "nodes",
                         (unsigned long)result->node_count, "events",
                         (unsigned long long)result->event_count, "older",
                         (unsigned long long)result->left_out.older_nodes);
}

static PyObject *draw(struct view_request *request, const char *path)
{
    struct render_result result;
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;
    PyObject *rendered = NULL;
    bool is_done;

    request->options.progress = ask_for_signals;
    request->options.progress_context = request;
    request->thread = PyEval_SaveThread();
    is_done = render_trace(path, &request->options, &bytes, &result, &error);
    PyEval_RestoreThread(request->thread);
    if (is_done) {
        rendered = rendered_new(buffer_slice(&bytes), &result);
    } else if (!request->is_interrupted) {
        view_raise(&error);
    }
    buffer_release(&bytes);
    return rendered;
}

PyDoc_STRVAR(
    render_doc,
    "render(path, format, *, first_event=0, max_nodes=0, fold='auto', lines=(),\n"
    "       functions=(), files=(), names=(), max_vector=32, max_matrix=8,\n"
    "       max_slices=6, theme='light', title='', dpi=96.0) -> dict\n\n"
    "Draws the trace at `path`, which may still be recorded: 'png', 'svg', 'pdf' or\n"
    "'dot'. The dictionary has data (bytes; empty where there are no nodes), nodes,\n"
    "events, and older: nodes that max_nodes left out.");

static PyObject *module_render(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path",  "format",     "first_event", "max_nodes",
                            "fold",  "lines",      "functions",   "files",
                            "names", "max_vector", "max_matrix",  "max_slices",
                            "theme", "title",      "dpi",         NULL};
    struct render_arguments given = {.fold = "auto",
                                     .max_vector = 32,
                                     .max_matrix = 8,
                                     .max_slices = 6,
                                     .theme = "light",
                                     .title = "",
                                     .dpi = 96};
    struct view_request request;
    PyObject *rendered = NULL;

    (void)module;
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "O&s|$LLsOOOOlllss#d:render", names, PyUnicode_FSConverter,
            &given.path, &given.format, &given.first_event, &given.max_nodes,
            &given.fold, &given.lines, &given.functions, &given.files, &given.names,
            &given.max_vector, &given.max_matrix, &given.max_slices, &given.theme,
            &given.title, &given.title_size, &given.dpi)) {
        return NULL;
    }
    if (request_init(&request, &given) == 0) {
        rendered = draw(&request, PyBytes_AsString(given.path));
    }
    request_release(&request);
    Py_DECREF(given.path);
    return rendered;
}

static PyMethodDef module_methods[] = {
    {"render", (PyCFunction)(void (*)(void))module_render, METH_VARARGS | METH_KEYWORDS,
     render_doc},
    {"page", view_page, METH_VARARGS, view_page_doc},
    {"find_traces", view_find_traces, METH_VARARGS, view_find_traces_doc},
    {"open", view_open, METH_VARARGS, view_open_doc},
    {"load", view_load, METH_VARARGS, view_load_doc},
    {"arrow", view_arrow, METH_VARARGS, view_arrow_doc},
    {"records", view_records, METH_VARARGS, view_records_doc},
    {"saved_open", view_saved_open, METH_O, view_saved_open_doc},
    {"saved_read", view_saved_read, METH_VARARGS, view_saved_read_doc},
    {"call_paths", view_call_paths, METH_O, view_call_paths_doc},
    {"call_tree", view_call_tree, METH_O, view_call_tree_doc},
    {"call_prune", view_call_prune, METH_O, view_call_prune_doc},
    {"call_squash", view_call_squash, METH_O, view_call_squash_doc},
    {"call_json", view_call_json, METH_O, view_call_json_doc},
    {"call_graph", (PyCFunction)(void (*)(void))view_call_graph,
     METH_VARARGS | METH_KEYWORDS, view_call_graph_doc},
    {"chart", (PyCFunction)(void (*)(void))view_chart, METH_VARARGS | METH_KEYWORDS,
     view_chart_doc},
    {"metrics_csv", view_metrics_csv, METH_VARARGS, view_metrics_csv_doc},
    {"metrics_json", view_metrics_json, METH_VARARGS, view_metrics_json_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    {0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "monitorch._view",
    .m_doc = "Draws and loads traces: see render() and load().",
    .m_methods = module_methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__view(void);

PyMODINIT_FUNC PyInit__view(void)
{
    return PyModuleDef_Init(&module_definition);
}
