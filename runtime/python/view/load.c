/* Events of traces as columns. */
#include "runtime/base/memory.h"
#include "runtime/python/view/load_private.h"

#include <sys/stat.h>

/* The smallest event with what stands around it: a file of some size cannot hold more. */
#define EVENT_SIZE_LEAST 40
/* How often, in items, Python's signals are asked for. */
#define SIGNAL_MASK 0x3FFFF

static void load_release(struct load *load)
{
    for (size_t i = 0; i < load->column_count; i++) {
        loaded_column_release(&load->columns[i]);
        Py_XDECREF(load->bytes[2 * i]);
        Py_XDECREF(load->bytes[2 * i + 1]);
    }
    for (size_t i = 0; i < load->trace_count; i++) {
        log_reader_free(load->readers[i]);
    }
    memory_free(load->columns);
    memory_free(load->bytes);
    memory_free(load->readers);
    memory_free(load->paths);
    event_filter_release(&load->filter);
}

/* ---- reading, without Python ---- */

static bool ask_for_signals(struct load *load)
{
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

/* Keeps what calls are open, and takes the rows. false: memory ran out. */
static bool take_item(struct load *load,
                      struct log_reader *reader,
                      struct open_calls *calls,
                      const struct log_item *item,
                      struct slice trace,
                      struct buffer *scratch)
{
    struct open_call *call = NULL;
    bool is_new = false;

    if (item->kind == LOG_END) {
        open_calls_end(calls, open_calls_find(calls, item->end.call));
        return true;
    }
    if (item->kind == LOG_CALL) {
        call = open_calls_begin(calls, &item->call, &is_new);
    } else if (item->kind == LOG_EVENT) {
        call = open_calls_of_event(calls, &item->event, &is_new);
    } else {
        return true;
    }
    if (call == NULL) {
        return false;
    }
    if (is_new) {
        event_filter_judge(&load->filter, call, reader);
    }
    if (item->kind != LOG_EVENT ||
        !event_filter_match(&load->filter, call, &item->event)) {
        return true;
    }
    if (load->row_count == load->row_limit) {
        load->is_short = true;
        return true;
    }
    return add_row(load, &item->event, call, trace, scratch);
}

static void read_trace(struct load *load, size_t index)
{
    struct log_reader *reader = load->readers[index];
    struct slice trace = slice_of(load->paths[index]);
    struct buffer scratch = BUFFER_INIT;
    struct open_calls calls;
    struct log_item item;
    size_t count = 0;

    open_calls_init(&calls);
    while (!load->has_failed && log_reader_next(reader, &item)) {
        load->has_failed = !take_item(load, reader, &calls, &item, trace, &scratch);
        if ((++count & SIGNAL_MASK) == 0 && !ask_for_signals(load)) {
            break;
        }
    }
    load->has_failed = load->has_failed || !view_has_memory(reader);
    open_calls_release(&calls);
    buffer_release(&scratch);
}

/* -1: a Python exception is set. */
static int fill_columns(struct load *load)
{
    load->row_limit = 0;
    load->row_count = 0;
    load->is_short = false;
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
        for (size_t i = 0; i < load->trace_count; i++) {
            log_reader_rewind(load->readers[i]);
        }
        if (fill_columns(load) < 0) {
            return NULL;
        }
    }
    return load_result(load);
}

const char view_load_doc[] =
    "load(paths, columns, conditions) -> (rows, columns, states)\n\n"
    "Events of the traces at `paths`, a tuple of bytes. `columns` is a tuple of names; "
    "the\n"
    "dictionary has (format, bytes, codes or None, texts) of each, the bytes may be "
    "longer\n"
    "than the rows. `conditions`: a tuple of pairs, an option of `monitorch show` and "
    "its\n"
    "text. `states` has (is closed, [damage]) of each trace.";

PyObject *view_load(PyObject *module, PyObject *args)
{
    struct load load = {0};
    PyObject *paths;
    PyObject *columns;
    PyObject *conditions;
    PyObject *loaded = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!OO!:load", &PyTuple_Type, &paths, &columns,
                          &PyTuple_Type, &conditions)) {
        return NULL;
    }
    if (columns != Py_None && !PyTuple_Check(columns)) {
        PyErr_SetString(PyExc_TypeError, "columns: expected a tuple or None");
        return NULL;
    }
    event_filter_init(&load.filter);
    if (load_take_filter(&load, conditions) == 0 &&
        load_take_columns(&load, columns, PyTuple_Size(paths) > 1) == 0 &&
        load_open_traces(&load, paths) == 0) {
        loaded = read_all(&load);
    }
    load_release(&load);
    return loaded;
}
