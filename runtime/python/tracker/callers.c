/* The frames that a tracked call is made from, as a text. */
#include "runtime/python/tracker/callers.h"

#define NEAREST_COUNT 3
#define ALL_COUNT     64

/* The last part of a path. */
static struct slice base_of(struct slice path)
{
    size_t start = path.size;

    while (start > 0 && path.bytes[start - 1] != '/') {
        start--;
    }
    return slice_part(path, start, path.size);
}

static struct slice text_of(PyObject *object)
{
    Py_ssize_t size = 0;
    const char *bytes = object == NULL || !PyUnicode_Check(object)
                            ? NULL
                            : PyUnicode_AsUTF8AndSize(object, &size);

    PyErr_Clear();
    return bytes == NULL ? SLICE("?") : (struct slice){bytes, (size_t)size};
}

static void add_place(struct slice place, uint64_t line, struct buffer *text)
{
    buffer_add_printable(text, place);
    buffer_add_byte(text, ':');
    buffer_add_number(text, line);
}

static void add_frame(
    PyObject *frame, PyObject *file, PyObject *code, bool has_name, struct buffer *text)
{
    PyObject *name = PyObject_GetAttrString(code, "co_name");
    int line = PyFrame_GetLineNumber((PyFrameObject *)frame);
    uint64_t number = line > 0 ? (uint64_t)line : 0;

    PyErr_Clear();
    if (text->size == 0) {
        add_place(text_of(name), number, text);
        buffer_add(text, SLICE(" ("));
    } else {
        buffer_add(text, SLICE(" <- "));
    }
    add_place(base_of(text_of(file)), number, text);
    if (has_name) {
        buffer_add_byte(text, ' ');
        buffer_add_printable(text, text_of(name));
    }
    Py_XDECREF(name);
}

void track_callers_add(PyObject *own_folder, bool all, struct buffer *text)
{
    PyObject *frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
    int left = all ? ALL_COUNT : NEAREST_COUNT;

    while (frame != NULL && frame != Py_None && left > 0) {
        PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
        PyObject *file = PyObject_GetAttrString(code, "co_filename");
        PyObject *back;

        PyErr_Clear();
        if (!slice_starts(text_of(file), text_of(own_folder))) {
            add_frame(frame, file, code, all, text);
            left--;
        }
        Py_XDECREF(file);
        Py_DECREF(code);
        back = PyObject_GetAttrString(frame, "f_back");
        PyErr_Clear();
        Py_DECREF(frame);
        frame = back;
    }
    buffer_add(text, text->size > 0 ? SLICE(")") : SLICE(""));
    Py_XDECREF(frame);
}
