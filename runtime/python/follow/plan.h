/* What is to be told of one code object that is followed, and after which of its instructions:
 * made by monitorch/_follow/plan.py, checked and held here. */
#ifndef MONITORCH_PYTHON_FOLLOW_PLAN_H
#define MONITORCH_PYTHON_FOLLOW_PLAN_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_NOTHING UINT32_MAX

/* Where a value that a visit tells is found. */
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

/* The type of plans. A new reference, or NULL with an exception. */
PyObject *plan_make_type(PyObject *module);

/* The function `make_plan` of the module; `type` is what plan_make_type gave. */
PyObject *
plan_make(PyObject *module, PyTypeObject *type, PyObject *args, PyObject *keywords);

/* The number of the instruction at an offset in bytes; 0: it does not matter. */
static inline uint32_t plan_number(const struct follow_plan *plan, size_t offset)
{
    return offset / 2 < plan->unit_count ? plan->numbers[offset / 2] : 0;
}

#endif
