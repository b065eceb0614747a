/* Tables of traces as Arrow streams, in the capsules of Arrow's PyCapsule interface. */
#ifndef MONITORCH_PYTHON_VIEW_ARROW_H
#define MONITORCH_PYTHON_VIEW_ARROW_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* As a method of a module. */
extern const char view_arrow_doc[];
PyObject *view_arrow(PyObject *module, PyObject *args);

#endif
