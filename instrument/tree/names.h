/* Each different identifier of a file gets a number; some facts hold for a number anywhere. */
#ifndef MONITORCH_INSTRUMENT_TREE_NAMES_H
#define MONITORCH_INSTRUMENT_TREE_NAMES_H

#include "instrument/tree/syntax.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* A name's number: a type of its own, for nodes, sites and slots are numbers too. */
struct name_id {
    uint32_t number;
};

#define NAME_NONE ((struct name_id){UINT32_MAX})

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
    struct name_id *of_node;
    bool *is_binding; /* borrowed from the arena; by node: set by scopes as they open */
    uint32_t node_count;
};

static inline bool name_is_known(struct name_id name)
{
    return name.number != UINT32_MAX;
}

static inline bool name_equal(struct name_id a, struct name_id b)
{
    return a.number == b.number;
}

/* The name of the identifier at a node; NAME_NONE: see of_node. */
static inline struct name_id names_of(const struct names *names, uint32_t node)
{
    assert(node < names->node_count);
    return names->of_node[node];
}

/* The name with that number, which is not NAME_NONE. */
static inline const struct name *names_get(const struct names *names, struct name_id id)
{
    assert(id.number < names->count);
    return &names->items[id.number];
}

/* False where memory ran out. */
bool names_read(struct names *names, const struct syntax *syntax, struct arena *arena);

#endif
