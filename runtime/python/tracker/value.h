/* A value as the tree log tells it, by itself: what `_log_change` writes. */
#ifndef MONITORCH_PYTHON_TRACKER_VALUE_H
#define MONITORCH_PYTHON_TRACKER_VALUE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern const char track_value_doc[];

/* The function `track_value` of the module. */
PyObject *track_value(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

#endif
