/* Errors of what reads and draws traces, as Python's exceptions. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/python/view/error.h"

void view_raise(const struct error *error)
{
    if (error->kind == ERROR_MEMORY) {
        PyErr_NoMemory();
    } else {
        PyErr_SetString(error->kind == ERROR_USAGE ? PyExc_ValueError : PyExc_OSError,
                        error->text);
    }
}
