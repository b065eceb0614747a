/* Parser for the arithmetic of Python expressions, used to find the part of a statement that may
 * have made a NaN. It is no parser for all of Python: anything unknown becomes EXPRESSION_OTHER. */
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
    uint32_t left;  /* operand; of CALL: the object of the method, or NONE */
    uint32_t right; /* of BINARY */
    uint32_t first; /* of CALL, INDEX, SEQUENCE: the first argument */
    uint32_t
        result; /* of CALL: index of the recorded call among the inputs; NONE: not known */
    uint32_t next;    /* the next argument after this one */
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
    bool has_failed; /* too deep or too long: the items are right, but not complete */
};

/* Reads the value of the statement: the text after its last `=` or after `return`, or else the
 * whole text; for `x += y` the sum, for a `for` the items of its loop. The text must have no
 * comments and line ends. Returns EXPRESSION_NONE if there is no value. */
uint32_t expression_read(struct expressions *expressions, struct slice statement);

/* Infinities that a program's text names, which are therefore intended. */

/* Whether the text names an infinity, such as `-torch.inf` or `float('-inf')`. */
bool infinity_is_named(struct slice text);

/* Whether the statement only passes values on: names and dots, without calls or arithmetic. */
bool statement_hands_on(struct slice statement);

/* The text of a parameter's default, taken from the text of the `def` without comments and line
 * ends. "" if it has none. Borrowed from the definition. */
struct slice parameter_default(struct slice definition, struct slice name);

#endif
