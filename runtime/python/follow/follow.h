/* Following of code that is not instrumented: the interfaces that its two implementations share,
 * the trace function of Python 3.10 and 3.11 (trace.c) and sys.monitoring of 3.12 and later
 * (monitor.c). */
#ifndef MONITORCH_PYTHON_FOLLOW_FOLLOW_H
#define MONITORCH_PYTHON_FOLLOW_FOLLOW_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- plans ---- */

#define PLAN_NOTHING UINT32_MAX

/* A value that a visit records. */
struct plan_value {
    PyObject *root; /* owned: a variable's name; NULL: the returned value */
    PyObject
        *dotted; /* owned: bytes, the whole dotted name; NULL: the variable itself */
    int slot;    /* see python/visit/variables.h */
};

struct plan_visit {
    uint32_t site;
    uint32_t first_value; /* index into the plan's values */
    uint32_t value_count;
};

/* A visit that happens when one numbered instruction follows another. */
struct plan_step {
    uint32_t before, after; /* numbers of instructions */
    uint32_t visit;
};

/* The plan of a code object. Instructions that matter have numbers from 1 on, in their order. */
struct follow_plan {
    PyObject_HEAD struct session *session; /* borrowed from the module */
    PyObject *module;                      /* owned: keeps the session */
    PyObject *hook;                        /* owned: made by hook_make */
    bool is_function;                      /* whether its variables have slots */
    uint32_t start;        /* a frame at most at this offset has not started */
    uint32_t enter;        /* the visit at the start of a call, or PLAN_NOTHING */
    uint32_t unit_count;   /* instructions of the code, of two bytes each */
    uint32_t *numbers;     /* owned: the number of each unit; 0: does not matter */
    uint32_t number_count; /* the last number plus one */
    uint32_t *first_step;  /* owned: by number: the first step that ends there */
    uint32_t
        *returns; /* owned: by number: the visit of a return there, or PLAN_NOTHING */
    struct plan_step *steps; /* owned */
    uint32_t step_count;
    struct plan_visit *visits; /* owned */
    uint32_t visit_count;
    struct plan_value *values; /* owned */
    uint32_t value_count;
};

/* The module's function `make_plan`; `type` was made by plan_make_type. */
PyObject *
plan_make(PyObject *module, PyTypeObject *type, PyObject *args, PyObject *keywords);

/* The number of the instruction at an offset in bytes; 0: it does not matter. */
static inline uint32_t plan_number(const struct follow_plan *plan, size_t offset)
{
    return offset / 2 < plan->unit_count ? plan->numbers[offset / 2] : 0;
}

/* ---- the table of known code objects (follow.c) ---- */

struct code_entry {
    PyObject *code;           /* borrowed: `reference` shows whether it is alive */
    PyObject *reference;      /* owned: a weak reference */
    struct follow_plan *plan; /* owned; NULL: the code is not followed */
};

struct code_table {
    struct code_entry *entries; /* owned; their number is a power of two */
    size_t capacity, count;
};

/* Whether the code is known. Sets `plan`, which is borrowed, and NULL if the code is not
 * followed. */
bool codes_find(const struct code_table *table,
                PyObject *code,
                struct follow_plan **plan);

/* ---- the follower ---- */

/* The state of following, one for the process: trace functions get no state as an argument. The
 * GIL guards it. */
struct follower {
    bool is_on;
    PyObject *decide; /* owned: decides whether a code object is followed */
    struct code_table codes;
    PyObject *plan_type; /* owned */
};

extern struct follower follower;

/* The plan of a code object that runs or is about to run; borrowed. NULL: it is not followed.
 * Decides about code that is not known yet. */
struct follow_plan *follower_find(PyObject *code, PyObject *frame);

/* The Python functions of trace.c and monitor.c. */
extern PyMethodDef follow_trace_methods[];
extern PyMethodDef follow_monitor_methods[];

/* Adds the functions of this folder to the module `_recorder`. Returns 0, or -1 with an
 * exception. */
int follow_exec(PyObject *module);

/* ---- visits of followed frames: they equal those of inserted calls ---- */

/* A followed frame of this thread. It is identified by its address as long as it runs. If
 * another frame has the same address later, its first instruction shows that. */
struct followed_frame {
    const void *frame;
    const struct follow_plan *plan; /* borrowed; only compared */
    uint32_t last;                  /* number of the last instruction that was seen */
    bool has_wished_opcodes; /* another tool had requested events of its instructions */
};

/* Removes a frame that has returned or is suspended. */
void followed_frame_leave(const void *frame, const struct follow_plan *plan);

/* Visits the enter site: a call starts. */
void visit_enter(struct follow_plan *plan, PyObject *frame);

/* Makes the visits that are due before the instruction at `offset` runs. */
void visit_step(struct follow_plan *plan, PyObject *frame, long offset);

/* Visits the return site: the instruction at `offset` returns `value`. */
void visit_return(struct follow_plan *plan,
                  PyObject *frame,
                  long offset,
                  PyObject *value);

#endif
