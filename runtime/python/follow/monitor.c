/* Following with sys.monitoring, from Python 3.12 on: the callbacks of its events. Only followed
 * code has events of its instructions. Other code has one event, at its first call, and costs
 * nothing afterwards. Debuggers and coverage tools are separate tools of sys.monitoring and are
 * not affected. */
#include "runtime/python/follow/follow.h"

#include "runtime/python/visit/variables.h"

static struct {
    PyObject *
        disable; /* owned: sys.monitoring.DISABLE, the result that disables an event at its place */
    PyObject *settrace; /* owned: Python's own sys.settrace */
    PyObject *restart;  /* owned: sys.monitoring.restart_events */
} kept;

static PyObject *not_wanted(void)
{
    return Py_NewRef(kept.disable == NULL ? Py_None : kept.disable);
}

/* Handles the start or the resumption of the running frame: finds or makes the plan of its code. */
static PyObject *
visit_code(PyObject *const *arguments, Py_ssize_t count, bool is_beginning)
{
    struct follow_plan *plan;
    PyObject *frame;

    if (!follower.is_on || count < 1) {
        Py_RETURN_NONE;
    }
    frame = (PyObject *)PyEval_GetFrame();
    plan = frame == NULL ? NULL : follower_find(arguments[0], frame);
    if (plan == NULL || !is_beginning) {
        return not_wanted();
    }
    Py_INCREF((PyObject *)plan);
    visit_enter(plan, frame);
    Py_DECREF((PyObject *)plan);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(started_doc, "code_started(code, offset)\n\nFor PY_START.");

static PyObject *
code_started(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    return visit_code(arguments, count, true);
}

PyDoc_STRVAR(resumed_doc, "code_resumed(code, offset)\n\nFor PY_RESUME.");

/* Called for a generator that had started before following did. */
static PyObject *
code_resumed(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    return visit_code(arguments, count, false);
}

PyDoc_STRVAR(stepped_doc, "code_stepped(code, offset)\n\nFor INSTRUCTION.");

static PyObject *
code_stepped(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    struct follow_plan *plan;
    PyObject *frame;
    long offset;

    (void)module;
    if (!follower.is_on || count < 2) {
        Py_RETURN_NONE;
    }
    offset = PyLong_AsLong(arguments[1]);
    if (!codes_find(&follower.codes, arguments[0], &plan) || plan == NULL ||
        offset < 0 || plan_number(plan, (size_t)offset) == 0) {
        /* The event is not disabled: in 3.12 and 3.13, once another tool's events change, all
         * events of the code's instructions would be lost. */
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    frame = (PyObject *)PyEval_GetFrame();
    if (frame != NULL) {
        Py_INCREF((PyObject *)plan);
        visit_step(plan, frame, offset);
        Py_DECREF((PyObject *)plan);
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(returned_doc, "code_returned(code, offset, value)\n\nFor PY_RETURN.");

static PyObject *
code_returned(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    struct follow_plan *plan;
    PyObject *frame;
    long offset;

    (void)module;
    if (!follower.is_on || count < 3) {
        Py_RETURN_NONE;
    }
    offset = PyLong_AsLong(arguments[1]);
    PyErr_Clear();
    frame = (PyObject *)PyEval_GetFrame();
    if (frame != NULL && codes_find(&follower.codes, arguments[0], &plan) &&
        plan != NULL) {
        Py_INCREF((PyObject *)plan);
        visit_return(plan, frame, offset, arguments[2]);
        followed_frame_leave(frame, plan);
        Py_DECREF((PyObject *)plan);
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    monitor_begin_doc,
    "monitor_begin(disable, settrace, restart_events)\n\n"
    "Receives what this module cannot find itself: sys.monitoring.DISABLE and two\n"
    "functions.");

static PyObject *monitor_begin(PyObject *module, PyObject *args)
{
    PyObject *disable, *settrace, *restart;
    PyObject *old[] = {kept.disable, kept.settrace, kept.restart};

    (void)module;
    if (!PyArg_ParseTuple(args, "OOO:monitor_begin", &disable, &settrace, &restart)) {
        return NULL;
    }
    kept.disable = Py_NewRef(disable);
    kept.settrace = Py_NewRef(settrace);
    kept.restart = Py_NewRef(restart);
    for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++) {
        Py_XDECREF(old[i]);
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(monitor_settrace_doc,
             "settrace(function)\n\n"
             "Set the global debug tracing function.  It will be called on each\n"
             "function call.  See the debugger chapter in the library manual.");

/* Replaces sys.settrace during following. Setting or removing a trace function makes 3.12 and
 * 3.13 lose the instruction events of other tools until all events are restarted, so they are
 * restarted here. */
static PyObject *monitor_settrace(PyObject *module, PyObject *function)
{
    PyObject *result = PyObject_CallFunctionObjArgs(kept.settrace, function, NULL);
    PyObject *again;

    (void)module;
    if (result != NULL && follower.is_on) {
        again = PyObject_CallFunctionObjArgs(kept.restart, NULL);
        Py_XDECREF(again);
        PyErr_Clear();
    }
    return result;
}

PyDoc_STRVAR(monitor_frame_doc,
             "monitor_frame(frame)\n\nDecides about a frame that runs already.");

static PyObject *monitor_frame(PyObject *module, PyObject *frame)
{
    (void)module;
    follower_find(frame_code(frame), frame);
    Py_RETURN_NONE;
}

#define FAST(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL

PyMethodDef follow_monitor_methods[] = {
    {"monitor_begin", monitor_begin, METH_VARARGS, monitor_begin_doc},
    {"monitor_settrace", monitor_settrace, METH_O, monitor_settrace_doc},
    {"monitor_frame", monitor_frame, METH_O, monitor_frame_doc},
    {"code_started", FAST(code_started), started_doc},
    {"code_resumed", FAST(code_resumed), resumed_doc},
    {"code_stepped", FAST(code_stepped), stepped_doc},
    {"code_returned", FAST(code_returned), returned_doc},
    {NULL, NULL, 0, NULL},
};
