/* Following by sys.monitoring, from Python 3.12 on: functions for its events. Only the code
 * that is followed has events of its instructions, and only of those that matter; other code is
 * met once, at its first call, and costs nothing after. Debuggers and coverage are tools of their
 * own there and notice nothing. */
#include "runtime/python/follow.h"
#include "runtime/python/follow_frame.h"
#include "runtime/python/follow_visit.h"

/* What an event's function returns where the event is not wanted at that place any more:
 * sys.monitoring.DISABLE. Owned; NULL before follow_monitor_begin. */
static PyObject *disable;

static PyObject *not_wanted(void)
{
    return Py_NewRef(disable == NULL ? Py_None : disable);
}

/* The plan of the running frame's code, a new reference; NULL: it is not followed. */
static struct follow_plan *find_plan(PyObject *code, PyObject **frame)
{
    struct follow_plan *plan;

    *frame = (PyObject *)PyEval_GetFrame();
    plan = *frame == NULL ? NULL : follower_find(code, *frame);
    Py_XINCREF((PyObject *)plan);
    return plan;
}

PyDoc_STRVAR(started_doc, "code_started(code, offset)\n\nFor PY_START.");

static PyObject *
code_started(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    struct follow_plan *plan;
    PyObject *frame;

    (void)module;
    if (!follower.is_on || count < 1) {
        Py_RETURN_NONE;
    }
    plan = find_plan(arguments[0], &frame);
    if (plan == NULL) {
        return not_wanted();
    }
    visit_enter(plan, frame);
    Py_DECREF((PyObject *)plan);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(resumed_doc, "code_resumed(code, offset)\n\nFor PY_RESUME.");

/* A generator may be resumed that had begun before. */
static PyObject *
code_resumed(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    struct follow_plan *plan;
    PyObject *frame;

    (void)module;
    if (!follower.is_on || count < 1) {
        Py_RETURN_NONE;
    }
    plan = find_plan(arguments[0], &frame);
    Py_XDECREF((PyObject *)plan);
    return not_wanted();
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
        PyErr_Clear();
        return not_wanted();
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

PyDoc_STRVAR(monitor_begin_doc,
             "monitor_begin(disable)\n\n"
             "Takes sys.monitoring.DISABLE, which this module has no other way to.");

static PyObject *monitor_begin(PyObject *module, PyObject *value)
{
    PyObject *old = disable;

    (void)module;
    disable = Py_NewRef(value);
    Py_XDECREF(old);
    Py_RETURN_NONE;
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
    {"monitor_begin", monitor_begin, METH_O, monitor_begin_doc},
    {"monitor_frame", monitor_frame, METH_O, monitor_frame_doc},
    {"code_started", FAST(code_started), started_doc},
    {"code_resumed", FAST(code_resumed), resumed_doc},
    {"code_stepped", FAST(code_stepped), stepped_doc},
    {"code_returned", FAST(code_returned), returned_doc},
    {NULL, NULL, 0, NULL},
};
