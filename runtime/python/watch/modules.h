/* The torch.nn.Modules whose methods run. */
#ifndef MONITORCH_PYTHON_WATCH_MODULES_H
#define MONITORCH_PYTHON_WATCH_MODULES_H

#include "runtime/python/record/session.h"

/* The module that is the first argument of the innermost function of this thread that has one
 * there; None where no function has. A new reference, or NULL with an exception. `is_caller`:
 * the innermost function of all has none, but one that called it. */
PyObject *watcher_find_module(struct session *session, bool *is_caller);

/* The function `running_modules` of the module: all of them, the innermost first,
 * each with whether it is its constructor that runs. */
PyObject *watcher_running_modules(PyObject *module, PyObject *unused);

#endif
