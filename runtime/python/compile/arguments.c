/* Arguments in, exceptions out. */
#include "runtime/python/compile/module.h"

#include "instrument/text/encoding.h"
#include "runtime/base/memory.h"

#include <stdlib.h>

struct slice bytes_slice(PyObject *bytes)
{
    char *start = NULL;
    Py_ssize_t size = 0;

    PyBytes_AsStringAndSize(bytes, &start, &size);
    return (struct slice){start, (size_t)size};
}

/* A text that declares another encoding than UTF-8 is given that, so that its declaration
 * stays true. Where that cannot be done the compiler says so. */
static PyObject *string_as_bytes(PyObject *string)
{
    PyObject *bytes = PyUnicode_AsUTF8String(string);
    struct decoded decoded;
    struct buffer encoded = BUFFER_INIT;
    struct error error = ERROR_INIT;
    struct arena arena;

    if (bytes == NULL) {
        return NULL;
    }
    arena_init(&arena);
    if (encoding_decode(bytes_slice(bytes), "", &arena, &decoded, &error) &&
        !decoded.is_utf8 &&
        encoding_encode(&decoded, bytes_slice(bytes), &encoded, &error)) {
        Py_DECREF(bytes);
        bytes = PyBytes_FromStringAndSize(encoded.bytes, (Py_ssize_t)encoded.size);
    }
    arena_release(&arena);
    buffer_release(&encoded);
    return bytes;
}

PyObject *source_as_bytes(PyObject *source)
{
    if (PyUnicode_Check(source)) {
        return string_as_bytes(source);
    }
    if (PyBytes_Check(source)) {
        return Py_NewRef(source);
    }
    PyObject *view = PyMemoryView_FromObject(source);
    if (view == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Format(PyExc_TypeError, "a source is bytes or str, not %R",
                         (PyObject *)Py_TYPE(source));
        }
        return NULL;
    }
    PyObject *bytes = PyBytes_FromObject(view);
    Py_DECREF(view);
    return bytes;
}

/* The sequence as a tuple, empty for NULL. A lone string would be a list of letters. */
static PyObject *argument_as_tuple(PyObject *argument, const char *name)
{
    if (argument == NULL) {
        return PyTuple_New(0);
    }
    if (PyUnicode_Check(argument) || PyBytes_Check(argument)) {
        PyErr_Format(PyExc_TypeError, "%s is a sequence of strings, not one string",
                     name);
        return NULL;
    }
    return PySequence_Tuple(argument);
}

/* The slices borrow from the tuple's strings. */
static int globs_read(PyObject *tuple, struct slice *slices, const char *name)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); i++) {
        PyObject *item = PyTuple_GetItem(tuple, i);
        Py_ssize_t size;

        if (!PyUnicode_Check(item)) {
            PyErr_Format(PyExc_TypeError, "%s holds %R, a string was expected", name,
                         item);
            return -1;
        }
        const char *bytes = PyUnicode_AsUTF8AndSize(item, &size);
        if (bytes == NULL) {
            return -1;
        }
        slices[i] = (struct slice){bytes, (size_t)size};
    }
    return 0;
}

static int line_number_read(PyObject *object, size_t *number)
{
    *number = PyLong_AsSize_t(object);
    return *number == (size_t)-1 && PyErr_Occurred() ? -1 : 0;
}

/* `(first, last)`, or one line. */
static int line_range_read(PyObject *object, struct line_range *range)
{
    if (PyLong_Check(object)) {
        if (line_number_read(object, &range->first) < 0) {
            return -1;
        }
        range->last = range->first;
    } else {
        PyObject *pair = PySequence_Tuple(object);
        if (pair == NULL) {
            return -1;
        }
        int status = -1;
        if (PyTuple_Size(pair) != 2) {
            PyErr_Format(PyExc_ValueError, "lines holds %R, (first, last) was expected",
                         object);
        } else if (line_number_read(PyTuple_GetItem(pair, 0), &range->first) == 0) {
            status = line_number_read(PyTuple_GetItem(pair, 1), &range->last);
        }
        Py_DECREF(pair);
        if (status < 0) {
            return -1;
        }
    }
    if (range->first < 1 || range->last < range->first) {
        PyErr_Format(
            PyExc_ValueError,
            "lines holds %R: lines count from 1, the last is not before the first",
            object);
        return -1;
    }
    return 0;
}

static int lines_read(struct request *request, PyObject *argument)
{
    PyObject *tuple = argument_as_tuple(argument, "lines");
    if (tuple == NULL) {
        return -1;
    }
    Py_ssize_t count = PyTuple_Size(tuple);
    int status = 0;

    request->lines = memory_allocate((size_t)count, sizeof *request->lines);
    if (request->lines == NULL) {
        PyErr_NoMemory();
        status = -1;
    }
    for (Py_ssize_t i = 0; i < count && status == 0; i++) {
        status = line_range_read(PyTuple_GetItem(tuple, i), &request->lines[i]);
    }
    request->selection.lines = request->lines;
    request->selection.line_count = (size_t)count;
    Py_DECREF(tuple);
    return status;
}

static int globs_read_all(struct request *request,
                          const struct selection_arguments *arguments)
{
    request->functions = argument_as_tuple(arguments->functions, "functions");
    request->spy_names = argument_as_tuple(arguments->spy, "spy");
    if (request->functions == NULL || request->spy_names == NULL) {
        return -1;
    }
    size_t function_count = (size_t)PyTuple_Size(request->functions);
    size_t spy_count = (size_t)PyTuple_Size(request->spy_names);
    request->slices =
        memory_allocate(function_count + spy_count, sizeof *request->slices);
    if (request->slices == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (globs_read(request->functions, request->slices, "functions") < 0 ||
        globs_read(request->spy_names, request->slices + function_count, "spy") < 0) {
        return -1;
    }
    request->selection.functions = request->slices;
    request->selection.function_count = function_count;
    request->selection.spy_names = request->slices + function_count;
    request->selection.spy_count = spy_count;
    return 0;
}

static int prefix_read(struct request *request, PyObject *argument)
{
    Py_ssize_t size;

    if (argument == NULL || argument == Py_None) {
        return 0;
    }
    if (!PyUnicode_Check(argument)) {
        PyErr_Format(PyExc_TypeError, "prefix is a string or None, not %R", argument);
        return -1;
    }
    const char *bytes = PyUnicode_AsUTF8AndSize(argument, &size);
    if (bytes == NULL) {
        return -1;
    }
    if (size == 0) {
        PyErr_SetString(PyExc_ValueError,
                        "the prefix is empty, expected _mt0x or None");
        return -1;
    }
    request->prefix = Py_NewRef(argument);
    request->selection.prefix = (struct slice){bytes, (size_t)size};
    return 0;
}

static int selection_read(struct request *request,
                          const struct selection_arguments *arguments)
{
    struct selection *selection = &request->selection;

    if (globs_read_all(request, arguments) < 0 ||
        lines_read(request, arguments->lines) < 0 ||
        prefix_read(request, arguments->prefix) < 0) {
        return -1;
    }
    selection->everything = arguments->everything != 0;
    selection->every_line = arguments->every_line != 0;
    if (arguments->forward != NULL && arguments->forward != Py_None) {
        int is_true = PyObject_IsTrue(arguments->forward);
        selection->forward = is_true > 0;
        return is_true < 0 ? -1 : 0;
    }
    selection->forward = selection_is_empty(selection);
    return 0;
}

int request_init(struct request *request,
                 PyObject *source,
                 PyObject *path,
                 const struct selection_arguments *arguments)
{
    struct request made = {0};

    if (PyUnicode_FSConverter(path, &made.path) == 0) {
        made.path = NULL;
        return -1;
    }
    made.source = source_as_bytes(source);
    if (made.source == NULL || selection_read(&made, arguments) < 0) {
        request_release(&made);
        return -1;
    }
    *request = made;
    return 0;
}

void request_release(struct request *request)
{
    Py_CLEAR(request->source);
    Py_CLEAR(request->path);
    Py_CLEAR(request->functions);
    Py_CLEAR(request->spy_names);
    Py_CLEAR(request->prefix);
    memory_free(request->slices);
    memory_free(request->lines);
    *request = (struct request){0};
}

/* `:LINE:COLUMN: ` at the text's start; false where it holds something else. */
static bool read_place(const char *text, unsigned long *line, unsigned long *column)
{
    char *end;

    if (text[0] != ':' || text[1] < '0' || text[1] > '9') {
        return false;
    }
    *line = strtoul(text + 1, &end, 10);
    if (end[0] != ':' || end[1] < '0' || end[1] > '9') {
        return false;
    }
    *column = strtoul(end + 1, &end, 10);
    return end[0] == ':';
}

static int set_number(PyObject *object, const char *name, unsigned long number)
{
    PyObject *value = PyLong_FromUnsignedLong(number);
    int status = value == NULL ? -1 : PyObject_SetAttrString(object, name, value);

    Py_XDECREF(value);
    return status;
}

static int set_place(PyObject *exception, PyObject *path, const struct error *error)
{
    unsigned long line, column;
    PyObject *name =
        PyUnicode_DecodeFSDefaultAndSize(PyBytes_AsString(path), PyBytes_Size(path));
    int status = name == NULL ? -1 : PyObject_SetAttrString(exception, "path", name);

    Py_XDECREF(name);
    if (status < 0) {
        return -1;
    }
    /* The path may hold such a place itself; characters in it may have been replaced. */
    size_t path_size = (size_t)PyBytes_Size(path);
    size_t text_size = strlen(error->text);
    size_t start = path_size <= text_size &&
                           memcmp(error->text, PyBytes_AsString(path), path_size) == 0
                       ? path_size
                       : 0;
    for (const char *place = error->text + start; *place != '\0'; place++) {
        if (read_place(place, &line, &column)) {
            return set_number(exception, "line", line) < 0 ||
                           set_number(exception, "column", column) < 0
                       ? -1
                       : 0;
        }
    }
    return 0;
}

void raise_error(const struct module_state *state,
                 PyObject *path,
                 const struct error *error)
{
    PyObject *type = state->error_type;

    if (error->kind == ERROR_MEMORY) {
        PyErr_NoMemory();
        return;
    }
    if (error->kind == ERROR_SYSTEM) {
        type = PyExc_OSError;
    } else if (error->kind == ERROR_USAGE) {
        type = PyExc_ValueError;
    }
    PyObject *text = PyUnicode_DecodeUTF8(error->text, (Py_ssize_t)strlen(error->text),
                                          "surrogateescape");
    PyObject *exception = text == NULL ? NULL : PyObject_CallFunction(type, "O", text);
    if (exception != NULL &&
        (type != state->error_type || set_place(exception, path, error) == 0)) {
        PyErr_SetObject(type, exception);
    }
    Py_XDECREF(exception);
    Py_XDECREF(text);
}
