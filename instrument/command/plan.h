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
    const char *output; /* NULL: standard output, or none; in the plan's arena */
    /* Why this cannot be done, with its position; NULL where it can. */
    const char *refusal;
    uint32_t mode;    /* the source's permission bits */
    bool is_repeated; /* means just what an earlier item means */
};

struct plan {
    struct arena arena; /* owned */
    struct item *items; /* owned; in the order of the command line */
    size_t count;
    size_t capacity;
};

/* Walks folders, names the outputs, and refuses outputs that are inputs or that two inputs
 * share: in those items, not for all. Fails only where memory runs out. The plan has to be
 * released in any case. */
bool plan_make(struct plan *plan, const struct options *options, struct error *error);
void plan_release(struct plan *plan);

#endif
