/* The session: the state of the extension module `monitorch._recorder`, with the active
 * recording and what the module has cached of the interpreter. */
#ifndef MONITORCH_PYTHON_RECORD_SESSION_H
#define MONITORCH_PYTHON_RECORD_SESSION_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/array/uninitialised.h"
#include "runtime/base/number_map.h"
#include "runtime/python/record/parts.h"
#include "runtime/python/record/stop.h"
#include "runtime/python/tensor/device/device.h"
#include "runtime/python/tracker/tracker.h"
#include "runtime/python/visit/consumers.h"
#include "runtime/python/visit/imports.h"
#include "runtime/python/visit/types.h"
#include "runtime/record/recorder.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A large container that held no leaf when it was last visited. The pointers are only compared:
 * they may be dangling. */
#define PLAIN_CONTAINER_COUNT 64
struct plain_container {
    const void *object;
    const void *last; /* the last item; for a dict, the last key */
    size_t count;
    bool is_cut; /* not all items were visited */
};

/* The line of an instruction in a code object. */
#define KNOWN_LINE_COUNT 1024
struct known_line {
    PyObject *code; /* owned; NULL: free */
    long offset;
    uint32_t line;
};

/* The state of the extension module. One exists for each interpreter. */
struct session {
    /* The fields that every visit reads are first. */
    struct recorder *recorder; /* owned; NULL while nothing is recorded */
    struct consumers consumers;
    struct tensor_access *access; /* owned */
    struct tracking *tracking;    /* owned; NULL: no call was ever tracked */
    bool
        is_muted; /* instrumented code is not recorded; its hooks serve other consumers */
    bool
        is_own; /* the recording exists for tracked calls only; the program started none */
    bool is_closing;
    bool is_waiting; /* stop() waits for hooks, and closes the recorder afterwards */
    bool is_quiet;   /* nothing is printed to stderr */
    unsigned user_count; /* running hooks: the recorder is closed when there is none */
    struct stop stop;

    uint64_t number;       /* of the recording: unique in the process */
    unsigned fork_count;   /* session_fork_count() when the file was opened */
    uint64_t only_thread;  /* the key of the one thread that is recorded; 0: all */
    unsigned thread_limit; /* for statistics of large arrays */
    char *path;            /* owned: of the trace, as given */
    uint32_t process;      /* the process that writes `path` */

    struct device_queue *devices; /* owned; NULL while nothing is recorded */
    struct plain_container
        plain_containers[PLAIN_CONTAINER_COUNT]; /* slots by address */
    struct uninitialised *
        fresh; /* owned: uninitialised memory, see fresh.h; NULL while nothing is recorded */
    struct number_map weight_searches; /* counts by site: see python/visit/weights.h */
    struct known_line
        known_lines[KNOWN_LINE_COUNT]; /* lines of frames that made calls */
    struct type_cache types;
    PyObject *module_paths; /* owned: a dict, see visit/frames.c */
    Py_ssize_t path_limit;  /* number of its entries at which dead ones are removed */
    /* owned: interned strings */
    PyObject *name_f_back, *name_f_globals, *name_name, *name_co_flags, *name_co_name;
    struct imports imports;
    PyTypeObject *hook_type; /* owned */
    struct gradients
        *gradients; /* owned: see python/gradient/gradient.h; NULL until needed */
    PyTypeObject *gradient_type; /* owned */
    struct changes *changes;     /* owned: see change.h; NULL: no value is changed */

    PyObject *first_parameters; /* owned: a dict, see visit/frames.c */
    struct parts parts;         /* the data of savers, monitors and others */
};

/* The number of forks from the first process that recorded to this one. */
extern atomic_uint session_forks; /* written only by session.c */
static inline unsigned session_fork_count(void)
{
    return atomic_load_explicit(&session_forks, memory_order_relaxed);
}

/* This thread's number, which no other thread of the process has or had. Starts at 1. */
uint64_t session_thread_key(void);

/* Sets the frame of the program for which this thread runs code of this package: the frame that
 * visits a site, or calls spy_save. NULL: none. The frame is borrowed. Returns the previous one,
 * which the caller must set again. */
PyObject *session_set_caller(PyObject *frame);
PyObject *session_caller(void);

/* Begins and ends the work of a hook. session_enter returns false if nothing is recorded, and
 * the hook has nothing to do. After true, session_leave must be called. */
bool session_enter(struct session *session);
void session_leave(struct session *session);

/* Whether this process was forked and no hook has run in it since: the recorder's file belongs
 * to the parent. */
bool session_is_parents(const struct session *session);
/* Releases the recorder of the parent process and leaves its file unchanged. */
void session_abandon(struct session *session);

/* Starts a recording for tracked calls only, without a trace, if no recording is active. Returns
 * false with an exception set. */
bool session_start_own(struct session *session);
/* Ends a recording that session_start_own started, if one is active. */
void session_stop_own(struct session *session);

/* Whether visits of instrumented code are recorded. */
static inline bool session_records(const struct session *session)
{
    return session->recorder != NULL && (!session->is_muted || session->is_own);
}

/* Whether a recording that the program started is active. */
bool session_is_recording(const struct session *session);

/* The module's functions `start` and `stop`. */
PyObject *session_start(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *session_stop(PyObject *module, PyObject *unused);
/* The module's function `remove_trace`: removes a file, unless a process is writing it. */
PyObject *session_remove_trace(PyObject *module, PyObject *arguments);

#endif
