/* From running frames to the modules whose methods they run. */
#include "runtime/python/watch/modules.h"

#include "runtime/python/visit/variables.h"

#define CODE_LIMIT 10000 /* codes that are remembered; then all are forgotten */

/* (code, name of the first parameter or None, its slot); a new reference, or NULL with an
 * exception. */
static PyObject *describe_code(PyObject *code)
{
    PyObject *names = PyObject_GetAttrString(code, "co_varnames");
    PyObject *number = PyObject_GetAttrString(code, "co_argcount");
    PyObject *result = NULL;

    if (names != NULL && number != NULL) {
        bool has_any = PyLong_AsLong(number) > 0 && PyTuple_Size(names) > 0;
        PyObject *name = has_any ? PyTuple_GetItem(names, 0) : Py_None;
        int slot = has_any ? frame_find_slot(code, name) : FRAME_NO_SLOT;

        result = Py_BuildValue("(OOi)", code, name, slot);
    }
    Py_XDECREF(names);
    Py_XDECREF(number);
    return result;
}

/* The same, found once; a borrowed reference. */
static PyObject *find_description(struct session *session, PyObject *code)
{
    PyObject *key = PyLong_FromVoidPtr(code);
    PyObject *found =
        key == NULL ? NULL : PyDict_GetItem(session->first_parameters, key);

    if (key != NULL && found == NULL) {
        found = describe_code(code);
        if (PyDict_Size(session->first_parameters) >= CODE_LIMIT) {
            PyDict_Clear(session->first_parameters);
        }
        if (found != NULL &&
            PyDict_SetItem(session->first_parameters, key, found) < 0) {
            Py_CLEAR(found);
        }
        Py_XDECREF(found); /* the dictionary has it */
    }
    Py_XDECREF(key);
    return found;
}

/* The frame's first argument where it is a module: a new reference. NULL where it is none, or with
 * an exception. */
static PyObject *find_first_module(struct session *session, PyObject *frame)
{
    PyObject *description = find_description(session, frame_code(frame));
    PyObject *value = NULL;
    long slot;

    if (description == NULL) {
        return NULL;
    }
    slot = PyLong_AsLong(PyTuple_GetItem(description, 2));
    if (slot >= 0) {
        value = frame_find(frame, true, PyTuple_GetItem(description, 1), (int)slot);
    }
    if (value != NULL && !type_cache_get(&session->types, Py_TYPE(value))->is_module) {
        Py_CLEAR(value);
    }
    return value;
}

/* The frame that called this one, whose reference is stolen; NULL: none. */
static PyObject *leave(struct session *session, PyObject *frame)
{
    PyObject *back = PyObject_GetAttr(frame, session->name_f_back);

    Py_DECREF(frame);
    if (back == Py_None) {
        Py_CLEAR(back);
    }
    return back;
}

PyObject *watcher_find_module(struct session *session, bool *is_caller)
{
    unsigned depth = 0;
    PyObject *frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
    PyObject *found = NULL;

    while (frame != NULL && found == NULL && !PyErr_Occurred()) {
        found = find_first_module(session, frame);
        frame = leave(session, frame);
        depth++;
    }
    Py_XDECREF(frame);
    if (PyErr_Occurred()) {
        Py_CLEAR(found);
        return NULL;
    }
    *is_caller = found != NULL && depth > 1;
    return found == NULL ? Py_NewRef(Py_None) : found;
}

/* Whether the frame runs a constructor; -1 with an exception. */
static int is_constructor(PyObject *frame)
{
    PyObject *name = PyObject_GetAttrString(frame_code(frame), "co_name");
    int is_it =
        name == NULL ? -1 : PyUnicode_CompareWithASCIIString(name, "__init__") == 0;

    Py_XDECREF(name);
    return is_it;
}

/* Adds (module, whether the frame is its constructor), unless it is what was added last: torch
 * calls a module's method in other methods of the same module. */
static void list_add(PyObject *list, PyObject *module, PyObject *frame)
{
    Py_ssize_t count = PyList_Size(list);
    PyObject *last = count == 0 ? NULL : PyList_GetItem(list, count - 1);
    int is_made_here = is_constructor(frame);
    PyObject *pair;

    if (is_made_here < 0) {
        return;
    }
    if (last != NULL && PyTuple_GetItem(last, 0) == module &&
        (!is_made_here || PyTuple_GetItem(last, 1) == Py_True)) {
        return;
    }
    pair = PyTuple_Pack(2, module, is_made_here ? Py_True : Py_False);
    if (pair != NULL) {
        PyList_Append(list, pair);
        Py_DECREF(pair);
    }
}

PyObject *watcher_running_modules(PyObject *module, PyObject *unused)
{
    struct session *session = PyModule_GetState(module);
    PyObject *frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
    PyObject *list = PyList_New(0);

    (void)unused;
    while (list != NULL && frame != NULL && !PyErr_Occurred()) {
        PyObject *found = find_first_module(session, frame);

        if (found != NULL && !PyErr_Occurred()) {
            list_add(list, found, frame);
        }
        Py_XDECREF(found);
        frame = leave(session, frame);
    }
    Py_XDECREF(frame);
    if (PyErr_Occurred()) {
        Py_CLEAR(list);
    }
    return list;
}
