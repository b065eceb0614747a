/* Depth: the functions and statements that are nested too deep to carry insertions.
 *
 * CPython refuses text that is nested deeper than it has stack for, and insertions add nesting:
 * `return e` becomes `return (_mt_v := (e)) is not …`. Three limits are counted along each path
 * from the module to a node, insertions included:
 *
 * - levels of the syntax tree. Up to 3.12 the symbol table and the code generator stop at about
 *   2,980, less three for each Python frame that is open: an import inside imports has hundreds;
 * - brackets: the tokenizer stops at 200;
 * - rules of the parser, which stops at 6,000. A bracket needs up to 30, a block 8, others 2.
 *
 * The counts are upper bounds, so what passes here compiles. docs/internals/compiler.md has the
 * table. */
#ifndef MONITORCH_INSTRUMENT_TREE_DEPTH_H
#define MONITORCH_INSTRUMENT_TREE_DEPTH_H

#include "instrument/tree/syntax.h"

#include <stdbool.h>
#include <stdint.h>

/* Code that is nested deeper is left unchanged. The limit leaves room for 300 frames around an
 * import. */
#define DEPTH_LEVEL_LIMIT 2000

/* A node that is nested too deep. Expressions below such an expression are not listed. */
struct deep_node {
    uint32_t node;
    uint32_t function; /* the definition to whose code it belongs; 0: the module */
};

struct depth {
    struct deep_node *items; /* borrowed from the arena; in order of node */
    uint32_t count;
};

/* Lists the nodes that are nested too deep. `level_limit`: the maximum number of nested levels,
 * at most DEPTH_LEVEL_LIMIT; the other limits are scaled in proportion. Returns false if out of
 * memory. */
bool depth_read(struct depth *depth,
                const struct syntax *syntax,
                uint32_t level_limit,
                struct arena *arena);

/* The first node between two that is too deep. 0: none. */
uint32_t depth_find_any(const struct depth *depth, uint32_t first, uint32_t end);

/* The first node between two that is too deep and in the code of `function` (0: of the module).
 * 0: none. */
uint32_t
depth_find(const struct depth *depth, uint32_t function, uint32_t first, uint32_t end);

#endif
