/* The selection language for Python: functions of the module `monitorch._recorder`. */
#ifndef MONITORCH_PYTHON_SELECT_H
#define MONITORCH_PYTHON_SELECT_H

#include <Python.h>

/* Adds the functions to the module. Returns -1 with an exception set. */
int select_exec(PyObject *module);

#endif
