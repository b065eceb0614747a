/* Which names a function binds, and which site bound each of them last, as far as that is certain
 * at the present statement. The rewriter visits statements in order and reports bindings, forks and
 * joins to the scope. */
#ifndef MONITORCH_INSTRUMENT_TREE_SCOPE_H
#define MONITORCH_INSTRUMENT_TREE_SCOPE_H

#include "instrument/tree/names.h"
#include "instrument/tree/syntax.h"
#include "runtime/site/site.h"

#include <stdbool.h>
#include <stdint.h>

/* A local name that has no value yet: reading it raises, so it can be left out of joins. */
#define SCOPE_UNBOUND (SITE_NONE - 1)

/* Scopes that bind more names than this are not followed: nothing is certain in them. Each branch
 * copies the bindings, and a file of data may have very many of both. */
#define SCOPE_FOLLOWED_LIMIT 256

enum scope_kind { SCOPE_MODULE, SCOPE_CLASS, SCOPE_FUNCTION };

struct scope {
    struct scope *parent; /* borrowed; may be NULL */
    enum scope_kind kind;
    const struct syntax *syntax; /* borrowed */
    const struct names *names;   /* borrowed */
    struct arena *arena;         /* borrowed; holds all arrays below */
    uint32_t *slots;             /* hash: a name's number + 1, 0 where free */
    uint32_t *slot_numbers;
    bool *is_never_certain; /* by slot: bound inside a comprehension too */
    uint32_t mask;
    uint32_t count; /* of names whose bindings are followed */
    /* By slot number: the site that bound the name, SITE_NONE where that is uncertain,
     * SCOPE_UNBOUND where it is not bound yet. */
    uint32_t *bindings;
    bool is_reachable; /* false after return, raise, break and continue */
};

/* The bindings at one point, to be restored. */
struct scope_state {
    uint32_t *bindings; /* borrowed from the arena; NULL where memory ran out */
    bool is_reachable;
};

/* Reads what the definition (or the module) at `node` binds in its own scope. False where
 * memory ran out. */
bool scope_open(struct scope *scope,
                struct scope *parent,
                enum scope_kind kind,
                uint32_t node,
                const struct syntax *syntax,
                const struct names *names,
                struct arena *arena);

/* `name` was bound by `site`, or by something that is no site (SITE_NONE). */
void scope_bind(struct scope *scope, struct name_id name, uint32_t site);

/* The scope that a read of `name` here refers to. */
enum site_scope
scope_resolve(const struct scope *scope, struct name_id name, uint32_t *site);

/* Whether the function around the statement, or a function around that, binds the name. */
bool scope_is_variable(const struct scope *scope, struct name_id name);

/* Whether no scope around the statement binds the name, the module's included. */
bool scope_is_builtin(const struct scope *scope, struct name_id name);

/* Every name that is bound between two nodes is uncertain from now on. */
void scope_forget(struct scope *scope, uint32_t first_node, uint32_t end_node);

/* After a block that may be left at any point without leaving the function (a with statement
 * may swallow exceptions): certain are the names that it binds once and that had no value
 * before. */
void scope_leave(struct scope *scope,
                 const struct scope_state *before,
                 uint32_t first_node,
                 uint32_t end_node);

/* Nothing is certain any more. */
void scope_forget_all(struct scope *scope);

struct scope_state scope_save(const struct scope *scope);
void scope_restore(struct scope *scope, const struct scope_state *state);

/* Both ways lead here: keeps what both agree on. */
void scope_join(struct scope *scope, const struct scope_state *other);

/* Calls for each name that is bound in the targets between two nodes: names alone, not the
 * bases of attributes and subscripts. Returns the next such node at or after `node`, or
 * `end_node`. */
uint32_t
scope_next_target(const struct syntax *syntax, uint32_t node, uint32_t end_node);

/* The same for the captures of a match pattern. */
uint32_t
scope_next_capture(const struct syntax *syntax, uint32_t node, uint32_t end_node);

#endif
