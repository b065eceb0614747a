/* Events of traces as columns, and their calls and sites: what monitorch.load() is made of. */
#ifndef MONITORCH_PYTHON_VIEW_LOAD_H
#define MONITORCH_PYTHON_VIEW_LOAD_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/trace/reader.h"

#include <stdbool.h>

/* As methods of a module. */
extern const char view_load_doc[];
PyObject *view_load(PyObject *module, PyObject *args);
extern const char view_records_doc[];
PyObject *view_records(PyObject *module, PyObject *args);

/* Memory that runs out in the reader is told as damage: not all of the trace was read then. */
bool view_has_memory(const struct log_reader *reader);

#endif
