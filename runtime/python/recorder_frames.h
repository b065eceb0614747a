/* From Python's frames to the calls of the recording. */
#ifndef MONITORCH_PYTHON_RECORDER_FRAMES_H
#define MONITORCH_PYTHON_RECORDER_FRAMES_H

#include "runtime/python/recorder_session.h"

/* The call that the running frame belongs to, which visits a site of `module`; made where it is
 * new. `first` is the enter site's first value, or NULL. NULL where there is none: no memory,
 * no frame, a thread that is not recorded. */
struct call *frame_find_call(struct session *session,
                             struct recorded_module *module,
                             uint32_t site,
                             PyObject *first);

/* Makes the call that `frame` is in the middle of known, so that those which it makes before its
 * first event know where they were made. NULL where it is known, or not of that module. */
struct call *
frame_join(struct session *session, struct recorded_module *module, PyObject *frame);

#endif
