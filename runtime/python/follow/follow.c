/* What is followed: decided once for each code object. */
#include "runtime/python/follow/follow.h"

#include "runtime/python/visit/variables.h"

struct follower follower;

/* Calls `decide(code, globals)`, which never raises. */
static PyObject *ask(PyObject *code, PyObject *frame)
{
    PyObject *globals = PyObject_GetAttrString(frame, "f_globals");
    PyObject *decide = follower.decide;
    PyObject *answer = NULL;

    if (globals != NULL && decide != NULL) {
        Py_INCREF(decide);
        answer = PyObject_CallFunctionObjArgs(decide, code, globals, NULL);
        Py_DECREF(decide);
    }
    Py_XDECREF(globals);
    PyErr_Clear();
    return answer;
}

struct follow_plan *follower_find(PyObject *code, PyObject *frame)
{
    struct follow_plan *plan = NULL;
    PyObject *answer;

    if (codes_find(&follower.codes, code, &plan)) {
        return plan;
    }
    Py_INCREF(code);
    answer = ask(code, frame);
    if (answer != NULL && (void *)Py_TYPE(answer) == follower.plan_type) {
        plan = (struct follow_plan *)answer;
    }
    if (!codes_add(&follower.codes, code, plan)) {
        plan = NULL; /* nothing holds it */
    }
    Py_XDECREF(answer);
    Py_DECREF(code);
    return plan;
}

PyDoc_STRVAR(
    begin_doc,
    "follow_begin(decide)\n\n"
    "From now on `decide(code, globals)` says what is followed: a plan, or None.\n"
    "It never raises.");

static PyObject *begin(PyObject *module, PyObject *decide)
{
    PyObject *old = follower.decide;

    (void)module;
    codes_clear(&follower.codes);
    follower.decide = Py_NewRef(decide);
    follower.is_on = true;
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

/* What was followed stays known: other threads have yet to clean up behind us. */
PyDoc_STRVAR(end_doc, "follow_end()\n\nNothing is followed any more.");

static PyObject *end(PyObject *module, PyObject *unused)
{
    PyObject *old = follower.decide;

    (void)module;
    (void)unused;
    follower.is_on = false;
    follower.decide = NULL;
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(find_slot_doc,
             "find_slot(code, name)\n\n"
             "Where frames of the code keep a variable of that name, as make_plan "
             "wants it; -1: nowhere.");

static PyObject *find_slot(PyObject *module, PyObject *args)
{
    PyObject *code, *name;

    (void)module;
    if (!PyArg_ParseTuple(args, "OU:find_slot", &code, &name)) {
        return NULL;
    }
    return PyLong_FromLong(frame_find_slot(code, name));
}

PyDoc_STRVAR(
    make_plan_doc,
    "make_plan(hook, is_function, start, enter, numbers, returns, steps, visits)\n\n"
    "Makes the plan of a code object: see monitorch/_follow/plan.py.");

static PyObject *make_plan(PyObject *module, PyObject *args, PyObject *keywords)
{
    return plan_make(module, (PyTypeObject *)follower.plan_type, args, keywords);
}

PyDoc_STRVAR(learn_layout_doc,
             "learn_layout(value)\n\n"
             "Called by a function whose first variable is `value`.");

static PyObject *learn_layout(PyObject *module, PyObject *value)
{
    (void)module;
    frame_learn_layout((PyObject *)PyEval_GetFrame(), value);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"follow_begin", begin, METH_O, begin_doc},
    {"follow_end", end, METH_NOARGS, end_doc},
    {"find_slot", find_slot, METH_VARARGS, find_slot_doc},
    {"make_plan", (PyCFunction)(void (*)(void))make_plan, METH_VARARGS | METH_KEYWORDS,
     make_plan_doc},
    {"learn_layout", learn_layout, METH_O, learn_layout_doc},
    {NULL, NULL, 0, NULL},
};

int follow_exec(PyObject *module)
{
    PyObject *type = plan_make_type(module);

    if (type == NULL) {
        return -1;
    }
    Py_XDECREF(follower.plan_type);
    follower.plan_type = type;
    if (PyModule_AddFunctions(module, methods) != 0 ||
        PyModule_AddFunctions(module, follow_trace_methods) != 0 ||
        PyModule_AddFunctions(module, follow_monitor_methods) != 0) {
        return -1;
    }
    return 0;
}
