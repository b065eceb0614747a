/* Parameters and buffers of what a statement called, where what it made is not finite. */
#ifndef MONITORCH_PYTHON_VISIT_WEIGHTS_H
#define MONITORCH_PYTHON_VISIT_WEIGHTS_H

#include "runtime/python/record/session.h"

/* Records parameters and buffers of the torch.nn.Modules that the visit's statement uses, and
 * attributes and globals that it reads, as far as they are not finite. The first visits of a site
 * alone are looked at. No user's code runs. */
void weights_record(struct session *session, const struct visit *visit);

/* Forgets which sites were looked at. */
void weights_forget(struct session *session);

#endif
