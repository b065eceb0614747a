/* Following by sys.monitoring, from Python 3.12 on: functions for its events. Only the code that is
 * followed has events of its instructions; other code is seen once, at its first call, and costs
 * nothing after. Debuggers and coverage are tools of their own there and notice nothing. */
#include "runtime/python/follow/follow.h"

#include "runtime/python/visit/variables.h"

static struct {
    PyObject
        *disable; /* owned: the answer that an event is not wanted there any more */
    PyObject *settrace; /* owned: Python's own sys.settrace */
    PyObject *restart;  /* owned: sys.monitoring.restart_events */
} kept;

static PyObject *not_wanted(void)
{
    return Py_NewRef(kept.disable == NULL ? Py_None : kept.disable);
}

/* The code of the running frame begins or continues: its plan is found, or made. */
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

/* A generator may be resumed that had begun before. */
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
        /* To disable it is what 3.12 and 3.13 cannot bear: once another tool's events change, all
         * events of the code's instructions are lost. */
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

/* The function that sys.settrace has meanwhile. A trace function that is set or removed makes 3.12
 * and 3.13 forget the events of instructions of other tools, until all events are begun anew. */
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
