/* Tracing: keeps the values of a model's variables, chosen by paths, while the model runs. Used
 * by monitorch/tracer/. All functions are called with the GIL held.
 *
 * A Tracing is a consumer of visits (python/visit/consumers.h). While the model is traced, a
 * TracedMethod replaces each method of its modules. Each thread has a chain of the running ones,
 * which shows the module and method that a visit belongs to. */
#ifndef MONITORCH_PYTHON_TRACER_TRACING_H
#define MONITORCH_PYTHON_TRACER_TRACING_H

#include "runtime/base/arena.h"
#include "runtime/python/record/session.h"
#include "runtime/python/tensor/tensor.h"
#include "runtime/python/visit/visit.h"
#include "runtime/record/path_set.h"
#include "runtime/site/site.h"

#include <stdbool.h>
#include <stdint.h>

/* Stores a reference in a place, and releases the previous one, which may be NULL. Steals the
 * reference to `object`. */
static inline void tracing_replace(PyObject **place, PyObject *object)
{
    PyObject *old = *place;

    *place = object;
    Py_XDECREF(old);
}

/* ---- keep.c: kept values ---- */

#define TRACING_CHUNK_SIZE                                                             \
    ((size_t)64 << 10) /* of the first chunk; later ones are larger */

/* The form of copies. Most copies of a path have the same. */
struct kept_form {
    size_t user_count; /* includes the path's own use; 0: the form is a spare one */
    struct block_form block;
    struct kept_form *next_spare; /* borrowed; may be NULL */
};

/* A copy of a tensor's values, or an object. */
struct kept {
    struct traced_path *path; /* borrowed from the Tracing */
    uint64_t iteration;
    PyObject *owner; /* owned: the owner of the copy's memory; or the object itself */
    size_t offset;   /* of the copy in that memory */
    struct kept_form *form; /* used; NULL: an object */
};

#define KEPT_LIST_COUNT 512

/* Kept values in the order of their visits. Their addresses stay the same. */
struct kept_list {
    struct kept_list *next; /* owned; may be NULL */
    size_t count;
    struct kept items[KEPT_LIST_COUNT];
};

/* ---- keep.c: paths and their last values ---- */

enum traced_kind { TRACED_NOTHING, TRACED_TENSOR, TRACED_PLAIN, TRACED_OTHER };

/* The last value of a path in one thread. Each thread has its own, so that calls of a model in
 * two threads do not count as changes of each other. */
struct traced_state {
    /* The fields that are read most often are first. */
    uint64_t thread;    /* session_thread_key(); 0: not used yet */
    PyObject *held;     /* owned: the tensor, while the variable's call runs; or NULL */
    uint64_t iteration; /* of the last value */
    uint32_t version;   /* of the tensor */
    uint8_t kind;       /* enum traced_kind */
    bool
        has_hash; /* `hash` is that of the values: some writes to the tensor leave its version unchanged */
    bool is_small;  /* the tensor is small, and may be held longer */
    bool is_listed; /* in the Tracing's list of tensors that are held longer */
    PyObject *
        last; /* owned: a tensor's weak reference, a plain value, or the result of `compare`; may be NULL */
    struct traced_state *next_listed; /* borrowed; may be NULL */
    uint64_t hash;
    struct traced_state *next; /* borrowed: of another thread; may be NULL */
};

/* With more threads than these, a state is reused. */
#define TRACED_STATE_MAX 16

/* A path that has matched, such as `encoder.1.forward.x`. */
struct traced_path {
    struct kept_form *form; /* used: the form of the last copy; may be NULL */
    struct traced_state first;
    PyObject *name; /* owned: a str */
    size_t number;  /* index in the Tracing's list of paths */
    unsigned state_count,
        next_state; /* `next_state` counts the states that were reused */
};

/* Python functions that a Tracing calls; owned. */
struct tracing_calls {
    PyObject *
        save; /* (path, value, iteration) -> the object to keep; None: `keep` is called instead */
    PyObject *chunk;   /* (size) -> (owner, address) of new memory of that size */
    PyObject *make;    /* (owner, offset, count, dtype, shape, strides) -> tensor */
    PyObject *keep;    /* (path, value) -> the object to keep; NotImplemented: none */
    PyObject *compare; /* (last or None, value, iteration) -> last if it is unchanged */
    PyObject
        *gather; /* (iteration): called at the end of an interval; None: no function */
    PyObject *is_backward; /* () -> whether a backward pass runs */
};

enum tracing_mode { TRACING_ALWAYS, TRACING_TRAINING, TRACING_EVALUATION };

struct tracing {
    /* The fields that each line reads are first. */
    PyObject_HEAD struct session *session; /* borrowed from the module */
    struct kept_list *last_kept;           /* borrowed; may be NULL */
    PyObject *chunk; /* owned: shared memory for small copies; may be NULL */
    char *chunk_bytes;
    size_t chunk_size, chunk_used, next_chunk_size;
    struct tracing_calls calls;
    uint64_t iteration; /* number of the model's last call */
    uint64_t interval, gathering_interval;
    enum tracing_mode mode;
    bool is_open; /* values are traced now */

    PyObject *module; /* owned: keeps the session */
    PyObject *root;   /* owned: the model */
    bool has_paths;
    struct path_set paths;
    PyObject *numbers; /* owned: a dict, path -> its index */
    struct traced_path **traced;
    size_t traced_count, traced_room;

    /* Memory of the paths, their states and the forms. One call of the model uses all of them,
     * so they should lie on few pages, next to each other. */
    struct arena arena;
    struct kept_form *spare_forms;
    struct method_memory *method_memory; /* used; NULL: no methods exist yet */
    struct traced_state *listed;         /* borrowed from the paths; may be NULL */

    struct kept_list *kept;  /* owned; NULL: nothing is kept */
    struct kept_list *spare; /* owned: for reuse; may be NULL */
};

/* The context in which a value is found. */
struct tracing_moment {
    uint64_t iteration;
    uint64_t thread; /* session_thread_key() */
    bool is_active;
};

/* Memory of the arena, zeroed; NULL with an exception set. */
void *tracing_allocate(struct arena *arena, size_t count, size_t size);

/* The path of that name, which is added if it is new. NULL with an exception set. It lives as
 * long as the Tracing. */
struct traced_path *tracing_find_path(struct tracing *tracing, struct slice name);
/* The state of the path in that thread. NULL: the thread has not used the path. */
static inline struct traced_state *traced_state_get(struct traced_path *path,
                                                    uint64_t thread)
{
    struct traced_state *state = &path->first;

    while (state != NULL && state->thread != thread) {
        state = state->next;
    }
    return state;
}
/* Drops the path's last values in all threads. */
void traced_path_forget(struct traced_path *path);
/* Releases the references that the path owns. Its own memory belongs to the arena. */
void traced_path_release(struct traced_path *path);

/* ---- keep.c: recording a value if it has changed ---- */

/* Keeps the value if it differs from the path's last one. `is_named`: the path's last segment
 * has no star; with a star, modules, functions and classes are skipped. Returns false with an
 * exception set. */
bool tracing_keep_value(struct tracing *tracing,
                        struct traced_path *path,
                        PyObject *value,
                        const struct tracing_moment *moment,
                        bool is_named);

/* tracing_keep_value for a variable of a running call. The tensor is held until tracing_let_go,
 * so that it is recognised. */
bool tracing_keep_local(struct tracing *tracing,
                        struct traced_path *path,
                        PyObject *value,
                        const struct tracing_moment *moment,
                        bool is_named);

/* ---- keep.c: releasing held tensors ---- */

/* Releases the tensor of a variable that is no longer bound, or whose call has ended.
 * `is_inner`: an outer call of the same Tracing runs. Then a small tensor that others hold too
 * may occur again in another call, and is held until tracing_let_all_go. */
void tracing_let_go(struct tracing *tracing,
                    struct traced_path *path,
                    uint64_t thread,
                    bool is_inner);

/* Releases the tensors that are still held, after the outermost call of that thread has ended.
 * `is_root`: it was a call of the model itself, so its iteration is over. */
void tracing_let_all_go(struct tracing *tracing, uint64_t thread, bool is_root);

/* ---- keep.c: copies ---- */

/* Values of at least this many bytes do not use the short path in keep.c. */
#define TRACING_LARGE_SIZE ((size_t)256 << 10)

/* ---- keep.c: results ---- */

/* Returns the values that were kept since the last call: path -> (values, iterations). A new
 * reference or NULL with an exception set. */
PyObject *tracing_detach(struct tracing *tracing);
void tracing_forget_kept(struct tracing *tracing);

/* ---- walk.c ---- */

/* Records the values inside `object` that match the remaining segments of `state`. `path` is the
 * path of the object, and unchanged on return. Returns false with an exception set. */
bool tracing_walk(struct tracing *tracing,
                  PyObject *object,
                  uint32_t state,
                  struct buffer *path,
                  const struct tracing_moment *moment);

/* ---- visit.c: plans of methods ---- */

/* Memory of the methods that were made while the Tracing was open once. It is freed with the
 * last of them. */
struct method_memory {
    size_t user_count;
    struct arena arena;
};

/* The memory for new methods, with one more use; NULL with an exception set. */
struct method_memory *method_memory_use(struct tracing *tracing);
void method_memory_leave(struct method_memory *memory); /* may be NULL */

/* A variable of a method whose name paths may match. */
struct traced_variable {
    struct traced_variable *next; /* borrowed; may be NULL */
    PyObject *name;               /* owned: a str */
    int slot;                     /* see python/visit/variables.h */
    uint32_t state;
    bool is_named, has_more;
    struct traced_path *path; /* borrowed from the Tracing; NULL: no path ends here */
};

/* A variable to inspect when a site is visited. */
struct traced_step {
    struct traced_variable *variable; /* borrowed from the method */
    struct traced_path
        *path;     /* the variable's; NULL if longer paths must be walked too */
    bool is_named; /* the variable's, like `slot` */
    int32_t slot;
    int32_t
        value; /* index of the visit's value that it holds; -1: read from the frame */
};

struct traced_site {
    uint32_t first_step, step_count;
    bool is_enter;
    bool may_unbind; /* the statement binds nothing; it may be `del` */
};

/* The variables that the sites of a function may change. */
struct traced_plan {
    struct traced_plan
        *next;       /* borrowed: for another function or module; may be NULL */
    uint64_t module; /* number of the site_module */
    uint32_t function;
    uint32_t first_site, site_count, step_count;
    struct traced_site *sites;
    struct traced_step *steps;
};

struct traced_method {
    PyObject_HEAD struct tracing *tracing; /* owned */
    PyObject *module;                      /* owned */
    PyObject *inner;                       /* owned: the wrapped method */
    PyObject *code;      /* owned: the code whose frames have the variables; or None */
    PyObject *path;      /* owned: a str, `encoder.1.forward` */
    PyObject *reduction; /* owned: the result of __reduce__ */
    struct traced_path
        *output; /* borrowed from the Tracing; NULL: the output is not wanted */
    uint32_t state;
    bool is_root;
    /* None of these is freed before the method: another thread may be using them. */
    struct method_memory *memory; /* used: the memory of the following fields */
    struct traced_variable *variables, *last_variable;
    size_t variable_count;
    struct traced_plan *plans;
};

/* A running TracedMethod of this thread. */
struct traced_call {
    struct traced_method *method;  /* borrowed */
    const struct tracing *tracing; /* the method's */
    PyObject *
        frame; /* the running frame of the method's code, only compared; NULL: not seen yet */
    const struct traced_plan
        *plan; /* borrowed from the method: for the frame's function */
    struct tracing_moment moment;
    bool is_watched;           /* the moment is active, and the code has variables */
    bool has_twin;             /* `outer` is a call of the same function and module */
    struct traced_call *below; /* the thread's next outer call; may be NULL */
    struct traced_call
        *outer; /* the next outer call of the same Tracing; may be NULL */
};

/* ---- visit.c: visits ---- */

/* Handles the visit of a site in `call`, the innermost call of the thread, or NULL. Returns
 * false with an exception set. */
bool tracing_visit(struct tracing *tracing,
                   struct traced_call *call,
                   const struct site_visit *visit);
/* ---- tracing.c ---- */

/* Whether the object is a TracedMethod. */
bool traced_method_check(PyObject *object);

/* Adds the classes Tracing, TracedMethod and OutputHook to the module. Returns 0, or -1 with an
 * exception set. */
int tracing_exec(PyObject *module);

#endif
