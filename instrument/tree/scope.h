/* Scopes: the names that a function binds, and the site that bound each of them last, as far as
 * that is certain at the current statement. The rewriter visits statements in order and reports
 * bindings, forks and joins to the scope. */
#ifndef MONITORCH_INSTRUMENT_TREE_SCOPE_H
#define MONITORCH_INSTRUMENT_TREE_SCOPE_H

#include "instrument/tree/names.h"
#include "instrument/tree/syntax.h"
#include "runtime/site/site.h"

#include <stdbool.h>
#include <stdint.h>

/* A local name without a value yet. Reading it raises, so joins can ignore it. */
#define SCOPE_UNBOUND (SITE_NONE - 1)

/* The maximum number of names in a scope whose bindings are followed. In larger scopes no
 * binding is certain: each branch copies the bindings, and a file of data may have very many of
 * both. */
#define SCOPE_FOLLOWED_LIMIT 256

enum scope_kind { SCOPE_MODULE, SCOPE_CLASS, SCOPE_FUNCTION };

struct scope {
    struct scope *parent; /* borrowed; may be NULL */
    enum scope_kind kind;
    const struct syntax *syntax; /* borrowed */
    const struct names *names;   /* borrowed */
    struct arena *arena;         /* borrowed; holds all arrays below */
    uint32_t *slots;             /* hash table: a name's number + 1; 0: free */
    uint32_t *slot_numbers;
    bool *is_never_certain; /* by slot: also bound inside a comprehension */
    uint32_t mask;
    uint32_t count; /* number of names whose bindings are followed */
    /* by slot number: the site that bound the name; SITE_NONE: uncertain; SCOPE_UNBOUND: not
     * bound yet */
    uint32_t *bindings;
    bool is_reachable; /* false after return, raise, break and continue */
};

/* The bindings at one point, to be restored. */
struct scope_state {
    uint32_t *bindings; /* borrowed from the arena; NULL: out of memory */
    bool is_reachable;
};

/* Opens the scope of the definition (or the module) at `node`, with the names that it binds.
 * Returns false if out of memory. */
bool scope_open(struct scope *scope,
                struct scope *parent,
                enum scope_kind kind,
                uint32_t node,
                const struct syntax *syntax,
                const struct names *names,
                struct arena *arena);

/* Binds `name` to `site`, or to SITE_NONE for a binding that is no site. */
void scope_bind(struct scope *scope, struct name_id name, uint32_t site);

/* The scope that a read of `name` here refers to. */
enum site_scope
scope_resolve(const struct scope *scope, struct name_id name, uint32_t *site);

/* Whether the function around the statement, or a function around that, binds the name. */
bool scope_is_variable(const struct scope *scope, struct name_id name);

/* Whether no scope around the statement binds the name, the module's included. */
bool scope_is_builtin(const struct scope *scope, struct name_id name);

/* Marks all names that are bound between two nodes as uncertain. */
void scope_forget(struct scope *scope, uint32_t first_node, uint32_t end_node);

/* Leaves a block that may end at any point without leaving the function, as a with statement may
 * swallow exceptions. Names are certain if the block binds them once and they had no value
 * before. */
void scope_leave(struct scope *scope,
                 const struct scope_state *before,
                 uint32_t first_node,
                 uint32_t end_node);

/* Marks all names as uncertain. */
void scope_forget_all(struct scope *scope);

struct scope_state scope_save(const struct scope *scope);
void scope_restore(struct scope *scope, const struct scope_state *state);

/* Joins two paths: keeps the bindings on which both agree. */
void scope_join(struct scope *scope, const struct scope_state *other);

/* Finds the next node, at or after `node`, that is a name bound in the targets up to `end_node`.
 * The bases of attributes and subscripts are skipped. Returns `end_node` if there is none. */
uint32_t
scope_next_target(const struct syntax *syntax, uint32_t node, uint32_t end_node);

/* Does the same for the captures of a match pattern. */
uint32_t
scope_next_capture(const struct syntax *syntax, uint32_t node, uint32_t end_node);

#endif
