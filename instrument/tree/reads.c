/* Collects the names that expressions read. */
#include "instrument/tree/reads.h"

#include <assert.h>

/* The maximum nesting of comprehensions. Deeper ones only add too many names to the reads. */
#define HIDDEN_LIMIT 32

/* The variables of the comprehensions around a node, which are not names of the function. */
struct hidden {
    struct name_id names[HIDDEN_LIMIT];
    uint32_t
        ends[HIDDEN_LIMIT]; /* by variable: the node at which it is no longer hidden */
    uint32_t count;
};

uint32_t reads_root(const struct syntax *syntax, uint32_t node)
{
    assert(node < syntax->count);
    while (syntax->nodes[node].kind == KIND_ATTRIBUTE) {
        node = node + 1;
    }
    return syntax->nodes[node].kind == KIND_IDENTIFIER ? node : 0;
}

bool reads_is_dotted(const struct syntax *syntax, uint32_t node)
{
    assert(node < syntax->count);

    uint32_t end = syntax->nodes[node].next;
    uint32_t size = 0;

    if (syntax->nodes[node].kind != KIND_ATTRIBUTE || reads_root(syntax, node) == 0) {
        return false;
    }
    for (uint32_t i = node; i < end; i++) {
        if (syntax->nodes[i].kind == KIND_IDENTIFIER) {
            size += syntax->nodes[i].end - syntax->nodes[i].start + 1;
        }
    }
    return size == syntax->nodes[node].end - syntax->nodes[node].start + 1;
}

/* Adds one name, as `text`, with the binding of the identifier at `node`. */
static void reads_add_name(struct reads *reads,
                           const struct scope *scope,
                           uint32_t node,
                           struct slice text)
{
    struct site_read *read = &reads->items[reads->count];

    for (uint32_t i = 0; i < reads->count; i++) {
        if (slice_equal(reads->items[i].name, text)) {
            return;
        }
    }
    if (reads->count == READS_LIMIT) {
        return;
    }
    read->name = text;
    read->scope = scope_resolve(scope, names_of(scope->names, node), &read->site);
    if (text.size != syntax_text(scope->syntax, node).size) {
        read->site = SITE_NONE; /* an attribute may be assigned anywhere */
    }
    reads->count++;
}

static bool is_hidden(const struct hidden *hidden, struct name_id name)
{
    for (uint32_t i = 0; i < hidden->count; i++) {
        if (name_equal(hidden->names[i], name)) {
            return true;
        }
    }
    return false;
}

/* Hides the variables that a comprehension binds. */
static void
hide_targets(struct hidden *hidden, const struct scope *scope, uint32_t comprehension)
{
    const struct syntax *syntax = scope->syntax;
    uint32_t end = syntax->nodes[comprehension].next;

    assert(comprehension < syntax->count);
    for (uint32_t clause = syntax_child(syntax, comprehension); clause != 0;
         clause = syntax_sibling(syntax, comprehension, clause)) {
        uint32_t left = clause + 1;
        uint32_t left_end;

        if (syntax->nodes[clause].kind != KIND_FOR_IN_CLAUSE || left >= end) {
            continue;
        }
        left_end = syntax->nodes[left].next;
        for (uint32_t i = scope_next_target(syntax, left, left_end);
             i < left_end && hidden->count < HIDDEN_LIMIT;
             i = scope_next_target(syntax, i + 1, left_end)) {
            hidden->names[hidden->count] = names_of(scope->names, i);
            hidden->ends[hidden->count++] = end;
        }
    }
}

/* The callee of a call if it is an attribute: the call reads the object before its last dot. 0:
 * another callee. */
static uint32_t skip_method(const struct syntax *syntax, uint32_t call)
{
    uint32_t callee = call + 1;

    assert(call < syntax->count);
    return callee < syntax->nodes[call].next &&
                   syntax->nodes[callee].kind == KIND_ATTRIBUTE
               ? callee
               : 0;
}

/* Adds an attribute as one dotted name if it is one. Returns the node at which to continue. */
static uint32_t read_attribute(struct reads *reads,
                               const struct scope *scope,
                               const struct hidden *hidden,
                               uint32_t node)
{
    uint32_t root = reads_root(scope->syntax, node);

    assert(node < scope->syntax->count);
    if (root == 0) {
        return node + 1;
    }
    if (!is_hidden(hidden, names_of(scope->names, root))) {
        reads_add_name(reads, scope, root,
                       syntax_text(scope->syntax,
                                   reads_is_dotted(scope->syntax, node) ? node : root));
    }
    return scope->syntax->nodes[node].next;
}

void reads_add(struct reads *reads,
               const struct scope *scope,
               uint32_t first,
               uint32_t end)
{
    const struct syntax *syntax = scope->syntax;
    struct hidden hidden = {.count = 0};
    uint32_t method = 0; /* an attribute node whose last name is that of a method */

    for (uint32_t i = first; i < end;) {
        while (hidden.count > 0 && hidden.ends[hidden.count - 1] <= i) {
            hidden.count--;
        }
        switch (syntax->nodes[i].kind) {
        case KIND_IDENTIFIER:
            if (name_is_known(names_of(scope->names, i)) &&
                !is_hidden(&hidden, names_of(scope->names, i))) {
                reads_add_name(reads, scope, i, syntax_text(syntax, i));
            }
            i++;
            break;
        case KIND_ATTRIBUTE:
            if (i == method || reads_root(syntax, i) == 0) {
                i++;
            } else {
                i = read_attribute(reads, scope, &hidden, i);
            }
            break;
        case KIND_CALL:
            method = skip_method(syntax, i);
            i++;
            break;
        case KIND_NAMED_EXPRESSION:
            i = i + 1 < syntax->nodes[i].next ? syntax->nodes[i + 1].next : i + 1;
            break;
        case KIND_LAMBDA:
        case KIND_AS_PATTERN_TARGET:
            i = syntax->nodes[i].next;
            break;
        case KIND_LIST_COMPREHENSION:
        case KIND_SET_COMPREHENSION:
        case KIND_DICTIONARY_COMPREHENSION:
        case KIND_GENERATOR_EXPRESSION:
            hide_targets(&hidden, scope, i);
            i++;
            break;
        default:
            i++;
        }
    }
}
