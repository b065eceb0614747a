/* Which names a function binds itself, and which are of the scopes around it. Used by scope.c
 * alone. */
#ifndef MONITORCH_INSTRUMENT_TREE_SCOPE_DECLARE_H
#define MONITORCH_INSTRUMENT_TREE_SCOPE_DECLARE_H

#include "instrument/tree/scope.h"

/* Slot numbers of names that the scope declares to live elsewhere. */
#define SLOT_NONE     UINT32_MAX
#define SLOT_GLOBAL   (UINT32_MAX - 1)
#define SLOT_NONLOCAL (UINT32_MAX - 2)

/* The name's slot number, a special one, or SLOT_NONE. */
uint32_t scope_find_slot(const struct scope *scope, uint32_t name);

void scope_declare_parameters(struct scope *scope, uint32_t parameters);

/* Declares what one node binds. Returns the node to go on with: its first child, or the one
 * after it where its inside belongs to another scope. */
uint32_t scope_declare_node(struct scope *scope, uint32_t node);

#endif
