/* Functions that can list their own local variables. */
#include "instrument/tree/inspection.h"

#include "instrument/text/lexer.h"

#include <assert.h>
#include <string.h>

static const char *const words[INSPECTION_WORD_COUNT] = {"locals", "vars", "dir",
                                                         "eval", "exec"};

/* The visit of a function or module. */
struct visit {
    struct inspection *inspection;
    const struct scope *scope;
    /* by word: the node at which comprehensions with a variable of this name end */
    uint32_t hidden_until[INSPECTION_WORD_COUNT];
    bool is_found;
};

static bool has_letters(struct slice text, const char *letters)
{
    return slice_find(text, slice_of(letters), 0) < text.size;
}

/* The word's index. INSPECTION_WORD_COUNT: none of the words. */
static uint32_t find_word(struct slice text)
{
    uint32_t i = 0;

    while (i < INSPECTION_WORD_COUNT && !slice_equal(text, slice_of(words[i]))) {
        i++;
    }
    return i;
}

bool inspection_init(struct inspection *inspection,
                     const struct syntax *syntax,
                     const struct names *names,
                     struct arena *arena)
{
    *inspection = (struct inspection){.syntax = syntax, .names = names};
    for (uint32_t i = 0; i < INSPECTION_WORD_COUNT; i++) {
        inspection->numbers[i] = NAME_NONE;
        inspection->has_words |= has_letters(syntax->text, words[i]);
    }
    if (!inspection->has_words) {
        return true;
    }
    inspection->has_builtins = has_letters(syntax->text, "builtins");
    inspection->is_alias =
        arena_allocate(arena, names->count + 1, sizeof *inspection->is_alias);
    inspection->aliases =
        arena_allocate(arena, names->count + 1, sizeof *inspection->aliases);
    if (inspection->is_alias == NULL || inspection->aliases == NULL) {
        return false;
    }
    memset(inspection->is_alias, 0, names->count * sizeof *inspection->is_alias);
    for (uint32_t i = 0; i < names->count; i++) {
        uint32_t word = find_word(names->items[i].text);

        if (word < INSPECTION_WORD_COUNT) {
            inspection->numbers[word] = (struct name_id){i};
        }
    }
    return true;
}

static void add_alias(struct inspection *inspection, struct name_id name)
{
    if (name_is_known(name) && !inspection->is_alias[name.number]) {
        assert(inspection->alias_count < inspection->names->count);
        inspection->is_alias[name.number] = true;
        inspection->aliases[inspection->alias_count++] = name;
    }
}

/* Whether a word means the builtin function here. A variable of that name does not, except a
 * parameter that is called, which may have been given the builtin. */
static bool
is_builtin(const struct visit *visit, uint32_t word, uint32_t node, bool is_called)
{
    struct name_id name = visit->inspection->numbers[word];

    if (node < visit->hidden_until[word]) {
        return false;
    }
    if (!name_is_known(name) || visit->inspection->is_alias[name.number]) {
        return true;
    }
    return scope_is_builtin(visit->scope, name) ||
           (is_called && visit->scope->kind == SCOPE_FUNCTION &&
            scope_is_variable(visit->scope, name));
}

/* Whether an identifier that is no attribute and no keyword means one of the functions. */
static bool means_word(const struct visit *visit, uint32_t node)
{
    const struct inspection *inspection = visit->inspection;
    struct name_id name = names_of(inspection->names, node);
    uint32_t word;

    if (!name_is_known(name)) {
        return false;
    }
    if (inspection->is_alias[name.number]) {
        return true;
    }
    word = find_word(names_get(inspection->names, name)->text);
    return word < INSPECTION_WORD_COUNT &&
           is_builtin(visit, word, node,
                      inspection->syntax->nodes[node - 1].kind == KIND_CALL);
}

/* Whether it is an attribute such as `builtins.locals`. If the word builtins is not in the file,
 * such an attribute belongs to another object. */
static bool is_builtin_attribute(const struct inspection *inspection,
                                 uint32_t attribute)
{
    assert(attribute < inspection->syntax->count);

    uint32_t last = inspection->syntax->nodes[attribute].next - 1;

    return inspection->has_builtins &&
           find_word(syntax_text(inspection->syntax, last)) < INSPECTION_WORD_COUNT;
}

/* Whether it is a string as in `getattr(builtins, "locals")`. */
static bool is_builtin_string(const struct inspection *inspection, struct slice text)
{
    return inspection->has_builtins && text.size > 2 &&
           find_word(slice_part(text, 1, text.size - 1)) < INSPECTION_WORD_COUNT;
}

/* Visits a word in an expression of a format string. */
static void visit_field_word(void *data, struct slice text, size_t start, size_t end)
{
    struct visit *visit = data;
    const struct inspection *inspection = visit->inspection;
    struct slice found = slice_part(text, start, end);
    uint32_t word = find_word(found);
    bool is_called = end < text.size && text.bytes[end] == '(';

    if (start > 0 && text.bytes[start - 1] == '.') {
        visit->is_found |= inspection->has_builtins && word < INSPECTION_WORD_COUNT;
        return;
    }
    if (word < INSPECTION_WORD_COUNT) {
        visit->is_found |= is_builtin(visit, word, UINT32_MAX - 1, is_called);
    }
    for (uint32_t i = 0; i < inspection->alias_count; i++) {
        visit->is_found |= slice_equal(
            found, names_get(inspection->names, inspection->aliases[i])->text);
    }
}

/* Whether the value of the expression at `node` is or contains one of the functions. */
static bool holds_word(const struct visit *visit, uint32_t node)
{
    const struct syntax *syntax = visit->inspection->syntax;

    for (uint32_t i = node; i < syntax->nodes[node].next;) {
        switch (syntax->nodes[i].kind) {
        case KIND_IDENTIFIER:
            if (means_word(visit, i)) {
                return true;
            }
            i++;
            break;
        case KIND_ATTRIBUTE:
            if (is_builtin_attribute(visit->inspection, i)) {
                return true;
            }
            i = syntax->nodes[i].next;
            break;
        case KIND_CALL: /* functools.partial(eval, …) */
            i = slice_ends(syntax_text(syntax, i + 1), SLICE("partial"))
                    ? syntax->nodes[i + 1].next
                    : syntax->nodes[i].next;
            break;
        case KIND_ARGUMENT_LIST:
        case KIND_PARENTHESIZED_EXPRESSION:
        case KIND_CONDITIONAL_EXPRESSION:
        case KIND_BOOLEAN_OPERATOR:
        case KIND_EXPRESSION_LIST:
        case KIND_TUPLE:
        case KIND_LIST:
        case KIND_SET:
        case KIND_DICTIONARY:
        case KIND_PAIR:
        case KIND_NAMED_EXPRESSION:
        case KIND_ASSIGNMENT: /* a = b = eval */
            i++;
            break;
        default:
            i = syntax->nodes[i].next;
        }
    }
    return false;
}

/* Adds the targets at `target` as aliases if the expression at `value` is or contains one of the
 * functions. */
static void visit_binding(struct visit *visit, uint32_t target, uint32_t value)
{
    const struct syntax *syntax = visit->inspection->syntax;
    uint32_t end = syntax->nodes[target].next;

    assert(target < syntax->count);
    if (value == 0 || value == target || !holds_word(visit, value)) {
        return;
    }
    for (uint32_t i = scope_next_target(syntax, target, end); i < end;
         i = scope_next_target(syntax, i + 1, end)) {
        add_alias(visit->inspection, names_of(visit->inspection->names, i));
    }
}

/* Adds the aliases of an import: `from builtins import locals as own`. */
static void visit_import(struct visit *visit, uint32_t statement)
{
    const struct syntax *syntax = visit->inspection->syntax;
    uint32_t module = syntax_child(syntax, statement);

    if (module == 0 || !has_letters(syntax_text(syntax, module), "builtins")) {
        return;
    }
    for (uint32_t i = syntax_sibling(syntax, statement, module); i != 0;
         i = syntax_sibling(syntax, statement, i)) {
        uint32_t name = syntax->nodes[i].next - 1;

        if (find_word(syntax_text(syntax, i + 1)) < INSPECTION_WORD_COUNT ||
            find_word(
                syntax_text(syntax, i + 2 < syntax->nodes[i].next ? i + 2 : i + 1)) <
                INSPECTION_WORD_COUNT) {
            add_alias(visit->inspection, names_of(visit->inspection->names, name));
        }
    }
}

/* Marks the words that a comprehension's own variables hide. */
static void visit_comprehension(struct visit *visit, uint32_t node)
{
    const struct syntax *syntax = visit->inspection->syntax;

    for (uint32_t i = syntax_child(syntax, node); i != 0;
         i = syntax_sibling(syntax, node, i)) {
        uint32_t end;

        if (syntax->nodes[i].kind != KIND_FOR_IN_CLAUSE ||
            syntax_child(syntax, i) == 0) {
            continue;
        }
        end = syntax->nodes[i + 1].next;
        for (uint32_t j = scope_next_target(syntax, i + 1, end); j < end;
             j = scope_next_target(syntax, j + 1, end)) {
            uint32_t word = find_word(syntax_text(syntax, j));

            if (word < INSPECTION_WORD_COUNT &&
                visit->hidden_until[word] < syntax->nodes[node].next) {
                visit->hidden_until[word] = syntax->nodes[node].next;
            }
        }
    }
}

static void visit_nodes(struct visit *visit, uint32_t first, uint32_t end);

/* Visits the defaults of parameters, which are evaluated in the frame around the function. */
static void visit_parameters(struct visit *visit, uint32_t parameters)
{
    const struct syntax *syntax = visit->inspection->syntax;

    if (parameters == 0) {
        return;
    }
    for (uint32_t i = syntax_child(syntax, parameters); i != 0;
         i = syntax_sibling(syntax, parameters, i)) {
        enum kind kind = (enum kind)syntax->nodes[i].kind;
        uint32_t value = syntax_last(syntax, i);

        if ((kind == KIND_DEFAULT_PARAMETER || kind == KIND_TYPED_DEFAULT_PARAMETER) &&
            value > i + 1) {
            visit_binding(visit, i + 1, value);
            visit_nodes(visit, value, syntax->nodes[value].next);
        }
    }
}

/* Visits the parts of a function, lambda or class that run in the frame around it: all but the
 * body. */
static void visit_inner(struct visit *visit, uint32_t node)
{
    const struct syntax *syntax = visit->inspection->syntax;
    uint32_t part = 0;

    assert(node < syntax->count);
    switch (syntax->nodes[node].kind) {
    case KIND_LAMBDA:
        visit_parameters(visit, syntax_find(syntax, node, KIND_LAMBDA_PARAMETERS));
        break;
    case KIND_FUNCTION_DEFINITION:
        visit_parameters(visit, syntax_find(syntax, node, KIND_PARAMETERS));
        break;
    default:
        part = syntax_find(syntax, node, KIND_ARGUMENT_LIST);
        if (part != 0) {
            visit_nodes(visit, part, syntax->nodes[part].next);
        }
    }
}

static void visit_string(struct visit *visit, uint32_t node)
{
    struct slice text = syntax_text(visit->inspection->syntax, node);

    visit->is_found |= is_builtin_string(visit->inspection, text);
    lexer_visit_fields(text, visit_field_word, visit);
}

/* Visits one node. Returns the node at which to continue. */
static uint32_t visit_node(struct visit *visit, uint32_t node)
{
    const struct syntax *syntax = visit->inspection->syntax;
    uint32_t next = syntax->nodes[node].next;

    assert(node < syntax->count);
    switch (syntax->nodes[node].kind) {
    case KIND_FUNCTION_DEFINITION:
    case KIND_CLASS_DEFINITION:
    case KIND_LAMBDA:
        visit_inner(visit, node);
        return next;
    case KIND_LIST_COMPREHENSION:
    case KIND_SET_COMPREHENSION:
    case KIND_DICTIONARY_COMPREHENSION:
    case KIND_GENERATOR_EXPRESSION:
        visit_comprehension(visit, node);
        break;
    case KIND_IMPORT_FROM_STATEMENT:
        visit_import(visit, node);
        return next;
    case KIND_ASSIGNMENT:
    case KIND_NAMED_EXPRESSION:
        if (node + 1 < next) {
            visit_binding(visit, node + 1, syntax_last(syntax, node));
        }
        break;
    case KIND_FOR_STATEMENT:
        if (node + 1 < next) {
            visit_binding(visit, node + 1, syntax_sibling(syntax, node, node + 1));
        }
        break;
    case KIND_ATTRIBUTE:
        visit->is_found |= is_builtin_attribute(visit->inspection, node);
        break;
    case KIND_STRING:
    case KIND_CONCATENATED_STRING:
        visit_string(visit, node);
        break;
    case KIND_IDENTIFIER:
        visit->is_found |= means_word(visit, node);
        break;
    default:
        break;
    }
    return node + 1;
}

static void visit_nodes(struct visit *visit, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end;) {
        i = visit_node(visit, i);
    }
}

bool inspection_visit(struct inspection *inspection,
                      const struct scope *scope,
                      uint32_t node)
{
    const struct syntax *syntax = inspection->syntax;
    struct visit visit = {.inspection = inspection, .scope = scope};
    uint32_t block = node;

    assert(node < syntax->count);
    if (!inspection->has_words) {
        return false;
    }
    if (syntax->nodes[node].kind == KIND_FUNCTION_DEFINITION) {
        block = syntax_find(syntax, node, KIND_BLOCK);
    }
    if (block != 0 || node == 0) {
        visit_nodes(&visit, block + 1, syntax->nodes[block].next);
    }
    return visit.is_found;
}
