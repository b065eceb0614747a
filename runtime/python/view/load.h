/* Events of traces as columns, and their calls and sites: what monitorch.load() is made of. */
#ifndef MONITORCH_PYTHON_VIEW_LOAD_H
#define MONITORCH_PYTHON_VIEW_LOAD_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* As methods of a module. */
extern const char view_find_traces_doc[];
PyObject *view_find_traces(PyObject *module, PyObject *args);
extern const char view_open_doc[];
PyObject *view_open(PyObject *module, PyObject *args);
extern const char view_load_doc[];
PyObject *view_load(PyObject *module, PyObject *args);
extern const char view_records_doc[];
PyObject *view_records(PyObject *module, PyObject *args);

#endif
