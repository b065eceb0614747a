/* Shared by saver.c and saver_trace.c, and for others that save tensors: what is to be saved, from Python
 * objects. All of it is called with the GIL held but where it says otherwise. */
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
    struct saved_tensor saved;         /* but for its array */
    PyObject *texts[SAVER_TEXT_COUNT]; /* owned: what the slices point into */
    size_t text_count;
};

/* Raises the exception of `error` and `number`, an errno; the text has the tensor's name. `request`
 * may be NULL: of no one tensor. Gives back NULL. */
PyObject *saver_raise(const struct error *error,
                      int number,
                      const struct saver_request *request,
                      const char *path);

/* ---- its values ---- */

struct saver_value {
    PyObject *object;     /* owned: the tensor, or the copy that shows the same */
    struct tensor tensor; /* of `object` */
    struct array array; /* what is to be written: the tensor's values, or their norms */
    struct row_norms norms;
    PyObject
        *storage; /* owned: keeps the memory while the GIL is not held; may be NULL */
};

/* Both of what is to be saved. */
struct saver_item {
    struct saver_request request;
    struct saver_value value;
};

/* `tensor`: a tensor or array whose values can be read here and written. Those of other devices and
 * sparse and quantised ones are copied, by torch's own methods. `norm_only`: the norms of its rows
 * are what is to be written. False with an exception set, TypeError where it is no tensor or has no
 * such values; nothing is to be released then. The item may not move. */
bool saver_item_init(struct saver_item *item,
                     struct session *session,
                     PyObject *tensor,
                     PyObject *key,
                     PyObject *place,
                     bool norm_only);
void saver_item_release(struct saver_item *item);

/* ---- what the module has ---- */

/* save_pt(), see saver.c. */
extern const char saver_save_pt_doc[], saver_stem_doc[];
PyObject *saver_save_pt(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *saver_stem(PyObject *module, PyObject *name);

/* The class SafetensorsWriter, added to the module. 0, or -1 with an exception set. */
int saver_safetensors_exec(PyObject *module);

/* The same for TraceWriter, which writes the tensors as events of a trace. */
int saver_trace_exec(PyObject *module);

#endif
