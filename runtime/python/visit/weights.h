/* Parameters and buffers that are not finite, of modules that a statement used. */
#ifndef MONITORCH_PYTHON_VISIT_WEIGHTS_H
#define MONITORCH_PYTHON_VISIT_WEIGHTS_H

#include "runtime/python/record/session.h"

/* Records parameters and buffers of the torch.nn.Modules that the visit's statement uses, and
 * attributes and globals that it reads, if they are not finite. Only the first visits of a site
 * are examined. Runs no code of the user. */
void weights_record(struct session *session, const struct visit *visit);

/* Forgets which sites were examined. */
void weights_forget(struct session *session);

#endif
