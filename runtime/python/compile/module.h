/* Interfaces between the files of the extension module `monitorch._instrument`. */
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

/* The arguments of one call: a source, and the selection in it. */
struct request {
    PyObject *source; /* owned; bytes */
    PyObject *path;   /* owned; bytes, in the file system's encoding */
    struct selection selection;
    PyObject *functions;      /* owned; strings that the selection borrows from */
    PyObject *spy_names;      /* owned; strings that the selection borrows from */
    PyObject *prefix;         /* owned; the string of the selection's prefix, or NULL */
    struct slice *slices;     /* owned; both lists of globs */
    struct line_range *lines; /* owned */
};

/* The selection's arguments from Python: borrowed, each may be NULL. */
struct selection_arguments {
    int everything;
    int every_line;
    PyObject *forward;
    PyObject *functions;
    PyObject *lines;
    PyObject *spy;
    PyObject *prefix;
};

/* In the following, -1 and NULL mean that a Python exception is set. */

/* `source` is bytes-like or str, `path` is a path as os.fspath() accepts it. */
int request_init(struct request *request,
                 PyObject *source,
                 PyObject *path,
                 const struct selection_arguments *arguments);
void request_release(struct request *request);

/* The source as bytes, as in a file: a str is encoded as its own text declares, in UTF-8 if it
 * declares nothing. A new reference. */
PyObject *source_as_bytes(PyObject *source);

struct slice bytes_slice(PyObject *bytes);

/* Raises the Python exception for the error. */
void raise_error(const struct module_state *state,
                 PyObject *path,
                 const struct error *error);

/* The type of results, bound to the module. A new reference. */
PyObject *result_type_new(PyObject *module);

/* Instruments the source without the GIL. A new Result. */
PyObject *result_new(const struct module_state *state, const struct request *request);

const struct instrumented *result_instrumented(PyObject *result);

/* The code, which was compiled from the result's text, with the positions of the original bytes.
 * A new reference. */
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
