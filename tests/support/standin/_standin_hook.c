/* The hook that instrumented files reach in tests: a builtin function that takes anything,
 * returns None, never raises and runs no Python code, so that what a test sees is the
 * instrumentation's own doing. Counts visits, or keeps a list of them. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030a0000
#include <Python.h>

static unsigned long long visit_count;
static PyObject *visits; /* owned; a list of (site, type names), NULL: count only */

/* The name of a value's type, "?" where looking it up could run a metaclass's own code. */
static PyObject *type_name(PyObject *value)
{
    PyObject *type = (PyObject *)Py_TYPE(value);

    if (PyType_GetSlot(Py_TYPE(type), Py_tp_getattro) !=
        PyType_GetSlot(&PyType_Type, Py_tp_getattro)) {
        return PyUnicode_FromString("?");
    }
    return PyObject_GetAttrString(type, "__name__");
}

static void keep_visit(PyObject *const *arguments, Py_ssize_t count)
{
    PyObject *names = PyTuple_New(count > 0 ? count - 1 : 0);
    PyObject *visit = NULL;

    for (Py_ssize_t i = 1; names != NULL && i < count; i++) {
        PyObject *name = type_name(arguments[i]);
        if (name == NULL || PyTuple_SetItem(names, i - 1, name) < 0) {
            Py_CLEAR(names);
        }
    }
    if (names != NULL && count > 0) {
        visit = PyTuple_Pack(2, arguments[0], names);
    }
    if (visit != NULL) {
        PyList_Append(visits, visit);
    }
    Py_XDECREF(visit);
    Py_XDECREF(names);
    PyErr_Clear();
}

static PyObject *hook(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    visit_count++;
    if (visits != NULL) {
        PyObject *type, *value, *traceback;

        /* A site may be visited while an exception is on its way. */
        PyErr_Fetch(&type, &value, &traceback);
        keep_visit(arguments, count);
        PyErr_Restore(type, value, traceback);
    }
    Py_RETURN_NONE;
}

static PyObject *count_visits(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLongLong(visit_count);
}

static PyObject *start(PyObject *module, PyObject *is_collecting)
{
    (void)module;
    visit_count = 0;
    Py_CLEAR(visits);
    if (PyObject_IsTrue(is_collecting)) {
        visits = PyList_New(0);
        if (visits == NULL) {
            return NULL;
        }
    }
    Py_RETURN_NONE;
}

static PyObject *take_visits(PyObject *module, PyObject *unused)
{
    PyObject *taken = visits;

    (void)module;
    (void)unused;
    visits = NULL;
    return taken != NULL ? taken : PyList_New(0);
}

static PyMethodDef methods[] = {
    {"hook", (PyCFunction)(void (*)(void))hook, METH_FASTCALL, NULL},
    {"count_visits", count_visits, METH_NOARGS, NULL},
    {"start", start, METH_O, NULL},
    {"take_visits", take_visits, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_standin_hook", NULL, -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__standin_hook(void)
{
    return PyModule_Create(&definition);
}
