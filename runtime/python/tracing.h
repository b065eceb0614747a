/* Tracing: the values of a model's variables, chosen by paths, kept while the model runs. Shared by
 * the tracing_*.c files; monitorch/tracer/ is what uses it. All of it is called with the GIL held.
 *
 * A Tracing is told of visits of sites as watchers are (watcher.h). Which module's method a visit
 * belongs to is known by the TracedMethod that stands in that module in the method's place while
 * the model is traced: each thread has a chain of those that run. */
#ifndef MONITORCH_PYTHON_TRACING_H
#define MONITORCH_PYTHON_TRACING_H

#include "runtime/python/recorder_session.h"
#include "runtime/trace/path_set.h"
#include "runtime/trace/site_table.h"

#include <stdbool.h>
#include <stdint.h>

/* Puts a reference into the place of another, which may be NULL. It is taken. */
static inline void tracing_replace(PyObject **place, PyObject *object)
{
    PyObject *old = *place;

    *place = object;
    Py_XDECREF(old);
}

/* ---- tracing_keep.c: one path's values ---- */

#define TRACING_CHUNK_SIZE                                                             \
    ((size_t)64 << 10) /* of the first one; later ones are larger */

#define KEPT_DIMENSION_MAX 5

/* A tensor's values, copied, or an object that is kept as it is. */
struct kept {
    uint64_t iteration;
    PyObject *owner; /* owned: of the copy's memory; or the object itself */
    size_t offset;   /* of the copy there */
    enum dtype dtype;
    bool is_copy;
    uint32_t dimension_count;
    int64_t shape[KEPT_DIMENSION_MAX];
};

enum traced_kind { TRACED_NOTHING, TRACED_TENSOR, TRACED_PLAIN, TRACED_OTHER };

/* What a path was last, in one thread: each has its own, so that calls of a model in two threads
 * are not taken for changes of each other. */
struct traced_state {
    uint64_t thread; /* session_thread_key() */
    enum traced_kind kind;
    PyObject
        *last; /* owned: a tensor's weak reference, a plain value, or what `compare`
                           gave for it; may be NULL */
    uint32_t version; /* of a tensor */
    bool
        has_hash; /* of its values: not all that writes to it may count up its version */
    uint64_t hash;
    uint64_t iteration; /* when it was seen */
};

/* Of more threads than these the one that came first is forgotten. */
#define TRACED_STATE_MAX 16

/* A path that has matched, `encoder.1.forward.x`, and what was kept of it. */
struct traced_path {
    PyObject *name;                                /* owned: a str */
    struct traced_state *states[TRACED_STATE_MAX]; /* owned; NULL: none yet */
    unsigned next_state;                           /* the one to be used again */
    struct kept *kept;                             /* owned */
    size_t kept_count, kept_room;
};

/* The functions of Python's that a Tracing calls, owned. */
struct tracing_calls {
    PyObject *chunk;       /* (size) -> (owner, address) of that much memory */
    PyObject *make;        /* (owner, offset, count, dtype, shape) -> tensor */
    PyObject *keep;        /* (path, value) -> what is kept; NotImplemented: nothing */
    PyObject *save;        /* (path, value, iteration) -> the same; None: keep does */
    PyObject *compare;     /* (last or None, value) -> last where it is unchanged */
    PyObject *gather;      /* (iteration) when an interval is over; None: nothing */
    PyObject *is_backward; /* () -> whether autograd runs */
};

enum tracing_mode { TRACING_ALWAYS, TRACING_TRAINING, TRACING_EVALUATION };

struct tracing {
    PyObject_HEAD PyObject *module; /* owned: keeps the session */
    struct session *session;        /* borrowed from the module */
    struct path_set paths;
    bool has_paths;
    struct tracing_calls calls;
    PyObject *root;     /* owned: the model */
    uint64_t iteration; /* of the model, the one that began last */
    uint64_t interval, gathering_interval;
    enum tracing_mode mode;
    bool is_open; /* the block runs */

    PyObject *numbers; /* owned: a dict, path -> its number */
    struct traced_path **traced;
    size_t traced_count, traced_room;

    PyObject *chunk; /* owned: memory for small tensors; may be NULL */
    char *chunk_bytes;
    size_t chunk_size, chunk_used, next_chunk_size;
};

/* What is known where a value is met. */
struct tracing_moment {
    uint64_t iteration;
    bool is_active;
};

/* The path of that name, new where it was not met before; NULL with an exception set. It lives as
 * long as the Tracing. */
struct traced_path *tracing_find_path(struct tracing *tracing, struct slice name);

/* Keeps the value where it is another one than before. `is_named`: the path's last segment was
 * asked for by its name; else modules, functions and classes are passed over. False with an
 * exception set. */
bool tracing_tell(struct tracing *tracing,
                  struct traced_path *path,
                  PyObject *value,
                  uint64_t iteration,
                  bool is_named);

/* What was kept since the last time: path -> (values, iterations). A new reference or NULL. */
PyObject *tracing_take(struct tracing *tracing);
void traced_path_forget(struct traced_path *path); /* what it was last */
void traced_path_free(struct traced_path *path);

/* ---- tracing_walk.c ---- */

/* Tells what is found inside `object` by the segments that `state` waits for; `path` is how the
 * object was reached, and is as it was afterwards. False with an exception set. */
bool tracing_walk(struct tracing *tracing,
                  PyObject *object,
                  uint32_t state,
                  struct buffer *path,
                  uint64_t iteration);

/* ---- tracing_visit.c ---- */

/* A variable of a method: a name that the paths may match. */
struct traced_variable {
    PyObject *name; /* owned: a str */
    int slot;       /* see follow_frame.h */
    uint32_t state;
    bool is_named, has_more;
    struct traced_path *path; /* borrowed from the Tracing; NULL: no path ends here */
};

/* Which variables a site concerns: `starts` has for each of the function's sites where its numbers
 * begin in `entries`: first of each write, then of what else it reads; -1: none is wanted. */
struct traced_plan {
    struct traced_plan *next; /* owned: of another table; may be NULL */
    uint64_t module;          /* the number of the watched module */
    uint32_t function;
    uint32_t first_site, site_count;
    uint32_t *starts; /* owned; one more */
    int32_t *entries; /* owned */
};

struct traced_method {
    PyObject_HEAD struct tracing *tracing; /* owned */
    PyObject *module;                      /* owned */
    PyObject *inner;                       /* owned: what it calls */
    PyObject *code;             /* owned: whose frames have the variables; None */
    PyObject *path;             /* owned: a str, `encoder.1.forward` */
    PyObject *reduction;        /* owned: what pickle is given */
    struct traced_path *output; /* borrowed from the Tracing; NULL: is not wanted */
    uint32_t state;
    bool is_root;
    /* None of these is freed before the method is: another thread may be at one. */
    struct traced_variable **variables; /* owned */
    size_t variable_count, variable_room;
    struct traced_plan *plans; /* owned */
};

/* A TracedMethod that runs in this thread. */
struct traced_call {
    struct traced_method *method; /* borrowed */
    PyObject *frame; /* only to be compared: of the method's code; NULL: not met yet */
    struct tracing_moment moment;
    struct traced_call *below; /* may be NULL */
};

struct watched_module;

/* A site was visited. False with an exception set. */
bool tracing_visit(struct tracing *tracing,
                   const struct watched_module *module,
                   uint32_t site,
                   PyObject *const *values,
                   Py_ssize_t count);
void traced_method_forget(struct traced_method *method); /* its variables and plans */

/* ---- tracing_call.c ---- */

/* The innermost call of this thread; NULL: none. */
struct traced_call *tracing_top_call(void);

/* Adds the classes Tracing, TracedMethod and OutputHook. 0, or -1 with an exception set. */
int tracing_exec(PyObject *module);
int tracing_add_call_types(PyObject *module);

#endif
