/* Where the header of a compound statement evaluates its first expression. */
#include "instrument/rewrite/rewrite.h"

#include <string.h>

static bool has_splat(const struct rewriter *rewriter, uint32_t node)
{
    return child_of_kind(rewriter, node, KIND_LIST_SPLAT) != 0 ||
           child_of_kind(rewriter, node, KIND_NAMED_EXPRESSION) != 0;
}

/* The expression that a with statement evaluates first. Where the items are in parentheses
 * that the grammar took for a tuple, it is inside them. */
static uint32_t first_context(const struct rewriter *rewriter, uint32_t clause)
{
    uint32_t node = first_child(rewriter, clause);
    uint32_t inner;

    if (node == 0 || first_child(rewriter, node) == 0) {
        return 0;
    }
    node = first_child(rewriter, node); /* below the with_item */
    for (;;) {
        enum kind kind = (enum kind)node_at(rewriter, node)->kind;

        inner = first_child(rewriter, node);
        if (inner == 0) {
            return node;
        }
        if (kind == KIND_AS_PATTERN) {
            node = inner;
        } else if ((kind == KIND_TUPLE || kind == KIND_PARENTHESIZED_EXPRESSION) &&
                   node_at(rewriter, node)->end == node_at(rewriter, clause)->end &&
                   node_at(rewriter, inner)->kind != KIND_YIELD &&
                   !has_splat(rewriter, node)) {
            node = inner;
        } else {
            return node;
        }
    }
}

/* A trailing comma makes the subject a tuple and belongs to it. */
static uint32_t after_comma(struct slice text, uint32_t end)
{
    uint32_t at = end;

    while (at < text.size && text.bytes[at] != '\0' &&
           strchr(" \t\f\\\r\n", text.bytes[at]) != NULL) {
        at++;
    }
    return at < text.size && text.bytes[at] == ',' ? at + 1 : end;
}

/* In `with a if b else c as d` the grammar hangs `as d` on `c`: the expression ends before it. */
static uint32_t context_end(const struct rewriter *rewriter, uint32_t context)
{
    uint32_t end = node_at(rewriter, context)->end;

    for (uint32_t i = context; i < node_at(rewriter, context)->next; i++) {
        if (node_at(rewriter, i)->kind == KIND_AS_PATTERN &&
            node_at(rewriter, i)->end == end) {
            return node_at(rewriter, i + 1)->end;
        }
    }
    return end;
}

/* Whether what stands in the parentheses is a tuple and no items: only a tuple takes a starred
 * or an assignment expression beside others. */
static bool is_tuple(const struct rewriter *rewriter, uint32_t clause)
{
    for (uint32_t i = first_child(rewriter, clause); i != 0;
         i = syntax_sibling(&rewriter->syntax, clause, i)) {
        enum kind kind = (enum kind)node_at(rewriter, i + 1)->kind;

        if (node_at(rewriter, i)->kind == KIND_WITH_ITEM &&
            (kind == KIND_LIST_SPLAT || kind == KIND_NAMED_EXPRESSION)) {
            return true;
        }
    }
    return false;
}

static bool with_range(const struct rewriter *rewriter,
                       uint32_t statement,
                       uint32_t *start,
                       uint32_t *end)
{
    uint32_t clause = child_of_kind(rewriter, statement, KIND_WITH_CLAUSE);
    uint32_t first = clause == 0 ? 0 : first_context(rewriter, clause);

    if (first == 0) {
        return false;
    }
    if (is_tuple(rewriter, clause)) {
        *start = node_at(rewriter, clause)->start;
        *end = node_at(rewriter, clause)->end;
        return true;
    }
    *start = node_at(rewriter, first)->start;
    *end = context_end(rewriter, first);
    return true;
}

static bool match_range(const struct rewriter *rewriter,
                        uint32_t statement,
                        uint32_t *start,
                        uint32_t *end)
{
    uint32_t block = child_of_kind(rewriter, statement, KIND_BLOCK);
    uint32_t first = first_child(rewriter, statement);
    uint32_t last = first;

    if (block == 0 || first == block) {
        return false;
    }
    for (uint32_t i = first; i != block;
         i = syntax_sibling(&rewriter->syntax, statement, i)) {
        last = i;
    }
    *start = node_at(rewriter, first)->start;
    *end = after_comma(rewriter->syntax.text, node_at(rewriter, last)->end);
    return true;
}

bool header_range(const struct rewriter *rewriter,
                  uint32_t statement,
                  uint32_t *start,
                  uint32_t *end)
{
    uint32_t node = first_child(rewriter, statement);

    switch (node_at(rewriter, statement)->kind) {
    case KIND_IF_STATEMENT:
    case KIND_WHILE_STATEMENT:
        break;
    case KIND_FOR_STATEMENT:
        node = node == 0 ? 0 : syntax_sibling(&rewriter->syntax, statement, node);
        break;
    case KIND_WITH_STATEMENT:
        return with_range(rewriter, statement, start, end);
    case KIND_MATCH_STATEMENT:
        return match_range(rewriter, statement, start, end);
    default:
        return false;
    }
    if (node == 0 || node_at(rewriter, node)->kind == KIND_BLOCK ||
        node_at(rewriter, node)->has_error) {
        return false;
    }
    *start = node_at(rewriter, node)->start;
    *end = node_at(rewriter, node)->end;
    return true;
}
