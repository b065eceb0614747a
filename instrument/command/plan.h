/* The plan: the input files, and the output of each. */
#ifndef MONITORCH_INSTRUMENT_COMMAND_PLAN_H
#define MONITORCH_INSTRUMENT_COMMAND_PLAN_H

#include "instrument/command/options.h"
#include "runtime/base/arena.h"
#include "runtime/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct item {
    const char *path;   /* of the source; "-" is standard input; in the plan's arena */
    const char *output; /* in the plan's arena; NULL: standard output, or none */
    /* why this item cannot be done, with its position; NULL: it can */
    const char *refusal;
    uint32_t mode;    /* the source's permission bits */
    bool is_repeated; /* same work as an earlier item */
};

struct plan {
    struct arena arena; /* owned */
    struct item *items; /* owned; in the order of the command line */
    size_t count;
    size_t capacity;
};

/* Makes the plan: searches folders, names the outputs, and refuses items whose output is an
 * input or the output of another item. Only out of memory makes it fail. The plan must be
 * released in any case. */
bool plan_make(struct plan *plan, const struct options *options, struct error *error);
void plan_release(struct plan *plan);

#endif
