/* Events that no instrumented line records: the calls of modules whose source is not selected,
 * which torch's hooks report; metrics of a module's output. They are recorded as visits of
 * sites, so every view shows them.
 *
 * A *place* stands for the observed code: a function in a source file, and its sites, which are
 * made here and not by the compiler. It is a hook like those of instrumented modules
 * (python/visit/hook.h), and serves all recordings. The call of an event is found by the running
 * frame. An `enter` site starts the call. Other sites continue it, or join it if it has no
 * record yet; in a place without an `enter` site they start it. A C function that torch calls as
 * a hook runs in the frame of torch's own code, which is the same before and after the module's
 * forward. A Python function has a frame of its own, and so a call of its own, below the
 * module's call if that is observed too. */
#ifndef MONITORCH_PYTHON_WATCH_OBSERVE_H
#define MONITORCH_PYTHON_WATCH_OBSERVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

/* A visit of a place's site: one event, or one for each name that the site writes. */
struct observation {
    PyObject *place; /* made by make_place */
    uint32_t site;
    PyObject *
        module; /* the module that the event belongs to, or NULL; its class is recorded with the call */
    struct slice path; /* the path of that module: `encoder.layers.0` */
};

/* `__reduce__` of objects that are hooks of modules. A pickled model contains its hooks;
 * unpickled ones do nothing. */
PyObject *observe_reduce(PyObject *self, PyObject *unused);

/* Adds two functions and a type to the module `_recorder`:
 *   make_place(path, file, module_name, function, line, sites, is_reported) -> place
 *   observe(place, site, path, module, *values)
 *   Observer(place, path, names, defaults, positional, rest, keywords): a module's hooks
 * Returns 0, or -1 with an exception set. */
int observe_exec(PyObject *module);

#endif
