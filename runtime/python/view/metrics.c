/* The metrics of a step as lines of text: CSV and JSON. */
#include "runtime/python/view/view.h"

#include "runtime/base/buffer.h"
#include "runtime/view/list/csv_text.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"

#include <math.h>

const char view_metrics_csv_doc[] =
    "metrics_csv(step, metrics) -> bytes\n\n"
    "A row `step,key,value` for each number in {key: number}.";

const char view_metrics_json_doc[] =
    "metrics_json(step, metrics, histograms) -> bytes\n\n"
    "A line of JSON; histograms are {key: (counts, edges)}.";

/* ---- numbers; what is none is left out ---- */

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
    if (PyErr_Occurred()) { /* beyond all doubles */
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

PyObject *view_metrics_csv(PyObject *module, PyObject *args)
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

/* `"key":`, after a comma where it is not the first. */
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

PyObject *view_metrics_json(PyObject *module, PyObject *args)
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
