/* What load() is asked for. */
#include "runtime/base/memory.h"
#include "runtime/python/view/error.h"
#include "runtime/python/view/load_private.h"

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

int load_read_filter(struct load *load, PyObject *conditions)
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

/* All of them; but one trace needs no column that says which. */
static void find_all_columns(bool has_trace, enum event_column *columns, size_t *count)
{
    for (int i = 0; i < EVENT_COLUMN_COUNT; i++) {
        if (i != EVENT_COLUMN_trace || has_trace) {
            columns[(*count)++] = (enum event_column)i;
        }
    }
}

int load_find_columns(PyObject *names,
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

int load_read_columns(struct load *load, PyObject *names, bool has_trace)
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

int load_open_traces(struct load *load, PyObject *paths)
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
