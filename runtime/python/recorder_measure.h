/* One value measured by itself, without a recording. */
#ifndef MONITORCH_PYTHON_RECORDER_MEASURE_H
#define MONITORCH_PYTHON_RECORDER_MEASURE_H

#include "runtime/python/recorder_session.h"

/* The function `measure` of the module. */
PyObject *measure_value(PyObject *module, PyObject *args, PyObject *keywords);

#endif
