/* Metrics as a chart, for monitorch.monitor. */
#ifndef MONITORCH_PYTHON_VIEW_CHART_H
#define MONITORCH_PYTHON_VIEW_CHART_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* As a method of a module. */
extern const char view_chart_doc[];
PyObject *view_chart(PyObject *module, PyObject *args, PyObject *keywords);

#endif
