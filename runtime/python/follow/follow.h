/* Following code that was not instrumented: what is shared by its two ways, the trace function
 * of Python 3.10 and 3.11 (trace.c) and sys.monitoring of 3.12 and later
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

/* The place of a value that a visit records. */
struct plan_value {
    PyObject *root; /* owned: a variable's name; NULL: the value that is returned */
    PyObject
        *dotted; /* owned: bytes, the whole dotted name; NULL: the variable itself */
    int slot;    /* see python/visit/variables.h */
};

struct plan_visit {
    uint32_t site;
    uint32_t first_value; /* index into the plan's values */
    uint32_t value_count;
};

/* A visit that happens on the step from one instruction to another. */
struct plan_step {
    uint32_t before, after; /* numbers of instructions */
    uint32_t visit;
};

/* Instructions that matter have numbers from 1 on, in their order. */
struct follow_plan {
    PyObject_HEAD struct session *session; /* borrowed from the module */
    PyObject *module;                      /* owned: keeps the session */
    PyObject *hook;                        /* owned: what hook_make gave */
    bool is_function;                      /* its variables have slots */
    uint32_t start;                        /* up to this offset a frame has not begun */
    uint32_t enter;          /* the visit at a call's beginning, or PLAN_NOTHING */
    uint32_t unit_count;     /* of the code, two bytes each */
    uint32_t *numbers;       /* owned: by unit; 0: does not matter */
    uint32_t number_count;   /* the last number and one more */
    uint32_t *first_step;    /* owned: by number, of the steps that end there */
    uint32_t *returns;       /* owned: by number: the visit where it returns */
    struct plan_step *steps; /* owned */
    uint32_t step_count;
    struct plan_visit *visits; /* owned */
    uint32_t visit_count;
    struct plan_value *values; /* owned */
    uint32_t value_count;
};

/* The function `make_plan` of the module; `type` is what plan_make_type gave. */
PyObject *
plan_make(PyObject *module, PyTypeObject *type, PyObject *args, PyObject *keywords);

/* The number of the instruction at an offset in bytes; 0: it does not matter. */
static inline uint32_t plan_number(const struct follow_plan *plan, size_t offset)
{
    return offset / 2 < plan->unit_count ? plan->numbers[offset / 2] : 0;
}

/* ---- the code objects that are followed (follow.c) ---- */

struct code_entry {
    PyObject *code;           /* borrowed: `reference` knows whether it is alive */
    PyObject *reference;      /* owned: a weak reference */
    struct follow_plan *plan; /* owned; NULL: it is not followed */
};

struct code_table {
    struct code_entry *entries; /* owned; a power of two of them */
    size_t capacity, count;
};

/* Whether the code is known; sets `plan`, borrowed, NULL where it is not followed. */
bool codes_find(const struct code_table *table,
                PyObject *code,
                struct follow_plan **plan);

/* ---- the follower ---- */

/* There is one for the process: trace functions get no state of ours. The interpreter's lock
 * guards it. */
struct follower {
    bool is_on;
    PyObject *decide; /* owned: what says whether a code object is followed */
    struct code_table codes;
    PyObject *plan_type; /* owned */
};

extern struct follower follower;

/* The plan of a code object that begins to run or runs, borrowed; NULL: it is not followed.
 * What is not known yet is decided. */
struct follow_plan *follower_find(PyObject *code, PyObject *frame);

/* The functions of trace.c and monitor.c. */
extern PyMethodDef follow_trace_methods[];
extern PyMethodDef follow_monitor_methods[];

/* Part of making the module `_recorder`; 0, or -1 with an exception. */
int follow_exec(PyObject *module);

/* The visits of a followed frame, for the recorder: the same visits as inserted calls make. */

/* A frame of this thread that is followed. It is known by its address for as long as it runs; where
 * another frame has its address now, its first instruction shows that. */
struct followed_frame {
    const void *frame;
    const struct follow_plan *plan; /* borrowed; only compared */
    uint32_t last;           /* number of the instruction that it was seen at last */
    bool has_wished_opcodes; /* somebody else asked for events of its instructions */
};

/* It has returned, or rests. */
void followed_frame_leave(const void *frame, const struct follow_plan *plan);

/* A call begins. */
void visit_enter(struct follow_plan *plan, PyObject *frame);

/* The instruction at `offset` is about to run. */
void visit_step(struct follow_plan *plan, PyObject *frame, long offset);

/* It returns `value` by the instruction at `offset`. */
void visit_return(struct follow_plan *plan,
                  PyObject *frame,
                  long offset,
                  PyObject *value);

#endif
