/* Tracked calls: calls that were announced immediately before they started. The trace records
 * that they are tracked, their callers, and the exception that left them. Lines about them are
 * written while they run (tracker.c).
 *
 * The caller of a tracked function holds a token. The token waits for the frame that runs the
 * function's code, and is connected with its call from then on. So other calls of the same code
 * are not tracked. */
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

/* NULL: out of memory. */
struct track_live *track_live_new(void);

struct track_settings {
    const char *folder; /* of the files; made when a file is written. "": no files */
    struct slice
        labels; /* in the form of track_labels_change; "": set by the environment */
    bool is_canonical; /* without elapsed times */
    bool is_kept;      /* lines are stored for delivery, too */
};

/* Changes the settings, which are copied. Returns false if memory ran out. */
bool track_live_configure(struct track_live *live,
                          const struct track_settings *settings);

/* Adds whole lines for the file of the thread with that system id. `is_kept`: for delivery, too. */
void track_live_add_text(struct track_live *live,
                         uint64_t native,
                         struct slice text,
                         bool is_kept);

/* Adds the path of the thread's file to `path`. Adds nothing if there are no files. */
void track_live_path(const struct track_live *live,
                     uint64_t native,
                     struct buffer *path);

struct session;

/* A wish that was registered in this process. It lives as long as the tracking, since calls
 * refer to it. */
struct tracked_wish {
    struct tracked_wish *next; /* owned */
    struct track_wish read;    /* borrowed from `text` */
    size_t size;
    char text[];
};

/* The place of a read name in the frames of a code object. */
struct lookup_slot {
    const struct site_read *read; /* NULL: free */
    const void *code;
    PyObject *name; /* owned */
    int slot;
    bool is_function;
};
#define LOOKUP_SLOT_COUNT 256

/* The tracked calls of a session. */
struct tracking {
    struct track_live *live;     /* owned */
    struct tracked_wish *wishes; /* owned */
    struct track_token *tokens;  /* borrowed: of calls that have not ended */
    size_t open_count;           /* number of tokens in `tokens` */
    PyObject *deliver;           /* owned: called with the written lines; may be NULL */
    PyObject *own_folder; /* owned: folder of the code that wraps tracked functions */
    PyTypeObject *calls_type, *token_type; /* owned */
    struct lookup_slot slots[LOOKUP_SLOT_COUNT];
    bool is_delivering;
    unsigned deliverer; /* session_fork_count() at the start of the delivery */
};

/* Adds the Python functions to the module `_recorder`; see _recorder.pyi. Returns 0, or -1 with
 * an exception set. */
int track_exec(PyObject *module);
void tracking_free(struct tracking *tracking); /* may be NULL */
int tracking_traverse(struct tracking *tracking, visitproc visit, void *arg);
void tracking_clear(struct tracking *tracking);

/* The tap that receives the items of the session's recordings; empty if nothing was ever
 * tracked. */
struct recorder_tap tracking_tap(const struct tracking *tracking);
/* Called when a recording has started, or continues in another file. */
void tracking_begin(struct tracking *tracking, const struct recorder *recorder);

/* Whether no call is tracked, so that a recording for tracked calls only has nothing to record. */
static inline bool tracking_is_idle(const struct tracking *tracking)
{
    return tracking == NULL || tracking->open_count == 0;
}

/* The token of the call that is about to start; with `start->is_joined`, of the running call of
 * `frame`. A new reference, or NULL: the call is not tracked. Fills in the tracked facts in
 * `start`; their texts are borrowed from the token. */
PyObject *
track_call_begin(struct session *session, PyObject *frame, struct call_start *start);
/* Connects the token with its call, which has started. */
void track_began(PyObject *token, const struct session *session, struct call *call);

/* Called when a site of a tracked call was visited. Records the wanted variables that the
 * statement reads and may have changed. */
void track_inspect(struct session *session, const struct visit *visit);

/* Writes the waiting lines, and delivers them. Runs Python code. Returns false with an exception
 * set, such as KeyboardInterrupt, that must leave the program's code. */
bool track_report(struct session *session);

#endif
