/* Ranges: the known facts about a value inside a statement, which are its bounds and whether it
 * has zeros, NaN and infinities. Only the files of this folder use them. */
#ifndef MONITORCH_VIEW_WHY_REASON_RANGE_H
#define MONITORCH_VIEW_WHY_REASON_RANGE_H

#include "runtime/view/why/reason/expression.h"
#include "runtime/view/why/reason/reason.h"

enum certainty {
    CERTAINTY_NO,
    CERTAINTY_MAYBE,
    CERTAINTY_YES,
};

struct range {
    struct slice text; /* of the expression */
    double low;        /* of its finite elements */
    double high;
    bool is_bounded;  /* `low` and `high` are known */
    bool is_attained; /* some element equals each bound */
    bool is_tensor;
    enum certainty zero, nan, posinf, neginf;
    enum dtype dtype; /* DTYPE_OTHER: not known */
    bool is_selected; /* by a mask or indices: may have no element */
    bool has_count;
    uint64_t count;       /* number of elements */
    const int64_t *shape; /* NULL: not known */
    uint32_t dimension_count;
    const struct why_input *input; /* NULL: not a recorded value itself */
    bool has_two_values;           /* each element is `low` or `high` */
    bool
        is_masked; /* elements below `plain_low` are a mask's minimum, which a line wrote */
    double plain_low, plain_high; /* bounds of the other elements */
};

/* The depth of nested comprehensions. */
#define EACH_MAX   4
#define CAUSES_MAX 24

struct cause {
    unsigned makes; /* enum why_hold */
    bool is_certain;
    bool is_written;
    bool is_outside;
    bool is_absorbing;
    size_t start, end; /* in the reasoner's `words` */
};

/* Whether a call's text gives a parameter its value. */
enum call_given {
    CALL_GIVEN_UNKNOWN,
    CALL_GIVEN,
    CALL_GIVEN_NOT, /* the parameter has its default */
};

struct each {
    struct slice word;
    struct range range;
};

struct reasoner {
    const struct why_question *question;
    struct expressions expressions;
    uint32_t callee; /* the call that gets the argument in question: not started yet */
    struct each each[EACH_MAX];
    uint32_t each_count;
    uint32_t
        quiet; /* above 0: the expression is no operand, and unknown names are no cause */
    struct cause causes[CAUSES_MAX];
    uint32_t count;
    struct buffer words; /* owned */
};

/* A value of which nothing is known. */
struct range range_unknown(struct slice text);
struct range range_number(struct slice text, double number);
/* A value that is one of the two. */
struct range range_either(const struct range *a, const struct range *b);
/* Some elements of the value, or all in another order. */
struct range range_part(const struct range *whole, struct slice text);
/* The elements that a mask or indices choose, possibly none. */
struct range range_selected(const struct range *whole, struct slice text);
/* The value after an elementwise function that gives these bounds. */
struct range
range_mapped(const struct range *from, struct slice text, double low, double high);
bool range_is_finite(const struct range *range);
/* Whether the value has an element that equals the number, or is below or above it. */
enum certainty range_has(const struct range *range, double value);
enum certainty range_has_below(const struct range *range, double value);
enum certainty range_has_above(const struct range *range, double value);
enum certainty certainty_both(enum certainty a, enum certainty b);
enum certainty certainty_either(enum certainty a, enum certainty b);

/* The greatest finite value of a dtype; Inf if the dtype is not floating. */
double dtype_greatest(enum dtype dtype);

/* A cause is reported in three steps: cause_begin, words, cause_end. */
struct buffer *cause_begin(struct reasoner *reasoner);
void cause_end(struct reasoner *reasoner, unsigned makes, enum certainty certainty);
/* Appends a description of the zeros: "`x` has 3 zeros", "`x.sum()` was 0". */
void add_zeros(struct buffer *words, const struct range *range);
void add_quoted(struct buffer *words, struct slice text);
void add_real(struct buffer *words, double number);

/* Reports bounds beyond the greatest number of the dtype, and cuts them. */
void range_overflow(struct reasoner *reasoner, struct range *range);

/* evaluate.c: whether the name has a known value, is a part of such a value, or names a number. */
bool range_is_known(const struct reasoner *reasoner, struct slice name);
/* Evaluates an expression, and adds the causes that it finds. */
struct range range_evaluate(struct reasoner *reasoner, uint32_t index);

/* range.c: finds the part of a recorded value that is a mask's minimum. */
void mask_of_input(struct range *range);

struct range range_sum(struct reasoner *reasoner,
                       struct slice text,
                       const struct range *a,
                       const struct range *b,
                       bool is_difference);
struct range range_product(struct reasoner *reasoner,
                           struct slice text,
                           const struct range *a,
                           const struct range *b);
struct range range_quotient(struct reasoner *reasoner,
                            struct slice text,
                            const struct range *a,
                            const struct range *b);
struct range range_remainder(struct reasoner *reasoner,
                             struct slice text,
                             const struct range *a,
                             const struct range *b);
struct range range_power(struct reasoner *reasoner,
                         struct slice text,
                         const struct range *a,
                         const struct range *b);
struct range range_matmul(struct reasoner *reasoner,
                          struct slice text,
                          const struct range *a,
                          const struct range *b);

/* functions.c: evaluates a call of a function of known name. Returns false if it is not known.
 * The first operand is the object of a method, or the first argument; `count` is at least 1. */
bool range_call(struct reasoner *reasoner,
                const struct expression *call,
                const struct range *operands,
                uint32_t count,
                struct range *result);
/* The function that objects of the class call; "" if it is not known. */
struct slice range_function_of(struct slice class_name);
/* As range_call, for the call of an object. `call` has the function's name. */
bool range_call_object(struct reasoner *reasoner,
                       const struct expression *call,
                       const struct why_object *object,
                       const struct range *operands,
                       uint32_t count,
                       struct range *result);
/* Whether the function computes with its operand at that place. */
bool range_reads(struct slice name, uint32_t place);
/* Whether the function's result has no values of its object: `x.new_zeros(3)`. */
bool range_is_new(struct slice name);
/* Whether the call returns an existing value: `getattr(value, name)`, `next(batches)`. */
bool range_hands_over(const struct expression *call);
/* Whether functions.def has the function. */
bool range_is_function(struct slice name);
/* Whether the function's items are those of its argument: `enumerate(batches)`. */
bool range_gives_items(struct slice name);

#endif
