/* Calls of Python frames, and the torch.nn.Modules whose methods run. */
#ifndef MONITORCH_PYTHON_VISIT_FRAMES_H
#define MONITORCH_PYTHON_VISIT_FRAMES_H

#include "runtime/base/buffer.h"
#include "runtime/python/record/session.h"

/* The torch.nn.Module that a call belongs to. Used only if the call is new. */
struct frame_owner {
    PyObject *object; /* borrowed; may be any object; NULL: the module of the caller */
    bool has_path;    /* `path` is used instead of the module's place */
    struct slice path;
};

/* The call of the running frame, which visits a site of `module`. Starts the call if it is new.
 * Returns NULL if there is none: no memory, no frame, or a thread that is not recorded. */
struct call *frame_find_call(struct session *session,
                             struct recorded_module *module,
                             uint32_t site,
                             const struct frame_owner *owner);

/* Handles the start of a call in the running frame that is not recorded: ends the call that is
 * stored for that frame, and the calls of frames that have returned. */
void frame_skip_call(struct session *session);

/* The running thread in the recording; NULL: out of memory. */
struct call_thread *frame_thread(struct session *session);

/* The frame of the program that runs a function of torch: the nearest frame with a recorded
 * call, which is stored in `known`; else the nearest frame outside torch, and `known` is NULL.
 * Returns a new reference, or NULL if there is no frame. */
PyObject *frame_find_program(struct session *session, struct call **known);
/* The current line of the frame; 0: not known. */
uint32_t frame_line(PyObject *frame);
/* The line of frame_find_program's frame; adds the name of its file to `file`. 0: there is no
 * frame. */
uint32_t frame_find_caller(struct session *session, struct buffer *file);

/* The module's function `running_modules`: a list of all torch.nn.Modules whose methods run, the
 * innermost first, each with whether its constructor runs. See also visit_module. */
PyObject *frame_running_modules(PyObject *module, PyObject *unused);

/* Releases the code objects whose lines are cached. */
void frame_forget_lines(struct session *session);

/* The name of the running thread in Python's module threading; a new reference, or NULL. */
PyObject *frame_thread_name(struct session *session);

/* Starts a call for `frame`, which has been running for some time, so that calls which it makes
 * before its first event have a caller. Returns NULL if the frame has a call already, or does
 * not run code of that module. */
struct call *
frame_join(struct session *session, struct recorded_module *module, PyObject *frame);

/* Paths of torch.nn.Modules start at the module that was called first: `encoder.layers.0.attn`. */

/* The module at that address, if its path is stored and it is alive: a new reference, or NULL. */
PyObject *path_find_alive(struct session *session, const void *address);

#endif
