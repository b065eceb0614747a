/* Changes: a Python function that is called with each tensor that a visit has recorded, after
 * the visit's events are written, and that may replace the tensor's values. A recording with
 * noise uses it to disturb values, and a graft to replace them by those of another run. */
#ifndef MONITORCH_PYTHON_RECORD_CHANGE_H
#define MONITORCH_PYTHON_RECORD_CHANGE_H

#include "runtime/python/record/session.h"

struct changes;

/* Starts to change the tensors of a recording: `function` is called as function(tensor, event,
 * site, write, path, is_mutated, hash). `event` and `site` are numbers of the trace, `path` is
 * the place in the value, `hash` that of the values, or None. Returns false if memory ran out. */
bool change_begin(struct session *session, PyObject *function);
void change_end(struct session *session);
int change_traverse(const struct session *session, visitproc visit, void *arg);

/* Stores the tensor of the event that the recorder wrote last. change_apply passes it to the
 * function. */
void change_note(struct session *session,
                 const struct visit *visit,
                 uint32_t write,
                 struct slice path,
                 const struct value *value);

/* Called at the end of each visit. Runs Python code, so finalizers may visit sites. */
void change_apply(struct session *session);

#endif
