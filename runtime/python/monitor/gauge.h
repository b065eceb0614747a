/* The type Gauge: the built-in metrics of one module output or parameter, merged over a step and
 * read at its end. */
#ifndef MONITORCH_PYTHON_MONITOR_GAUGE_H
#define MONITORCH_PYTHON_MONITOR_GAUGE_H

#define PY_SSIZE_T_CLEAN

#include "runtime/python/record/session.h"

struct gauge_devices;

void gauge_devices_free(struct gauge_devices *devices); /* may be NULL */

#include <Python.h>

#include "runtime/python/record/session.h"

/* Adds the type and GAUGE_METRICS, GAUGE_EDGES to the module: 0, or -1 with an exception set. */
int gauge_exec(PyObject *module);

/* Whether an object is a Gauge. */
bool gauge_check(PyObject *object);

/* Measures the tensor where it lies. NULL: done; else why it could not be read, a new
 * reference to a str. NULL with an exception set where memory ran out. */
PyObject *gauge_measure(PyObject *gauge, PyObject *tensor);

/* A call that a backward pass makes again: counted, not measured. */
void gauge_note_recomputed(PyObject *gauge);

#endif
