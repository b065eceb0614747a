/* Helpers that add types and objects to an extension module. */
#ifndef MONITORCH_PYTHON_MODULE_ADD_H
#define MONITORCH_PYTHON_MODULE_ADD_H

#include <Python.h>

/* All return 0, or -1 with an exception set. */

/* Makes the type, and adds it to the module under the last part of its name. */
int module_add_type(PyObject *module, PyType_Spec *spec);

/* module_add_type, with a reference in `type` that the caller owns. NULL if the type could not
 * be made. */
int module_keep_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type);

/* Adds the object to the module. Steals the reference to it; NULL means that it could not be
 * made and an exception is set. */
int module_add_object(PyObject *module, const char *name, PyObject *object);

#endif
