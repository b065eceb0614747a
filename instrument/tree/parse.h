/* One run of the parser: tree-sitter's tree of a text, flattened into lists. */
#ifndef MONITORCH_INSTRUMENT_TREE_PARSE_H
#define MONITORCH_INSTRUMENT_TREE_PARSE_H

#include "instrument/tree/syntax.h"

#include <setjmp.h>
#include <stddef.h>

/* Blocks of up to 1,024 bytes have a free list each 16 bytes, larger ones each power of two. */
#define REGION_SMALL_CLASSES 64

#define REGION_CLASSES (REGION_SMALL_CLASSES + 40)

struct region_chunk;

struct region {
    struct region_chunk *chunks; /* owned; the first is the one in use */
    struct region_chunk *spare;  /* owned; kept from the last parse */
    char *next;                  /* borrowed from the chunk in use */
    size_t left;
    /* Borrowed from chunks; linked through their bytes. */
    void *free_blocks[REGION_CLASSES];
    jmp_buf out_of_memory; /* the target of the longjmp after a failed allocation */
};

struct node_list {
    struct syntax_node *items; /* owned */
    size_t count;
    size_t capacity;
};

struct comment_list {
    struct syntax_comment *items; /* owned */
    size_t count;
    size_t capacity;
};

/* Everything that must be freed lives here, outside the function that calls setjmp: running out
 * of memory leaves that one by longjmp. */
struct parse {
    struct region region;
    struct node_list nodes;
    struct comment_list comments;
    size_t *open; /* owned; a stack of the nodes whose `next` is not known yet */
    size_t open_capacity;
    size_t depth;   /* the most that were open */
    char *copy;     /* owned; may be NULL: the text as tree-sitter is shown it */
    char *repaired; /* owned; may be NULL */
    int block_depth;
    int bracket_depth;
    bool has_error; /* somewhere in the tree */
    bool is_out_of_memory;
};

void parse_init(struct parse *parse);
void parse_release(struct parse *parse);

/* Fills `nodes`, without their rows and columns, and `comments`, as struct syntax has them.
 * False where memory ran out, or where blocks or brackets are nested too deep: one of the
 * depths is over the limit then, and the last node is where. */
bool parse_text(struct parse *parse, struct slice text);

#endif
