/* What the extension module offers besides functions. */
#include "runtime/python/module_add.h"

#include <string.h>

int module_add_object(PyObject *module, const char *name, PyObject *object)
{
    int status = object == NULL ? -1 : PyModule_AddObjectRef(module, name, object);

    Py_XDECREF(object);
    return status;
}

int module_add_type(PyObject *module, PyType_Spec *spec)
{
    return module_add_object(module, strrchr(spec->name, '.') + 1,
                             PyType_FromModuleAndSpec(module, spec, NULL));
}
