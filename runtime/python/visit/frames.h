/* From Python's frames to the calls of the recording. */
#ifndef MONITORCH_PYTHON_VISIT_FRAMES_H
#define MONITORCH_PYTHON_VISIT_FRAMES_H

#include "runtime/base/buffer.h"
#include "runtime/python/record/session.h"

/* The torch.nn.Module that a call belongs to, where the call turns out to be new. */
struct frame_owner {
    PyObject *object; /* borrowed; may be anything, or NULL: then it is the caller's */
    bool has_path;    /* it goes by `path`, whatever it stands below */
    struct slice path;
};

/* The call that the running frame belongs to, which visits a site of `module`; made where it is
 * new. NULL where there is none: no memory, no frame, a thread that is not recorded. */
struct call *frame_find_call(struct session *session,
                             struct recorded_module *module,
                             uint32_t site,
                             const struct frame_owner *owner);

/* A call began in the running frame that is not recorded: whatever is known by that frame, or above the
 * frames below it, has ended. */
void frame_skip_call(struct session *session);

/* The running thread, as the recording knows it; NULL: out of memory. */
struct call_thread *frame_thread(struct session *session);

/* The program's frame that runs a function of torch: the nearest that a recorded call is known by, which
 * `known` gets, else the nearest that is not torch's own, and `known` is NULL. A new reference; NULL:
 * there is none. */
PyObject *frame_find_program(struct session *session, struct call **known);
/* The line that the frame is at; 0: not known. */
uint32_t frame_line(PyObject *frame);
/* The line of that frame; `file` gets its file. 0: there is none. */
uint32_t frame_find_caller(struct session *session, struct buffer *file);

/* The torch.nn.Modules whose methods run: see visit_module, too. The function `running_modules` of the
 * module: all of them, the innermost first, each with whether it is its constructor that runs. */
PyObject *frame_running_modules(PyObject *module, PyObject *unused);

/* Lets go of the code objects whose lines are known. */
void frame_forget_lines(struct session *session);

/* The name that the module threading gave the running thread; a new reference, or NULL. */
PyObject *frame_thread_name(struct session *session);

/* Makes the call that `frame` is in the middle of known, so that those which it makes before its
 * first event know where they were made. NULL where it is known, or not of that module. */
struct call *
frame_join(struct session *session, struct recorded_module *module, PyObject *frame);

/* Where a torch.nn.Module stands below the module that was called first:
 * `encoder.layers.0.attn`. */

/* The module at that address, where it is known and alive: a new reference, or NULL. */
PyObject *path_find_alive(struct session *session, const void *address);

#endif
