/* Tracked calls: those whose code somebody has registered with a wish. The trace tells of them
 * that they are tracked, from where they were made and by what they were left; lines about them
 * are written while they go on (track_live.h). */
#ifndef MONITORCH_PYTHON_RECORDER_TRACK_H
#define MONITORCH_PYTHON_RECORDER_TRACK_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/base/buffer.h"
#include "runtime/trace/recorder.h"

#include <stdbool.h>
#include <stdint.h>

struct session;

/* A code, or a place of observe.h, and what is wanted of its calls. Never freed: calls that go on
 * point to it. */
struct tracked {
    PyObject_HEAD PyObject *target; /* owned: the code, or the place */
    PyObject *wish;                 /* owned: bytes */
    bool has_stack;                 /* all frames are wanted, not the nearest */
};

/* Adds to the module `_recorder` what Python calls; see _recorder.pyi. 0, or -1 with an exception
 * set. */
int track_exec(PyObject *module);

/* The wish for calls of that code; NULL: it is not tracked. */
const struct tracked *track_find(struct session *session, const void *code);

/* Fills in what a call that is about to begin is told with. `callers` holds the text. */
void track_start(struct session *session,
                 const struct tracked *tracked,
                 PyObject *frame,
                 struct buffer *callers,
                 struct call_start *start);
/* It has begun: the one who waits for it knows it from now on. */
void track_began(struct session *session, const struct call *call);

/* Hands on the lines that were written meanwhile, where the running thread has any: runs Python.
 * False: an exception is set that is to leave the program's code, such as KeyboardInterrupt. */
bool track_tell(struct session *session);

#endif
