/* The function `nearest_names` of the module: base/nearest_name.h for Python. */
#ifndef MONITORCH_PYTHON_RECORD_NEAREST_H
#define MONITORCH_PYTHON_RECORD_NEAREST_H

#include "runtime/python/record/session.h"

extern const char nearest_names_doc[];
PyObject *nearest_names(PyObject *module, PyObject *arguments);

#endif
