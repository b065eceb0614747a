/* The type Observer: the hooks that tell the calls of one torch.nn.Module. */
#ifndef MONITORCH_PYTHON_WATCH_OBSERVE_MODULE_H
#define MONITORCH_PYTHON_WATCH_OBSERVE_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* 0, or -1 with an exception set. */
int observer_add_type(PyObject *module);

#endif
