/* The extension module `monitorch._view`, which draws and loads traces. It is separate from the
 * others, so that a program that only records does not load the drawing code. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/python/view/view.h"

#include "instrument/output/strip.h"
#include "runtime/base/buffer.h"
#include "runtime/view/list/csv_text.h"
#include "runtime/view/list/json_log.h"
#include "runtime/view/list/site_list.h"
#include "runtime/view/page/trace.h"
#include "runtime/view/picture/render.h"
#include "runtime/view/sql/tables/row_tables.h"
#include "runtime/view/sql/tables/traces.h"
#include "runtime/view/walk/event_filter.h"
#include "runtime/view/walk/event_rows.h"
#include "runtime/view/walk/open_calls.h"
#include "runtime/view/walk/trace_list.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* ---- the metrics of a step as lines of text: CSV and JSON ---- */

const char view_metrics_csv_doc[] =
    "metrics_csv(step, metrics) -> bytes\n\n"
    "A row `step,key,value` for each number in {key: number}.";

const char view_metrics_json_doc[] =
    "metrics_json(step, metrics, histograms) -> bytes\n\n"
    "A line of JSON; histograms are {key: (counts, edges)}.";

/* ---- numbers; other values are skipped ---- */

static bool is_number(PyObject *object)
{
    return PyFloat_Check(object) || PyLong_Check(object);
}

static struct column_value value_of(PyObject *number)
{
    struct column_value value = {.type = COLUMN_REAL};

    if (PyLong_Check(number)) {
        int overflow = 0;

        value.integer = PyLong_AsLongLongAndOverflow(number, &overflow);
        if (overflow == 0) {
            value.type = COLUMN_INTEGER;
            return value;
        }
    }
    value.real = PyFloat_AsDouble(number);
    if (PyErr_Occurred()) { /* beyond the range of a double */
        PyErr_Clear();
        value.real = INFINITY;
    }
    return value;
}

static void add_json_number(struct buffer *text, PyObject *number)
{
    struct column_value value = value_of(number);

    if (value.type == COLUMN_INTEGER) {
        integer_add(text, value.integer);
    } else {
        real_add_exact(text, value.real);
    }
}

static PyObject *finish(struct buffer *text, int status)
{
    PyObject *made = NULL;

    if (status == 0) {
        made = text->has_failed
                   ? PyErr_NoMemory()
                   : PyBytes_FromStringAndSize(text->bytes, (Py_ssize_t)text->size);
    }
    buffer_release(text);
    return made;
}

/* ---- CSV ---- */

static int add_row(struct buffer *text, long long step, PyObject *key, PyObject *number)
{
    struct column_value value = value_of(number);
    struct column_value name = {.type = COLUMN_TEXT};
    PyObject *kept = NULL;

    if (call_text_read(key, &kept, &name.text) < 0) {
        Py_XDECREF(kept);
        return -1;
    }
    integer_add(text, step);
    buffer_add_byte(text, ',');
    csv_value_add(text, &name);
    buffer_add_byte(text, ',');
    csv_value_add(text, &value);
    buffer_add(text, CSV_ROW_END);
    Py_DECREF(kept);
    return 0;
}

static PyObject *view_metrics_csv(PyObject *module, PyObject *args)
{
    struct buffer text = BUFFER_INIT;
    PyObject *metrics, *key, *value;
    Py_ssize_t at = 0;
    long long step;
    int status = 0;

    (void)module;
    if (!PyArg_ParseTuple(args, "LO!:metrics_csv", &step, &PyDict_Type, &metrics)) {
        return NULL;
    }
    while (status == 0 && PyDict_Next(metrics, &at, &key, &value)) {
        if (is_number(value)) {
            status = add_row(&text, step, key, value);
        }
    }
    return finish(&text, status);
}

/* ---- JSON ---- */

/* Adds `"key":`, after a comma unless it is the first. */
static int add_name(struct buffer *text, PyObject *key, bool is_first)
{
    struct slice name;
    PyObject *kept = NULL;

    if (call_text_read(key, &kept, &name) < 0) {
        Py_XDECREF(kept);
        return -1;
    }
    buffer_add(text, is_first ? SLICE("\"") : SLICE(",\""));
    text_add_json(text, name);
    buffer_add(text, SLICE("\":"));
    Py_DECREF(kept);
    return 0;
}

static int add_metrics(struct buffer *text, PyObject *metrics)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    bool is_first = true;

    while (PyDict_Next(metrics, &at, &key, &value)) {
        if (!is_number(value)) {
            continue;
        }
        if (add_name(text, key, is_first) < 0) {
            return -1;
        }
        add_json_number(text, value);
        is_first = false;
    }
    return 0;
}

static int add_list(struct buffer *text, PyObject *numbers)
{
    Py_ssize_t count = PyTuple_Check(numbers) ? PyTuple_Size(numbers) : -1;

    buffer_add_byte(text, '[');
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *number = PyTuple_GetItem(numbers, i);

        if (!is_number(number)) {
            count = -1;
            break;
        }
        if (i > 0) {
            buffer_add_byte(text, ',');
        }
        add_json_number(text, number);
    }
    buffer_add_byte(text, ']');
    if (count < 0) {
        PyErr_SetString(PyExc_TypeError, "a histogram is two tuples of numbers");
    }
    return count < 0 ? -1 : 0;
}

static int add_histograms(struct buffer *text, PyObject *histograms)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    bool is_first = true;

    while (PyDict_Next(histograms, &at, &key, &value)) {
        if (!PyTuple_Check(value) || PyTuple_Size(value) != 2) {
            PyErr_SetString(PyExc_TypeError, "a histogram is (counts, edges)");
            return -1;
        }
        if (add_name(text, key, is_first) < 0) {
            return -1;
        }
        buffer_add(text, SLICE("{\"counts\":"));
        if (add_list(text, PyTuple_GetItem(value, 0)) < 0) {
            return -1;
        }
        buffer_add(text, SLICE(",\"edges\":"));
        if (add_list(text, PyTuple_GetItem(value, 1)) < 0) {
            return -1;
        }
        buffer_add_byte(text, '}');
        is_first = false;
    }
    return 0;
}

static PyObject *view_metrics_json(PyObject *module, PyObject *args)
{
    struct buffer text = BUFFER_INIT;
    PyObject *metrics, *histograms;
    long long step;
    int status;

    (void)module;
    if (!PyArg_ParseTuple(args, "LO!O!:metrics_json", &step, &PyDict_Type, &metrics,
                          &PyDict_Type, &histograms)) {
        return NULL;
    }
    buffer_add(&text, SLICE("{\"step\":"));
    integer_add(&text, step);
    buffer_add(&text, SLICE(",\"metrics\":{"));
    status = add_metrics(&text, metrics);
    buffer_add_byte(&text, '}');
    if (status == 0 && PyDict_Size(histograms) > 0) {
        buffer_add(&text, SLICE(",\"histograms\":{"));
        status = add_histograms(&text, histograms);
        buffer_add_byte(&text, '}');
    }
    buffer_add(&text, SLICE("}\n"));
    return finish(&text, status);
}

/* ---- page: the HTML page of a trace ---- */

const char view_page_doc[] =
    "page(path, max_size) -> (html, title)\n\n"
    "The page of the trace at `path`, which may still be recorded, in at most\n"
    "max_size bytes (0: as usual); and its verdict in one line, as the page says it.";

/* The page's title: the text between `<title>` and `</title>`. */
static struct slice title_of(struct slice html)
{
    size_t start = slice_find(html, SLICE("<title>"), 0);
    size_t end = slice_find(html, SLICE("</title>"), start);

    return start + 7 <= end ? slice_part(html, start + 7, end) : SLICE("");
}

/* Adds the page of the trace that the word names, or of the traces of a run's ranks. Returns
 * false if that fails; `error` says why. */
static bool add_page(const char *word,
                     struct page_trace_options *options,
                     struct buffer *bytes,
                     struct error *error)
{
    struct page_trace_result result;
    struct trace_list traces;
    struct arena arena;
    bool is_done;

    arena_init(&arena);
    trace_list_init(&traces, &arena);
    is_done = trace_list_add(&traces, word, error);
    if (is_done) {
        options->path = traces.paths[0];
        options->others = traces.paths + 1;
        options->other_count = traces.count - 1;
        is_done = page_trace_add(options, bytes, &result, error);
    }
    trace_list_release(&traces);
    arena_release(&arena);
    return is_done;
}

static PyObject *view_page(PyObject *module, PyObject *args)
{
    struct page_trace_options options = {
        .ask = {.event = SLICE(""), .strip = strip_source}};
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;
    const char *word;
    PyObject *path = NULL, *page = NULL;
    unsigned long long max_size;
    bool is_done;

    (void)module;
    if (!PyArg_ParseTuple(args, "O&K:page", PyUnicode_FSConverter, &path, &max_size)) {
        return NULL;
    }
    word = PyBytes_AsString(path);
    options.max_size = max_size;
    Py_BEGIN_ALLOW_THREADS;
    is_done = add_page(word, &options, &bytes, &error);
    Py_END_ALLOW_THREADS;
    if (is_done) {
        struct slice html = buffer_slice(&bytes);
        struct slice title = title_of(html);

        page = Py_BuildValue("y#s#", html.bytes, (Py_ssize_t)html.size, title.bytes,
                             (Py_ssize_t)title.size);
    } else {
        view_raise(&error);
    }
    buffer_release(&bytes);
    Py_DECREF(path);
    return page;
}

/* ---- the calls, sites and edges of a trace, as JSON ---- */

static bool add_calls(struct log_reader *reader, struct buffer *text)
{
    const struct json_log json = {.reader = reader, .trace = SLICE("")};
    struct open_calls calls;
    struct log_item item;
    bool is_done = true;

    open_calls_init(&calls);
    while (is_done && log_reader_next(reader, &item)) {
        struct open_call *call = NULL;
        bool is_new;

        if (item.kind == LOG_CALL) {
            call = open_calls_begin(&calls, &item.call, &is_new);
        } else if (item.kind == LOG_EVENT) {
            call = open_calls_of_event(&calls, &item.event, &is_new);
        } else if (item.kind == LOG_END) {
            call = open_calls_find(&calls, item.end.call);
            if (call != NULL) {
                json_log_add_end(&json, &item, call, text);
                open_calls_end(&calls, call);
            }
            continue;
        } else {
            continue;
        }
        is_done = call != NULL && !text->has_failed;
        if (is_done && !call->is_shown) {
            json_log_add_call(&json, call, text);
        }
    }
    open_calls_release(&calls);
    return is_done && !text->has_failed;
}

static bool add_sites(struct log_reader *reader, struct buffer *text)
{
    struct log_item item;

    while (log_reader_next(reader, &item)) {
        /* All items are read, since a module's table precedes the items that refer to it. */
    }
    for (uint32_t i = 0; i < log_reader_module_count(reader); i++) {
        const struct log_module *module = log_reader_module(reader, i);

        for (uint32_t k = 0; k < module->table.site_count; k++) {
            site_list_add(text, module, k, SLICE(""), true);
        }
    }
    return !text->has_failed;
}

/* Adds the edges of the trace. They need their own reader, and the sources. Returns false if
 * that fails; `error` says why, or memory ran out. */
static bool add_edges(const char *path, struct buffer *text, struct error *error)
{
    struct sql_traces traces;
    struct sql_trace *trace;
    bool is_done;

    if (!sql_traces_init(&traces, &path, 1, strip_source, error)) {
        return false;
    }
    trace = traces.traces;
    is_done = sql_trace_need_edges(&traces, trace);
    *error = traces.error;
    for (size_t i = 0; is_done && i < trace->edges.graph.edge_count; i++) {
        struct sql_edge edge = sql_edges_get(&trace->edges, i);

        buffer_add(text, SLICE("{\"record\":\"edge\",\"source\":"));
        buffer_add_number(text, edge.source);
        buffer_add(text, SLICE(",\"target\":"));
        buffer_add_number(text, edge.target);
        buffer_add_format(text, ",\"kind\":\"%s\",\"certain\":%d}\n",
                          sql_edge_kind_text(edge.kind), edge.is_certain);
    }
    sql_traces_release(&traces);
    return is_done && !text->has_failed;
}

static void add_column(struct buffer *text, const struct column_value *value)
{
    if (value->is_empty) {
        buffer_add(text, SLICE("null"));
        return;
    }
    switch (value->type) {
    case COLUMN_INTEGER:
        buffer_add_format(text, "%lld", (long long)value->integer);
        break;
    case COLUMN_REAL:
        real_add_exact(text, value->real);
        break;
    case COLUMN_TEXT:
        buffer_add_byte(text, '"');
        buffer_add_json(text, value->text);
        buffer_add_byte(text, '"');
        break;
    }
}

/* Adds the rows of an SQL table, without the column of the trace's name. Returns false if that
 * fails; `error` says why, or memory ran out. */
static bool add_rows(const char *path,
                     const struct sql_rows *rows,
                     struct buffer *text,
                     struct error *error)
{
    struct sql_traces traces;
    struct buffer scratch = BUFFER_INIT;
    bool is_done;

    if (!sql_traces_init(&traces, &path, 1, strip_source, error)) {
        return false;
    }
    is_done = rows->prepare(&traces, traces.traces);
    *error = traces.error;
    for (size_t i = 0; is_done && i < rows->count(traces.traces); i++) {
        buffer_add_format(text, "{\"record\":\"%s\"", rows->table.name);
        for (int k = 1; k < rows->table.column_count; k++) {
            struct column_value value = {.is_empty = true};

            rows->get(traces.traces, i, k, &scratch, &value);
            buffer_add_format(text, ",\"%s\":", rows->table.columns[k].name);
            add_column(text, &value);
        }
        buffer_add(text, SLICE("}\n"));
    }
    buffer_release(&scratch);
    sql_traces_release(&traces);
    return is_done && !text->has_failed;
}

static bool
add_records(const char *path, bool has_sites, struct buffer *text, struct error *error)
{
    struct log_reader *reader = log_reader_new(path, error);
    bool is_done;

    if (reader == NULL) {
        return false;
    }
    is_done = has_sites ? add_sites(reader, text) : add_calls(reader, text);
    is_done = is_done && event_rows_has_memory(reader);
    log_reader_free(reader);
    return is_done;
}

const char view_records_doc[] =
    "records(path, table) -> bytes\n\n"
    "The `sites`, `calls`, `edges`, `steps` or `parameters` of the trace at `path` as "
    "lines of JSON: sites "
    "and\n"
    "calls, with their ends, as `monitorch show --json` prints them.";

static PyObject *view_records(PyObject *module, PyObject *args)
{
    struct error error = ERROR_INIT;
    struct buffer text = BUFFER_INIT;
    PyObject *records = NULL;
    const char *path;
    const char *table;
    bool is_done;

    (void)module;
    if (!PyArg_ParseTuple(args, "ys:records", &path, &table)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS is_done =
        strcmp(table, "edges") == 0   ? add_edges(path, &text, &error)
        : strcmp(table, "steps") == 0 ? add_rows(path, &sql_steps_rows, &text, &error)
        : strcmp(table, "parameters") == 0
            ? add_rows(path, &sql_parameters_rows, &text, &error)
            : add_records(path, strcmp(table, "sites") == 0, &text, &error);
    Py_END_ALLOW_THREADS if (is_done)
    {
        records = PyBytes_FromStringAndSize(text.bytes, (Py_ssize_t)text.size);
    }
    else if (error.kind != ERROR_NONE)
    {
        view_raise(&error);
    }
    else
    {
        PyErr_NoMemory();
    }
    buffer_release(&text);
    return records;
}

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

/* Interval in seconds between checks of Python's signals. */
#define SIGNAL_INTERVAL 0.1

/* The arguments of render(), not checked yet; borrowed, except for `path`. */
struct render_arguments {
    PyObject *path; /* owned; bytes */
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

/* The state of one call of render(). */
struct view_request {
    struct render_options options;
    struct event_filter filter; /* owned */
    PyObject *texts[4];    /* owned: tuples that the filter borrows from; may be NULL */
    PyThreadState *thread; /* while the GIL is released */
    double asked;          /* time of the last check of signals */
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

/* Reads a sequence of strings. `globs` is NULL for lines. */
static int read_texts(struct event_filter *filter,
                      struct glob_list *globs,
                      const char *name,
                      PyObject *given,
                      PyObject **kept)
{
    if (given == NULL) {
        return 0;
    }
    if (PyUnicode_Check(given)) { /* a str is a sequence too */
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

/* Checks the arguments. The request must be released also after -1. */
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

/* Checks for Ctrl-C while a large trace is drawn. Returns false with a Python exception set. */
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
    {"graft_open", view_graft_open, METH_O, view_graft_open_doc},
    {"graft_next", view_graft_next, METH_VARARGS, view_graft_next_doc},
    {"graft_read", view_graft_read, METH_VARARGS, view_graft_read_doc},
    {"graft_sites", view_graft_sites, METH_VARARGS, view_graft_sites_doc},
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
