/* Charts of metrics: {step: {key: number}} is turned into a line for each key. */
#include "runtime/python/view/view.h"

#include "runtime/base/memory.h"
#include "runtime/base/selection/selection.h"
#include "runtime/view/picture/chart/chart.h"

#include <math.h>
#include <stdlib.h>

const char view_chart_doc[] =
    "chart(metrics, patterns, format, *, scale='auto', theme='light', title='',\n"
    "      width=0.0, height=0.0, dpi=96.0) -> (bytes, int)\n\n"
    "A picture of {step: {key: number}}, a line for each key that matches one of\n"
    "the globs; and how many there are. 'png', 'svg' or 'pdf'; sizes are points.";

struct value {
    double step;
    double number;
    size_t order; /* of arrival: values of equal steps keep their order */
};

struct series {
    PyObject *name; /* owned: bytes */
    struct value *values;
    size_t count;
    size_t capacity;
    double *columns; /* owned: `count` steps, then the numbers */
};

struct gathering {
    PyObject *globs; /* owned: a list of bytes */
    PyObject *known; /* owned: key -> the index of its series, or -1 */
    struct series *series;
    size_t count;
    size_t capacity;
};

static void gathering_release(struct gathering *gathering)
{
    for (size_t i = 0; i < gathering->count; i++) {
        Py_XDECREF(gathering->series[i].name);
        memory_free(gathering->series[i].values);
        memory_free(gathering->series[i].columns);
    }
    memory_free(gathering->series);
    Py_XDECREF(gathering->globs);
    Py_XDECREF(gathering->known);
}

/* ---- gathering; -1: a Python exception is set ---- */

static int no_memory(void)
{
    PyErr_NoMemory();
    return -1;
}

static struct slice bytes_slice(PyObject *bytes)
{
    return (struct slice){PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)};
}

static bool is_wanted(const struct gathering *gathering, struct slice key)
{
    Py_ssize_t count = PyList_Size(gathering->globs);

    for (Py_ssize_t i = 0; i < count; i++) {
        if (glob_match(key, bytes_slice(PyList_GetItem(gathering->globs, i)))) {
            return true;
        }
    }
    return false;
}

static int globs_read(struct gathering *gathering, PyObject *patterns)
{
    PyObject *given = PySequence_Tuple(patterns);
    Py_ssize_t count = given == NULL ? 0 : PyTuple_Size(given);
    int status = given == NULL ? -1 : 0;

    for (Py_ssize_t i = 0; i < count && status == 0; i++) {
        struct slice glob;

        status = call_text_keep(PyTuple_GetItem(given, i), gathering->globs, &glob);
    }
    Py_XDECREF(given);
    return status;
}

/* Adds a series for a new key if it is wanted. *number is its index, or -1. */
static int add_key(struct gathering *gathering, PyObject *key, long *number)
{
    PyObject *bytes = NULL;
    PyObject *place;
    struct slice name;
    void *series = gathering->series;
    int status;

    *number = -1;
    if (!PyUnicode_Check(key)) {
        return 0;
    }
    if (call_text_read(key, &bytes, &name) < 0) {
        return -1;
    }
    if (is_wanted(gathering, name)) {
        if (!memory_grow(&series, &gathering->capacity, gathering->count + 1,
                         sizeof *gathering->series)) {
            Py_DECREF(bytes);
            return no_memory();
        }
        gathering->series = series;
        *number = (long)gathering->count;
        gathering->series[gathering->count++] =
            (struct series){.name = Py_NewRef(bytes)};
    }
    Py_DECREF(bytes);
    place = PyLong_FromLong(*number);
    status = place == NULL ? -1 : PyDict_SetItem(gathering->known, key, place);
    Py_XDECREF(place);
    return status;
}

static int
add_value(struct gathering *gathering, PyObject *key, double step, PyObject *value)
{
    PyObject *place = PyDict_GetItemWithError(gathering->known, key);
    long number = -1;
    struct series *series;
    void *values;
    double real;

    if (place != NULL) {
        number = PyLong_AsLong(place);
    } else if (PyErr_Occurred() || add_key(gathering, key, &number) < 0) {
        return -1;
    }
    if (number < 0 || !(PyFloat_Check(value) || PyLong_Check(value))) {
        return 0;
    }
    real = PyFloat_AsDouble(value);
    if (real == -1.0 && PyErr_Occurred()) { /* an int beyond the range of a double */
        PyErr_Clear();
        real = INFINITY;
    }
    series = &gathering->series[number];
    values = series->values;
    if (!memory_grow(&values, &series->capacity, series->count + 1,
                     sizeof *series->values)) {
        return no_memory();
    }
    series->values = values;
    series->values[series->count] = (struct value){step, real, series->count};
    series->count++;
    return 0;
}

static int read_step(struct gathering *gathering, double step, PyObject *metrics)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    int status = 0;

    while (status == 0 && PyDict_Next(metrics, &at, &key, &value)) {
        status = add_value(gathering, key, step, value);
    }
    return status;
}

static int measure_all(struct gathering *gathering, PyObject *metrics)
{
    PyObject *step, *inner;
    Py_ssize_t at = 0;

    while (PyDict_Next(metrics, &at, &step, &inner)) {
        double number = PyFloat_AsDouble(step);

        if (number == -1.0 && PyErr_Occurred()) {
            return -1;
        }
        if (!PyDict_Check(inner)) {
            PyErr_SetString(PyExc_TypeError, "expected {step: {key: number}}");
            return -1;
        }
        if (isfinite(number) && read_step(gathering, number, inner) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- lines ---- */

static int compare(const void *a, const void *b)
{
    const struct value *left = a;
    const struct value *right = b;

    if (left->step != right->step) {
        return left->step < right->step ? -1 : 1;
    }
    return left->order < right->order ? -1 : left->order > right->order;
}

static bool series_finish(struct series *series, struct chart_line *line)
{
    series->columns = memory_allocate(series->count, 2 * sizeof *series->columns);
    if (series->columns == NULL) {
        return false;
    }
    qsort(series->values, series->count, sizeof *series->values, compare);
    for (size_t i = 0; i < series->count; i++) {
        series->columns[i] = series->values[i].step;
        series->columns[series->count + i] = series->values[i].number;
    }
    *line = (struct chart_line){
        .name = bytes_slice(series->name),
        .steps = series->columns,
        .values = series->columns + series->count,
        .count = series->count,
    };
    return true;
}

static PyObject *draw(struct gathering *gathering,
                      const struct chart_options *options,
                      enum render_format format,
                      double dpi)
{
    struct chart_line *lines = memory_allocate(gathering->count, sizeof *lines);
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;
    PyObject *made = NULL;
    bool is_done = lines != NULL;
    size_t count = 0;
    PyThreadState *thread;

    for (size_t i = 0; i < gathering->count && is_done; i++) {
        if (gathering->series[i].count > 0) {
            is_done = series_finish(&gathering->series[i], &lines[count++]);
        }
    }
    thread = PyEval_SaveThread();
    if (!is_done) {
        error_set_memory(&error);
    } else if (count > 0) {
        is_done = chart_render(lines, count, options, format, dpi, &bytes, &error);
    }
    PyEval_RestoreThread(thread);
    if (is_done) {
        made = Py_BuildValue("(y#n)", bytes.bytes == NULL ? "" : bytes.bytes,
                             (Py_ssize_t)bytes.size, (Py_ssize_t)count);
    } else {
        view_raise(&error);
    }
    buffer_release(&bytes);
    memory_free(lines);
    return made;
}

/* ---- arguments ---- */

static int read_scale(const char *name, enum chart_scale *scale)
{
    if (strcmp(name, "auto") == 0) {
        *scale = CHART_AUTO;
    } else if (strcmp(name, "linear") == 0) {
        *scale = CHART_LINEAR;
    } else if (strcmp(name, "log") == 0) {
        *scale = CHART_LOG;
    } else {
        PyErr_Format(PyExc_ValueError, "scale: expected auto, linear or log, not %.80s",
                     name);
        return -1;
    }
    return 0;
}

/* Checks a side's length. 0 is the default size. */
static int check_side(const char *name, double points)
{
    if (points == 0 || (points >= CHART_SIDE_LEAST && points <= CHART_SIDE_MOST)) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "%s: expected %d to %d points", name,
                 (int)CHART_SIDE_LEAST, (int)CHART_SIDE_MOST);
    return -1;
}

static int check(const char *format_name,
                 const char *scale,
                 const char *theme,
                 double dpi,
                 enum render_format *format,
                 struct chart_options *options)
{
    if (view_read_format(format_name, false, format) < 0 || view_check_dpi(dpi) < 0 ||
        read_scale(scale, &options->scale) < 0 ||
        view_read_theme(theme, &options->theme) < 0) {
        return -1;
    }
    return check_side("width", options->width) < 0 ||
                   check_side("height", options->height) < 0
               ? -1
               : 0;
}

PyObject *view_chart(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"metrics", "patterns", "format", "scale", "theme",
                            "title",   "width",    "height", "dpi",   NULL};
    struct gathering gathering = {.count = 0};
    struct chart_options options = {.theme = PICTURE_LIGHT};
    enum render_format format = RENDER_PNG;
    const char *format_name, *scale = "auto", *theme = "light";
    PyObject *metrics, *patterns, *title = NULL, *title_bytes = NULL, *made = NULL;
    double dpi = 96;

    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!Os|$ssUddd:chart", names,
                                     &PyDict_Type, &metrics, &patterns, &format_name,
                                     &scale, &theme, &title, &options.width,
                                     &options.height, &dpi) ||
        check(format_name, scale, theme, dpi, &format, &options) < 0 ||
        (title != NULL && call_text_read(title, &title_bytes, &options.title) < 0)) {
        return NULL;
    }
    gathering.globs = PyList_New(0);
    gathering.known = PyDict_New();
    if (gathering.globs != NULL && gathering.known != NULL &&
        globs_read(&gathering, patterns) == 0 &&
        measure_all(&gathering, metrics) == 0) {
        made = draw(&gathering, &options, format, dpi);
    }
    gathering_release(&gathering);
    Py_XDECREF(title_bytes);
    return made;
}
