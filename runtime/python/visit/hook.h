/* What the inserted calls reach: `_mt(site, values…)`. */
#ifndef MONITORCH_PYTHON_VISIT_HOOK_H
#define MONITORCH_PYTHON_VISIT_HOOK_H

#include "runtime/python/record/session.h"
#include "runtime/python/visit/frames.h"

/* The type of what a hook is bound to. A new reference, or NULL with an exception. */
PyObject *hook_make_type(PyObject *module);

/* The function `make_hook` of the module. */
PyObject *hook_make(PyObject *module, PyObject *args, PyObject *keywords);

/* Whether an object is what hook_make gives. */
bool hook_check(PyObject *object);

/* What calling the hook does. Of the values, NULL is one that cannot be found. */
void hook_visit(PyObject *hook,
                uint32_t site,
                PyObject *const *values,
                Py_ssize_t count);

/* The same for what stands in no instrumented code: the running frame's call belongs to that
 * module. False: the recording is to stop at such a value, and an exception is set. */
bool hook_observe(PyObject *hook,
                  uint32_t site,
                  const struct frame_owner *owner,
                  PyObject *const *values,
                  Py_ssize_t count);

/* Whether a visit would be told at all. */
bool hook_is_recording(PyObject *hook);

/* `frame`, of this thread, runs code of the hook's module: its call is known from now on. */
void hook_join(PyObject *hook, PyObject *frame);

/* The function `join` of the module. */
PyObject *hook_join_call(PyObject *module, PyObject *args);

#endif
