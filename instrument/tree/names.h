/* Each different identifier of a file gets a number; some facts hold for a number anywhere. */
#ifndef MONITORCH_INSTRUMENT_TREE_NAMES_H
#define MONITORCH_INSTRUMENT_TREE_NAMES_H

#include "instrument/tree/syntax.h"

#include <stdbool.h>
#include <stdint.h>

#define NAME_NONE UINT32_MAX

struct name {
    struct slice text; /* borrowed from the source */
    bool is_global;   /* declared global somewhere: functions may rebind the module's */
    bool is_nonlocal; /* declared nonlocal somewhere: inner functions may rebind it */
    bool is_deleted;  /* the object of a del statement somewhere */
};

struct names {
    struct name *items; /* borrowed from the arena */
    uint32_t count;
    /* Borrowed from the arena; by node: NAME_NONE where it is no identifier, or the name of an
     * attribute or of a keyword argument. */
    uint32_t *of_node;
    bool *is_binding; /* borrowed from the arena; by node: set by scopes as they open */
};

/* False where memory ran out. */
bool names_read(struct names *names, const struct syntax *syntax, struct arena *arena);

#endif
