/* From the running frame to its call: who made it, in which thread, and whether it is new. */
#include "runtime/python/visit/frames.h"

#include "runtime/base/buffer.h"
#include "runtime/python/visit/paths.h"
#include "runtime/record/left_out.h"

#include <sys/syscall.h>
#include <unistd.h>

/* Of generators, coroutines, iterable coroutines and asynchronous generators. */
#define CODE_FLAGS_SUSPENDED (0x20 | 0x80 | 0x100 | 0x200)

/* The thread as the recording that goes on knows it. */
static __thread struct {
    uint64_t session;
    unsigned fork_count;
    struct call_thread *thread; /* borrowed */
} current_thread;

/* The text of `object.__dict__[name]`, where both are plain; a new reference or NULL. */
static PyObject *peek_text(PyObject *object, const char *name)
{
    PyObject *dict = PyObject_GenericGetDict(object, NULL);
    PyObject *text = NULL;

    if (dict != NULL && PyDict_Check(dict)) {
        text = PyDict_GetItemString(dict, name);
        text = text != NULL && PyUnicode_CheckExact(text) ? Py_NewRef(text) : NULL;
    }
    Py_XDECREF(dict);
    PyErr_Clear();
    return text;
}

PyObject *frame_thread_name(struct session *session)
{
    PyObject *threading = PyDict_GetItemString(session->types.modules, "threading");
    PyObject *dict = threading != NULL && PyModule_Check(threading)
                         ? PyModule_GetDict(threading)
                         : NULL;
    PyObject *active = dict == NULL ? NULL : PyDict_GetItemString(dict, "_active");
    PyObject *ident = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    PyObject *name = NULL;

    if (active != NULL && PyDict_CheckExact(active) && ident != NULL) {
        PyObject *thread = PyDict_GetItem(active, ident);
        if (thread != NULL) {
            Py_INCREF(thread);
            name = peek_text(thread, "_name");
            Py_DECREF(thread);
        }
    }
    Py_XDECREF(ident);
    PyErr_Clear();
    return name;
}

struct call_thread *frame_thread(struct session *session)
{
    if (current_thread.session == session->number &&
        current_thread.fork_count == session->fork_count) {
        return current_thread.thread;
    }
    PyObject *name = frame_thread_name(session);
    Py_ssize_t size = 0;
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8AndSize(name, &size);
    struct call_thread *thread = recorder_thread(
        session->recorder, session_thread_key(), (uint64_t)syscall(SYS_gettid),
        (struct slice){text, text == NULL ? 0 : (size_t)size});

    PyErr_Clear();
    Py_XDECREF(name);
    current_thread.session = session->number;
    current_thread.fork_count = session->fork_count;
    current_thread.thread = thread;
    return thread;
}

/* Only the address is of use here: the frame keeps its code alive. */
static const void *code_of(PyObject *frame)
{
    PyCodeObject *code = PyFrame_GetCode((PyFrameObject *)frame);

    Py_DECREF(code);
    return code;
}

static bool is_suspended_code(struct session *session, const void *code)
{
    PyObject *flags = PyObject_GetAttr((PyObject *)code, session->name_co_flags);
    long bits = flags == NULL ? 0 : PyLong_AsLong(flags);

    Py_XDECREF(flags);
    PyErr_Clear();
    return (bits & CODE_FLAGS_SUSPENDED) != 0;
}

static uint32_t line_of(PyObject *frame)
{
    int number = PyFrame_GetLineNumber((PyFrameObject *)frame);

    return number > 0 ? (uint32_t)number : 0;
}

/* The nearest frame below that a call is known by; `line` is where it stands now. `import_count`:
 * of the imports that go on between the two, or on the whole stack where there is no parent. */
static struct call *find_parent(struct session *session,
                                PyObject *frame,
                                uint32_t *line,
                                unsigned *import_count)
{
    struct call_table *calls = recorder_calls(session->recorder);
    bool may_import = imports_go_on(&session->imports);
    struct call *parent = NULL;

    *import_count = 0;
    if (call_table_is_empty(calls) && !may_import) {
        return NULL;
    }
    Py_INCREF(frame);
    while (parent == NULL) {
        PyObject *back = PyObject_GetAttr(frame, session->name_f_back);
        if (back == NULL || back == Py_None) {
            Py_XDECREF(back);
            break;
        }
        const void *code = code_of(back);
        parent = call_table_find(calls, back, code);
        if (may_import && parent == NULL) {
            *import_count += imports_has_code(&session->imports, code);
        }
        if (parent != NULL) {
            *line = line_of(parent->function->is_observed ? frame : back);
        }
        Py_DECREF(frame);
        frame = back;
    }
    Py_DECREF(frame);
    PyErr_Clear();
    return parent;
}

/* Dynamo runs what follows a graph break as a function of its own, called by the one before. */
static bool is_resumed(struct session *session, const void *code)
{
    PyObject *name = PyObject_GetAttr((PyObject *)code, session->name_co_name);
    Py_ssize_t size = 0;
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8AndSize(name, &size);
    bool is_so = text != NULL && slice_starts((struct slice){text, (size_t)size},
                                              SLICE("torch_dynamo_resume_in_"));

    Py_XDECREF(name);
    PyErr_Clear();
    return is_so;
}

static bool is_initializer(const struct recorded_module *module, uint32_t function)
{
    return slice_ends(module->table.functions[function].name, SLICE(".__init__"));
}

/* What runs while a module is imported is not recorded, but where it is asked for: by an option, by
 * monitorch.on() in that frame, by a tracker of the call. */
static bool is_left_out(struct session *session,
                        const struct call_start *start,
                        unsigned import_count)
{
    if (recorder_options(session->recorder)->has_imports || session->is_own) {
        return false;
    }
    if (start->parent != NULL) {
        return start->parent->is_left_out || import_count > 0;
    }
    return imports_made(&session->imports, session_thread_key(), import_count);
}

static struct call *begin_call(struct session *session,
                               struct call_start *start,
                               PyObject *frame,
                               const struct frame_owner *owner,
                               bool is_wanted)
{
    struct call_table *calls = recorder_calls(session->recorder);
    struct call_function *function = &start->module->functions[start->function];
    struct buffer path = BUFFER_INIT;
    struct buffer class_name = BUFFER_INIT;
    unsigned import_count;
    struct call *call;

    if (!function->is_known) {
        function->is_generator = is_suspended_code(session, start->code);
        function->is_observed = owner->has_path;
        function->is_known = true;
    }
    start->parent = find_parent(session, frame, &start->line, &import_count);
    start->is_left_out = !is_wanted && is_left_out(session, start, import_count);
    call_table_run(calls, start->thread, (struct call *)start->parent);
    start->self = start->parent != NULL ? start->parent->self : NULL;
    if (owner->object != NULL &&
        path_find(session, owner->object, start->self,
                  is_initializer(start->module, start->function), &path, &class_name)) {
        start->self = owner->object;
    }
    start->path = owner->has_path ? owner->path : buffer_slice(&path);
    start->class_name = buffer_slice(&class_name);
    /* Once more: the search for a path may have run finalizers that visit sites. */
    call_table_run(calls, start->thread, (struct call *)start->parent);
    PyObject *token = track_call_begin(session, frame, start);
    start->is_left_out = start->is_left_out && token == NULL;
    call = recorder_begin_call(session->recorder, start);
    if (call != NULL) {
        call_table_run(calls, start->thread, call);
        if (call->function->holds_tensor) {
            left_out_note_call(session->recorder, call);
        }
    }
    if (call != NULL && token != NULL) {
        track_began(token, session, call);
    }
    Py_XDECREF(token);
    buffer_release(&path);
    buffer_release(&class_name);
    return call;
}

/* The call of the function that Dynamo goes on with in this frame; NULL where there is none. */
static struct call *find_resumed(struct session *session,
                                 const struct call_function *function,
                                 PyObject *frame,
                                 const void *code)
{
    struct call *call = NULL;
    unsigned import_count;
    uint32_t line;

    if (is_resumed(session, code)) {
        call = find_parent(session, frame, &line, &import_count);
    }
    if (call == NULL || call->function != function) {
        return NULL;
    }
    call_table_move(recorder_calls(session->recorder), call, frame, code);
    return call;
}

/* Whether another call of the function goes on at the address of one that was left out: without an
 * enter site they look alike. */
static bool is_stale(struct session *session, const struct call *call)
{
    return call->is_left_out && (call->flags & LOG_CALL_GENERATOR) == 0 &&
           !imports_go_on(&session->imports);
}

struct call *frame_find_call(struct session *session,
                             struct recorded_module *module,
                             uint32_t index,
                             const struct frame_owner *owner)
{
    const struct site *site = &module->table.sites[index];
    struct call_function *function = &module->functions[site->function];
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    struct call_thread *thread = frame_thread(session);

    if (frame == NULL || thread == NULL) {
        return NULL;
    }
    bool is_enter = site->kind == SITE_ENTER;
    if (!is_enter && thread->top != NULL && thread->top->frame == frame &&
        thread->top->function == function && !is_stale(session, thread->top)) {
        return thread->top;
    }
    const void *code = code_of(frame);
    struct call_table *calls = recorder_calls(session->recorder);
    struct call *call = call_table_find(calls, frame, code);
    if (call != NULL && call->function == function && !is_stale(session, call) &&
        (!is_enter || recorder_is_entered(module, call, index))) {
        call_table_run(calls, thread, call);
        return call;
    }
    call = is_enter ? NULL : find_resumed(session, function, frame, code);
    if (call != NULL) {
        call_table_run(calls, thread, call);
        return call;
    }
    /* What is observed may have no enter site: whatever is told first begins its calls. */
    bool has_enter = !owner->has_path || function->enter != SITE_NONE;
    struct call_start start = {
        .thread = thread,
        .module = module,
        .function = site->function,
        .frame = frame,
        .code = code,
        .is_joined = !is_enter && site->function != 0 && has_enter,
    };
    return begin_call(session, &start, frame, owner, false);
}

void frame_skip_call(struct session *session)
{
    struct call_table *calls = recorder_calls(session->recorder);
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    struct call_thread *thread = frame_thread(session);
    struct call *call;
    unsigned import_count;
    uint32_t line;

    if (frame == NULL || thread == NULL) {
        return;
    }
    call_table_run(calls, thread, find_parent(session, frame, &line, &import_count));
    call = call_table_find(calls, frame, code_of(frame));
    if (call != NULL) {
        call_table_end(calls, call);
    }
}

/* The text of a code object's attribute; a new reference that it is borrowed from, or NULL. */
static PyObject *read_name(PyObject *code, const char *attribute, struct slice *name)
{
    PyObject *text = PyObject_GetAttrString(code, attribute);
    Py_ssize_t size = 0;
    const char *bytes = text == NULL ? NULL : PyUnicode_AsUTF8AndSize(text, &size);

    PyErr_Clear();
    *name = (struct slice){bytes, bytes == NULL ? 0 : (size_t)size};
    return text;
}

static bool is_named(struct slice function, struct slice name)
{
    return slice_ends(function, name) &&
           (function.size == name.size ||
            function.bytes[function.size - name.size - 1] == '.');
}

/* The function of the table that the code was compiled from, or its count. Names alone may be
 * those of several: of these it is the first from the code's first line on, which may be that of
 * a decorator. */
static uint32_t find_function(const struct site_table *table, PyObject *code)
{
    PyObject *number = PyObject_GetAttrString(code, "co_firstlineno");
    long line = number == NULL ? 0 : PyLong_AsLong(number);
    uint32_t found = table->function_count;
    struct slice name;
    PyObject *text = read_name(code, "co_name", &name);

    PyErr_Clear();
    if (slice_equal(name, SLICE("<module>"))) {
        found = 0;
    }
    for (uint32_t i = 1; i < table->function_count && found != 0 && name.size > 0;
         i++) {
        const struct site_function *function = &table->functions[i];
        if (is_named(function->name, name) && (long)function->line >= line &&
            (found == table->function_count ||
             function->line < table->functions[found].line)) {
            found = i;
        }
    }
    Py_XDECREF(text);
    Py_XDECREF(number);
    return found;
}

struct call *
frame_join(struct session *session, struct recorded_module *module, PyObject *frame)
{
    struct call *call = NULL;
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    uint32_t function = find_function(&module->table, code);
    struct call_thread *thread = frame_thread(session);

    if (thread != NULL && function < module->table.function_count &&
        call_table_find(recorder_calls(session->recorder), frame, code) == NULL) {
        struct call_start start = {
            .thread = thread,
            .module = module,
            .function = function,
            .frame = frame,
            .code = code,
            .is_joined = function != 0,
        };
        call = begin_call(session, &start, frame, &(struct frame_owner){0}, true);
        /* Those which it makes name it before it has an event. */
        if (call != NULL && recorder_log(session->recorder) != NULL) {
            recorder_write_call(session->recorder, call);
        }
    }
    Py_DECREF(code);
    return call;
}

/* Whether the frame runs code of torch itself. */
static bool is_of_torch(struct session *session, PyObject *frame)
{
    PyObject *globals = PyObject_GetAttr(frame, session->name_f_globals);
    PyObject *name = globals != NULL && PyDict_Check(globals)
                         ? PyDict_GetItem(globals, session->name_name)
                         : NULL;
    Py_ssize_t size = 0;
    const char *text = name != NULL && PyUnicode_CheckExact(name)
                           ? PyUnicode_AsUTF8AndSize(name, &size)
                           : NULL;
    struct slice slice = {text, (size_t)size};
    bool is_so = text != NULL && (slice_equal(slice, SLICE("torch")) ||
                                  slice_starts(slice, SLICE("torch.")));

    Py_XDECREF(globals);
    PyErr_Clear();
    return is_so;
}

/* The file that the frame's code was compiled from. */
static void add_file(struct buffer *file, PyObject *frame)
{
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    struct slice name;
    PyObject *text = read_name(code, "co_filename", &name);

    buffer_add(file, name);
    Py_XDECREF(text);
    Py_DECREF(code);
}

PyObject *frame_find_program(struct session *session, struct call **known)
{
    struct call_table *calls = recorder_calls(session->recorder);
    PyObject *frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
    PyObject *nearest = NULL;

    *known = NULL;
    while (frame != NULL && frame != Py_None && *known == NULL) {
        struct call *call = call_table_find(calls, frame, code_of(frame));
        PyObject *back;

        if (call != NULL && !call->is_left_out && !call->function->is_observed) {
            *known = call;
            Py_XDECREF(nearest);
            nearest = Py_NewRef(frame);
        } else if (nearest == NULL && !is_of_torch(session, frame)) {
            nearest = Py_NewRef(frame);
        }
        back = PyObject_GetAttr(frame, session->name_f_back);
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    PyErr_Clear();
    return nearest;
}

uint32_t frame_line(PyObject *frame)
{
    return line_of(frame);
}

uint32_t frame_find_caller(struct session *session, struct buffer *file)
{
    struct call *call;
    PyObject *frame = frame_find_program(session, &call);
    uint32_t line = 0;

    if (frame != NULL) {
        add_file(file, frame);
        line = line_of(frame);
        Py_DECREF(frame);
    }
    return line;
}
