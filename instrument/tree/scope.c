/* The bindings of names, by function. */
#include "instrument/tree/scope.h"

#include <assert.h>
#include <string.h>

/* The slot numbers of names that are declared to be in another scope. */
#define SLOT_NONE UINT32_MAX

#define SLOT_GLOBAL (UINT32_MAX - 1)

#define SLOT_NONLOCAL (UINT32_MAX - 2)

/* ---- the names that a function binds itself, and those of the scopes around it ---- */

static void add_slot(struct scope *scope, struct name_id name, uint32_t special)
{
    uint32_t at = name.number * 2654435761u & scope->mask;

    while (scope->slots[at] != 0) {
        if (scope->slots[at] == name.number + 1) {
            return;
        }
        at = (at + 1) & scope->mask;
    }
    scope->slots[at] = name.number + 1;
    scope->slot_numbers[at] = special == SLOT_NONE ? scope->count++ : special;
}

/* Declares that the identifier at `node` binds its name in this scope. */
static void declare(struct scope *scope, uint32_t node)
{
    scope->names->is_binding[node] = true;
    add_slot(scope, names_of(scope->names, node), SLOT_NONE);
}

static void declare_elsewhere(struct scope *scope, uint32_t statement, uint32_t special)
{
    for (uint32_t i = statement + 1; i < scope->syntax->nodes[statement].next; i++) {
        if (name_is_known(names_of(scope->names, i))) {
            add_slot(scope, names_of(scope->names, i), special);
        }
    }
}

/* The name's slot number, or one of the special numbers. SLOT_NONE: the scope does not bind it. */
static uint32_t scope_find_slot(const struct scope *scope, struct name_id name)
{
    uint32_t at = name.number * 2654435761u & scope->mask;

    while (scope->slots[at] != 0) {
        if (scope->slots[at] == name.number + 1) {
            return scope->slot_numbers[at];
        }
        at = (at + 1) & scope->mask;
    }
    return SLOT_NONE;
}

static void declare_targets(struct scope *scope, uint32_t first, uint32_t end)
{
    for (uint32_t i = scope_next_target(scope->syntax, first, end); i < end;
         i = scope_next_target(scope->syntax, i + 1, end)) {
        declare(scope, i);
    }
}

static void declare_captures(struct scope *scope, uint32_t first, uint32_t end)
{
    for (uint32_t i = scope_next_capture(scope->syntax, first, end); i < end;
         i = scope_next_capture(scope->syntax, i + 1, end)) {
        declare(scope, i);
    }
}

static void scope_declare_parameters(struct scope *scope, uint32_t parameters)
{
    const struct syntax *syntax = scope->syntax;

    for (uint32_t i = syntax_child(syntax, parameters); i != 0;
         i = syntax_sibling(syntax, parameters, i)) {
        uint32_t name = i;

        while (syntax->nodes[name].kind != KIND_IDENTIFIER &&
               syntax_child(syntax, name) != 0) {
            name = syntax_child(syntax, name);
        }
        if (syntax->nodes[name].kind == KIND_IDENTIFIER) {
            declare(scope, name);
        }
    }
}

/* Declares the names of an import: c and d for `import a.b as c, d.e`. */
static void declare_imports(struct scope *scope, uint32_t statement)
{
    const struct syntax *syntax = scope->syntax;
    bool is_from = syntax->nodes[statement].kind == KIND_IMPORT_FROM_STATEMENT;
    uint32_t i = syntax_child(syntax, statement);

    assert(statement < syntax->count);
    if (is_from && i != 0) {
        i = syntax_sibling(syntax, statement,
                           i); /* the name of the module is not bound */
    }
    for (; i != 0; i = syntax_sibling(syntax, statement, i)) {
        uint32_t name = i;

        if (syntax->nodes[i].kind == KIND_ALIASED_IMPORT) {
            name = syntax_last(syntax, i);
        } else if (syntax->nodes[i].kind == KIND_DOTTED_NAME) {
            name = syntax_child(syntax, i);
        }
        if (name != 0 && syntax->nodes[name].kind == KIND_IDENTIFIER) {
            declare(scope, name);
        }
    }
}

/* Declares the names of assignment expressions in a comprehension, which belong to the scope
 * around it. They are bound any number of times, and for a generator expression even later. */
static void declare_comprehension(struct scope *scope, uint32_t node)
{
    for (uint32_t i = node + 1; i < scope->syntax->nodes[node].next; i++) {
        uint32_t slot;

        if (scope->syntax->nodes[i].kind != KIND_NAMED_EXPRESSION ||
            !name_is_known(names_of(scope->names, i + 1))) {
            continue;
        }
        declare(scope, i + 1);
        slot = scope_find_slot(scope, names_of(scope->names, i + 1));
        if (slot < scope->count) {
            scope->is_never_certain[slot] = true;
        }
    }
}

/* Declares the names that one node binds. Returns the node at which to continue: its first
 * child, or the node after it if its inside belongs to another scope. */
static uint32_t scope_declare_node(struct scope *scope, uint32_t node)
{
    const struct syntax *syntax = scope->syntax;
    uint32_t end = syntax->nodes[node].next;

    assert(node < syntax->count);
    switch (syntax->nodes[node].kind) {
    case KIND_FUNCTION_DEFINITION:
    case KIND_CLASS_DEFINITION:
        if (node + 1 < end && syntax->nodes[node + 1].kind == KIND_IDENTIFIER) {
            declare(scope, node + 1);
        }
        return end;
    case KIND_LAMBDA:
        return end;
    case KIND_LIST_COMPREHENSION:
    case KIND_SET_COMPREHENSION:
    case KIND_DICTIONARY_COMPREHENSION:
    case KIND_GENERATOR_EXPRESSION:
        declare_comprehension(scope, node);
        return end;
    case KIND_ASSIGNMENT:
    case KIND_AUGMENTED_ASSIGNMENT:
    case KIND_FOR_STATEMENT:
    case KIND_NAMED_EXPRESSION:
        if (node + 1 < end) {
            declare_targets(scope, node + 1, syntax->nodes[node + 1].next);
        }
        break;
    case KIND_DELETE_STATEMENT:
    case KIND_AS_PATTERN_TARGET:
        declare_targets(scope, node + 1, end);
        break;
    case KIND_IMPORT_STATEMENT:
    case KIND_IMPORT_FROM_STATEMENT:
        declare_imports(scope, node);
        return end;
    case KIND_GLOBAL_STATEMENT:
        declare_elsewhere(scope, node, SLOT_GLOBAL);
        return end;
    case KIND_NONLOCAL_STATEMENT:
        declare_elsewhere(scope, node, SLOT_NONLOCAL);
        return end;
    case KIND_CASE_PATTERN:
        declare_captures(scope, node + 1, end);
        return end;
    default:
        break;
    }
    return node + 1;
}

uint32_t
scope_next_target(const struct syntax *syntax, uint32_t node, uint32_t end_node)
{
    assert(end_node <= syntax->count);
    while (node < end_node) {
        switch (syntax->nodes[node].kind) {
        case KIND_IDENTIFIER:
            return node;
        case KIND_ATTRIBUTE:
        case KIND_SUBSCRIPT:
        case KIND_CALL:
            node = syntax->nodes[node].next;
            break;
        default:
            node++;
        }
    }
    return end_node;
}

/* Whether a dotted name in a pattern is one plain name: `x` captures, `A.b` compares. */
static bool is_plain_name(const struct syntax *syntax, uint32_t node)
{
    assert(node < syntax->count);
    return syntax->nodes[node].next == node + 2;
}

uint32_t
scope_next_capture(const struct syntax *syntax, uint32_t node, uint32_t end_node)
{
    assert(end_node <= syntax->count);
    while (node < end_node) {
        switch (syntax->nodes[node].kind) {
        case KIND_IDENTIFIER:
            return node;
        case KIND_DOTTED_NAME:
            if (is_plain_name(syntax, node)) {
                return node + 1;
            }
            node = syntax->nodes[node].next;
            break;
        case KIND_CLASS_PATTERN:   /* its first child names the class */
        case KIND_KEYWORD_PATTERN: /* its first child names the attribute */
            node = syntax->nodes[node + 1].next;
            break;
        default:
            node++;
        }
    }
    return end_node;
}

static bool allocate(struct scope *scope, uint32_t node_count)
{
    uint32_t size = 8;

    while (size < node_count) {
        size *= 2;
    }
    scope->mask = size - 1;
    scope->slots = arena_allocate(scope->arena, size, sizeof *scope->slots);
    scope->slot_numbers =
        arena_allocate(scope->arena, size, sizeof *scope->slot_numbers);
    scope->is_never_certain =
        arena_allocate(scope->arena, size, sizeof *scope->is_never_certain);
    if (scope->slots == NULL || scope->slot_numbers == NULL ||
        scope->is_never_certain == NULL) {
        return false;
    }
    memset(scope->is_never_certain, 0, size * sizeof *scope->is_never_certain);
    memset(scope->slots, 0, size * sizeof *scope->slots);
    return true;
}

/* An upper bound of the number of bound names: all identifiers outside nested definitions. */
static uint32_t count_identifiers(const struct syntax *syntax, uint32_t node)
{
    uint32_t count = 0;

    for (uint32_t i = node + 1; i < syntax->nodes[node].next;) {
        enum kind kind = (enum kind)syntax->nodes[i].kind;

        count += kind == KIND_IDENTIFIER;
        if (kind == KIND_FUNCTION_DEFINITION || kind == KIND_CLASS_DEFINITION) {
            count++;
            i = syntax->nodes[i].next;
        } else {
            i++;
        }
    }
    return count;
}

bool scope_open(struct scope *scope,
                struct scope *parent,
                enum scope_kind kind,
                uint32_t node,
                const struct syntax *syntax,
                const struct names *names,
                struct arena *arena)
{
    uint32_t body = kind == SCOPE_MODULE ? node : syntax_find(syntax, node, KIND_BLOCK);
    uint32_t parameters = syntax_find(syntax, node, KIND_PARAMETERS);

    *scope = (struct scope){
        .parent = parent,
        .kind = kind,
        .syntax = syntax,
        .names = names,
        .arena = arena,
        .is_reachable = true,
    };
    if (!allocate(scope, 2 * count_identifiers(syntax, node))) {
        return false;
    }
    if (kind == SCOPE_FUNCTION && parameters != 0) {
        scope_declare_parameters(scope, parameters);
    }
    if (body != 0 || kind == SCOPE_MODULE) {
        for (uint32_t i = body + 1; i < syntax->nodes[body].next;) {
            i = scope_declare_node(scope, i);
        }
    }
    if (scope->count > SCOPE_FOLLOWED_LIMIT) {
        scope->count = 0;
    }
    scope->bindings = arena_allocate(arena, scope->count, sizeof *scope->bindings);
    if (scope->bindings == NULL) {
        return false;
    }
    assert(scope->count <= scope->mask + 1);
    for (uint32_t i = 0; i < scope->count; i++) {
        scope->bindings[i] = kind == SCOPE_FUNCTION ? SCOPE_UNBOUND : SITE_NONE;
    }
    return true;
}

void scope_bind(struct scope *scope, struct name_id name, uint32_t site)
{
    uint32_t slot = scope_find_slot(scope, name);

    if (slot < scope->count) {
        scope->bindings[slot] = site;
    }
}

/* Whether the name is bound only by statements of this scope, in their order. */
static bool is_certain(const struct scope *scope, struct name_id name, uint32_t slot)
{
    const struct name *item = names_get(scope->names, name);

    return slot < scope->count && !scope->is_never_certain[slot] &&
           scope->bindings[slot] != SCOPE_UNBOUND &&
           !(scope->kind == SCOPE_MODULE ? item->is_global : item->is_nonlocal);
}

enum site_scope
scope_resolve(const struct scope *scope, struct name_id name, uint32_t *site)
{
    uint32_t slot = scope_find_slot(scope, name);

    *site = SITE_NONE;
    if (slot == SLOT_GLOBAL) {
        return SITE_SCOPE_GLOBAL;
    }
    if (slot == SLOT_NONLOCAL) {
        return SITE_SCOPE_FREE;
    }
    if (slot != SLOT_NONE) {
        if (is_certain(scope, name, slot)) {
            *site = scope->bindings[slot];
        }
        return scope->kind == SCOPE_MODULE ? SITE_SCOPE_GLOBAL : SITE_SCOPE_LOCAL;
    }
    for (const struct scope *outer = scope->parent; outer != NULL;
         outer = outer->parent) {
        if (outer->kind == SCOPE_FUNCTION) {
            slot = scope_find_slot(outer, name);
            if (slot != SLOT_NONE) {
                return slot == SLOT_GLOBAL ? SITE_SCOPE_GLOBAL : SITE_SCOPE_FREE;
            }
        }
    }
    return SITE_SCOPE_GLOBAL;
}

bool scope_is_variable(const struct scope *scope, struct name_id name)
{
    uint32_t site;

    return scope_resolve(scope, name, &site) != SITE_SCOPE_GLOBAL;
}

bool scope_is_builtin(const struct scope *scope, struct name_id name)
{
    const struct scope *module = scope;

    while (module->parent != NULL) {
        module = module->parent;
    }
    return !scope_is_variable(scope, name) &&
           scope_find_slot(module, name) == SLOT_NONE;
}

void scope_forget(struct scope *scope, uint32_t first_node, uint32_t end_node)
{
    for (uint32_t i = first_node; i < end_node; i++) {
        if (scope->names->is_binding[i]) {
            scope_bind(scope, names_of(scope->names, i), SITE_NONE);
        }
    }
}

void scope_forget_all(struct scope *scope)
{
    for (uint32_t i = 0; i < scope->count; i++) {
        scope->bindings[i] = SITE_NONE;
    }
}

/* If out of memory, all names become uncertain. */
void scope_leave(struct scope *scope,
                 const struct scope_state *before,
                 uint32_t first_node,
                 uint32_t end_node)
{
    bool *is_bound = arena_allocate(scope->arena, scope->count, sizeof *is_bound);

    if (is_bound == NULL || before->bindings == NULL) {
        scope_forget(scope, first_node, end_node);
        return;
    }
    memset(is_bound, 0, scope->count * sizeof *is_bound);
    for (uint32_t i = first_node; i < end_node; i++) {
        uint32_t slot;

        if (!scope->names->is_binding[i]) {
            continue;
        }
        slot = scope_find_slot(scope, names_of(scope->names, i));
        if (slot >= scope->count) {
            continue;
        }
        if (before->bindings[slot] != SCOPE_UNBOUND || is_bound[slot]) {
            scope->bindings[slot] = SITE_NONE;
        }
        is_bound[slot] = true;
    }
}

struct scope_state scope_save(const struct scope *scope)
{
    struct scope_state state = {NULL, scope->is_reachable};

    state.bindings = arena_allocate(scope->arena, scope->count, sizeof *state.bindings);
    if (state.bindings != NULL && scope->count > 0) {
        memcpy(state.bindings, scope->bindings, scope->count * sizeof *state.bindings);
    }
    return state;
}

void scope_restore(struct scope *scope, const struct scope_state *state)
{
    if (state->bindings != NULL && scope->count > 0) {
        memcpy(scope->bindings, state->bindings,
               scope->count * sizeof *scope->bindings);
    }
    scope->is_reachable = state->is_reachable;
}

void scope_join(struct scope *scope, const struct scope_state *other)
{
    if (!other->is_reachable || other->bindings == NULL) {
        return;
    }
    if (!scope->is_reachable) {
        scope_restore(scope, other);
        return;
    }
    for (uint32_t i = 0; i < scope->count; i++) {
        if (scope->bindings[i] == SCOPE_UNBOUND) {
            scope->bindings[i] = other->bindings[i];
        } else if (other->bindings[i] != SCOPE_UNBOUND &&
                   scope->bindings[i] != other->bindings[i]) {
            scope->bindings[i] = SITE_NONE;
        }
    }
}
