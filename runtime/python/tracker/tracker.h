/* Tracked calls: those that somebody has announced right before they began. The trace records that
 * they are tracked, their callers, and the exception that left them; lines about them are written
 * while they go on (tracker.c).
 *
 * Who calls a tracked function holds a token: it waits for the frame that runs the function's
 * code, and from then on it knows the call. So the same code may run untracked elsewhere. */
#ifndef MONITORCH_PYTHON_TRACKER_TRACKER_H
#define MONITORCH_PYTHON_TRACKER_TRACKER_H

#define PY_SSIZE_T_CLEAN
#include "runtime/base/buffer.h"
#include "runtime/trace/reader.h"
#include <Python.h>

#include "runtime/record/recorder.h"
#include "runtime/view/tracklog/wish.h"

#include <stdbool.h>
#include <stdint.h>

struct track_live;

/* NULL: no memory. */
struct track_live *track_live_new(void);

struct track_settings {
    const char
        *folder; /* of the files; made where something is to be written. "": no files */
    struct slice labels; /* as track_labels_change reads them; "": by the environment */
    bool is_canonical;   /* without elapsed times */
    bool is_kept;        /* lines are kept for track_live_lines */
};

/* Copies them. False: no memory. */
bool track_live_configure(struct track_live *live,
                          const struct track_settings *settings);

/* Whole lines for the file of the thread with that system's id; `is_kept`: for track_live_lines
 * too. */
void track_live_add_text(struct track_live *live,
                         uint64_t native,
                         struct slice text,
                         bool is_kept);

/* Adds the path of the thread's file; nothing where there are no files. */
void track_live_path(const struct track_live *live,
                     uint64_t native,
                     struct buffer *path);

struct session;

/* A wish that this process has seen: never freed, calls point to it. */
struct tracked_wish {
    struct tracked_wish *next; /* owned */
    struct track_wish read;    /* borrowed from `text` */
    size_t size;
    char text[];
};

/* Where the frames of a code keep a variable that a site reads. */
struct lookup_slot {
    const struct site_read *read; /* NULL: free */
    const void *code;
    PyObject *name; /* owned */
    int slot;
    bool is_function;
};
#define LOOKUP_SLOT_COUNT 256

/* What a session knows of tracked calls. */
struct tracking {
    struct track_live *live;     /* owned */
    struct tracked_wish *wishes; /* owned */
    struct track_token *tokens;  /* borrowed: those of calls that go on */
    size_t open_count;           /* tokens that are not over */
    PyObject *deliver; /* owned: is called with lines that were written; may be NULL */
    PyObject *own_folder; /* owned: of the code around tracked functions */
    PyTypeObject *calls_type, *token_type; /* owned */
    struct lookup_slot slots[LOOKUP_SLOT_COUNT];
    bool is_delivering;
    unsigned deliverer; /* what session_fork_count() was when that began */
};

/* Adds to the module `_recorder` what Python calls; see _recorder.pyi. 0, or -1 with an exception
 * set. */
int track_exec(PyObject *module);
void tracking_free(struct tracking *tracking); /* may be NULL */
int tracking_traverse(struct tracking *tracking, visitproc visit, void *arg);
void tracking_clear(struct tracking *tracking);

/* Who reads along with recordings of the session; nobody where nothing was ever tracked. */
struct recorder_tap tracking_tap(const struct tracking *tracking);
/* A recording has begun, or continues in another file. */
void tracking_begin(struct tracking *tracking, const struct recorder *recorder);

/* Whether a recording that is there for tracked calls alone has anything to record. */
static inline bool tracking_is_idle(const struct tracking *tracking)
{
    return tracking == NULL || tracking->open_count == 0;
}

/* The token of the call that is about to begin, or that `frame` is in the middle of where
 * `is_joined`; a new reference, or NULL: it is not tracked. Fills in what is recorded of the call;
 * texts are borrowed from the token. */
PyObject *
track_call_begin(struct session *session, PyObject *frame, struct call_start *start);
/* It has begun. */
void track_began(PyObject *token, const struct session *session, struct call *call);

/* The call is tracked, and one of its sites was visited: tells of wanted names that its statement
 * reads what it did to them. */
void track_inspect(struct session *session, const struct visit *visit);

/* Writes the lines that wait, and delivers them: runs Python. False: an exception is set that is to
 * leave the program's code, such as KeyboardInterrupt. */
bool track_report(struct session *session);

#endif
