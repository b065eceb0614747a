/* Which code objects are followed: a table by address, which keeps none of them alive. */
#ifndef MONITORCH_PYTHON_FOLLOW_CODES_H
#define MONITORCH_PYTHON_FOLLOW_CODES_H

#include "runtime/python/follow/plan.h"

struct code_entry {
    PyObject *code;           /* borrowed: `reference` tells whether it is alive */
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

/* Remembers a code object. False without an exception: there is no memory. */
bool codes_add(struct code_table *table, PyObject *code, struct follow_plan *plan);

void codes_clear(struct code_table *table);

#endif
