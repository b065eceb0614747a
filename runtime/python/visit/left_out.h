/* Visits that are not recorded, as seen from Python's values: see runtime/record/left_out.h. */
#ifndef MONITORCH_PYTHON_VISIT_LEFT_OUT_H
#define MONITORCH_PYTHON_VISIT_LEFT_OUT_H

#include "runtime/python/record/session.h"
#include "runtime/record/left_out.h"

/* What session_enter finds out, where nothing has to be done about it. */
static inline bool visit_is_recorded_here(const struct session *session)
{
    return !session->is_closing && !session->is_own &&
           session->fork_count == session_fork_count() &&
           (session->only_thread == 0 ||
            session->only_thread == session_thread_key()) &&
           (session->tracking == NULL || tracking_is_idle(session->tracking));
}

/* Whether this visit is left out; it is counted then. The session need not be entered. */
bool visit_is_left_out(struct session *session,
                       struct recorded_module *module,
                       uint32_t site,
                       PyObject *const *values,
                       Py_ssize_t count);

/* Whether a value is neither a tensor nor a number that is not finite, and no container whose newest item
 * is one. */
bool visit_is_plain(const struct recorded_site *site, PyObject *value);

/* visit_is_left_out for a visit of one value where nothing but the count has to be kept, as for most in
 * a loop. False: visit_is_left_out has to find out. */
static inline bool visit_is_skipped(const struct session *session,
                                    struct recorded_site *site,
                                    PyObject *const *values,
                                    Py_ssize_t count)
{
    if (count != 1 || values[0] == NULL || !left_out_skips_simply(site) ||
        session->only_thread != 0 || !visit_is_recorded_here(session) ||
        (Py_TYPE(values[0]) != &PyLong_Type && Py_TYPE(values[0]) != site->plain_type &&
         !visit_is_plain(site, values[0]))) {
        return false;
    }
    left_out_count_skipped(site);
    return true;
}

/* After a visit of a site that is left out was recorded: types that it showed to hold no tensor need
 * not be looked at again. */
void visit_keep_types(struct session *session,
                      struct recorded_module *module,
                      uint32_t site,
                      PyObject *const *values,
                      Py_ssize_t count);

#endif
