/* Watchers: the other consumers of visits, which get the values themselves. Each names what it
 * wants by names and lines; which sites these are is found once for a module. */
#ifndef MONITORCH_PYTHON_WATCH_WATCH_H
#define MONITORCH_PYTHON_WATCH_WATCH_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/base/slice.h"
#include "runtime/site/site.h"

#include "runtime/python/record/session.h"
#include <stdbool.h>
#include <stdint.h>

struct session;

/* A module as watchers know it. Zeroed but for the texts is how it begins. */
struct watched_module {
    uint64_t number; /* unlike any other's, from 1; 0: its table was not read yet */
    struct site_table table;
    struct slice text, file; /* borrowed: of the table; whose sites these are */
    struct arena arena;
};

void watched_module_release(struct watched_module *module);

/* Notifies the session's watchers of a visit, with its values as the hook got them. False with an
 * exception set where a watcher raised. */
bool watchers_visit(struct session *session,
                    struct watched_module *module,
                    unsigned long site,
                    PyObject *const *values,
                    Py_ssize_t count);

/* The type of watchers. A new reference, or NULL with an exception. */
PyObject *watcher_make_type(PyObject *module);

/* A Tracing (tracing.h) is notified in the same way: a watcher in C. */

/* The functions `make_watcher`, `set_watchers` and `is_nonfinite` of the module. */
PyObject *watcher_make(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *watchers_set(PyObject *module, PyObject *watchers);
PyObject *watcher_is_nonfinite(PyObject *module, PyObject *args);

/* The torch.nn.Modules whose methods run. */

/* The function `running_modules` of the module: all of them, the innermost first,
 * each with whether it is its constructor that runs. */
PyObject *watcher_running_modules(PyObject *module, PyObject *unused);

#endif
