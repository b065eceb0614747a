/* Shared by the files of the folder alone. */
#ifndef MONITORCH_PYTHON_GRADIENT_PRIVATE_H
#define MONITORCH_PYTHON_GRADIENT_PRIVATE_H

#include "runtime/base/buffer.h"
#include "runtime/base/number_map.h"
#include "runtime/python/gradient/gradient.h"

#define SLOT_NONE UINT32_MAX

/* A value whose gradient is wanted: one of the outputs of a function. */
struct watched_output {
    struct gradient_owner owner;
    const struct recorded_module *module; /* borrowed from the recording */
    uint32_t site;                        /* in its module's table */
    uint32_t output;
};

/* One object a function of autograd, or a leaf. */
struct gradient_hook {
    PyObject_HEAD struct session *session; /* borrowed: the type keeps its module */
    uint64_t number;                       /* of the recording */
    unsigned fork_count;                   /* of the process that events belong to */
    uint64_t target; /* address of the function, or of the leaf's Python object */
    bool is_leaf;
    uint32_t slot;    /* in the list of living hooks; SLOT_NONE: in none */
    PyObject *handle; /* owned: removes the hook; may be NULL */
    uint32_t count;
    uint32_t capacity;
    struct watched_output first;
    struct watched_output *outputs; /* `first`, or owned */
};

struct gradient_slot {
    struct gradient_hook
        *hook; /* borrowed: it leaves the list when it dies; may be NULL */
    uint32_t next_free;
};

/* A value that gets its hook at the end of the visit. */
struct pending_output {
    PyObject *object; /* owned */
    struct watched_output output;
    uint64_t function; /* its address; 0: not known, or a leaf */
};

struct gradients {
    struct gradient_slot *slots; /* owned */
    size_t slot_capacity;
    uint32_t slot_count;
    uint32_t first_free;
    struct number_map
        functions;            /* owned: address -> slot, of living and of dead hooks */
    struct number_map leaves; /* owned: the same of leaves */
    struct pending_output *pending; /* owned */
    size_t pending_capacity;
    uint32_t pending_first, pending_count; /* those from the first on wait */
    PyObject
        *task_function; /* owned: torch's, gives the number of the backward that runs */
    long long task;     /* of the newest backward that was seen; -1: none yet */
    uint32_t step;      /* its number in the trace */
    bool is_bad;        /* a gradient of it was not finite */
    uint32_t bad_count; /* backwards that had such a gradient */
    struct parameters *parameters; /* owned; NULL until wanted */
    /* owned: interned */
    PyObject *name_grad_fn, *name_output_nr, *name_register, *name_register_leaf,
        *name_grad, *name_next, *name_name, *name_variable, *name_is_sparse, *name_values;
};

/* The hook of that function that lives; NULL: there is none. */
struct gradient_hook *gradients_find(const struct gradients *gradients,
                                     uint64_t function);

/* The tensor that the recorder wrote last gets a hook at the end of the visit: `object`. */
void gradient_follow(struct session *session, const struct visit *visit, PyObject *object);
/* What can be read of a gradient: itself, or the values of a sparse one. A new reference. */
PyObject *gradient_values(struct gradients *gradients, PyObject *gradient);

/* ---- parameters.c ---- */

void parameters_free(struct parameters *parameters); /* may be NULL */
/* The recording ends: torch's hooks are removed, and nothing is known any more. May be NULL. */
void parameters_end(struct parameters *parameters);
/* The `.grad` of that leaf was recorded. */
void parameters_note_gradient(struct session *session,
                              PyObject *leaf,
                              PyObject *gradient);
/* The visit has recorded a value that autograd follows: parameters that are not known yet are recorded
 * when it ends. */
void parameters_want(struct session *session, const struct visit *visit);
/* It ends. */
void parameters_settle(struct session *session);

/* birth.c: the gradient of an output of `hook` is the first of this backward that is not finite:
 * writes what it was made from. Gives the line whose backward made it, where it is known: `what`
 * names a value there. */
struct birth_place {
    const struct recorded_module *module; /* NULL: not known */
    uint32_t site;
};
void gradient_write_birth(struct session *session,
                          const struct gradient_hook *hook,
                          const struct watched_output *output,
                          struct birth_place *place);

#endif
