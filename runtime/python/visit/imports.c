/* Detection of calls that are made while a module is imported. */
#include "runtime/python/visit/imports.h"

/* The code of a function of the module, or NULL. */
static PyObject *find_code(PyObject *module, const char *name)
{
    PyObject *function = PyObject_GetAttrString(module, name);
    PyObject *code =
        function == NULL ? NULL : PyObject_GetAttrString(function, "__code__");

    Py_XDECREF(function);
    PyErr_Clear();
    return code;
}

void imports_init(struct imports *imports)
{
    PyObject *system = PyImport_ImportModule("_frozen_importlib");

    if (system == NULL) {
        PyErr_Clear();
        return;
    }
    imports->codes[0] = find_code(system, "_load_unlocked");
    imports->codes[1] = find_code(system, "_exec"); /* importlib.reload */
    imports->locks = PyObject_GetAttrString(system, "_module_locks");
    if (imports->locks != NULL && !PyDict_CheckExact(imports->locks)) {
        Py_CLEAR(imports->locks);
    }
    PyErr_Clear();
    Py_DECREF(system);
}

void imports_release(struct imports *imports)
{
    for (size_t i = 0; i < IMPORT_CODE_COUNT; i++) {
        Py_CLEAR(imports->codes[i]);
    }
    Py_CLEAR(imports->locks);
}

bool imports_go_on(const struct imports *imports)
{
    return imports->locks == NULL || PyDict_Size(imports->locks) > 0;
}

bool imports_has_code(const struct imports *imports, const void *code)
{
    return code == imports->codes[0] || code == imports->codes[1];
}

/* The number of imports that the running thread has not finished. */
static unsigned count_running(const struct imports *imports)
{
    PyObject *frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
    unsigned count = 0;

    while (frame != NULL && frame != Py_None) {
        PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
        PyObject *back = PyObject_GetAttrString(frame, "f_back");

        count += imports_has_code(imports, code);
        Py_DECREF(code);
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    PyErr_Clear();
    return count;
}

void imports_begin(struct imports *imports, uint64_t thread, bool is_whole)
{
    imports->thread = thread;
    imports->base_count = is_whole ? 0 : count_running(imports);
    imports->left_out = 0;
}

bool imports_made(struct imports *imports, uint64_t thread, unsigned count)
{
    if (thread != imports->thread) {
        return count > 0;
    }
    if (count < imports->base_count) {
        imports->base_count = count; /* those imports have ended */
    }
    return count > imports->base_count;
}
