/* Values that a site reads and that no site has told: what was there before recording began, and
 * what other code made. */
#ifndef MONITORCH_PYTHON_VISIT_SOURCES_H
#define MONITORCH_PYTHON_VISIT_SOURCES_H

#include "runtime/python/record/session.h"

/* Tells the tensors that the visit's site has read, those that are not known in this call: of
 * globals, and of attributes of the call's own torch.nn.Module. No user's code runs. */
void sources_record(struct session *session, const struct visit *visit);

/* Recording begins in the middle of this call: tells the tensors that its sites may read, local
 * ones too, as they are now. */
void sources_record_frame(struct session *session,
                          struct recorded_module *module,
                          struct call *call,
                          PyObject *frame);

#endif
