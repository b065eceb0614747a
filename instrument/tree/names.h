/* Names: each different identifier of a file gets a number. Some facts about a name hold
 * anywhere in the file. */
#ifndef MONITORCH_INSTRUMENT_TREE_NAMES_H
#define MONITORCH_INSTRUMENT_TREE_NAMES_H

#include "instrument/tree/syntax.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* A name's number. It has a type of its own, because nodes, sites and slots are numbers too. */
struct name_id {
    uint32_t number;
};

#define NAME_NONE ((struct name_id){UINT32_MAX})

struct name {
    struct slice text; /* borrowed from the source */
    bool is_global;    /* declared global somewhere: functions may rebind it */
    bool is_nonlocal;  /* declared nonlocal somewhere: inner functions may rebind it */
    bool is_deleted;   /* deleted by a del statement somewhere */
};

struct names {
    struct name *items; /* borrowed from the arena */
    uint32_t count;
    /* borrowed from the arena; by node; NAME_NONE for nodes that are no identifier, or the name
     * of an attribute or of a keyword argument */
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

/* The name of the identifier at a node. NAME_NONE: see of_node. */
static inline struct name_id names_of(const struct names *names, uint32_t node)
{
    assert(node < names->node_count);
    return names->of_node[node];
}

/* The name with that number, which must not be NAME_NONE. */
static inline const struct name *names_get(const struct names *names, struct name_id id)
{
    assert(id.number < names->count);
    return &names->items[id.number];
}

/* Returns false if out of memory. */
bool names_read(struct names *names, const struct syntax *syntax, struct arena *arena);

#endif
