/* Requests to save a tensor, made from Python objects. Shared by saver.c, saver_trace.c and
 * others that save tensors. All functions are called with the GIL held unless their comment says
 * otherwise. */
#ifndef MONITORCH_PYTHON_SPY_SAVER_H
#define MONITORCH_PYTHON_SPY_SAVER_H

#include "runtime/array/row_norms.h"
#include "runtime/python/record/session.h"
#include "runtime/saved/saved.h"

#include <stdbool.h>

/* ---- the names that a tensor is saved under ---- */

/* Prefix, module path, name, file, function. */
#define SAVER_TEXT_COUNT 5

struct saver_request {
    struct saved_tensor saved; /* complete except for its array */
    PyObject
        *texts[SAVER_TEXT_COUNT]; /* owned: the slices of `saved` point into them */
    size_t text_count;
};

/* Raises the exception for `error` and the errno `number`, with the tensor's name in its text.
 * `request` is NULL for an error that belongs to no single tensor. Returns NULL. */
PyObject *saver_raise(const struct error *error,
                      int number,
                      const struct saver_request *request,
                      const char *path);

/* ---- its values ---- */

struct saver_value {
    PyObject *object;     /* owned: the tensor, or a copy of it that can be read */
    struct tensor tensor; /* of `object` */
    struct array array;   /* the array to write: the tensor's values, or their norms */
    struct row_norms norms;
    PyObject *
        storage; /* owned: keeps the memory alive while the GIL is released; may be NULL */
};

/* A tensor to save: its names and its values. */
struct saver_item {
    struct saver_request request;
    struct saver_value value;
};

/* Prepares a tensor or array for writing. Values of other devices, and sparse and quantised
 * ones, are copied by torch's own methods. `norm_only`: the norms of its rows are written
 * instead. Returns false with an exception set (TypeError if it is no tensor or has no such
 * values); the item needs no release then. The item must not be moved. */
bool saver_item_init(struct saver_item *item,
                     struct session *session,
                     PyObject *tensor,
                     PyObject *key,
                     PyObject *place,
                     bool norm_only);
void saver_item_release(struct saver_item *item);

/* ---- what the module offers ---- */

/* The functions save_pt() and saved_file_stem() of the module, see saver.c. */
extern const char saver_save_pt_doc[], saver_stem_doc[];
PyObject *saver_save_pt(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *saver_stem(PyObject *module, PyObject *name);

/* Adds the class SafetensorsWriter to the module. Returns 0, or -1 with an exception set. */
int saver_safetensors_exec(PyObject *module);

/* Adds the class TraceWriter, which writes tensors as events of a trace. Returns 0, or -1 with
 * an exception set. */
int saver_trace_exec(PyObject *module);

#endif
