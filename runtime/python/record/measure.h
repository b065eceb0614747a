/* One value measured by itself, without a recording. */
#ifndef MONITORCH_PYTHON_RECORD_MEASURE_H
#define MONITORCH_PYTHON_RECORD_MEASURE_H

#include "runtime/python/record/session.h"

/* The function `measure` of the module. */
PyObject *measure_value(PyObject *module, PyObject *args, PyObject *keywords);

#endif
