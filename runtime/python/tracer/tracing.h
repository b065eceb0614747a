/* Tracing: the values of a model's variables, chosen by paths, kept while the model runs. Shared by
 * the tracing_*.c files; monitorch/tracer/ is what uses it. All of it is called with the GIL held.
 *
 * A Tracing is a consumer of visits (python/visit/consumers.h). Which module's
 * method a visit belongs to is known by the TracedMethod that replaces the module's method while
 * the model is traced: each thread has a chain of those that run. */
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

/* Puts a reference into the place of another, which may be NULL. It is taken. */
static inline void tracing_replace(PyObject **place, PyObject *object)
{
    PyObject *old = *place;

    *place = object;
    Py_XDECREF(old);
}

/* ---- keep.c: what is kept ---- */

#define TRACING_CHUNK_SIZE                                                             \
    ((size_t)64 << 10) /* of the first one; later ones are larger */

/* What copies are: those of a path are alike as a rule. */
struct kept_form {
    size_t user_count; /* with the path's own use; without any it is a spare one */
    struct block_form block;
    struct kept_form *next_spare; /* borrowed; may be NULL */
};

/* A tensor's values, copied, or an object that is kept as it is. */
struct kept {
    struct traced_path *path; /* borrowed from the Tracing */
    uint64_t iteration;
    PyObject *owner;        /* owned: of the copy's memory; or the object itself */
    size_t offset;          /* of the copy there */
    struct kept_form *form; /* used; NULL: it is no copy */
};

#define KEPT_LIST_COUNT 512

/* In the order of their visits; they are not moved. */
struct kept_list {
    struct kept_list *next; /* owned; may be NULL */
    size_t count;
    struct kept items[KEPT_LIST_COUNT];
};

/* ---- keep.c: paths, and what they were last ---- */

enum traced_kind { TRACED_NOTHING, TRACED_TENSOR, TRACED_PLAIN, TRACED_OTHER };

/* What a path was last, in one thread: each has its own, so that calls of a model in two threads do
 * not count as changes of each other. */
struct traced_state {
    /* The fields that are read most are first. */
    uint64_t thread; /* session_thread_key(); 0: none yet */
    PyObject *
        held; /* owned: the tensor, while the call runs whose variable it is; or NULL */
    uint64_t iteration; /* when it was seen */
    uint32_t version;   /* of a tensor */
    uint8_t kind;       /* enum traced_kind */
    bool
        has_hash; /* of its values: not all that writes to it may count up its version */
    bool is_small;  /* of the tensor: it may be held longer */
    bool is_listed; /* among those that the Tracing holds longer */
    PyObject
        *last; /* owned: a tensor's weak reference, a plain value, or what `compare`
                       gave for it; may be NULL */
    struct traced_state *next_listed; /* borrowed; may be NULL */
    uint64_t hash;
    struct traced_state *next; /* borrowed: another thread's; may be NULL */
};

/* Of more threads than these one is forgotten. */
#define TRACED_STATE_MAX 16

/* A path that has matched, `encoder.1.forward.x`. */
struct traced_path {
    struct kept_form *form; /* used: of the copy that was kept last; may be NULL */
    struct traced_state first;
    PyObject *name;                   /* owned: a str */
    size_t number;                    /* among the Tracing's */
    unsigned state_count, next_state; /* the latter is the one to be used again */
};

/* The functions of Python's that a Tracing calls, owned. */
struct tracing_calls {
    PyObject *save;    /* (path, value, iteration) -> what is kept; None: keep does */
    PyObject *chunk;   /* (size) -> (owner, address) of that much memory */
    PyObject *make;    /* (owner, offset, count, dtype, shape, strides) -> tensor */
    PyObject *keep;    /* (path, value) -> what is kept; NotImplemented: nothing */
    PyObject *compare; /* (last or None, value) -> last where it is unchanged */
    PyObject *gather;  /* (iteration) when an interval is over; None: nothing */
    PyObject *is_backward; /* () -> whether autograd runs */
};

enum tracing_mode { TRACING_ALWAYS, TRACING_TRAINING, TRACING_EVALUATION };

struct tracing {
    /* The fields that each line reads are first. */
    PyObject_HEAD struct session *session; /* borrowed from the module */
    struct kept_list *last_kept;           /* borrowed; may be NULL */
    PyObject *chunk; /* owned: memory for small tensors; may be NULL */
    char *chunk_bytes;
    size_t chunk_size, chunk_used, next_chunk_size;
    struct tracing_calls calls;
    uint64_t iteration; /* of the model, the one that began last */
    uint64_t interval, gathering_interval;
    enum tracing_mode mode;
    bool is_open; /* the block runs */

    PyObject *module; /* owned: keeps the session */
    PyObject *root;   /* owned: the model */
    bool has_paths;
    struct path_set paths;
    PyObject *numbers; /* owned: a dict, path -> its number */
    struct traced_path **traced;
    size_t traced_count, traced_room;

    /* Of the paths, what they were last, and forms. One call of the model uses all of them: these
     * should lie on few pages of memory, the next ones' too. */
    struct arena arena;
    struct kept_form *spare_forms;
    struct method_memory *method_memory; /* used; NULL: no methods were made yet */
    struct traced_state *listed;         /* borrowed from the paths; may be NULL */

    struct kept_list *kept;  /* owned; NULL: nothing is kept */
    struct kept_list *spare; /* owned: to be used again; may be NULL */
};

/* The context in which a value was found. */
struct tracing_moment {
    uint64_t iteration;
    uint64_t thread; /* session_thread_key() */
    bool is_active;
};

/* Memory of the arena, zeroed; NULL with an exception set. */
void *tracing_allocate(struct arena *arena, size_t count, size_t size);

/* The path of that name, new where it is the first time; NULL with an exception set. It lives as
 * long as the Tracing. */
struct traced_path *tracing_find_path(struct tracing *tracing, struct slice name);
/* What it was last in that thread; NULL: the thread has not used it. */
static inline struct traced_state *traced_state_get(struct traced_path *path,
                                                    uint64_t thread)
{
    struct traced_state *state = &path->first;

    while (state != NULL && state->thread != thread) {
        state = state->next;
    }
    return state;
}
/* A thread's first; NULL with an exception set. */
void traced_path_forget(struct traced_path *path); /* what it was last, everywhere */
/* Lets go of what it owns; its own memory is the arena's. */
void traced_path_release(struct traced_path *path);

/* ---- keep.c: whether a value is another one than before ---- */

/* Keeps the value where it is another one than before. `is_named`: the path's last segment was
 * asked for by its name; else modules, functions and classes are passed over. False with an
 * exception set. */
bool tracing_keep_value(struct tracing *tracing,
                        struct traced_path *path,
                        PyObject *value,
                        const struct tracing_moment *moment,
                        bool is_named);

/* The same of a variable of a call that runs. A tensor is held, so that it is known again, until it
 * is let go. */
bool tracing_keep_local(struct tracing *tracing,
                        struct traced_path *path,
                        PyObject *value,
                        const struct tracing_moment *moment,
                        bool is_named);

/* ---- keep.c ---- */

/* The variable is not bound any longer, or its call has ended. With `is_inner`, one of the same
 * Tracing is around that call: a small tensor that others hold too may occur again in another call
 * of it and is held, until tracing_let_all_go. */
void tracing_let_go(struct tracing *tracing,
                    struct traced_path *path,
                    uint64_t thread,
                    bool is_inner);

/* The outermost call of that thread has ended: of the model itself where `is_root`, whose iteration
 * is over with it. */
void tracing_let_all_go(struct tracing *tracing, uint64_t thread, bool is_root);

/* ---- keep.c ---- */

/* From that many bytes on, other threads may run while they are copied: as the recorder has it. */
#define TRACING_LARGE_SIZE ((size_t)256 << 10)

/* ---- keep.c ---- */

/* What was kept since the last time: path -> (values, iterations). A new reference or NULL. */
PyObject *tracing_detach(struct tracing *tracing);
void tracing_forget_kept(struct tracing *tracing);

/* ---- walk.c ---- */

/* Records what is found inside `object` by the segments that `state` waits for; `path` is how the
 * object was reached, and is as it was afterwards. False with an exception set. */
bool tracing_walk(struct tracing *tracing,
                  PyObject *object,
                  uint32_t state,
                  struct buffer *path,
                  const struct tracing_moment *moment);

/* ---- plan.c ---- */

/* What methods know that were made for one block: as the Tracing's arena, and freed with the last
 * of them. */
struct method_memory {
    size_t user_count;
    struct arena arena;
};

/* The memory for methods that are made now, used once more; NULL with an exception set. */
struct method_memory *method_memory_use(struct tracing *tracing);
void method_memory_leave(struct method_memory *memory); /* NULL: nothing */

/* A variable of a method: a name that the paths may match. */
struct traced_variable {
    struct traced_variable *next; /* borrowed; may be NULL */
    PyObject *name;               /* owned: a str */
    int slot;                     /* see python/visit/variables.h */
    uint32_t state;
    bool is_named, has_more;
    struct traced_path *path; /* borrowed from the Tracing; NULL: no path ends here */
};

/* ---- plan.c ---- */

/* A variable to inspect when a site is visited. */
struct traced_step {
    struct traced_variable *variable; /* borrowed from the method */
    struct traced_path
        *path;     /* the variable's; NULL where not its value alone is wanted */
    bool is_named; /* the variable's, as the slot */
    int32_t slot;
    int32_t value; /* which of the visit's values it has become; -1: the frame has it */
};

struct traced_site {
    uint32_t first_step, step_count;
    bool is_enter;
    bool may_unbind; /* a statement that binds nothing: `del` is one */
};

/* What the sites of a function concern. */
struct traced_plan {
    struct traced_plan *next; /* borrowed: of another table; may be NULL */
    uint64_t module;          /* the number of the module */
    uint32_t function;
    uint32_t first_site, site_count, step_count;
    struct traced_site *sites;
    struct traced_step *steps;
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
    struct method_memory *memory; /* used: what follows lies there */
    struct traced_variable *variables, *last_variable;
    size_t variable_count;
    struct traced_plan *plans;
};

/* A TracedMethod that runs in this thread. */
struct traced_call {
    struct traced_method *method;  /* borrowed */
    const struct tracing *tracing; /* the method's */
    PyObject *frame; /* only to be compared: of the method's code; NULL: not met yet */
    const struct traced_plan
        *plan; /* borrowed from the method: of the frame's function */
    struct tracing_moment moment;
    bool is_watched; /* the moment is active, and the code has variables */
    bool has_twin;   /* `outer` is a call of the same function of the module */
    struct traced_call *below; /* the thread's; may be NULL … */
    struct traced_call *outer; /* … as the next one there of the same Tracing */
};

/* ---- visit.c ---- */

/* A site was visited in `call`, the thread's innermost one, or NULL. False with an exception set. */
bool tracing_visit(struct tracing *tracing,
                   struct traced_call *call,
                   const struct site_visit *visit);
/* ---- tracing.c ---- */

/* Whether it is a TracedMethod. */
bool traced_method_check(PyObject *object);

/* Adds the classes Tracing, TracedMethod and OutputHook. 0, or -1 with an exception set. */
int tracing_exec(PyObject *module);

#endif
