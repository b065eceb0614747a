/* Where a call is made. */
#ifndef MONITORCH_PYTHON_TRACKER_CALLERS_H
#define MONITORCH_PYTHON_TRACKER_CALLERS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/base/buffer.h"

#include <stdbool.h>

/* Adds the running thread's frames, the nearest first, as struct log_tracked has them; without
 * those of files in `own_folder`, which ends with a slash. The nearest three, or `all` of them, up to a limit, and then with
 * the names of their functions. */
void track_callers_add(PyObject *own_folder, bool all, struct buffer *text);

#endif
