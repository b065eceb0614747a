/* Changes: a function of Python that is called with each tensor that a visit has recorded, after its events
 * are written, and may give it other values. A recording with noise disturbs them so, and a graft
 * replaces them by those of another run. */
#ifndef MONITORCH_PYTHON_RECORD_CHANGE_H
#define MONITORCH_PYTHON_RECORD_CHANGE_H

#include "runtime/python/record/session.h"

struct changes;

/* A recording begins whose tensors `function` changes: function(tensor, event, site, write, path,
 * is_mutated, hash). `event` and `site` are numbers of the trace, `path` is the place in the value, `hash`
 * that of the values, or None. false: out of memory. */
bool change_begin(struct session *session, PyObject *function);
void change_end(struct session *session);
int change_traverse(const struct session *session, visitproc visit, void *arg);

/* The tensor of the event that the recorder wrote last is given to the function by change_apply. */
void change_note(struct session *session,
                 const struct visit *visit,
                 uint32_t write,
                 struct slice path,
                 const struct value *value);

/* To be called at the end of each visit: runs Python's code, so finalizers may visit sites. */
void change_apply(struct session *session);

#endif
