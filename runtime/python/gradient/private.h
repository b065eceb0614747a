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

/* The line whose backward made a gradient; module NULL: it is not known. */
struct birth_place {
    const struct recorded_module *module; /* NULL: not known */
    uint32_t site;
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
    struct birth_place birth;      /* of the first such gradient of it */
    uint32_t bad_count;            /* backwards that had such a gradient */
    struct parameters *parameters; /* owned; NULL until wanted */
    /* owned: interned */
    PyObject *name_grad_fn, *name_output_nr, *name_register, *name_register_leaf,
        *name_grad, *name_next, *name_name, *name_variable, *name_is_sparse,
        *name_values;
};

/* The hook of that function that lives; NULL: there is none. */
struct gradient_hook *gradients_find(const struct gradients *gradients,
                                     uint64_t function);

/* The tensor that the recorder wrote last gets a hook at the end of the visit: `object`. */
void gradient_follow(struct session *session,
                     const struct visit *visit,
                     PyObject *object);
/* What can be read of a gradient: itself, or the values of a sparse one. A new reference. */
PyObject *gradient_values(struct gradients *gradients, PyObject *gradient);

/* ---- parameters.c, steps.c ---- */

/* So many lines that write to parameters have a place of their own where the compiler has made none. */
#define PLACES_MAX 256
/* Settings of so many optimizers' groups are recorded. */
#define SETTINGS_MAX 512

struct parameter {
    PyObject *reference;     /* owned: weak */
    char *name;              /* owned: `encoder.layers.0.weight` */
    struct name_state value; /* as recorded last; object 0: never */
    struct name_state gradient;
    bool was_bad;  /* the value that was recorded last held NaN or an infinity */
    bool is_named; /* by a module, and not by its place in an optimizer */
};

/* A torch.nn.Module that a line assigned or called. */
struct candidate {
    PyObject *reference; /* owned: weak */
    uint64_t object;
    bool is_inner; /* another candidate contains it */
};

/* A line that writes to parameters, which has no site. */
struct place {
    const void *code; /* compared only */
    uint32_t line;
    struct recorded_module *module; /* borrowed from the recording */
    uint32_t visit_count;
};

/* A number in an optimizer's param_groups. */
struct setting {
    uint64_t key; /* of the optimizer, the group and the name */
    struct name_state state;
};

/* Objects of torch that set what a step of an optimizer uses. */
enum setter {
    SETTER_OPTIMIZER, /* or one of its param_groups */
    SETTER_SCHEDULER,
    SETTER_SCALER,
    SETTER_MODULE, /* its zero_grad() is one of the optimizer's */
    SETTER_COUNT,
};
#define OPTIMIZERS_MAX 16
#define TOUCHED_MAX    4

/* An object that the statement of a visit has assigned or called a method of. */
struct touched {
    PyObject *object; /* owned */
    enum setter setter;
    struct visit visit;
};

struct parameters {
    uint64_t number;         /* of the recording that all of it belongs to */
    unsigned fork_count;     /* of its process */
    struct parameter *items; /* owned */
    size_t capacity;
    uint32_t count;
    struct number_map numbers;    /* owned: address -> the newest item there */
    struct number_map uses;       /* owned: hash of a name -> how many have had it */
    struct candidate *candidates; /* owned */
    size_t candidate_capacity;
    uint32_t candidate_count;
    struct number_map candidate_numbers; /* owned: address -> candidate */
    bool has_new; /* candidates whose parameters are not known yet */
    bool
        is_due; /* a module that is in no other is called: its parameters may have changed */
    bool is_wanted; /* they are to be recorded at the end of the visit that goes on: */
    struct visit visit;
    struct place places[PLACES_MAX];
    uint32_t place_count;
    struct setting settings[SETTINGS_MAX];
    uint32_t setting_count;
    PyObject *optimizers[OPTIMIZERS_MAX]; /* owned: weak references */
    uint32_t optimizer_count;
    struct touched touched[TOUCHED_MAX]; /* by the visit that is not over */
    uint32_t touched_count;
    PyObject *classes[SETTER_COUNT]; /* owned: torch's; NULL: not found yet */
    PyObject *handles[2];            /* owned: of torch's hooks; NULL: not hung yet */
    unsigned step_depth;             /* steps of optimizers that go on */
};

/* Those of this recording and process; NULL: none are wanted. */
struct parameters *parameters_of(struct session *session);
/* Nothing is known any more, but for torch's hooks. */
void parameters_clear(struct parameters *parameters);
/* What a weak reference leads to; borrowed, NULL: it is gone. */
PyObject *parameter_alive(PyObject *reference);
/* NULL: it is not known. */
struct parameter *parameters_find(const struct parameters *parameters,
                                  const PyObject *object);
/* NULL: out of memory, or no weak reference can be made to it. */
struct parameter *parameters_add(struct parameters *parameters,
                                 PyObject *object,
                                 struct slice name,
                                 bool is_named);
/* Makes the parameters of all modules known that are not yet, and records them. */
void parameters_add_all(struct session *session, const struct visit *visit);
/* Records the parameter's value if it changed, and has its next gradients refer to that event. Gives
 * whether it holds NaN or an infinity now and did not before. */
bool parameter_record_value(struct session *session,
                            const struct visit *visit,
                            struct parameter *parameter,
                            PyObject *object,
                            bool is_read);
/* Records the `.grad` of `object`, the parameter of that number, if it changed. `is_written`: it did,
 * though no counter may show it. */
void parameter_record_gradient(struct session *session,
                               const struct visit *visit,
                               uint32_t number,
                               PyObject *object,
                               bool is_read,
                               bool is_written);
/* Appends a part of a dotted name; gives the size that it had. */
size_t name_add_part(struct buffer *path, PyObject *name);

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

/* ---- settings.c ---- */

/* The optimizer's settings that are new or have changed, as events of the visit; `name` and `tag` begin a
 * step of the trace before the first of them, unless the name is "". */
struct settings {
    struct session *session;
    const struct visit *visit;
    PyObject *optimizer; /* borrowed */
    struct slice kind;   /* "SGD" */
    bool is_read;
    struct slice step;
    enum log_step_tag tag;
    bool is_begun;
};
void settings_record(struct settings *settings);
/* How the trace calls the optimizer: by its class, a later one of the class with a number: `SGD@2`. */
void settings_add_name(struct session *session,
                       PyObject *optimizer,
                       struct buffer *text);
/* The visit ends: what the objects that it touched have set is recorded. */
void settings_settle(struct session *session);
/* Nothing is touched any more, and no optimizer known. */
void settings_clear(struct parameters *parameters);

/* birth.c: the gradient of an output of `hook` is the first of this backward that is not finite:
 * writes what it was made from. Gives the line whose backward made it, where it is known: `what`
 * names a value there. */
void gradient_write_birth(struct session *session,
                          const struct gradient_hook *hook,
                          const struct watched_output *output,
                          struct birth_place *place);

#endif
