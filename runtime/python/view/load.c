/* Events of traces as columns. */
#include "runtime/base/memory.h"
#include "runtime/python/view/error.h"
#include "runtime/python/view/load_private.h"
#include "runtime/view/walk/event_rows.h"
#include "runtime/view/walk/trace_list.h"

#include <sys/stat.h>

#define OPENED "monitorch.opened"

/* The smallest event with what stands around it: a file of some size cannot hold more. */
#define EVENT_SIZE_LEAST 40
/* How often, in items, Python's signals are asked for. */
#define SIGNAL_MASK 0x3FFFF

static void close_traces(struct load *load)
{
    for (size_t i = 0; i < load->trace_count; i++) {
        log_reader_free(load->readers[i]);
    }
    load->trace_count = 0;
}

static void load_release(struct load *load)
{
    for (size_t i = 0; i < load->column_count; i++) {
        loaded_column_release(&load->columns[i]);
        Py_XDECREF(load->bytes[2 * i]);
        Py_XDECREF(load->bytes[2 * i + 1]);
    }
    close_traces(load);
    memory_free(load->columns);
    memory_free(load->bytes);
    memory_free(load->readers);
    memory_free(load->paths);
    event_filter_release(&load->filter);
    Py_XDECREF(load->words[0]);
    Py_XDECREF(load->words[1]);
    memory_free(load);
}

/* ---- reading, without Python ---- */

static bool ask_for_signals(void *context)
{
    struct load *load = context;

    PyEval_RestoreThread(load->thread);
    load->is_interrupted = PyErr_CheckSignals() < 0;
    load->thread = PyEval_SaveThread();
    return !load->is_interrupted;
}

static size_t count_events(struct load *load, struct log_reader *reader)
{
    struct log_item item;
    size_t count = 0;
    size_t items = 0;

    while (log_reader_next(reader, &item)) {
        count += item.kind == LOG_EVENT;
        if ((++items & SIGNAL_MASK) == 0 && !ask_for_signals(load)) {
            break;
        }
    }
    log_reader_rewind(reader);
    return count;
}

/* At most so many rows will come. A finished trace tells; what it tells may be wrong. */
static size_t count_rows(struct load *load, size_t index)
{
    const struct log_header *header = log_reader_header(load->readers[index]);
    struct stat status;

    if (load->is_counted || header->is_closed == 0 || header->last != 0 ||
        stat(load->paths[index], &status) != 0 ||
        header->event_count > (uint64_t)status.st_size / EVENT_SIZE_LEAST) {
        return count_events(load, load->readers[index]);
    }
    return (size_t)header->event_count;
}

static bool add_row(struct load *load,
                    const struct log_event_view *event,
                    const struct open_call *call,
                    struct slice trace,
                    struct buffer *scratch)
{
    for (size_t i = 0; i < load->column_count; i++) {
        if (!loaded_column_set(&load->columns[i], load->row_count, event, call, trace,
                               scratch)) {
            return false;
        }
    }
    load->row_count++;
    return true;
}

static void read_trace(struct load *load, size_t index)
{
    struct slice trace = slice_of(load->paths[index]);
    struct buffer scratch = BUFFER_INIT;
    struct event_rows rows;

    event_rows_init(&rows, load->readers[index], &load->filter);
    rows.go_on = ask_for_signals;
    rows.context = load;
    while (!load->has_failed && event_rows_next(&rows)) {
        if (load->row_count == load->row_limit) {
            load->is_short = true;
        } else {
            load->has_failed =
                !add_row(load, &rows.item.event, rows.call, trace, &scratch);
        }
    }
    load->has_failed = load->has_failed || rows.has_failed;
    event_rows_release(&rows);
    buffer_release(&scratch);
}

/* -1: a Python exception is set. */
static int fill_columns(struct load *load)
{
    load->row_limit = 0;
    load->row_count = 0;
    load->is_short = false;
    load->is_interrupted = false;
    load->has_failed = false;
    for (size_t i = 0; i < load->trace_count; i++) {
        log_reader_rewind(load->readers[i]);
    }
    load->thread = PyEval_SaveThread();
    for (size_t i = 0; i < load->trace_count && !load->is_interrupted; i++) {
        load->row_limit += count_rows(load, i);
    }
    PyEval_RestoreThread(load->thread);
    if (load->is_interrupted || load_make_columns(load) < 0) {
        return -1;
    }
    load->thread = PyEval_SaveThread();
    for (size_t i = 0;
         i < load->trace_count && !load->is_interrupted && !load->has_failed; i++) {
        read_trace(load, i);
    }
    PyEval_RestoreThread(load->thread);
    if (load->has_failed && !load->is_interrupted) {
        PyErr_NoMemory();
    }
    return load->has_failed || load->is_interrupted ? -1 : 0;
}

static PyObject *read_all(struct load *load)
{
    if (fill_columns(load) < 0) {
        return NULL;
    }
    if (load->is_short && !load->is_counted) { /* a header was wrong */
        load->is_counted = true;
        if (fill_columns(load) < 0) {
            return NULL;
        }
    }
    return load_result(load);
}

const char view_find_traces_doc[] = "find_traces(word) -> [bytes]\n\n"
                                    "The paths of the traces that a word names: a "
                                    "file, a folder, or the name of ranks.";

PyObject *view_find_traces(PyObject *module, PyObject *args)
{
    struct error error = ERROR_INIT;
    struct trace_list list;
    struct arena arena;
    const char *word;
    PyObject *paths = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "y:find_traces", &word)) {
        return NULL;
    }
    arena_init(&arena);
    trace_list_init(&list, &arena);
    if (!trace_list_add(&list, word, &error)) {
        view_raise(&error);
    } else {
        paths = PyList_New((Py_ssize_t)list.count);
    }
    for (size_t i = 0; paths != NULL && i < list.count; i++) {
        PyObject *path = PyBytes_FromString(list.paths[i]);

        if (path == NULL || PyList_SetItem(paths, (Py_ssize_t)i, path) < 0) {
            Py_CLEAR(paths);
        }
    }
    trace_list_release(&list);
    arena_release(&arena);
    return paths;
}

static void release_opened(PyObject *capsule)
{
    load_release(PyCapsule_GetPointer(capsule, OPENED));
}

/* When each recording began, in nanoseconds since 1970. */
static PyObject *starts_new(const struct load *load)
{
    PyObject *starts = PyList_New((Py_ssize_t)load->trace_count);

    for (size_t i = 0; starts != NULL && i < load->trace_count; i++) {
        const struct log_header *header = log_reader_header(load->readers[i]);
        PyObject *start = PyLong_FromUnsignedLongLong(header->start_time);

        if (start == NULL || PyList_SetItem(starts, (Py_ssize_t)i, start) < 0) {
            Py_CLEAR(starts);
        }
    }
    return starts;
}

const char view_open_doc[] =
    "open(paths, columns, conditions) -> (opened, [start])\n\n"
    "Opens the traces at `paths`, a tuple of bytes, for load(). `columns` is a tuple "
    "of\n"
    "names or None. `conditions`: a tuple of pairs, an option of `monitorch show` and "
    "its\n"
    "text. `start` of each trace: nanoseconds since 1970, UTC.";

PyObject *view_open(PyObject *module, PyObject *args)
{
    struct load *load;
    PyObject *columns;
    PyObject *words[2];
    PyObject *opened = NULL;
    PyObject *starts = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!OO!:open", &PyTuple_Type, &words[0], &columns,
                          &PyTuple_Type, &words[1])) {
        return NULL;
    }
    if (columns != Py_None && !PyTuple_Check(columns)) {
        PyErr_SetString(PyExc_TypeError, "columns: expected a tuple or None");
        return NULL;
    }
    load = memory_allocate_zeroed(1, sizeof *load);
    if (load == NULL) {
        return PyErr_NoMemory();
    }
    event_filter_init(&load->filter);
    load->words[0] = Py_NewRef(words[0]);
    load->words[1] = Py_NewRef(words[1]);
    if (load_read_filter(load, words[1]) == 0 &&
        load_read_columns(load, columns, PyTuple_Size(words[0]) > 1) == 0 &&
        load_open_traces(load, words[0]) == 0) {
        starts = starts_new(load);
        opened = starts == NULL ? NULL : PyCapsule_New(load, OPENED, release_opened);
    }
    if (opened == NULL) {
        Py_XDECREF(starts);
        load_release(load);
        return NULL;
    }
    return Py_BuildValue("NN", opened, starts);
}

const char view_load_doc[] =
    "load(opened) -> (rows, columns, states)\n\n"
    "The events of what open() has opened, once, by one thread. The dictionary has\n"
    "(format, bytes, codes or None, texts) of each column, the bytes may be longer "
    "than\n"
    "the rows. `states` has (is closed, [damage]) of each trace.";

PyObject *view_load(PyObject *module, PyObject *args)
{
    struct load *load;
    PyObject *opened;
    PyObject *loaded;

    (void)module;
    if (!PyArg_ParseTuple(args, "O:load", &opened)) {
        return NULL;
    }
    load = PyCapsule_GetPointer(opened, OPENED);
    if (load == NULL) {
        return NULL;
    }
    if (load->is_loaded) {
        PyErr_SetString(PyExc_ValueError, "load: loaded already");
        return NULL;
    }
    loaded = read_all(load);
    if (loaded != NULL) {
        load->is_loaded = true;
        close_traces(load);
    }
    return loaded;
}
