/* Following with a trace function, in Python 3.10 and 3.11.
 *
 * Python has one trace function for each thread. Ours replaces the existing one (of a debugger
 * or coverage) and passes each event on to it in the way in which Python does. sys.gettrace()
 * returns that other function. sys.settrace is replaced during following, so that a function
 * which is set later also gets its events from ours. The comments below call that other function
 * the one behind ours. */
#include "runtime/python/follow/follow.h"

#include "runtime/base/memory.h"
#include "runtime/python/visit/hook.h"
#include "runtime/python/visit/variables.h"
#include "runtime/python/visit/walk.h"

#include <dlfcn.h>
#include <string.h>

/* ---- from the steps of a frame to visits of sites ---- */

/* So many frames of a thread are stored. A step is lost if more calls than these are nested
 * between its two instructions. */
#define FRAME_LIMIT  64
#define VALUES_KEPT  16 /* visits with more values allocate memory */
#define VALUES_LIMIT 256

static __thread struct {
    struct followed_frame frames[FRAME_LIMIT];
    size_t count;
} followed;

static struct followed_frame *find_frame(const void *frame,
                                         const struct follow_plan *plan)
{
    for (size_t i = followed.count; i > 0; i--) {
        struct followed_frame *known = &followed.frames[i - 1];
        if (known->frame == frame && known->plan == plan) {
            return known;
        }
    }
    return NULL;
}

/* The entry of the frame in this thread; adds one if there is none, as when the frame starts.
 * Valid until the next call in this thread. */
static struct followed_frame *followed_frame_get(const void *frame,
                                                 const struct follow_plan *plan)
{
    struct followed_frame *known = find_frame(frame, plan);

    if (known != NULL) {
        return known;
    }
    if (followed.count == FRAME_LIMIT) {
        /* The oldest half is dropped. */
        followed.count = FRAME_LIMIT / 2;
        memmove(followed.frames, followed.frames + FRAME_LIMIT / 2,
                FRAME_LIMIT / 2 * sizeof(followed.frames[0]));
    }
    known = &followed.frames[followed.count++];
    *known = (struct followed_frame){.frame = frame, .plan = plan};
    return known;
}

void followed_frame_leave(const void *frame, const struct follow_plan *plan)
{
    struct followed_frame *known = find_frame(frame, plan);

    if (known != NULL) {
        size_t behind = (size_t)(followed.frames + followed.count - (known + 1));
        memmove(known, known + 1, behind * sizeof(*known));
        followed.count--;
    }
}

/* Whether the program has a mode that would notice the reading of a tensor's attribute. */
static bool has_torch_mode(const struct follow_plan *plan)
{
    PyObject *torch = PyDict_GetItemString(plan->session->types.modules, "torch._C");
    PyObject *count =
        torch == NULL ? NULL
                      : PyObject_CallMethod(torch, "_len_torch_function_stack", NULL);
    long modes = count == NULL ? 1 : PyLong_AsLong(count);

    Py_XDECREF(count);
    PyErr_Clear();
    return modes != 0;
}

/* Reads `x.data` or `x.grad` of a plain tensor. torch makes or stores them in C: the reading
 * runs no code of the program, and nothing in torch that is counted. Returns NULL if the object
 * is no plain tensor. */
static PyObject *
read_of_tensor(const struct follow_plan *plan, PyObject *owner, const char *attribute)
{
    struct type_cache *types = &plan->session->types;
    PyObject *name = PyUnicode_FromString(attribute);
    PyObject *descriptor = NULL;
    PyObject *value = NULL;

    if (name != NULL &&
        type_cache_get(types, Py_TYPE(owner))->tensor == TENSOR_CLASS_EXACT) {
        descriptor = type_cache_find(types, Py_TYPE(owner), name);
    }
    if (descriptor != NULL && Py_TYPE(descriptor) == &PyGetSetDescr_Type &&
        !has_torch_mode(plan)) {
        value = PyObject_GetAttr(owner, name);
    }
    Py_XDECREF(descriptor);
    Py_XDECREF(name);
    PyErr_Clear();
    return value;
}

/* The value of a dotted name whose first part is `object`; a new reference or NULL. */
static PyObject *
find_end(const struct follow_plan *plan, PyObject *object, struct slice dotted)
{
    static const char *const attributes[] = {".data", ".grad"};
    struct type_cache *types = &plan->session->types;
    PyObject *end = walk_dotted(types, object, dotted);

    for (size_t i = 0; end == NULL && i < sizeof(attributes) / sizeof(*attributes);
         i++) {
        struct slice attribute = slice_of(attributes[i]);
        if (slice_ends(dotted, attribute)) {
            struct slice before = slice_part(dotted, 0, dotted.size - attribute.size);
            bool is_root = slice_find(before, SLICE("."), 0) == before.size;
            PyObject *owner =
                is_root ? Py_NewRef(object) : walk_dotted(types, object, before);
            if (owner != NULL) {
                end = read_of_tensor(plan, owner, attributes[i] + 1);
                Py_DECREF(owner);
            }
        }
    }
    return end;
}

/* A new reference, or NULL without an exception if the value cannot be found. */
static PyObject *find_value(const struct follow_plan *plan,
                            PyObject *frame,
                            const struct plan_value *value,
                            PyObject *returned)
{
    PyObject *object, *end;

    if (value->root == NULL) {
        return Py_XNewRef(returned);
    }
    object = frame_find(frame, plan->is_function, value->root, value->slot);
    if (object == NULL || value->dotted == NULL) {
        return object;
    }
    end = find_end(plan, object,
                   (struct slice){PyBytes_AsString(value->dotted),
                                  (size_t)PyBytes_Size(value->dotted)});
    Py_DECREF(object);
    return end;
}

static void
visit(struct follow_plan *plan, uint32_t index, PyObject *frame, PyObject *returned)
{
    const struct plan_visit *asked = &plan->visits[index];
    size_t count =
        asked->value_count < VALUES_LIMIT ? asked->value_count : VALUES_LIMIT;
    PyObject *kept[VALUES_KEPT] = {NULL};
    PyObject **values = kept;

    if (plan->session->recorder == NULL) {
        return;
    }
    if (count > VALUES_KEPT) {
        values = memory_allocate(count, sizeof(*values));
        if (values == NULL) {
            return;
        }
    }
    for (size_t i = 0; i < count; i++) {
        values[i] =
            find_value(plan, frame, &plan->values[asked->first_value + i], returned);
    }
    hook_visit(plan->hook, asked->site, values, (Py_ssize_t)count);
    for (size_t i = 0; i < count; i++) {
        Py_XDECREF(values[i]);
    }
    if (values != kept) {
        memory_free(values);
    }
}

void visit_enter(struct follow_plan *plan, PyObject *frame)
{
    followed_frame_get(frame, plan)->last = 0;
    if (plan->enter != PLAN_NOTHING) {
        visit(plan, plan->enter, frame, NULL);
    } else if (plan->session->recorder != NULL) {
        hook_join(plan->hook, frame);
    }
}

void visit_step(struct follow_plan *plan, PyObject *frame, long offset)
{
    uint32_t number = offset < 0 ? 0 : plan_number(plan, (size_t)offset);
    struct followed_frame *known;
    uint32_t last;

    if (number == 0) {
        return;
    }
    known = followed_frame_get(frame, plan);
    last = known->last;
    known->last = number;
    for (uint32_t i = plan->first_step[number]; i < plan->first_step[number + 1]; i++) {
        if (plan->steps[i].before == last) {
            visit(plan, plan->steps[i].visit, frame, NULL);
        }
    }
}

void visit_return(struct follow_plan *plan,
                  PyObject *frame,
                  long offset,
                  PyObject *value)
{
    uint32_t number = offset < 0 ? 0 : plan_number(plan, (size_t)offset);

    if (plan->returns[number] != PLAN_NOTHING) {
        visit(plan, plan->returns[number], frame, value);
    }
}

/* Events of trace functions, with the numbers of Python's C interface. */
enum {
    EVENT_CALL,
    EVENT_EXCEPTION,
    EVENT_LINE,
    EVENT_RETURN,
    EVENT_C_CALL,
    EVENT_C_EXCEPTION,
    EVENT_C_RETURN,
    EVENT_OPCODE,
    EVENT_COUNT
};

typedef int (*trace_function)(PyObject *, PyFrameObject *, int, PyObject *);

/* Functions outside the limited interface, found in the interpreter when they are needed. */
static void (*set_trace)(trace_function function, PyObject *object);
static int (*locals_from_frame)(PyFrameObject *frame);
static void (*locals_to_frame)(PyFrameObject *frame, int clear);

static struct {
    PyObject *settrace; /* owned: Python's own sys.settrace */
    PyObject *starter;  /* owned: the function passed to threading.settrace */
    PyObject *others;   /* owned: the one that was set there before; may be NULL */
    PyObject *f_trace, *f_trace_opcodes;
    PyObject *events[EVENT_COUNT]; /* owned: the events' names */
} kept;

/* The state of this thread. */
static __thread struct {
    bool is_installed; /* ours is set, and was not removed */
    PyObject *behind;  /* owned: the function behind ours; may be NULL */
    unsigned changes;  /* number of changes of `behind` */
    uint64_t calls;    /* calls that were seen */
} own;

static int trace(PyObject *object, PyFrameObject *frame, int event, PyObject *value);

/* Sets the function behind ours. A reference is kept here: the interpreter releases its own at
 * once, and may still pass the function to us, for an instruction's event after that of its
 * line. */
static void set_behind(PyObject *function)
{
    PyObject *old = own.behind;

    Py_XINCREF(function);
    own.behind = function;
    own.is_installed = true;
    own.changes++;
    set_trace(trace, function);
    Py_XDECREF(old);
}

/* Restores the thread's trace function. */
static void remove_trace(void)
{
    PyObject *behind = own.behind;
    PyObject *result;

    own.behind = NULL;
    own.is_installed = false;
    own.changes++;
    result = PyObject_CallFunctionObjArgs(kept.settrace,
                                          behind == NULL ? Py_None : behind, NULL);
    Py_XDECREF(behind);
    Py_XDECREF(result);
    PyErr_Clear();
}

static bool wishes_opcodes(PyObject *frame)
{
    PyObject *value = PyObject_GetAttr(frame, kept.f_trace_opcodes);
    bool is_so = value == Py_True;

    Py_XDECREF(value);
    PyErr_Clear();
    return is_so;
}

static void set_opcodes(PyObject *frame, bool is_wanted)
{
    if (PyObject_SetAttr(frame, kept.f_trace_opcodes, is_wanted ? Py_True : Py_False) !=
        0) {
        PyErr_Clear();
    }
}

/* Requests the events of a frame's instructions, and stores whether another tool had done so. */
static struct followed_frame *open_frame(struct follow_plan *plan, PyObject *frame)
{
    struct followed_frame *known = followed_frame_get(frame, plan);

    known->has_wished_opcodes = wishes_opcodes(frame);
    set_opcodes(frame, true);
    return known;
}

static void close_frame(struct follow_plan *plan, PyObject *frame)
{
    set_opcodes(frame, followed_frame_get(frame, plan)->has_wished_opcodes);
    followed_frame_leave(frame, plan);
}

/* Records an event of a followed frame. Called before the function behind ours gets the event. */
static void
notify(struct follow_plan *plan, PyObject *frame, int event, PyObject *value)
{
    long offset;

    switch (event) {
    case EVENT_CALL:
        open_frame(plan, frame);
        if (frame_offset(frame) <= (long)plan->start) {
            visit_enter(plan, frame);
        }
        break;
    case EVENT_OPCODE:
        visit_step(plan, frame, frame_offset(frame));
        break;
    case EVENT_RETURN:
        offset = frame_offset(frame);
        if (value != NULL) {
            visit_return(plan, frame, offset, value);
        }
        break;
    default:
        break;
    }
}

/* The function that gets this event: the one behind ours for a call, else the frame's f_trace. A
 * new reference or NULL. */
static PyObject *find_callback(PyObject *behind, PyObject *frame, int event)
{
    PyObject *callback;

    if (event == EVENT_CALL) {
        return Py_NewRef(behind);
    }
    callback = PyObject_GetAttr(frame, kept.f_trace);
    if (callback == Py_None) {
        Py_CLEAR(callback);
    }
    PyErr_Clear();
    return callback;
}

/* Calls a trace function as Python does: the frame's variables are copied to its f_locals before
 * the call and back after it. */
static PyObject *
call_behind(PyObject *callback, PyObject *frame, int event, PyObject *value)
{
    PyObject *result = NULL;

    if (locals_from_frame((PyFrameObject *)frame) == 0) {
        result = PyObject_CallFunctionObjArgs(callback, frame, kept.events[event],
                                              value == NULL ? Py_None : value, NULL);
        locals_to_frame((PyFrameObject *)frame, 1);
    }
    if (result == NULL) {
        PyTraceBack_Here((PyFrameObject *)frame);
    }
    return result;
}

static bool is_python_function(PyObject *function)
{
    PyObject *code = NULL;

    if (PyCFunction_Check(function)) {
        return false;
    }
    code = PyObject_GetAttrString(function, "__code__");
    Py_XDECREF(code);
    PyErr_Clear();
    return code != NULL;
}

/* Passes an event to the function behind ours. Returns 0, or -1 with the exception that it
 * raised. */
static int pass_on(PyObject *behind, PyObject *frame, int event, PyObject *value)
{
    PyObject *callback = find_callback(behind, frame, event);
    unsigned changes = own.changes;
    PyObject *result;

    if (callback == NULL) {
        return 0;
    }
    result = call_behind(callback, frame, event, value);
    Py_DECREF(callback);
    if (result == NULL) {
        /* Python removes a trace function that raises. */
        PyObject *type, *exception, *traceback;
        PyErr_Fetch(&type, &exception, &traceback);
        if (own.changes == changes) {
            set_behind(NULL);
        }
        PyObject_SetAttr(frame, kept.f_trace, Py_None);
        PyErr_Restore(type, exception, traceback);
        return -1;
    }
    if (result != Py_None && PyObject_SetAttr(frame, kept.f_trace, result) != 0) {
        PyErr_Clear();
    }
    Py_DECREF(result);
    if (event == EVENT_CALL && own.changes == changes && follower.is_on &&
        !is_python_function(behind)) {
        /* A tracer in C, such as coverage's, sets itself as the trace function when it is called
         * so: ours is set again. */
        set_behind(behind);
    }
    return 0;
}

/* pass_on for a followed frame. The function behind ours finds the frame's f_trace_opcodes as it
 * was set by others, and gets events of instructions only if they requested them. */
static int pass_on_followed(struct follow_plan *plan,
                            PyObject *behind,
                            PyObject *frame,
                            int event,
                            PyObject *value)
{
    struct followed_frame *known = followed_frame_get(frame, plan);
    int status;

    if (event == EVENT_OPCODE && !known->has_wished_opcodes) {
        return 0;
    }
    set_opcodes(frame, known->has_wished_opcodes);
    status = pass_on(behind, frame, event, value);
    if (follower.is_on && own.is_installed) {
        PyObject *type, *exception, *traceback;
        PyErr_Fetch(&type, &exception, &traceback);
        open_frame(plan, frame);
        PyErr_Restore(type, exception, traceback);
    }
    return status;
}

static struct follow_plan *find_plan(PyObject *frame, int event)
{
    struct follow_plan *plan = NULL;
    PyObject *code = frame_code(frame);

    if (event == EVENT_CALL) {
        own.calls++;
        return follower_find(code, frame);
    }
    codes_find(&follower.codes, code, &plan);
    return plan;
}

/* Restores this thread's followed frames, from `frame` outwards, after following has ended,
 * perhaps in another thread. */
static void close_frames(PyObject *frame)
{
    Py_INCREF(frame);
    while (frame != NULL && frame != Py_None) {
        PyObject *back = PyObject_GetAttrString(frame, "f_back");
        struct follow_plan *plan = NULL;
        if (codes_find(&follower.codes, frame_code(frame), &plan) && plan != NULL) {
            close_frame(plan, frame);
        }
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    PyErr_Clear();
}

static int trace_event(PyObject *behind, PyObject *frame, int event, PyObject *value)
{
    struct follow_plan *plan = NULL;
    int status = 0;

    if (event == EVENT_CALL || event == EVENT_OPCODE || event == EVENT_RETURN ||
        behind != NULL) {
        plan = find_plan(frame, event);
    }
    if (plan == NULL) {
        return behind == NULL ? 0 : pass_on(behind, frame, event, value);
    }
    Py_INCREF((PyObject *)plan);
    notify(plan, frame, event, value);
    if (behind != NULL) {
        status = pass_on_followed(plan, behind, frame, event, value);
    }
    if (event == EVENT_RETURN) {
        PyObject *type, *exception, *traceback;
        PyErr_Fetch(&type, &exception, &traceback);
        close_frame(plan, frame);
        PyErr_Restore(type, exception, traceback);
    }
    Py_DECREF((PyObject *)plan);
    return status;
}

static int trace(PyObject *object, PyFrameObject *frame, int event, PyObject *value)
{
    PyObject *behind = own.behind;
    int status;

    (void)object;
    if (event == EVENT_LINE && behind == NULL && follower.is_on) {
        return 0;
    }
    Py_XINCREF(behind);
    if (follower.is_on) {
        status = trace_event(behind, (PyObject *)frame, event, value);
    } else {
        close_frames((PyObject *)frame);
        remove_trace();
        status = behind == NULL ? 0 : pass_on(behind, (PyObject *)frame, event, value);
    }
    Py_XDECREF(behind);
    return status;
}

PyDoc_STRVAR(settrace_doc,
             "settrace(function)\n\n"
             "Set the global debug tracing function.  It will be called on each\n"
             "function call.  See the debugger chapter in the library manual.");

/* Replaces sys.settrace during following. */
static PyObject *settrace(PyObject *module, PyObject *function)
{
    (void)module;
    if (follower.is_on && function == kept.starter) {
        set_behind(kept.others);
    } else if (follower.is_on) {
        /* Also for a thread that was not followed until now. */
        set_behind(function == Py_None ? NULL : function);
    } else {
        return PyObject_CallFunctionObjArgs(kept.settrace, function, NULL);
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(trace_thread_doc,
             "trace_thread(frame, event, arg)\n\nWhat threading.settrace is given.");

/* The function for threading.settrace. It runs as a trace function only if sys.settrace was not
 * ours when the thread started. */
static PyObject *trace_thread(PyObject *module, PyObject *args)
{
    PyObject *frame, *event, *value;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOO:trace_thread", &frame, &event, &value)) {
        return NULL;
    }
    if (!follower.is_on) {
        PyObject *result = PyObject_CallFunctionObjArgs(
            kept.settrace, kept.others == NULL ? Py_None : kept.others, NULL);
        Py_XDECREF(result);
        return result == NULL ? NULL : Py_NewRef(Py_None);
    }
    set_behind(kept.others);
    if (trace(NULL, (PyFrameObject *)frame, EVENT_CALL, NULL) != 0) {
        return NULL;
    }
    return PyObject_GetAttr(frame, kept.f_trace);
}

PyDoc_STRVAR(
    trace_begin_doc,
    "trace_begin(settrace, gettrace_result, starter, others)\n\n"
    "Follows this thread, and passes on to the trace function that it has. `starter`\n"
    "and `others` are what threading.settrace is given and was.");

static bool find_interface(void)
{
    *(void **)&set_trace = dlsym(RTLD_DEFAULT, "PyEval_SetTrace");
    *(void **)&locals_from_frame = dlsym(RTLD_DEFAULT, "PyFrame_FastToLocalsWithError");
    *(void **)&locals_to_frame = dlsym(RTLD_DEFAULT, "PyFrame_LocalsToFast");
    return set_trace != NULL && locals_from_frame != NULL && locals_to_frame != NULL;
}

static bool make_name(PyObject **place, const char *text)
{
    if (*place == NULL) {
        *place = PyUnicode_InternFromString(text);
    }
    return *place != NULL;
}

static bool make_names(void)
{
    static const char *const events[EVENT_COUNT] = {
        "call",   "exception",   "line",     "return",
        "c_call", "c_exception", "c_return", "opcode",
    };

    for (int i = 0; i < EVENT_COUNT; i++) {
        if (!make_name(&kept.events[i], events[i])) {
            return false;
        }
    }
    return make_name(&kept.f_trace_opcodes, "f_trace_opcodes") &&
           make_name(&kept.f_trace, "f_trace");
}

static void keep(PyObject **place, PyObject *object)
{
    PyObject *old = *place;

    *place = object == Py_None ? NULL : Py_NewRef(object);
    Py_XDECREF(old);
}

static PyObject *trace_begin(PyObject *module, PyObject *args)
{
    PyObject *own_settrace, *behind, *starter, *others;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOOO:trace_begin", &own_settrace, &behind, &starter,
                          &others) ||
        !make_names()) {
        return NULL;
    }
    if (!find_interface()) {
        PyErr_SetString(PyExc_RuntimeError,
                        "this Python has no PyEval_SetTrace: code that was not "
                        "instrumented cannot be followed");
        return NULL;
    }
    keep(&kept.settrace, own_settrace);
    keep(&kept.starter, starter);
    keep(&kept.others, others);
    set_behind(behind == Py_None ? NULL : behind);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(trace_frame_doc,
             "trace_frame(frame) -> bool\n\n"
             "Follows a frame that runs already; whether its code is followed.");

static PyObject *trace_frame(PyObject *module, PyObject *frame)
{
    struct follow_plan *plan = follower_find(frame_code(frame), frame);

    (void)module;
    if (plan == NULL) {
        Py_RETURN_FALSE;
    }
    open_frame(plan, frame);
    Py_RETURN_TRUE;
}

PyDoc_STRVAR(
    trace_end_doc,
    "trace_end(frame, is_installed)\n\n"
    "After follow_end(): restores the thread's trace function, unless another one\n"
    "was set, and releases the frames from `frame` outwards.");

static PyObject *trace_end(PyObject *module, PyObject *args)
{
    PyObject *frame;
    int is_installed;

    (void)module;
    if (!PyArg_ParseTuple(args, "Op:trace_end", &frame, &is_installed)) {
        return NULL;
    }
    close_frames(frame);
    if (is_installed && own.is_installed) {
        remove_trace();
    }
    own.is_installed = false;
    Py_CLEAR(own.behind);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(trace_calls_doc,
             "trace_calls() -> int\n\nHow many calls this thread's saw.");

static PyObject *trace_calls(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLongLong(own.calls);
}

PyMethodDef follow_trace_methods[] = {
    {"settrace", settrace, METH_O, settrace_doc},
    {"trace_thread", trace_thread, METH_VARARGS, trace_thread_doc},
    {"trace_begin", trace_begin, METH_VARARGS, trace_begin_doc},
    {"trace_frame", trace_frame, METH_O, trace_frame_doc},
    {"trace_end", trace_end, METH_VARARGS, trace_end_doc},
    {"trace_calls", trace_calls, METH_NOARGS, trace_calls_doc},
    {NULL, NULL, 0, NULL},
};
