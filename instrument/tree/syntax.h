/* The syntax of one file as a flat array: each node, then its children, in the order of the
 * text. Comments are stored apart; punctuation and the insides of strings are left out. The
 * later passes are plain loops over the array. */
#ifndef MONITORCH_INSTRUMENT_TREE_SYNTAX_H
#define MONITORCH_INSTRUMENT_TREE_SYNTAX_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind {
    KIND_OTHER,
#define KIND(NAME, text) KIND_##NAME,
#include "grammar/kinds.def"
#undef KIND
    KIND_COUNT
};

/* The maximum nesting of statements or brackets. Deeper texts are refused; CPython stops at 100
 * and 200. */
#define SYNTAX_DEPTH_LIMIT 200

struct syntax_node {
    uint32_t start; /* bytes of the text */
    uint32_t end;
    uint32_t row;    /* of its start, from 0 */
    uint32_t column; /* of its start, from 1, in characters */
    /* index after its last descendant: its next sibling, if it has one */
    uint32_t next;
    uint16_t kind;  /* enum kind */
    bool has_error; /* an ERROR or a missing token is at or below it */
};

struct syntax_comment {
    uint32_t start;
    uint32_t end;
    uint32_t row;
};

struct syntax {
    struct slice text;         /* borrowed; UTF-8 */
    struct syntax_node *nodes; /* borrowed from the arena; the first is the module */
    uint32_t count;
    uint32_t depth; /* maximum number of nested nodes, including the module */
    struct syntax_comment *comments; /* borrowed from the arena */
    uint32_t comment_count;
    /* borrowed from the arena; the offset of each row's first byte */
    uint32_t *row_starts;
    uint32_t row_count; /* at least 1; row_starts[row_count] is the text's size */
};

/* Parses `text`, which must have no NUL bytes and be valid UTF-8. A text with errors is parsed
 * too: see has_error. Fails if out of memory or if statements are nested too deep. */
bool syntax_parse(struct syntax *syntax,
                  struct slice text,
                  const char *path,
                  struct arena *arena,
                  struct error *error);

/* The row of any byte, from 0, and its column, from 1, in characters. Nodes store theirs. */
uint32_t syntax_row(const struct syntax *syntax, uint32_t offset);
uint32_t syntax_column(const struct syntax *syntax, uint32_t offset);

static inline struct slice syntax_text(const struct syntax *syntax, uint32_t node)
{
    assert(node < syntax->count);
    return slice_part(syntax->text, syntax->nodes[node].start, syntax->nodes[node].end);
}

/* The first child. 0: none. */
static inline uint32_t syntax_child(const struct syntax *syntax, uint32_t node)
{
    assert(node < syntax->count);
    return syntax->nodes[node].next > node + 1 ? node + 1 : 0;
}

/* The sibling that follows `child` below `parent`. 0: none. */
static inline uint32_t
syntax_sibling(const struct syntax *syntax, uint32_t parent, uint32_t child)
{
    assert(child < syntax->count);

    uint32_t next = syntax->nodes[child].next;

    assert(parent < child && next <= syntax->nodes[parent].next);
    return next < syntax->nodes[parent].next ? next : 0;
}

/* The first child of that kind. 0: none. */
uint32_t syntax_find(const struct syntax *syntax, uint32_t parent, enum kind kind);
/* The last child of any kind. 0: none. */
uint32_t syntax_last(const struct syntax *syntax, uint32_t parent);

/* The expression inside any number of parentheses. */
uint32_t syntax_unwrap(const struct syntax *syntax, uint32_t node);

#endif
