/* Which names a function binds itself, and which are of the scopes around it. */
#include "instrument/tree/scope_declare.h"

static void add_slot(struct scope *scope, uint32_t name, uint32_t special)
{
    uint32_t at = name * 2654435761u & scope->mask;

    while (scope->slots[at] != 0) {
        if (scope->slots[at] == name + 1) {
            return;
        }
        at = (at + 1) & scope->mask;
    }
    scope->slots[at] = name + 1;
    scope->slot_numbers[at] = special == SLOT_NONE ? scope->count++ : special;
}

/* The identifier at `node` binds its name here. */
static void declare(struct scope *scope, uint32_t node)
{
    scope->names->is_binding[node] = true;
    add_slot(scope, scope->names->of_node[node], SLOT_NONE);
}

static void declare_elsewhere(struct scope *scope, uint32_t statement, uint32_t special)
{
    for (uint32_t i = statement + 1; i < scope->syntax->nodes[statement].next; i++) {
        if (scope->names->of_node[i] != NAME_NONE) {
            add_slot(scope, scope->names->of_node[i], special);
        }
    }
}

uint32_t scope_find_slot(const struct scope *scope, uint32_t name)
{
    uint32_t at = name * 2654435761u & scope->mask;

    while (scope->slots[at] != 0) {
        if (scope->slots[at] == name + 1) {
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

void scope_declare_parameters(struct scope *scope, uint32_t parameters)
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

/* `import a.b as c, d.e` binds c and d. */
static void declare_imports(struct scope *scope, uint32_t statement)
{
    const struct syntax *syntax = scope->syntax;
    bool is_from = syntax->nodes[statement].kind == KIND_IMPORT_FROM_STATEMENT;
    uint32_t i = syntax_child(syntax, statement);

    if (is_from && i != 0) {
        i = syntax_sibling(syntax, statement, i); /* the module's name binds nothing */
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

/* Assignment expressions in a comprehension bind names of the scope around it, any number of
 * times, for a generator expression even later. */
static void declare_comprehension(struct scope *scope, uint32_t node)
{
    for (uint32_t i = node + 1; i < scope->syntax->nodes[node].next; i++) {
        uint32_t slot;

        if (scope->syntax->nodes[i].kind != KIND_NAMED_EXPRESSION ||
            scope->names->of_node[i + 1] == NAME_NONE) {
            continue;
        }
        declare(scope, i + 1);
        slot = scope_find_slot(scope, scope->names->of_node[i + 1]);
        if (slot < scope->count) {
            scope->is_never_certain[slot] = true;
        }
    }
}

uint32_t scope_declare_node(struct scope *scope, uint32_t node)
{
    const struct syntax *syntax = scope->syntax;
    uint32_t end = syntax->nodes[node].next;

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
