/* The metrics of a step as lines of text, for monitorch.monitor. */
#ifndef MONITORCH_PYTHON_VIEW_METRICS_H
#define MONITORCH_PYTHON_VIEW_METRICS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* As methods of a module. */
extern const char view_metrics_csv_doc[];
PyObject *view_metrics_csv(PyObject *module, PyObject *args);
extern const char view_metrics_json_doc[];
PyObject *view_metrics_json(PyObject *module, PyObject *args);

#endif
