/* Events that no instrumented line records: the calls of modules whose source is not selected, seen
 * by torch's hooks; metrics of a module's output. They are recorded as if a site had been visited,
 * so every view shows them.
 *
 * A *place* is what is observed: a function somewhere in a source file, and its sites, made up here
 * instead of by the compiler. It is a hook like those of instrumented modules
 * (python/visit/hook.h), one for all recordings. The call that an event belongs to is known by the
 * running frame: an `enter` site begins it, other sites continue it, or join it where it is not
 * known (or begin it, in a place without an `enter` site). A function of C that torch calls as a
 * hook runs in the frame of torch's own code, the same one before and after the module's forward;
 * one of Python has a frame of its own, and so a call of its own, below the module's where that is
 * observed too. */
#ifndef MONITORCH_PYTHON_WATCH_OBSERVE_H
#define MONITORCH_PYTHON_WATCH_OBSERVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

/* One event, or one for each name that the site writes. */
struct observation {
    PyObject *place; /* see make_place */
    uint32_t site;
    PyObject *
        module; /* that the event is about, or NULL: its class is recorded with the call */
    struct slice path; /* of that module: `encoder.layers.0` */
};

/* `__reduce__` of what is a module's hook: a pickled model contains its hooks; after unpickling
 * they do nothing. */
PyObject *observe_reduce(PyObject *self, PyObject *unused);

/* Adds what this offers to the module `_recorder`:
 *   make_place(path, file, module_name, function, line, sites, is_reported) -> place
 *   observe(place, site, path, module, *values)
 *   Observer(place, path, names, defaults, positional, rest, keywords): a module's hooks
 * 0, or -1 with an exception set. */
int observe_exec(PyObject *module);

#endif
