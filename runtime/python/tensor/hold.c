/* Keeping a tensor's memory while others may run. */
#include "runtime/python/tensor/private.h"

PyObject *tensor_hold(struct tensor_access *access, PyObject *object)
{
    const struct torch_access *torch = &access->torch;
    PyObject *method = torch->objects.untyped_storage;
    PyObject *storage = NULL;
    struct torch_guard guard;

    if (method == NULL || !PyType_IsSubtype(Py_TYPE(object), torch->base_type) ||
        !torch_guard_enter(torch, &guard)) {
        return NULL;
    }
    storage = PyObject_CallFunctionObjArgs(method, object, NULL);
    PyErr_Clear();
    torch_guard_leave(&guard);
    return storage;
}
