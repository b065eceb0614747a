/* What a tensor is to be saved as, and where the program does it. */
#include "runtime/base/buffer.h"
#include "runtime/python/spy/saver.h"

#include <string.h>

/* UTF-8; halves of surrogate pairs stay as they are. */
static bool
add_text(struct saver_request *request, PyObject *object, struct slice *text)
{
    PyObject *bytes;

    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "expected a str, not %R", object);
        return false;
    }
    bytes = PyUnicode_AsEncodedString(object, "utf-8", "surrogatepass");
    if (bytes == NULL) {
        return false;
    }
    request->texts[request->text_count++] = bytes;
    *text = (struct slice){PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)};
    return true;
}

static bool read_key(struct saver_request *request, PyObject *key)
{
    struct saved_key *saved = &request->saved.key;

    if (!PyTuple_Check(key) || PyTuple_Size(key) != 4) {
        PyErr_SetString(PyExc_TypeError,
                        "a key is a tuple: prefix, module path, name, call");
        return false;
    }
    if (!add_text(request, PyTuple_GetItem(key, 0), &saved->prefix) ||
        !add_text(request, PyTuple_GetItem(key, 1), &saved->module_path) ||
        !add_text(request, PyTuple_GetItem(key, 2), &saved->name)) {
        return false;
    }
    saved->call = PyLong_AsUnsignedLongLong(PyTuple_GetItem(key, 3));
    return !PyErr_Occurred();
}

static bool read_place(struct saver_request *request, PyObject *place)
{
    long line;

    if (!PyTuple_Check(place) || PyTuple_Size(place) != 3) {
        PyErr_SetString(PyExc_TypeError,
                        "a place is a tuple: file, line, function; or None");
        return false;
    }
    line = PyLong_AsLong(PyTuple_GetItem(place, 1));
    if (PyErr_Occurred()) {
        return false;
    }
    request->saved.line = line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
    return add_text(request, PyTuple_GetItem(place, 0), &request->saved.file) &&
           add_text(request, PyTuple_GetItem(place, 2), &request->saved.function);
}

/* Whether the frame runs code of this package. */
static bool is_ours(struct session *session, PyObject *frame)
{
    PyObject *globals = PyObject_GetAttr(frame, session->name_f_globals);
    PyObject *name = globals == NULL || !PyDict_Check(globals)
                         ? NULL
                         : PyDict_GetItemWithError(globals, session->name_name);
    Py_ssize_t size = 0;
    const char *text = name == NULL || !PyUnicode_Check(name)
                           ? NULL
                           : PyUnicode_AsUTF8AndSize(name, &size);
    struct slice module = {text, (size_t)size};
    bool is = text != NULL && (slice_equal(module, SLICE("monitorch")) ||
                               slice_starts(module, SLICE("monitorch.")));

    PyErr_Clear();
    Py_XDECREF(globals);
    return is;
}

/* The innermost frame outside of this package; a new reference, or NULL. */
static PyObject *find_frame(struct session *session)
{
    PyObject *frame = (PyObject *)PyEval_GetFrame();

    Py_XINCREF(frame);
    while (frame != NULL && is_ours(session, frame)) {
        PyObject *back = PyObject_GetAttr(frame, session->name_f_back);
        Py_DECREF(frame);
        frame = back;
    }
    if (frame == NULL || frame == Py_None) {
        PyErr_Clear();
        Py_XDECREF(frame);
        return NULL;
    }
    return frame;
}

static PyObject *find_text(PyObject *code, const char *plain, const char *better)
{
    PyObject *text = better == NULL ? NULL : PyObject_GetAttrString(code, better);

    if (text == NULL) {
        PyErr_Clear();
        text = PyObject_GetAttrString(code, plain);
    }
    return text;
}

/* Where it is not known, the request says nothing of it. */
static bool find_place(struct saver_request *request, struct session *session)
{
    PyObject *frame = find_frame(session);
    PyObject *code, *file, *function;
    bool is_read;

    if (frame == NULL) {
        return true;
    }
    code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    file = find_text(code, "co_filename", NULL);
    function = find_text(code, "co_name", "co_qualname"); /* from 3.11 on */
    int line = PyFrame_GetLineNumber((PyFrameObject *)frame);
    request->saved.line = line > 0 ? (uint32_t)line : 0;
    is_read = file != NULL && function != NULL &&
              add_text(request, file, &request->saved.file) &&
              add_text(request, function, &request->saved.function);
    Py_XDECREF(function);
    Py_XDECREF(file);
    Py_DECREF(code);
    Py_DECREF(frame);
    return is_read;
}

bool saver_request_init(struct saver_request *request,
                        struct session *session,
                        PyObject *key,
                        PyObject *place)
{
    *request = (struct saver_request){.text_count = 0};
    if (!read_key(request, key) || !(place == Py_None ? find_place(request, session)
                                                      : read_place(request, place))) {
        saver_request_release(request);
        return false;
    }
    request->saved.order = session->saved_count++;
    return true;
}

void saver_request_release(struct saver_request *request)
{
    for (size_t i = 0; i < request->text_count; i++) {
        Py_DECREF(request->texts[i]);
    }
    request->text_count = 0;
}

/* `cannot save step0.encoder.q (call 3): No space left on device` */
static PyObject *make_message(const struct saver_request *request, const char *reason)
{
    struct buffer text = BUFFER_INIT;
    PyObject *message = NULL;

    buffer_add(&text, SLICE("cannot save "));
    if (request == NULL) {
        buffer_add(&text, SLICE("a file of tensors: "));
    } else {
        saved_key_add_full_name(&request->saved.key, &text);
        buffer_add(&text, SLICE(" (call "));
        buffer_add_number(&text, request->saved.key.call);
        buffer_add(&text, SLICE("): "));
    }
    buffer_add(&text, slice_of(reason));
    if (text.has_failed) {
        PyErr_NoMemory();
    } else {
        message = PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.size, "replace");
    }
    buffer_release(&text);
    return message;
}

PyObject *saver_raise(const struct error *error,
                      int number,
                      const struct saver_request *request,
                      const char *path)
{
    PyObject *message, *raised;

    if (error->kind == ERROR_MEMORY) {
        return PyErr_NoMemory();
    }
    if (error->kind == ERROR_USAGE || number == 0) {
        message = make_message(request, error->text);
        if (message != NULL) {
            PyErr_SetObject(PyExc_ValueError, message);
            Py_DECREF(message);
        }
        return NULL;
    }
    message = make_message(request, strerror(number));
    raised = message == NULL
                 ? NULL
                 : PyObject_CallFunction(PyExc_OSError, "iOO&", number, message,
                                         PyUnicode_DecodeFSDefault, path);
    if (raised != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(raised), raised);
    }
    Py_XDECREF(raised);
    Py_XDECREF(message);
    return NULL;
}
