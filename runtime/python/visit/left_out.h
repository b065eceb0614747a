/* Visits that are not recorded, as seen from Python's values: see runtime/record/left_out.h. */
#ifndef MONITORCH_PYTHON_VISIT_LEFT_OUT_H
#define MONITORCH_PYTHON_VISIT_LEFT_OUT_H

#include "runtime/python/record/session.h"

/* Whether this visit is left out; it is counted then. The session need not be entered. */
bool visit_is_left_out(struct session *session,
                       struct recorded_module *module,
                       uint32_t site,
                       PyObject *const *values,
                       Py_ssize_t count);

/* After a visit of a site that is left out was recorded: types that it showed to hold no tensor need
 * not be looked at again. */
void visit_keep_types(struct session *session,
                      struct recorded_module *module,
                      uint32_t site,
                      PyObject *const *values,
                      Py_ssize_t count);

#endif
