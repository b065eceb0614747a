/* Watchers: consumers of visits that pass the values themselves to Python. Each watcher selects
 * values by names and lines. The sites that match are found once for each module. */
#ifndef MONITORCH_PYTHON_WATCH_WATCH_H
#define MONITORCH_PYTHON_WATCH_WATCH_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Adds the type of watchers, which is a kind of consumer. Returns 0, or -1 with an exception
 * set. */
int watcher_exec(PyObject *module);

/* The module's functions `make_watcher` and `is_nonfinite`. */
PyObject *watcher_make(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *watcher_is_nonfinite(PyObject *module, PyObject *args);

#endif
