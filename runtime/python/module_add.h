/* What the extension module offers besides functions: its types, and what it takes from tables. */
#ifndef MONITORCH_PYTHON_MODULE_ADD_H
#define MONITORCH_PYTHON_MODULE_ADD_H

#include <Python.h>

/* Both return 0; or -1, with an exception set. */

/* Makes the type, and adds it by the last part of its name. */
int module_add_type(PyObject *module, PyType_Spec *spec);

/* The same; `type` is the caller's own reference, or NULL where the type could not be made. */
int module_keep_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type);

/* Takes the object's reference; NULL: it could not be made, an exception is set. */
int module_add_object(PyObject *module, const char *name, PyObject *object);

#endif
