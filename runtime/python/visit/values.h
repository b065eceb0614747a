/* From Python's values to what the recorder tells of them. */
#ifndef MONITORCH_PYTHON_VISIT_VALUES_H
#define MONITORCH_PYTHON_VISIT_VALUES_H

#include "runtime/python/record/session.h"

/* Tells `object` as the value of the visit's `write`-th name, and the tensors inside it. */
void value_record(struct session *session,
                  const struct visit *visit,
                  uint32_t write,
                  PyObject *object);

/* Tells it, or what stands at `path` in it, where it holds no others; false: it does, nothing was
 * told. */
bool value_record_single(struct session *session,
                         const struct visit *visit,
                         uint32_t write,
                         struct slice path,
                         PyObject *object);

/* Where a gradient belongs, and what is known of it when it is written. */
struct value_gradient {
    const struct gradient_owner *owner;
    enum log_gradient_tag tag;
    uint32_t step;
    struct log_nonfinite counts; /* filled in; all 0 where it was not measured */
    struct slice what;           /* filled in: dtype, of static memory */
    uint64_t element_count;      /* filled in */
};
/* Writes the gradient `object`; false: it is no tensor. */
bool value_record_gradient(struct session *session,
                           struct value_gradient *gradient,
                           PyObject *object);

/* Records the tensor `object` as a parameter, or as its gradient: see recorder_write_parameter. `counts`
 * gets what was measured, all 0 where nothing was. false: it is no tensor. */
bool value_record_parameter(struct session *session,
                            const struct visit *visit,
                            struct slice name,
                            bool is_read,
                            struct name_state *state,
                            PyObject *object,
                            struct log_nonfinite *counts);

/* Tells it if it is a tensor, or holds any; false where there was nothing to tell. */
bool value_record_tensors(struct session *session,
                          const struct visit *visit,
                          uint32_t write,
                          PyObject *object);

/* describe.c: what is told of an object that is neither a tensor nor walked. `owner` gets a reference to what
 * texts of `value`, which is zeroed, borrow from; it may get none. */
void value_describe(const struct type_info *info,
                    PyObject *object,
                    struct value *value,
                    PyObject **owner);

/* What is told of a tensor before it is measured; it borrows from that. */
struct recorded_array value_array(const struct tensor *tensor);

/* Measures a tensor that was described: statistics and hash, as far as they are wanted and its
 * values can be read. Returns what was found (enum statistics_want): no hash of an expanded tensor
 * that does not repeat soon; nothing where Ctrl-C was pressed meanwhile, which Python then handles. The
 * GIL stays held: see tensor_describe. */
unsigned value_measure(const struct tensor *tensor,
                       unsigned wanted,
                       unsigned thread_limit,
                       struct statistics *statistics,
                       uint64_t *hash);

#endif
