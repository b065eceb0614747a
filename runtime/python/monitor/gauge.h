/* The type Gauge: the built-in metrics of one module output or parameter, merged over a step and
 * read at its end. */
#ifndef MONITORCH_PYTHON_MONITOR_GAUGE_H
#define MONITORCH_PYTHON_MONITOR_GAUGE_H

#define PY_SSIZE_T_CLEAN

#include "runtime/python/record/session.h"

#include <Python.h>

#include "runtime/python/record/session.h"

/* Adds the type Gauge and the tuples GAUGE_METRICS and GAUGE_EDGES to the module. Returns 0, or
 * -1 with an exception set. */
int gauge_exec(PyObject *module);

/* The types Switch and Probe. torch calls a probe after a module's forward in a monitored step. */

/* Adds the types to the module. Returns 0, or -1 with an exception set. */
int probe_exec(PyObject *module);

#endif
