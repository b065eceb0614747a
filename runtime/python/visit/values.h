/* Values of Python as events of the recorder. */
#ifndef MONITORCH_PYTHON_VISIT_VALUES_H
#define MONITORCH_PYTHON_VISIT_VALUES_H

#include "runtime/python/record/session.h"

/* Records `object` as the value of the visit's `write`-th name, and the tensors inside it. */
void value_record(struct session *session,
                  const struct visit *visit,
                  uint32_t write,
                  PyObject *object);

/* Records `object`, or a leaf of it at `path`. Returns false, and records nothing, if the object
 * is a container. */
bool value_record_single(struct session *session,
                         const struct visit *visit,
                         uint32_t write,
                         struct slice path,
                         PyObject *object);

/* The parameter or tensor that a gradient belongs to, and facts about it that
 * value_record_gradient fills in. */
struct value_gradient {
    const struct gradient_owner *owner;
    enum log_gradient_tag tag;
    uint32_t step;
    struct log_nonfinite counts; /* filled in; all 0 if it was not measured */
    struct slice what;           /* filled in: dtype, of static memory */
    uint64_t element_count;      /* filled in */
};
/* Writes the gradient `object`. Returns false if it is no tensor. */
bool value_record_gradient(struct session *session,
                           struct value_gradient *gradient,
                           PyObject *object);

/* Records the tensor `object` as a parameter, or as its gradient: see recorder_write_parameter.
 * `counts` gets the measured counts, all 0 if nothing was measured. Returns false if it is no
 * tensor. */
bool value_record_parameter(struct session *session,
                            const struct visit *visit,
                            struct slice name,
                            bool is_read,
                            struct name_state *state,
                            PyObject *object,
                            struct log_nonfinite *counts);

/* Records `object` if it is a tensor or contains any. Returns false if nothing was recorded. */
bool value_record_tensors(struct session *session,
                          const struct visit *visit,
                          uint32_t write,
                          PyObject *object);

/* Describes an object that is neither a tensor nor a container. `value` must be zeroed. `owner`
 * gets a reference to the object that texts of `value` borrow from, if they do. */
void value_describe(const struct type_info *info,
                    PyObject *object,
                    struct value *value,
                    PyObject **owner);

/* The description of a tensor before it is measured. It borrows from `tensor`. */
struct recorded_array value_array(const struct tensor *tensor);

/* Measures a tensor that was described: statistics and hash, if they are wanted and its values
 * can be read. Returns what was measured (enum statistics_want): no hash of an expanded tensor
 * whose repetition is long; nothing if Ctrl-C was pressed meanwhile, which Python then handles.
 * The GIL stays held: see tensor_describe. */
unsigned value_measure(const struct tensor *tensor,
                       unsigned wanted,
                       unsigned thread_limit,
                       struct statistics *statistics,
                       uint64_t *hash);

#endif
