/* The two types of Python objects for tracked calls. */
#ifndef MONITORCH_PYTHON_TRACKER_TYPES_H
#define MONITORCH_PYTHON_TRACKER_TYPES_H

#include "runtime/python/record/session.h"
#include "runtime/python/tracker/tracker.h"

/* A code object, and the wish for its calls. */
struct tracked_calls {
    PyObject_HEAD PyObject *code; /* owned */
    const struct tracked_wish *wish;
};

/* The token of an announced call. */
struct track_token {
    PyObject_HEAD struct session
        *session;                /* borrowed; the type's module keeps it alive */
    struct tracked_calls *calls; /* owned */
    struct buffer callers;
    struct track_token
        *below; /* next in the thread's list of waiting tokens, which owns them */
    struct track_token *next, *previous; /* in tracking.tokens */
    uint64_t recording;                  /* number of the recording of `call` */
    struct call *call;                   /* borrowed from that recording; may be NULL */
    uint32_t call_number;
    const void *frame; /* the frame that runs the code; NULL: not started */
    bool is_waiting;
    bool is_over;
};

/* Announces a call. A new reference, or NULL with an exception. */
PyObject *token_begin(struct session *session, struct tracked_calls *calls);
/* Ends the call. `error` is the name of the exception's type, or "". */
void token_end(struct track_token *token, struct slice error);
/* Called before the token is freed. */
void token_release(struct track_token *token);

/* ---- module.c ---- */

extern const char track_register_doc[];
PyObject *track_labels(PyObject *module, PyObject *pairs);
extern const char track_labels_doc[];

#endif
