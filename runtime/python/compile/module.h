/* What the files of the extension module `monitorch._instrument` share. */
#ifndef MONITORCH_PYTHON_COMPILE_MODULE_H
#define MONITORCH_PYTHON_COMPILE_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "instrument/instrument.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <stdbool.h>

struct module_state {
    PyObject *error_type;  /* owned; InstrumentError */
    PyObject *result_type; /* owned; Result */
};

/* One call's arguments: a source and what to select in it. */
struct request {
    PyObject *source; /* owned; bytes */
    PyObject *path;   /* owned; bytes, in the file system's encoding */
    struct selection selection;
    PyObject *functions;  /* owned; the strings that the selection borrows from */
    PyObject *spy_names;  /* owned; the same */
    PyObject *prefix;     /* owned; what the selection's prefix borrows from, or NULL */
    struct slice *slices; /* owned; both lists of globs */
    struct line_range *lines; /* owned */
};

/* The selection's arguments as Python gave them: borrowed, each may be NULL. */
struct selection_arguments {
    int everything;
    int every_line;
    PyObject *forward;
    PyObject *functions;
    PyObject *lines;
    PyObject *spy;
    PyObject *prefix;
};

/* Below, -1 and NULL mean that a Python exception is set. */

/* `source` is bytes-like or str, `path` anything that names a file. */
int request_init(struct request *request,
                 PyObject *source,
                 PyObject *path,
                 const struct selection_arguments *arguments);
void request_release(struct request *request);

/* Bytes as a source has them on disk: a str is encoded as its own text declares, UTF-8 if it
 * declares nothing. A new reference. */
PyObject *source_as_bytes(PyObject *source);

struct slice bytes_slice(PyObject *bytes);

/* Raises what the error is to Python. */
void raise_error(const struct module_state *state,
                 PyObject *path,
                 const struct error *error);

/* The type of results, bound to the module. A new reference. */
PyObject *result_type_new(PyObject *module);

/* Instruments without the GIL. A new Result. */
PyObject *result_new(const struct module_state *state, const struct request *request);

const struct instrumented *result_instrumented(PyObject *result);

/* The code, which was compiled of the result's text, with the positions of the original's
 * bytes. A new reference. */
PyObject *code_map_result(const struct module_state *state,
                          PyObject *code,
                          PyObject *result,
                          PyObject *source,
                          const char *path);

/* Compiles and maps positions back; a new (code, Result). */
PyObject *compile_request(const struct module_state *state,
                          const struct request *request,
                          PyObject *filename,
                          int optimize,
                          int flags);

#endif
