/* What the files behind track_setup and its like share: the two types of Python objects of tracked
 * calls. */
#ifndef MONITORCH_PYTHON_TRACKER_TYPES_H
#define MONITORCH_PYTHON_TRACKER_TYPES_H

#include "runtime/python/record/session.h"
#include "runtime/python/tracker/tracker.h"

/* A code, and what is wanted of its calls. */
struct tracked_calls {
    PyObject_HEAD PyObject *code; /* owned */
    const struct tracked_wish *wish;
};

/* A call that was announced. */
struct track_token {
    PyObject_HEAD struct session *session; /* borrowed; the type's module keeps it */
    struct tracked_calls *calls;           /* owned */
    struct buffer callers;
    struct track_token *below; /* owned by the thread's list of waiting ones */
    struct track_token *next, *previous; /* in tracking.tokens */
    uint64_t recording;                  /* that `call` belongs to */
    struct call *call;                   /* borrowed from that recording; may be NULL */
    uint32_t call_number;
    const void *frame; /* that runs the code; NULL: it has not begun */
    bool is_waiting;
    bool is_over;
};

/* A new reference, or NULL with an exception. */
PyObject *token_begin(struct session *session, struct tracked_calls *calls);
/* The call has ended; `error` is the name of the exception's type, or "". */
void token_end(struct track_token *token, struct slice error);
/* Before it is freed. */
void token_release(struct track_token *token);

/* ---- register.c ---- */

extern const char track_register_doc[];
PyObject *track_labels(PyObject *module, PyObject *pairs);
extern const char track_labels_doc[];

/* ---- module.c ---- */

#endif
