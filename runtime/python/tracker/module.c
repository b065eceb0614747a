/* Functions of the module `_recorder` for tracked calls. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/array/sample.h"
#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"
#include "runtime/python/record/session.h"
#include "runtime/python/tracker/types.h"
#include "runtime/python/visit/hook.h"
#include "runtime/python/visit/values.h"
#include "runtime/python/visit/walk.h"
#include "runtime/view/tracklog/labels.h"
#include "runtime/view/tracklog/value.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static PyObject *track_register(PyObject *module, PyObject *args, PyObject *keywords);
static struct tracking *tracking_of_module(PyObject *module);

static PyObject *
track_value(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

extern const char track_value_doc[];

/* ---- tracked functions and labels ---- */

/* The wish with that text, which is added if it is new. NULL: out of memory. */
static const struct tracked_wish *find_wish(struct tracking *tracking,
                                            struct slice text)
{
    struct tracked_wish *wish;

    for (wish = tracking->wishes; wish != NULL; wish = wish->next) {
        if (slice_equal((struct slice){wish->text, wish->size}, text)) {
            return wish;
        }
    }
    wish = memory_allocate(sizeof *wish + text.size, 1);
    if (wish != NULL) {
        wish->size = text.size;
        memcpy(wish->text, text.bytes, text.size);
        wish->read = track_wish_read((struct slice){wish->text, text.size});
        wish->next = tracking->wishes;
        tracking->wishes = wish;
    }
    return wish;
}

static PyObject *
make_calls(struct tracking *tracking, PyObject *code, const struct track_wish *wish)
{
    struct buffer text = BUFFER_INIT;
    const struct tracked_wish *known;
    allocfunc allocate = (allocfunc)PyType_GetSlot(tracking->calls_type, Py_tp_alloc);
    struct tracked_calls *calls;

    track_wish_write(wish, &text);
    known = text.has_failed ? NULL : find_wish(tracking, buffer_slice(&text));
    buffer_release(&text);
    if (known == NULL) {
        return PyErr_NoMemory();
    }
    calls = (struct tracked_calls *)allocate(tracking->calls_type, 0);
    if (calls != NULL) {
        calls->code = Py_NewRef(code);
        calls->wish = known;
    }
    return (PyObject *)calls;
}

const char track_register_doc[] = PyDoc_STR(
    "track_register(code, *, names='', calls=False, lines=False, stack=False,\n"
    "               bare=False, depth=0, when='', labels='') -> TrackedCalls\n\n"
    "Requests a log of calls of that code: see runtime/view/tracklog/wish.h.");

static bool read_when(const char *text, enum track_when *when)
{
    if (strcmp(text, "changed") == 0) {
        *when = TRACK_CHANGED;
    } else if (strcmp(text, "nan") == 0) {
        *when = TRACK_NAN;
    } else if (text[0] != '\0') {
        PyErr_Format(PyExc_ValueError, "when must be 'changed' or 'nan', not '%s'",
                     text);
        return false;
    }
    return true;
}

static PyObject *track_register(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"code", "names", "calls", "lines",  "stack",
                            "bare", "depth", "when",  "labels", NULL};
    struct tracking *tracking = tracking_of_module(module);
    struct track_wish wish = {.when = TRACK_ALWAYS};
    const char *globs = "", *labels = "", *when = "";
    Py_ssize_t globs_size = 0, labels_size = 0;
    int is_calls = 0, has_lines = 0, has_stack = 0, is_bare = 0;
    unsigned int depth = 0;
    PyObject *code;

    if (tracking == NULL ||
        !PyArg_ParseTupleAndKeywords(args, keywords, "O|$s#ppppIss#:track_register",
                                     names, &code, &globs, &globs_size, &is_calls,
                                     &has_lines, &has_stack, &is_bare, &depth, &when,
                                     &labels, &labels_size) ||
        !read_when(when, &wish.when)) {
        return NULL;
    }
    wish.names = (struct slice){globs, (size_t)globs_size};
    wish.labels = (struct slice){labels, (size_t)labels_size};
    wish.is_calls = is_calls;
    wish.has_lines = has_lines;
    wish.has_stack = has_stack;
    wish.is_bare = is_bare;
    wish.depth = depth;
    return make_calls(tracking, code, &wish);
}

const char track_labels_doc[] =
    PyDoc_STR("track_labels(pairs) -> str\n\n"
              "Labels of runtime/view/tracklog/labels.def and their texts, in one.");

static bool add_label(PyObject *pair, struct buffer *text)
{
    const char *key, *label;
    Py_ssize_t key_size, label_size;

    if (!PyTuple_Check(pair)) {
        PyErr_SetString(PyExc_TypeError, "a label is a pair of texts");
        return false;
    }
    if (!PyArg_ParseTuple(pair, "s#s#;a label is a pair of texts", &key, &key_size,
                          &label, &label_size)) {
        return false;
    }
    if (!track_labels_write((struct slice){key, (size_t)key_size},
                            (struct slice){label, (size_t)label_size}, text)) {
        PyErr_Format(PyExc_ValueError, "there is no label '%s'; there are %s", key,
                     track_label_keys + 1);
        return false;
    }
    return true;
}

PyObject *track_labels(PyObject *module, PyObject *pairs)
{
    struct buffer text = BUFFER_INIT;
    PyObject *result = NULL;
    bool is_good = PyTuple_Check(pairs);

    (void)module;
    if (!is_good) {
        PyErr_SetString(PyExc_TypeError, "track_labels() expects a tuple of pairs");
    }
    for (Py_ssize_t i = 0; is_good && i < PyTuple_Size(pairs); i++) {
        is_good = add_label(PyTuple_GetItem(pairs, i), &text);
    }
    if (is_good) {
        result =
            text.has_failed
                ? PyErr_NoMemory()
                : PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.size, "replace");
    }
    buffer_release(&text);
    return result;
}

/* ---- the lines of one value, as `_log_change` writes them ---- */

const char track_value_doc[] =
    "track_value(prefix, name, value, indent, line) -> str\n\n"
    "The log's lines of a value, and of what is in it if it is a container.";

/* The arguments that all lines share. */
struct value_lines {
    struct session *session;
    struct slice prefix, name, indent, line;
    struct buffer *text;
};

static void add_line(const struct value_lines *value_lines,
                     struct slice path,
                     bool is_leaf,
                     const struct log_event_view *view)
{
    struct buffer *text = value_lines->text;

    buffer_add(text, value_lines->indent);
    buffer_add(text, is_leaf ? SLICE("│   ├─ ") : SLICE("├─ "));
    if (!is_leaf && value_lines->prefix.size > 0) {
        buffer_add_printable(text, value_lines->prefix);
        buffer_add_byte(text, ' ');
    }
    buffer_add_byte(text, '[');
    buffer_add(text, track_value_tag(view));
    buffer_add(text, SLICE("] "));
    buffer_add_printable(text, value_lines->name);
    buffer_add_printable(text, path);
    buffer_add_byte(text, '@');
    buffer_add_printable(text, value_lines->line);
    buffer_add(text, view->kind == VALUE_TENSOR ? SLICE(" → ") : SLICE(" "));
    track_value_add(text, view, false);
    buffer_add_byte(text, '\n');
}

static void add_array(const struct value_lines *value_lines,
                      struct slice path,
                      bool is_leaf,
                      const struct tensor *tensor)
{
    struct recorded_array array = value_array(tensor);
    struct value value = {.kind = VALUE_TENSOR, .array = &array};
    struct log_event_view view = {.name = SLICE("")};
    struct viewed_array viewed;
    struct statistics statistics;

    if (tensor->array.data != NULL) {
        value_measure(tensor, STATISTICS_WANT_VALUES,
                      value_lines->session->thread_limit, &statistics, NULL);
        array.statistics = &statistics;
        array.is_sampled = true;
    }
    recorder_view_value(&value, SAMPLE_WHOLE, &viewed, &view);
    add_line(value_lines, path, is_leaf, &view);
}

/* Adds the lines of a value that is no container. Returns false if it is one. */
static bool add_single(const struct value_lines *value_lines,
                       struct slice path,
                       bool is_leaf,
                       PyObject *object)
{
    struct session *session = value_lines->session;
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(object));
    struct log_event_view view = {.name = SLICE("")};
    struct value value = {.kind = VALUE_NOTHING};
    PyObject *owner = NULL;
    struct tensor tensor;

    if (info->kind == TYPE_TENSOR) {
        if (tensor_describe(session->access, object, info->tensor, &tensor) == 0) {
            add_array(value_lines, path, is_leaf, &tensor);
            tensor_release(&tensor);
            return true;
        }
        info = type_cache_get(&session->types, Py_TYPE(object));
    }
    if (type_is_container(info)) {
        return false;
    }
    value_describe(info, object, &value, &owner);
    recorder_view_value(&value, 0, NULL, &view);
    add_line(value_lines, path, is_leaf, &view);
    Py_XDECREF(owner);
    return true;
}

static void add_container(const struct value_lines *value_lines, PyObject *object)
{
    struct log_event_view view = {.name = SLICE("")};
    struct walk walk;

    walk_init(&walk);
    walk_container(&walk, &value_lines->session->types, object);
    recorder_view_value(&(struct value){.kind = VALUE_CONTAINER,
                                        .integer = (int64_t)walk.item_count,
                                        .is_cut = walk.is_cut},
                        0, NULL, &view);
    add_line(value_lines, SLICE(""), false, &view);
    for (size_t i = 0; i < walk.leaf_count; i++) {
        add_single(value_lines, walk_path(&walk, i), true, walk.leaves[i].object);
    }
    walk_release(&walk);
}

static PyObject *read_text(PyObject *argument, struct slice *text)
{
    PyObject *bytes = PyUnicode_AsEncodedString(argument, "utf-8", "replace");

    if (bytes != NULL) {
        *text = (struct slice){PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)};
    }
    return bytes;
}

/* The module's function `track_value`. */
static PyObject *
track_value(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    struct buffer text = BUFFER_INIT;
    struct value_lines value_lines = {.session = PyModule_GetState(module),
                                      .text = &text};
    PyObject *texts[4] = {NULL};
    struct slice *const read[] = {&value_lines.prefix, &value_lines.name,
                                  &value_lines.indent, &value_lines.line};
    const Py_ssize_t places[] = {0, 1, 3, 4};
    PyObject *result = NULL;
    bool is_good = count == 5;

    if (!is_good) {
        PyErr_SetString(PyExc_TypeError, "track_value() expects five arguments");
    }
    for (int i = 0; i < 4 && is_good; i++) {
        texts[i] = read_text(arguments[places[i]], read[i]);
        is_good = texts[i] != NULL;
    }
    if (is_good) {
        if (!add_single(&value_lines, SLICE(""), false, arguments[2])) {
            add_container(&value_lines, arguments[2]);
        }
        result =
            text.has_failed
                ? PyErr_NoMemory()
                : PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.size, "replace");
    }
    for (int i = 0; i < 4; i++) {
        Py_XDECREF(texts[i]);
    }
    buffer_release(&text);
    return result;
}

static struct session *session_of(PyObject *module)
{
    return PyModule_GetState(module);
}

static uint64_t native_thread(void)
{
    return (uint64_t)syscall(SYS_gettid);
}

/* NULL with an exception set if track_setup was not called. */
static struct tracking *tracking_of_module(PyObject *module)
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

/* Connects the tracking to an active recording, from this moment on. */
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
