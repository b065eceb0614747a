/* The types Switch and Probe: what torch calls after a module's forward on a step that is
 * monitored. */
#ifndef MONITORCH_PYTHON_MONITOR_PROBE_H
#define MONITORCH_PYTHON_MONITOR_PROBE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Adds the types to the module: 0, or -1 with an exception set. */
int probe_exec(PyObject *module);

#endif
