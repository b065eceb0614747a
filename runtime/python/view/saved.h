/* Saved tensors for Python: what monitorch.spy.spy_load() is made of. */
#ifndef MONITORCH_PYTHON_VIEW_SAVED_H
#define MONITORCH_PYTHON_VIEW_SAVED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* As methods of a module. */
extern const char view_saved_open_doc[];
PyObject *view_saved_open(PyObject *module, PyObject *path);
extern const char view_saved_read_doc[];
PyObject *view_saved_read(PyObject *module, PyObject *args);

#endif
