/* Errors of what reads and draws traces, as Python's exceptions. */
#ifndef MONITORCH_PYTHON_VIEW_ERROR_H
#define MONITORCH_PYTHON_VIEW_ERROR_H

#include "runtime/base/error.h"

/* MemoryError; ValueError where what was asked for makes no sense; else OSError. */
void view_raise(const struct error *error);

#endif
