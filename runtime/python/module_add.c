/* Helpers that add types and objects to an extension module. */
#include "runtime/python/module_add.h"

#include <string.h>

int module_add_object(PyObject *module, const char *name, PyObject *object)
{
    int status = object == NULL ? -1 : PyModule_AddObjectRef(module, name, object);

    Py_XDECREF(object);
    return status;
}

int module_keep_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type)
{
    *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    Py_XINCREF((PyObject *)*type);
    return module_add_object(module, strrchr(spec->name, '.') + 1, (PyObject *)*type);
}

int module_add_type(PyObject *module, PyType_Spec *spec)
{
    PyTypeObject *type;
    int status = module_keep_type(module, spec, &type);

    Py_XDECREF((PyObject *)type);
    return status;
}
