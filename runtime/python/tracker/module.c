/* What Python calls about tracked calls: functions of the module `_recorder`. */
#include "runtime/base/memory.h"
#include "runtime/python/tracker/types.h"
#include "runtime/python/tracker/value.h"
#include "runtime/python/visit/hook.h"
#include "runtime/view/tracklog/labels.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct session *session_of(PyObject *module)
{
    return PyModule_GetState(module);
}

static uint64_t native_thread(void)
{
    return (uint64_t)syscall(SYS_gettid);
}

struct tracking *tracking_of_module(PyObject *module)
{
    struct tracking *tracking = session_of(module)->tracking;

    if (tracking == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "track_setup() was not called");
    }
    return tracking;
}

/* ---- types ---- */

static void calls_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    Py_XDECREF(((struct tracked_calls *)self)->code);
    release(self);
    Py_DECREF(type);
}

static void token_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    token_release((struct track_token *)self);
    release(self);
    Py_DECREF(type);
}

static PyTypeObject *
make_type(PyObject *module, const char *name, int size, void *dealloc)
{
    PyType_Slot slots[] = {
        {Py_tp_dealloc, dealloc},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = name,
        .basicsize = size,
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };

    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}

/* ---- setting up ---- */

static struct tracking *make_tracking(PyObject *module)
{
    struct tracking *tracking = memory_allocate_zeroed(1, sizeof *tracking);

    if (tracking == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    tracking->live = track_live_new();
    if (tracking->live == NULL) {
        PyErr_NoMemory();
        tracking_free(tracking);
        return NULL;
    }
    tracking->calls_type =
        make_type(module, "monitorch._recorder.TrackedCalls",
                  (int)sizeof(struct tracked_calls), (void *)(uintptr_t)calls_dealloc);
    tracking->token_type =
        make_type(module, "monitorch._recorder.TrackedCall",
                  (int)sizeof(struct track_token), (void *)(uintptr_t)token_dealloc);
    if (tracking->calls_type == NULL || tracking->token_type == NULL) {
        tracking_free(tracking);
        return NULL;
    }
    return tracking;
}

/* A recording that goes on is read along from now on. */
static void join_recording(struct session *session)
{
    struct recorder_tap tap = tracking_tap(session->tracking);

    if (session->recorder != NULL) {
        tracking_begin(session->tracking, session->recorder);
        recorder_set_tap(session->recorder, &tap);
    }
}

PyDoc_STRVAR(
    setup_doc,
    "track_setup(deliver, own_folder, folder, labels, canonical)\n\n"
    "Writes lines of tracked calls to files in the folder (bytes; empty: none), and\n"
    "to `deliver(text)`, which may be None.");

static PyObject *track_setup(PyObject *module, PyObject *args)
{
    struct session *session = session_of(module);
    struct track_settings settings = {0};
    PyObject *deliver, *own_folder;
    const char *labels;
    Py_ssize_t labels_size;
    int is_canonical;

    if (!PyArg_ParseTuple(args, "OUys#p:track_setup", &deliver, &own_folder,
                          &settings.folder, &labels, &labels_size, &is_canonical)) {
        return NULL;
    }
    settings.labels = (struct slice){labels, (size_t)labels_size};
    settings.is_canonical = is_canonical;
    settings.is_kept = deliver != Py_None;
    if (session->tracking == NULL) {
        session->tracking = make_tracking(module);
        if (session->tracking == NULL) {
            return NULL;
        }
        join_recording(session);
    }
    if (!track_live_configure(session->tracking->live, &settings)) {
        return PyErr_NoMemory();
    }
    Py_XDECREF(session->tracking->own_folder);
    session->tracking->own_folder = Py_NewRef(own_folder);
    Py_XDECREF(session->tracking->deliver);
    session->tracking->deliver = deliver == Py_None ? NULL : Py_NewRef(deliver);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    start_doc,
    "track_start() -> bool\n\n"
    "Begins a recording for tracked calls alone, which leaves no file; nothing\n"
    "where there is one of the program's. Whether calls can be tracked.");

static PyObject *track_start(PyObject *module, PyObject *unused)
{
    struct session *session = session_of(module);

    (void)unused;
    if (tracking_of_module(module) == NULL || !session_start_own(session)) {
        return NULL;
    }
    return PyBool_FromLong(session->is_own || !session->is_muted);
}

PyDoc_STRVAR(stop_doc, "track_stop()\n\nEnds such a recording.");

static PyObject *track_stop(PyObject *module, PyObject *unused)
{
    (void)unused;
    session_stop_own(session_of(module));
    Py_RETURN_NONE;
}

/* ---- calls ---- */

static bool has_type(PyObject *object, const PyTypeObject *type, const char *what)
{
    if (type == NULL || Py_TYPE(object) != type) {
        PyErr_SetString(PyExc_TypeError, what);
        return false;
    }
    return true;
}

PyDoc_STRVAR(begin_doc,
             "track_begin(calls) -> TrackedCall | None\n\n"
             "The running thread is about to run that code; None where nothing is\n"
             "recorded. track_end must follow.");

static PyObject *track_begin(PyObject *module, PyObject *calls)
{
    struct session *session = session_of(module);
    struct tracking *tracking = tracking_of_module(module);

    if (tracking == NULL || !has_type(calls, tracking->calls_type,
                                      "track_begin() expects a registered object")) {
        return NULL;
    }
    if (session->recorder == NULL || session->is_closing ||
        (session->is_muted && !session->is_own) ||
        (session->only_thread != 0 && session->only_thread != session_thread_key())) {
        Py_RETURN_NONE;
    }
    return token_begin(session, (struct tracked_calls *)calls);
}

/* The last part of the name of the exception's type. */
static struct slice error_name(struct session *session, PyObject *error)
{
    struct slice name;
    size_t start;

    if (error == Py_None) {
        return SLICE("");
    }
    name = type_info_name(type_cache_get(&session->types, Py_TYPE(error)));
    for (start = name.size; start > 0 && name.bytes[start - 1] != '.'; start--) {}
    return slice_part(name, start, name.size);
}

PyDoc_STRVAR(end_doc,
             "track_end(call, error)\n\n"
             "The call has ended, by that exception or None.");

static PyObject *
track_end(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    struct session *session = session_of(module);
    struct tracking *tracking = tracking_of_module(module);

    if (tracking == NULL || count != 2 ||
        !has_type(arguments[0], tracking->token_type,
                  "track_end() expects a begun call, and an exception")) {
        if (PyErr_Occurred() == NULL) {
            PyErr_SetString(PyExc_TypeError, "track_end() expects two arguments");
        }
        return NULL;
    }
    token_end((struct track_token *)arguments[0], error_name(session, arguments[1]));
    if (!track_report(session)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- lines ---- */

PyDoc_STRVAR(text_doc,
             "track_text(text, for_file_alone)\n\n"
             "Whole lines for the running thread's file.");

static PyObject *track_text(PyObject *module, PyObject *args)
{
    struct tracking *tracking = tracking_of_module(module);
    int for_file_alone;
    PyObject *text, *bytes;

    if (tracking == NULL ||
        !PyArg_ParseTuple(args, "Up:track_text", &text, &for_file_alone)) {
        return NULL;
    }
    bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    if (bytes == NULL) {
        return NULL;
    }
    track_live_add_text(
        tracking->live, native_thread(),
        (struct slice){PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)},
        !for_file_alone);
    Py_DECREF(bytes);
    if (!track_report(session_of(module))) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(path_doc,
             "track_path() -> bytes\n\nOf the running thread's file, or b''.");

static PyObject *track_path(PyObject *module, PyObject *unused)
{
    struct tracking *tracking = tracking_of_module(module);
    struct buffer path = BUFFER_INIT;
    PyObject *result;

    (void)unused;
    if (tracking == NULL) {
        return NULL;
    }
    track_live_path(tracking->live, native_thread(), &path);
    result = path.has_failed
                 ? PyErr_NoMemory()
                 : PyBytes_FromStringAndSize(path.bytes, (Py_ssize_t)path.size);
    buffer_release(&path);
    return result;
}

int track_exec(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"track_setup", track_setup, METH_VARARGS, setup_doc},
        {"track_start", track_start, METH_NOARGS, start_doc},
        {"track_stop", track_stop, METH_NOARGS, stop_doc},
        {"track_register", (PyCFunction)(void (*)(void))track_register,
         METH_VARARGS | METH_KEYWORDS, track_register_doc},
        {"track_begin", track_begin, METH_O, begin_doc},
        {"track_end", (PyCFunction)(void (*)(void))track_end, METH_FASTCALL, end_doc},
        {"track_text", track_text, METH_VARARGS, text_doc},
        {"track_labels", track_labels, METH_O, track_labels_doc},
        {"track_path", track_path, METH_NOARGS, path_doc},
        {"track_value", (PyCFunction)(void (*)(void))track_value, METH_FASTCALL,
         track_value_doc},
        {NULL, NULL, 0, NULL},
    };

    return PyModule_AddFunctions(module, functions);
}
