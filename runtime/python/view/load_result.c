/* What load() gives: columns, and the state of each trace. */
#include "runtime/python/view/load_private.h"

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

int load_make_columns(struct load *load)
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

/* (format, bytes, bytes of codes or None, texts) */
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

PyObject *load_result(const struct load *load)
{
    PyObject *columns = columns_new(load);
    PyObject *states = columns == NULL ? NULL : states_new(load);

    if (states == NULL) {
        Py_XDECREF(columns);
        return NULL;
    }
    return Py_BuildValue("nNN", (Py_ssize_t)load->row_count, columns, states);
}
