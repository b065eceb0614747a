/* Watchers: consumers of visits in Python, which get the values themselves. Each names what it wants by
 * names and lines; which sites these are is found once for a module. */
#ifndef MONITORCH_PYTHON_WATCH_WATCH_H
#define MONITORCH_PYTHON_WATCH_WATCH_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Adds the type of watchers, which are consumers of visits. 0, or -1 with an exception set. */
int watcher_exec(PyObject *module);

/* The functions `make_watcher` and `is_nonfinite` of the module. */
PyObject *watcher_make(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *watcher_is_nonfinite(PyObject *module, PyObject *args);

#endif
