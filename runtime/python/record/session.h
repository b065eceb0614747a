/* What the files of the extension module `monitorch._recorder` share: the recording that goes
 * on, and what is known of the interpreter. */
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

/* A large container that held no leaf when it was last visited: nothing of it is borrowed, the
 * addresses are only compared. */
#define PLAIN_CONTAINER_COUNT 64
struct plain_container {
    const void *object;
    const void *last; /* item; of a dict, key */
    size_t count;
    bool is_cut; /* not all items were visited */
};

/* The line of a place in a code object. */
#define KNOWN_LINE_COUNT 1024
struct known_line {
    PyObject *code; /* owned; NULL: free */
    long offset;
    uint32_t line;
};

/* The module's state. */
struct session {
    /* What is looked at at each line stands first. */
    struct recorder *recorder; /* owned; NULL while nothing is recorded */
    struct consumers consumers;
    struct tensor_access *access; /* owned */
    struct tracking *tracking;    /* owned; NULL: nothing was ever tracked */
    bool is_muted; /* instrumented code is not recorded: it has its hooks for others */
    bool
        is_own; /* the recording is there for tracked calls alone: the program has none */
    bool is_closing;
    bool is_waiting;     /* stop() waits for hooks, and closes the recorder then */
    bool is_quiet;       /* nothing is told on stderr */
    unsigned user_count; /* hooks at work: the recorder is closed when none is */
    struct stop stop;

    uint64_t number;       /* of recordings begun so far */
    unsigned fork_count;   /* what session_fork_count() was when the file was opened */
    uint64_t only_thread;  /* the key of the one thread that is recorded; 0: all */
    unsigned thread_limit; /* for statistics of large arrays */
    char *path;            /* owned; as it was given */
    uint32_t process;      /* that `path` belongs to */

    struct device_queue *devices; /* owned; NULL while nothing is recorded */
    struct plain_container plain_containers[PLAIN_CONTAINER_COUNT]; /* by address */
    struct uninitialised
        *fresh; /* owned: see fresh.h; NULL while nothing is recorded */
    struct number_map weight_searches; /* by site: see python/visit/weights.h */
    struct known_line known_lines[KNOWN_LINE_COUNT]; /* of frames that made calls */
    struct type_cache types;
    PyObject *module_paths; /* owned: a dict, see python/visit/paths.h */
    Py_ssize_t path_limit;  /* of its entries, before dead ones are looked for */
    /* owned: interned */
    PyObject *name_f_back, *name_f_globals, *name_name, *name_co_flags, *name_co_name;
    struct imports imports;
    PyTypeObject *hook_type; /* owned */
    struct gradients
        *gradients; /* owned: see python/gradient/gradient.h; NULL until wanted */
    PyTypeObject *gradient_type; /* owned */
    struct changes *changes;     /* owned: see change.h; NULL: no value is changed */

    PyObject *first_parameters; /* owned: a dict, see frames.c */
    struct parts parts;         /* what savers, monitors and others keep */
};

/* How often this process was forked off another since it was started. */
extern atomic_uint session_forks; /* written by session.c alone */
static inline unsigned session_fork_count(void)
{
    return atomic_load_explicit(&session_forks, memory_order_relaxed);
}

/* This thread's number, unlike any other's of the process, from 1. */
uint64_t session_thread_key(void);

/* The frame of the program on whose behalf this thread calls code of this package: the one that
 * visits a site, or calls spy_save. NULL: none. Borrowed: the one who sets it holds it, and sets the
 * former one again, which is given back. */
PyObject *session_set_caller(PyObject *frame);
PyObject *session_caller(void);

/* What a hook has done before and after it looks at the recorder. False: nothing is recorded,
 * nothing is to be done. After true, session_leave must follow. */
bool session_enter(struct session *session);
void session_leave(struct session *session);

/* Whether this process was forked off and no hook has worked in it since: the recorder's file is
 * its parent's. */
bool session_is_parents(const struct session *session);
/* Lets go of such a recorder and leaves its file alone. */
void session_abandon(struct session *session);

/* Begins a recording for tracked calls alone, without a trace, where there is none. False: an exception is
 * set. */
bool session_start_own(struct session *session);
/* Ends such a recording, where there is one. */
void session_stop_own(struct session *session);

/* Whether visits of instrumented code are recorded. */
static inline bool session_records(const struct session *session)
{
    return session->recorder != NULL && (!session->is_muted || session->is_own);
}

/* Whether the program records. */
bool session_is_recording(const struct session *session);

/* The functions `start` and `stop` of the module. */
PyObject *session_start(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *session_stop(PyObject *module, PyObject *unused);
/* The function `remove_trace`: removes a file, unless somebody is writing it. */
PyObject *session_remove_trace(PyObject *module, PyObject *arguments);

#endif
