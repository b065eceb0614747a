/* The hooks: the functions that instrumented code calls as `_mt(site, values…)`. */
#ifndef MONITORCH_PYTHON_VISIT_HOOK_H
#define MONITORCH_PYTHON_VISIT_HOOK_H

#include "runtime/python/record/session.h"
#include "runtime/python/visit/frames.h"

/* The type of the objects to which hooks are bound. A new reference, or NULL with an exception. */
PyObject *hook_make_type(PyObject *module);

/* The module's function `make_hook`. */
PyObject *hook_make(PyObject *module, PyObject *args, PyObject *keywords);

/* Whether an object is a hook. */
bool hook_check(PyObject *object);

/* Records a visit as a call of the hook does. A value that cannot be found is NULL. */
void hook_visit(PyObject *hook,
                uint32_t site,
                PyObject *const *values,
                Py_ssize_t count);

/* hook_visit for code that is not instrumented: the running frame's call belongs to the hook's
 * module. Returns false with an exception set if the recording stops at such a value, or the
 * lines about tracked calls could not be written. */
bool hook_observe(PyObject *hook,
                  uint32_t site,
                  const struct frame_owner *owner,
                  PyObject *const *values,
                  Py_ssize_t count);

/* Whether a visit would be recorded at all. */
bool hook_is_recording(PyObject *hook);

/* Starts a call for `frame`, which is of this thread and runs code of the hook's module. */
void hook_join(PyObject *hook, PyObject *frame);

/* The module's function `join`. */
PyObject *hook_join_call(PyObject *module, PyObject *args);

#endif
