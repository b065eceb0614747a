/* Columns of events: reads traces into arrays for Python, and makes Arrow streams. */
#include "instrument/output/strip.h"
#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"
#include "runtime/base/slice.h"
#include "runtime/python/view/view.h"
#include "runtime/trace/reader.h"
#include "runtime/view/arrow/arrow.h"
#include "runtime/view/walk/event_columns.h"
#include "runtime/view/walk/event_rows.h"
#include "runtime/view/walk/open_calls.h"
#include "runtime/view/walk/text_codes.h"
#include "runtime/view/walk/trace_list.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum loaded_form {
    LOADED_INTEGERS, /* int64_t; -1: none */
    LOADED_REALS,    /* double; NaN: none */
    LOADED_CODES,    /* int32_t: the index of a text; -1: none */
    LOADED_HASHES,   /* uint64_t; 0: none */
};

struct loaded_column {
    enum event_column column;
    enum loaded_form form;
    void *items;    /* borrowed: room for all rows */
    int32_t *codes; /* borrowed: texts in a column of numbers, -1: none; may be NULL */
    struct text_codes texts;
};

/* ---- one load() of some traces ---- */

#include "runtime/python/view/view.h"
#include "runtime/view/walk/event_filter.h"

struct load {
    PyObject *words
        [2]; /* owned: the paths and the conditions, from which texts are borrowed */
    struct event_filter filter;    /* owned */
    struct loaded_column *columns; /* owned */
    PyObject **bytes; /* owned: two for each column, the second may be NULL */
    size_t column_count;
    struct log_reader **readers; /* owned */
    const char **paths;          /* borrowed from a tuple of bytes */
    size_t trace_count;
    size_t row_limit;
    size_t row_count;
    bool
        is_counted; /* rows are counted by reading the traces; headers are not trusted */
    bool is_short;  /* the traces had more rows */
    PyThreadState *thread; /* while the GIL is released */
    bool is_loaded;
    bool is_interrupted; /* a Python exception is set */
    bool has_failed;     /* memory ran out */
};

/* ---- columns, filled row by row ---- */

static enum loaded_form loaded_form_of(enum event_column column)
{
    if (event_columns[column].form == COLUMN_FORM_HASH) {
        return LOADED_HASHES;
    }
    switch (column_form_type(event_columns[column].form)) {
    case COLUMN_INTEGER:
        return LOADED_INTEGERS;
    case COLUMN_REAL:
        return LOADED_REALS;
    default:
        return LOADED_CODES;
    }
}

/* The size in bytes of a row. */
static size_t loaded_form_size(enum loaded_form form)
{
    return form == LOADED_CODES ? sizeof(int32_t) : sizeof(int64_t);
}

static void loaded_column_init(struct loaded_column *loaded, enum event_column column)
{
    *loaded = (struct loaded_column){.column = column, .form = loaded_form_of(column)};
    text_codes_init(&loaded->texts);
}

static void loaded_column_release(struct loaded_column *loaded)
{
    text_codes_release(&loaded->texts);
}

/* The integer for a column of integers. A number that does not fit becomes INT64_MAX. */
static int64_t integer_of(const struct column_value *value)
{
    if (value->is_empty) {
        return -1;
    }
    return value->type == COLUMN_REAL ? INT64_MAX : value->integer;
}

static double real_of(const struct column_value *value)
{
    if (value->is_empty || value->type == COLUMN_TEXT) {
        return NAN;
    }
    return value->type == COLUMN_INTEGER ? (double)value->integer : value->real;
}

static bool
set_code(struct loaded_column *loaded, int32_t *code, const struct column_value *value)
{
    if (value->is_empty || value->type != COLUMN_TEXT) {
        *code = -1;
        return true;
    }
    return text_codes_find(&loaded->texts, value->text, code);
}

/* Sets a row of the column. `scratch` is for texts that have to be made. Returns false if memory
 * ran out. */
static bool loaded_column_set(struct loaded_column *loaded,
                              size_t row,
                              const struct log_event_view *event,
                              const struct open_call *call,
                              struct slice trace,
                              struct buffer *scratch)
{
    struct column_value value;

    if (loaded->form == LOADED_HASHES) {
        ((uint64_t *)loaded->items)[row] = event->has_hash ? event->hash : 0;
        return true;
    }
    event_column_get(loaded->column, event, call, trace, scratch, &value);
    switch (loaded->form) {
    case LOADED_INTEGERS:
        ((int64_t *)loaded->items)[row] = integer_of(&value);
        break;
    case LOADED_REALS:
        ((double *)loaded->items)[row] = real_of(&value);
        break;
    default:
        return set_code(loaded, (int32_t *)loaded->items + row, &value) &&
               !scratch->has_failed;
    }
    return loaded->codes == NULL ||
           (set_code(loaded, loaded->codes + row, &value) && !scratch->has_failed);
}

/* ---- the arguments ---- */

static int raise_memory(void)
{
    PyErr_NoMemory();
    return -1;
}

static int
add_condition(struct event_filter *filter, const char *option, const char *text)
{
    struct error error = ERROR_INIT;
    bool is_used;

    if (!event_filter_process(filter, option, text, &is_used, &error)) {
        view_raise(&error);
        return -1;
    }
    if (!is_used) {
        PyErr_Format(PyExc_ValueError, "there is no filter %.80s", option);
        return -1;
    }
    return 0;
}

/* The following functions read load()'s arguments. They return -1 with a Python exception set.
 * `conditions` is a tuple of pairs, from which the filter borrows texts. */
static int load_read_filter(struct load *load, PyObject *conditions)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(conditions); i++) {
        PyObject *condition = PyTuple_GetItem(conditions, i);
        const char *option;
        const char *text;

        if (condition == NULL || !PyArg_ParseTuple(condition, "ss", &option, &text) ||
            add_condition(&load->filter, option, text) < 0) {
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

/* Adds all columns. A single trace needs no column with its path. */
static void find_all_columns(bool has_trace, enum event_column *columns, size_t *count)
{
    for (int i = 0; i < EVENT_COLUMN_COUNT; i++) {
        if (i != EVENT_COLUMN_trace || has_trace) {
            columns[(*count)++] = (enum event_column)i;
        }
    }
}

/* Finds the columns of those names. The caller frees `*columns`, also after a failure. */
static int load_find_columns(PyObject *names,
                             bool has_trace,
                             enum event_column **columns,
                             size_t *count)
{
    size_t wanted = names == Py_None ? EVENT_COLUMN_COUNT : (size_t)PyTuple_Size(names);

    *count = 0;
    *columns = memory_allocate(wanted, sizeof **columns);
    if (*columns == NULL) {
        return raise_memory();
    }
    if (names == Py_None) {
        find_all_columns(has_trace, *columns, count);
        return 0;
    }
    for (; *count < wanted; (*count)++) {
        PyObject *name = PyTuple_GetItem(names, (Py_ssize_t)*count);
        const char *text = name == NULL ? NULL : PyUnicode_AsUTF8AndSize(name, NULL);

        if (text == NULL || find_column(text, &(*columns)[*count]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* `names` is a tuple, or None for all columns; `trace` is among them if `has_trace`. */
static int load_read_columns(struct load *load, PyObject *names, bool has_trace)
{
    enum event_column *columns = NULL;
    size_t count = 0;
    int result = load_find_columns(names, has_trace, &columns, &count);

    if (result == 0) {
        load->columns = memory_allocate_zeroed(count, sizeof *load->columns);
        load->bytes = memory_allocate_zeroed(2 * count, sizeof(PyObject *));
        result = load->columns == NULL || load->bytes == NULL ? raise_memory() : 0;
    }
    for (size_t i = 0; result == 0 && i < count; i++) {
        loaded_column_init(&load->columns[load->column_count++], columns[i]);
    }
    memory_free(columns);
    return result;
}

/* `paths` is a tuple of bytes. */
static int load_open_traces(struct load *load, PyObject *paths)
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

/* ---- the result ---- */

/* Makes a bytes object for so many rows. It is filled before other code gets it. Returns its
 * memory, or NULL with an exception set. */
static void *make_room(size_t rows, size_t size, PyObject **bytes)
{
    if (rows > (size_t)PY_SSIZE_T_MAX / size) {
        PyErr_NoMemory();
        return NULL;
    }
    *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(rows * size));
    return *bytes == NULL ? NULL : PyBytes_AsString(*bytes);
}

/* Makes room for the largest possible number of rows. Returns -1 with an exception set. */
static int load_make_columns(struct load *load)
{
    for (size_t i = 0; i < load->column_count; i++) {
        struct loaded_column *loaded = &load->columns[i];

        Py_CLEAR(load->bytes[2 * i]);
        Py_CLEAR(load->bytes[2 * i + 1]);
        loaded->items = make_room(load->row_limit, loaded_form_size(loaded->form),
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

/* A column as (format, bytes, bytes of codes or None, texts). */
static PyObject *column_new(const struct load *load, size_t index)
{
    static const char *const formats[] = {
        [LOADED_INTEGERS] = "q",
        [LOADED_REALS] = "d",
        [LOADED_CODES] = "i",
        [LOADED_HASHES] = "Q",
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

/* The states of the traces: [(is_closed, [damage])]. */
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

/* The result of load(). NULL: a Python exception is set. */
static PyObject *load_result(const struct load *load)
{
    PyObject *columns = columns_new(load);
    PyObject *states = columns == NULL ? NULL : states_new(load);

    if (states == NULL) {
        Py_XDECREF(columns);
        return NULL;
    }
    return Py_BuildValue("nNN", (Py_ssize_t)load->row_count, columns, states);
}

#define OPENED "monitorch.opened"

/* The size of the smallest event with its overhead, which limits the number of events in a file. */
#define EVENT_SIZE_LEAST 40
/* Python's signals are checked once in so many items, plus one. */
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

/* ---- reading, without the GIL ---- */

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

/* An upper limit of the rows. A finished trace has the number in its header; it may be wrong. */
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

/* Reads all traces into the columns. Returns -1 with a Python exception set. */
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
    if (load->is_short && !load->is_counted) { /* a header had a wrong number */
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

/* The start of each recording, in nanoseconds since 1970. */
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

/* ---- tables of traces as Arrow streams, in capsules ---- */

#define STREAM  "arrow_array_stream"
#define SCHEMA  "arrow_schema"
#define WARNING "%s: %s; the stream ended with what could be read"

/* ---- capsules ---- */

static void release_stream(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, STREAM);

    if (stream->release != NULL) {
        stream->release(stream);
    }
    memory_free(stream);
}

static void release_schema(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, SCHEMA);

    if (schema->release != NULL) {
        schema->release(schema);
    }
    memory_free(schema);
}

/* A capsule with the stream's schema. Releases the stream. */
static PyObject *schema_new(struct ArrowArrayStream *stream)
{
    struct ArrowSchema *schema = memory_allocate(1, sizeof *schema);
    PyObject *capsule = NULL;

    if (schema == NULL || stream->get_schema(stream, schema) != 0) {
        stream->release(stream);
        memory_free(schema);
        return PyErr_NoMemory();
    }
    stream->release(stream);
    capsule = PyCapsule_New(schema, SCHEMA, release_schema);
    if (capsule == NULL) {
        schema->release(schema);
        memory_free(schema);
    }
    return capsule;
}

static PyObject *stream_new(const struct ArrowArrayStream *made)
{
    struct ArrowArrayStream *stream = memory_allocate(1, sizeof *stream);
    struct ArrowArrayStream unwanted = *made;
    PyObject *capsule = NULL;

    if (stream == NULL) {
        unwanted.release(&unwanted);
        return PyErr_NoMemory();
    }
    *stream = *made;
    capsule = PyCapsule_New(stream, STREAM, release_stream);
    if (capsule == NULL) {
        unwanted.release(&unwanted);
        memory_free(stream);
    }
    return capsule;
}

/* ---- damage ---- */

/* Raises the warning. Runs in the main thread with the GIL. */
static int warn(void *context)
{
    char *text = context;
    int result = PyErr_WarnEx(PyExc_RuntimeWarning, text, 1);

    memory_free(text);
    return result;
}

/* Reports damage as a warning. Called from any thread, with or without the GIL. */
static void report_damage(const char *path, const char *damage)
{
    size_t size = strlen(path) + strlen(damage) + sizeof WARNING;
    char *text = memory_allocate(size, 1);

    if (text == NULL) {
        return;
    }
    snprintf(text, size, WARNING, path, damage);
    if (Py_AddPendingCall(warn, text) < 0) {
        memory_free(text);
    }
}

/* ---- requests ---- */

static const struct sql_rows *find_rows(const char *table)
{
    static const struct sql_rows *const all[] = {&sql_sites_rows, &sql_calls_rows,
                                                 &sql_edges_rows, &sql_steps_rows,
                                                 &sql_parameters_rows};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i]->table.name, table) == 0) {
            return all[i];
        }
    }
    return NULL;
}

struct request {
    struct arrow_request wanted;
    const char **paths;                 /* owned */
    struct arrow_condition *conditions; /* owned */
    enum event_column *columns;         /* owned */
};

static void request_release(struct request *request)
{
    memory_free(request->paths);
    memory_free(request->conditions);
    memory_free(request->columns);
}

static int read_paths(struct request *request, PyObject *paths)
{
    size_t count = (size_t)PyTuple_Size(paths);

    request->paths = memory_allocate(count, sizeof *request->paths);
    if (request->paths == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        PyObject *path = PyTuple_GetItem(paths, (Py_ssize_t)i);

        request->paths[i] = path == NULL ? NULL : PyBytes_AsString(path);
        if (request->paths[i] == NULL) {
            return -1;
        }
    }
    request->wanted.paths = request->paths;
    request->wanted.path_count = count;
    return 0;
}

static int read_conditions(struct request *request, PyObject *conditions)
{
    size_t count = (size_t)PyTuple_Size(conditions);

    request->conditions = memory_allocate(count, sizeof *request->conditions);
    if (request->conditions == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        PyObject *condition = PyTuple_GetItem(conditions, (Py_ssize_t)i);

        if (condition == NULL ||
            !PyArg_ParseTuple(condition, "ss", &request->conditions[i].option,
                              &request->conditions[i].text)) {
            return -1;
        }
    }
    request->wanted.conditions = request->conditions;
    request->wanted.condition_count = count;
    return 0;
}

static int read_columns(struct request *request, PyObject *names)
{
    bool has_trace = request->wanted.path_count > 1;

    return load_find_columns(names, has_trace, &request->columns,
                             &request->wanted.column_count);
}

static PyObject *make(struct request *request, bool is_schema)
{
    struct error error = ERROR_INIT;
    struct ArrowArrayStream stream;

    request->wanted.columns = request->columns;
    request->wanted.strip = strip_source;
    request->wanted.report = report_damage;
    if (!arrow_stream_make(&stream, &request->wanted, &error)) {
        view_raise(&error);
        return NULL;
    }
    return is_schema ? schema_new(&stream) : stream_new(&stream);
}

const char view_arrow_doc[] =
    "arrow(table, paths, columns, conditions, is_schema) -> capsule\n\n"
    "The table `events`, `sites`, `calls`, `edges`, `steps` or `parameters` of the "
    "traces at `paths`, a tuple "
    "of\n"
    "bytes, as an Arrow stream, or its schema. `columns` and `conditions` are of "
    "events,\n"
    "as open() has them.";

PyObject *view_arrow(PyObject *module, PyObject *args)
{
    struct request request = {.paths = NULL};
    PyObject *paths;
    PyObject *columns;
    PyObject *conditions;
    PyObject *capsule = NULL;
    const char *table;
    int is_schema;

    (void)module;
    if (!PyArg_ParseTuple(args, "sO!OO!p:arrow", &table, &PyTuple_Type, &paths,
                          &columns, &PyTuple_Type, &conditions, &is_schema)) {
        return NULL;
    }
    request.wanted.rows = find_rows(table);
    if (request.wanted.rows == NULL && strcmp(table, "events") != 0) {
        PyErr_Format(PyExc_ValueError, "there is no table %.80s", table);
        return NULL;
    }
    if (read_paths(&request, paths) == 0 &&
        read_conditions(&request, conditions) == 0 &&
        read_columns(&request, columns) == 0) {
        capsule = make(&request, is_schema != 0);
    }
    request_release(&request);
    return capsule;
}
