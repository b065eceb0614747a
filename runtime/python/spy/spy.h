/* The function spy_save, which user's code calls: a builtin, so that it costs next to nothing
 * where no context is open. */
#ifndef MONITORCH_PYTHON_SPY_SPY_H
#define MONITORCH_PYTHON_SPY_SPY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* spy_save(name, tensor, module=None) of the module `_recorder`. */
PyObject *spy_save(PyObject *module,
                   PyObject *const *arguments,
                   Py_ssize_t count,
                   PyObject *keyword_names);

/* spy_begin(get): from now on spy_save asks `get()` which contexts are open: a tuple whose first
 * item is the innermost, or None. */
PyObject *spy_begin(PyObject *module, PyObject *get);

extern const char spy_save_doc[], spy_begin_doc[];

#endif
