/* Declarations that only the files of this folder share. */
#ifndef MONITORCH_PYTHON_GRADIENT_PRIVATE_H
#define MONITORCH_PYTHON_GRADIENT_PRIVATE_H

#include "runtime/base/buffer.h"
#include "runtime/base/number_map.h"
#include "runtime/python/gradient/gradient.h"

#define SLOT_NONE UINT32_MAX

/* An output of a function whose gradient is recorded. */
struct watched_output {
    struct gradient_owner owner;
    const struct recorded_module *module; /* borrowed from the recording */
    uint32_t site;                        /* in its module's table */
    uint32_t output;
};

/* The hook of one function of autograd, or of one leaf. */
struct gradient_hook {
    PyObject_HEAD struct session *session; /* borrowed: the type keeps its module */
    uint64_t number;                       /* number of the recording */
    unsigned fork_count; /* identifies the process that events belong to */
    uint64_t target;     /* address of the function, or of the leaf's Python object */
    bool is_leaf;
    uint32_t slot;    /* in the list of living hooks; SLOT_NONE: not in the list */
    PyObject *handle; /* owned: removes the hook; may be NULL */
    uint32_t count;
    uint32_t capacity;
    struct watched_output first;
    struct watched_output *outputs; /* `first`, or an owned array */
};

struct gradient_slot {
    struct gradient_hook
        *hook; /* borrowed, removed when the hook is released; may be NULL */
    uint32_t next_free;
};

/* A value that gets a hook at the end of the visit. */
struct pending_output {
    PyObject *object; /* owned */
    struct watched_output output;
    uint64_t function; /* address of its function; 0: not known, or a leaf */
};

/* The line whose backward made a gradient. */
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
        functions;            /* owned: address -> slot, of living and former hooks */
    struct number_map leaves; /* owned: as `functions`, for leaves */
    struct pending_output *pending; /* owned */
    size_t pending_capacity;
    uint32_t pending_first, pending_count; /* items from pending_first on are waiting */
    PyObject *
        task_function; /* owned: torch's function that returns the number of the running backward */
    long long task;                /* number of the newest backward; -1: none yet */
    uint32_t step;                 /* number of that backward in the trace */
    bool is_bad;                   /* that backward had a gradient that is not finite */
    struct birth_place birth;      /* line that made the first such gradient */
    uint32_t bad_count;            /* number of backwards with such a gradient */
    struct parameters *parameters; /* owned; NULL until first used */
    /* owned: interned */
    PyObject *name_grad_fn, *name_output_nr, *name_register, *name_register_leaf,
        *name_grad, *name_next, *name_name, *name_variable, *name_is_sparse,
        *name_values;
};

/* The living hook of the function, or NULL. */
struct gradient_hook *gradients_find(const struct gradients *gradients,
                                     uint64_t function);

/* Adds a pending hook for `object`, the tensor of the recorder's newest event. */
void gradient_follow(struct session *session,
                     const struct visit *visit,
                     PyObject *object);
/* The readable part of a gradient: the gradient itself, or the values of a sparse one. New
 * reference. */
PyObject *gradient_values(struct gradients *gradients, PyObject *gradient);

/* ---- parameters.c, steps.c ---- */

/* The maximal number of lines that write to parameters and have no site of the compiler. */
#define PLACES_MAX 256
/* The maximal number of settings of optimizers' groups. */
#define SETTINGS_MAX 512

struct parameter {
    PyObject *reference;     /* owned: weak */
    char *name;              /* owned: `encoder.layers.0.weight` */
    struct name_state value; /* as last recorded; object 0: never */
    struct name_state gradient;
    bool was_bad;  /* the last recorded value held NaN or an infinity */
    bool is_named; /* named by a module, and not after its place in an optimizer */
};

/* A torch.nn.Module that a line assigned or called. */
struct candidate {
    PyObject *reference; /* owned: weak */
    uint64_t object;
    bool is_inner; /* another candidate contains it */
};

/* A line that writes to parameters and has no site of the compiler. */
struct place {
    const void *code; /* only compared */
    uint32_t line;
    struct recorded_module *module; /* borrowed from the recording */
    uint32_t visit_count;
};

/* A number in an optimizer's param_groups. */
struct setting {
    uint64_t key; /* hash of the optimizer, the group and the name */
    struct name_state state;
};

/* Kinds of torch's objects that set what an optimizer's step uses. */
enum setter {
    SETTER_OPTIMIZER, /* or one of its param_groups */
    SETTER_SCHEDULER,
    SETTER_SCALER,
    SETTER_MODULE, /* for its zero_grad() */
    SETTER_COUNT,
};
#define OPTIMIZERS_MAX 16
#define TOUCHED_MAX    4

/* An object that the statement of a visit assigned, or whose method it called. */
struct touched {
    PyObject *object; /* owned */
    enum setter setter;
    struct visit visit;
};

struct parameters {
    uint64_t number;         /* number of the recording that the fields belong to */
    unsigned fork_count;     /* identifies its process */
    struct parameter *items; /* owned */
    size_t capacity;
    uint32_t count;
    struct number_map numbers; /* owned: address -> newest item of that address */
    struct number_map
        uses; /* owned: hash of a name -> number of parameters that had it */
    struct candidate *candidates; /* owned */
    size_t candidate_capacity;
    uint32_t candidate_count;
    struct number_map candidate_numbers; /* owned: address -> index in `candidates` */
    bool has_new; /* some candidates' parameters have not been added */
    bool
        is_due; /* an outermost module is being called, so its parameters may have changed */
    bool is_wanted; /* parameters are to be recorded at the end of `visit` */
    struct visit visit;
    struct place places[PLACES_MAX];
    uint32_t place_count;
    struct setting settings[SETTINGS_MAX];
    uint32_t setting_count;
    PyObject *optimizers[OPTIMIZERS_MAX]; /* owned: weak references */
    uint32_t optimizer_count;
    struct touched touched[TOUCHED_MAX]; /* by the current visit */
    uint32_t touched_count;
    PyObject *classes[SETTER_COUNT]; /* owned: torch's; NULL: not found yet */
    PyObject *handles[2];            /* owned: of torch's hooks; NULL: not registered */
    unsigned step_depth;             /* 1 while an optimizer's step runs */
};

/* The parameters of this recording and process. NULL if the recording wants none. */
struct parameters *parameters_of(struct session *session);
/* Drops everything but torch's hooks. */
void parameters_clear(struct parameters *parameters);
/* The object of the weak reference; borrowed. NULL if it no longer exists. */
PyObject *parameter_alive(PyObject *reference);
/* The parameter of that object, or NULL. */
struct parameter *parameters_find(const struct parameters *parameters,
                                  const PyObject *object);
/* Adds a parameter. Returns NULL if memory runs out, or if no weak reference to the object is
 * possible. */
struct parameter *parameters_add(struct parameters *parameters,
                                 PyObject *object,
                                 struct slice name,
                                 bool is_named);
/* Adds the parameters of all candidates that were not added before, and records them. */
void parameters_add_all(struct session *session, const struct visit *visit);
/* Records the parameter's value if it changed; its next gradients belong to that event. Returns
 * whether it holds NaN or an infinity now and did not before. */
bool parameter_record_value(struct session *session,
                            const struct visit *visit,
                            struct parameter *parameter,
                            PyObject *object,
                            bool is_read);
/* Records the `.grad` of `object`, the parameter with that number, if it changed. `is_written`:
 * it did, even if its version counter does not show it. */
void parameter_record_gradient(struct session *session,
                               const struct visit *visit,
                               uint32_t number,
                               PyObject *object,
                               bool is_read,
                               bool is_written);
/* Appends a part of a dotted name. Returns the size before. */
size_t name_add_part(struct buffer *path, PyObject *name);

void parameters_free(struct parameters *parameters); /* may be NULL */
/* Removes torch's hooks and drops all parameters, at the end of the recording. `parameters` may
 * be NULL. */
void parameters_end(struct parameters *parameters);
/* Notes that the `.grad` of the leaf was recorded. */
void parameters_note_gradient(struct session *session,
                              PyObject *leaf,
                              PyObject *gradient);
/* Requests a record of the parameters that are not known yet, at the end of a visit that
 * recorded a value which autograd follows. */
void parameters_want(struct session *session, const struct visit *visit);
/* Records what parameters_want requested, at the end of the visit. */
void parameters_settle(struct session *session);

/* ---- settings.c ---- */

/* A record of an optimizer's new or changed settings as events of the visit. If `step` is not
 * "", a step of the trace with that name and `tag` is written before the first of them. */
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
/* Appends the optimizer's name in the trace: its class, with a number if it is not the first of
 * that class, as in `SGD@2`. */
void settings_add_name(struct session *session,
                       PyObject *optimizer,
                       struct buffer *text);
/* Records the settings that the noted objects changed, at the end of the visit. */
void settings_settle(struct session *session);
/* Drops the noted objects and the optimizers. */
void settings_clear(struct parameters *parameters);

/* birth.c: writes the sources of the gradient of an output of `hook`, which is the first of this
 * backward that is not finite. Sets `place` to the line whose backward made it, if there is
 * exactly one. */
void gradient_write_birth(struct session *session,
                          const struct gradient_hook *hook,
                          const struct watched_output *output,
                          struct birth_place *place);

#endif
