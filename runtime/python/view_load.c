/* Events of traces as columns. */
#include "runtime/python/view_load.h"

#include "runtime/base/memory.h"
#include "runtime/python/view_columns.h"
#include "runtime/python/view_error.h"
#include "runtime/view/event_filter.h"

#include <sys/stat.h>

/* The smallest event with what stands around it: a file of some size cannot hold more. */
#define EVENT_SIZE_LEAST 40
/* How often, in items, Python's signals are asked for. */
#define SIGNAL_MASK 0x3FFFF

/* One load() of some traces. */
struct load {
    struct event_filter filter;    /* owned */
    struct loaded_column *columns; /* owned */
    PyObject **bytes; /* owned: two of each column, the second may be NULL */
    size_t column_count;
    struct log_reader **readers; /* owned */
    const char **paths;          /* borrowed from a tuple of bytes */
    size_t trace_count;
    size_t row_limit;
    size_t row_count;
    bool is_counted;       /* the limit was found by reading, not believed */
    bool is_short;         /* there were more rows */
    PyThreadState *thread; /* while Python runs without us */
    bool is_interrupted;   /* a Python exception is set */
    bool has_failed;       /* memory ran out */
};

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

/* ---- arguments; -1: a Python exception is set ---- */

static int raise_memory(void)
{
    PyErr_NoMemory();
    return -1;
}

static int
add_condition(struct event_filter *filter, const char *option, struct slice text)
{
    struct glob_list *globs = event_filter_list(filter, option);
    struct error error = ERROR_INIT;
    bool is_done = true;

    if (globs != NULL) {
        is_done = event_filter_add_glob(filter, globs, text, &error);
    } else if (strcmp(option, "line") == 0) {
        is_done = event_filter_add_line(filter, text, &error);
    } else if (strcmp(option, "kind") == 0) {
        is_done = event_filter_add_kinds(filter, text, &error);
    } else if (strcmp(option, "call") == 0) {
        is_done = event_filter_set_call(filter, text, &error);
    } else if (strcmp(option, "changed") == 0) {
        filter->is_changed = true;
    } else if (strcmp(option, "nan") == 0) {
        filter->is_nonfinite = true;
    } else {
        PyErr_Format(PyExc_ValueError, "there is no filter %.80s", option);
        return -1;
    }
    if (!is_done) {
        view_raise(&error);
        return -1;
    }
    return 0;
}

/* A tuple of (option, text); the filter borrows the texts. */
static int take_filter(struct load *load, PyObject *conditions)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(conditions); i++) {
        PyObject *condition = PyTuple_GetItem(conditions, i);
        const char *option;
        const char *text;
        Py_ssize_t size;

        if (condition == NULL ||
            !PyArg_ParseTuple(condition, "ss#", &option, &text, &size) ||
            add_condition(&load->filter, option, (struct slice){text, (size_t)size}) <
                0) {
            return -1;
        }
    }
    return 0;
}

static int find_column(const char *name, enum event_column *column)
{
    for (int i = 0; i < EVENT_COLUMN_COUNT; i++) {
        if (strcmp(event_columns[i].name, name) == 0) {
            *column = (enum event_column)i;
            return 0;
        }
    }
    PyErr_Format(PyExc_ValueError, "there is no column %.80s", name);
    return -1;
}

static int make_room_for_columns(struct load *load, size_t count)
{
    load->columns = memory_allocate_zeroed(count, sizeof *load->columns);
    load->bytes = memory_allocate_zeroed(2 * count, sizeof(PyObject *));
    return load->columns == NULL || load->bytes == NULL ? raise_memory() : 0;
}

/* All of them; but one trace needs no column that says which. */
static int take_all_columns(struct load *load, bool has_trace)
{
    if (make_room_for_columns(load, EVENT_COLUMN_COUNT) < 0) {
        return -1;
    }
    for (int i = 0; i < EVENT_COLUMN_COUNT; i++) {
        if (i != EVENT_COLUMN_trace || has_trace) {
            loaded_column_init(&load->columns[load->column_count++],
                               (enum event_column)i);
        }
    }
    return 0;
}

static int take_columns(struct load *load, PyObject *names)
{
    size_t count = (size_t)PyTuple_Size(names);

    if (make_room_for_columns(load, count) < 0) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GetItem(names, (Py_ssize_t)i);
        const char *text = name == NULL ? NULL : PyUnicode_AsUTF8AndSize(name, NULL);
        enum event_column column;

        if (text == NULL || find_column(text, &column) < 0) {
            return -1;
        }
        loaded_column_init(&load->columns[load->column_count++], column);
    }
    return 0;
}

/* `paths` is a tuple of bytes. */
static int open_traces(struct load *load, PyObject *paths)
{
    size_t count = (size_t)PyTuple_Size(paths);
    struct error error = ERROR_INIT;

    load->readers = memory_allocate_zeroed(count, sizeof(struct log_reader *));
    load->paths = memory_allocate_zeroed(count, sizeof *load->paths);
    if (load->readers == NULL || load->paths == NULL) {
        return raise_memory();
    }
    for (size_t i = 0; i < count; i++) {
        PyObject *path = PyTuple_GetItem(paths, (Py_ssize_t)i);

        load->paths[i] = path == NULL ? NULL : PyBytes_AsString(path);
        if (load->paths[i] == NULL) {
            return -1;
        }
        Py_BEGIN_ALLOW_THREADS load->readers[i] =
            log_reader_new(load->paths[i], &error);
        Py_END_ALLOW_THREADS if (load->readers[i] == NULL)
        {
            view_raise(&error);
            return -1;
        }
        load->trace_count++;
    }
    return 0;
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
        call = open_calls_find(calls, item->end.call);
        if (call != NULL) {
            open_calls_end(calls, call);
        }
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

/* ---- Python's objects ---- */

/* The bytes are written before anybody else sees them. */
static void *make_room(size_t rows, size_t size, PyObject **bytes)
{
    if (rows > (size_t)PY_SSIZE_T_MAX / size) {
        PyErr_NoMemory();
        return NULL;
    }
    *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(rows * size));
    return *bytes == NULL ? NULL : PyBytes_AsString(*bytes);
}

static int make_columns(struct load *load)
{
    for (size_t i = 0; i < load->column_count; i++) {
        struct loaded_column *loaded = &load->columns[i];

        Py_CLEAR(load->bytes[2 * i]);
        Py_CLEAR(load->bytes[2 * i + 1]);
        loaded->items = make_room(load->row_limit, column_form_size(loaded->form),
                                  &load->bytes[2 * i]);
        if (loaded->items == NULL) {
            return -1;
        }
        if (loaded->column == EVENT_COLUMN_value) {
            loaded->codes = make_room(load->row_limit, sizeof *loaded->codes,
                                      &load->bytes[2 * i + 1]);
            if (loaded->codes == NULL) {
                return -1;
            }
        }
    }
    return 0;
}

static PyObject *texts_new(const struct text_codes *codes)
{
    PyObject *list = PyList_New((Py_ssize_t)codes->count);

    for (size_t i = 0; list != NULL && i < codes->count; i++) {
        struct slice text = codes->texts[i];
        PyObject *item =
            PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.size, "replace");

        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

/* (format, bytes, bytes of codes or None, texts) */
static PyObject *column_new(const struct load *load, size_t index)
{
    static const char *const formats[] = {
        [COLUMN_FORM_INTEGERS] = "q",
        [COLUMN_FORM_REALS] = "d",
        [COLUMN_FORM_CODES] = "i",
        [COLUMN_FORM_HASHES] = "Q",
    };
    const struct loaded_column *loaded = &load->columns[index];
    PyObject *codes = load->bytes[2 * index + 1];
    PyObject *texts = texts_new(&loaded->texts);

    if (texts == NULL) {
        return NULL;
    }
    return Py_BuildValue("sOON", formats[loaded->form], load->bytes[2 * index],
                         codes == NULL ? Py_None : codes, texts);
}

static PyObject *columns_new(const struct load *load)
{
    PyObject *columns = PyDict_New();

    for (size_t i = 0; columns != NULL && i < load->column_count; i++) {
        PyObject *column = column_new(load, i);

        if (column == NULL ||
            PyDict_SetItemString(columns, event_columns[load->columns[i].column].name,
                                 column) < 0) {
            Py_XDECREF(column);
            Py_DECREF(columns);
            return NULL;
        }
        Py_DECREF(column);
    }
    return columns;
}

static PyObject *damage_new(const struct log_reader *reader)
{
    PyObject *list = PyList_New(0);
    size_t count = log_reader_damage_count(reader);

    for (size_t i = 0; list != NULL && i < count; i++) {
        const char *message = log_reader_damage(reader, i);
        PyObject *text =
            PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");

        if (text == NULL || PyList_Append(list, text) < 0) {
            Py_XDECREF(text);
            Py_DECREF(list);
            return NULL;
        }
        Py_DECREF(text);
    }
    return list;
}

/* [(is_closed, [damage])] */
static PyObject *states_new(const struct load *load)
{
    PyObject *states = PyList_New((Py_ssize_t)load->trace_count);

    for (size_t i = 0; states != NULL && i < load->trace_count; i++) {
        PyObject *damage = damage_new(load->readers[i]);
        PyObject *state =
            damage == NULL
                ? NULL
                : Py_BuildValue(
                      "NN",
                      PyBool_FromLong(log_reader_header(load->readers[i])->is_closed !=
                                      0),
                      damage);

        if (state == NULL || PyList_SetItem(states, (Py_ssize_t)i, state) < 0) {
            Py_DECREF(states);
            return NULL;
        }
    }
    return states;
}

static PyObject *loaded_new(const struct load *load)
{
    PyObject *columns = columns_new(load);
    PyObject *states = columns == NULL ? NULL : states_new(load);

    if (states == NULL) {
        Py_XDECREF(columns);
        return NULL;
    }
    return Py_BuildValue("nNN", (Py_ssize_t)load->row_count, columns, states);
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
    if (load->is_interrupted || make_columns(load) < 0) {
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
    return loaded_new(load);
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
    bool is_taken;

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
    is_taken = take_filter(&load, conditions) == 0 &&
               (columns == Py_None ? take_all_columns(&load, PyTuple_Size(paths) > 1)
                                   : take_columns(&load, columns)) == 0;
    if (is_taken && open_traces(&load, paths) == 0) {
        loaded = read_all(&load);
    }
    load_release(&load);
    return loaded;
}
