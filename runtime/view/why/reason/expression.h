/* A Python expression as a tree, as far as arithmetic goes: to find in a statement's text what
 * may have made a NaN. Not a parser of Python: what it does not know becomes EXPRESSION_OTHER. */
#ifndef MONITORCH_VIEW_WHY_REASON_EXPRESSION_H
#define MONITORCH_VIEW_WHY_REASON_EXPRESSION_H

#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

#define EXPRESSION_NONE  UINT32_MAX
#define EXPRESSIONS_MAX  512
#define EXPRESSION_DEPTH 48

enum expression_kind {
    EXPRESSION_OTHER,
    EXPRESSION_NAME, /* `x`, or dotted: `self.scale`, `torch.inf` */
    EXPRESSION_NUMBER,
    EXPRESSION_STRING,
    EXPRESSION_UNARY,     /* word: `-`, `+`, `~`, `not` */
    EXPRESSION_BINARY,    /* word: the operator */
    EXPRESSION_CALL,      /* word: the function's or method's own name */
    EXPRESSION_INDEX,     /* left[first] */
    EXPRESSION_ATTRIBUTE, /* left.word, where left is no name */
    EXPRESSION_SEQUENCE,  /* a tuple, list or set: its items are the arguments */
    EXPRESSION_EITHER, /* `left if … else right`, `left or right`, `left and right` */
    EXPRESSION_EACH,   /* a comprehension: left for each word of right */
    EXPRESSION_REST,   /* `*left`, `**left` among arguments: any number of them */
};

struct expression {
    enum expression_kind kind;
    struct slice text;
    struct slice word;
    double number;
    uint32_t left;    /* operand; of a call: what the method is of, or NONE */
    uint32_t right;   /* of BINARY */
    uint32_t first;   /* of CALL, INDEX, SEQUENCE: the first argument */
    uint32_t result;  /* of CALL: which recorded call it is; NONE: not known */
    uint32_t next;    /* beside it: the next argument */
    struct slice key; /* of an argument: `dim` in `dim=1`; "" */
    bool
        is_library; /* of CALL: a function of torch, NumPy or math, by its dotted name */
};

struct expressions {
    struct expression items[EXPRESSIONS_MAX];
    uint32_t count;
    struct slice text; /* borrowed */
    size_t at;
    uint32_t depth;
    bool has_failed; /* too deep or too long: what is there is right, but not all */
};

/* The value of the statement: what stands behind its last `=`, behind `return`, or the whole; of
 * `x += y` the sum of both; of a `for` what it goes through. Comments and line ends have to be
 * gone. EXPRESSION_NONE: nothing. */
uint32_t expression_read(struct expressions *expressions, struct slice statement);

/* Infinities that a program's text names: they are meant. */

/* Whether the text names one: `-torch.inf`, `float('-inf')`. */
bool infinity_is_named(struct slice text);

/* Whether the statement does no more than to hand values on: names and dots, no call, no
 * arithmetic. */
bool statement_hands_on(struct slice statement);

/* The text of a parameter's default in that of its `def`, without comments and line ends; "": it
 * has none. Borrowed from the definition. */
struct slice parameter_default(struct slice definition, struct slice name);

#endif
