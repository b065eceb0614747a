/* The function spy_save, which the user's code calls. It is a builtin, so that it costs almost
 * nothing if no context is open. */
#ifndef MONITORCH_PYTHON_SPY_SPY_H
#define MONITORCH_PYTHON_SPY_SPY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>

struct session;

/* Adds the savers' part of a session. Returns 0, or -1 with an exception set. */
int spy_exec(PyObject *module);

/* The order number of the next tensor that this process saves, from 0. Each call returns a new
 * one. */
uint64_t spy_next_order(struct session *session);

/* The module's function spy_save(name, tensor, module=None). */
PyObject *spy_save(PyObject *module,
                   PyObject *const *arguments,
                   Py_ssize_t count,
                   PyObject *keyword_names);

/* spy_begin(get): sets the function that spy_save calls to get the open contexts: `get()`
 * returns a tuple whose first item is the innermost context, or None. */
PyObject *spy_begin(PyObject *module, PyObject *get);

/* The module's function find_module_path(default, saver, module): the path of a registered
 * module. */
PyObject *spy_find_module_path(PyObject *module, PyObject *args);

/* The module's function make_full_name(kind, prefix, module_path, name, context=None,
 * place=None). */
PyObject *spy_make_full_name(PyObject *module, PyObject *args);

extern const char spy_save_doc[], spy_begin_doc[], spy_find_module_path_doc[],
    spy_make_full_name_doc[];

#endif
