/* What is known of a value inside a statement: bounds, and which values it has for sure. Shared
 * by the parts that look for reasons; not for use elsewhere. */
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
    bool is_bounded;  /* the bounds hold */
    bool is_attained; /* and there is an element at each */
    bool is_tensor;
    enum certainty zero, nan, posinf, neginf;
    enum dtype dtype; /* DTYPE_OTHER: not known */
    bool is_selected; /* by a mask or indices: there may be no element */
    bool has_count;
    uint64_t count;       /* elements */
    const int64_t *shape; /* NULL: not known */
    uint32_t dimension_count;
    const struct why_input *input; /* the value itself was recorded; else NULL */
    bool has_two_values;           /* each element is `low` or `high` */
    bool
        is_masked; /* elements below `plain_low` are a mask's minimum, which a line wrote */
    double plain_low, plain_high; /* bounds of the others */
};

/* Names that comprehensions bind, within each other. */
#define EACH_MAX   4
#define CAUSES_MAX 24

struct cause {
    unsigned makes; /* enum why_hold */
    bool is_certain;
    bool is_written;
    bool is_outside;
    bool is_absorbing;
    size_t start, end; /* in the words */
};

/* Whether a call's text gives a parameter its value. */
enum call_given {
    CALL_GIVEN_UNKNOWN,
    CALL_GIVEN,
    CALL_GIVEN_NOT, /* it has its default */
};

struct each {
    struct slice word;
    struct range range;
};

struct reasoner {
    const struct why_question *question;
    struct expressions expressions;
    uint32_t callee; /* the call that has yet to begin: nothing was made inside of it */
    struct each each[EACH_MAX];
    uint32_t each_count;
    uint32_t
        quiet; /* above 0: what is evaluated is no operand, unknown names are no cause */
    struct cause causes[CAUSES_MAX];
    uint32_t count;
    struct buffer words; /* owned */
};

/* Nothing is known of it. */
struct range range_unknown(struct slice text);
struct range range_number(struct slice text, double number);
/* Either of them. */
struct range range_either(const struct range *a, const struct range *b);
/* Some elements of it, or the same in another order. */
struct range range_part(const struct range *whole, struct slice text);
/* Those that a mask or indices choose, if any. */
struct range range_selected(const struct range *whole, struct slice text);
/* Another value, elementwise, with these bounds. */
struct range
range_mapped(const struct range *from, struct slice text, double low, double high);
bool range_is_finite(const struct range *range);
/* Whether it has an element of that value, or below it, or above it. */
enum certainty range_has(const struct range *range, double value);
enum certainty range_has_below(const struct range *range, double value);
enum certainty range_has_above(const struct range *range, double value);
enum certainty certainty_both(enum certainty a, enum certainty b);
enum certainty certainty_either(enum certainty a, enum certainty b);

/* The greatest finite value of a dtype; Inf where it is not floating. */
double dtype_greatest(enum dtype dtype);

/* A cause is told: begin, add words, end. */
struct buffer *cause_begin(struct reasoner *reasoner);
void cause_end(struct reasoner *reasoner, unsigned makes, enum certainty certainty);
/* "`x` has 3 zeros", "`x.sum()` was 0". */
void add_zeros(struct buffer *words, const struct range *range);
void add_quoted(struct buffer *words, struct slice text);
void add_real(struct buffer *words, double number);

/* Bounds beyond what the dtype holds are told, and cut. */
void range_overflow(struct reasoner *reasoner, struct range *range);

/* evaluate.c: whether anything is known of the name: a value, a part of one, a number that
 * has that name. */
bool range_is_known(const struct reasoner *reasoner, struct slice name);
/* Of an expression; causes are noted on the way. */
struct range range_evaluate(struct reasoner *reasoner, uint32_t index);

/* range.c: what of a value is a mask's minimum. */
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

/* functions.c: a call of a function that is known by its name; false where it is not. The
 * first operand is what it is of; there is at least one. */
bool range_call(struct reasoner *reasoner,
                const struct expression *call,
                const struct range *operands,
                uint32_t count,
                struct range *result);
/* The function that an object of the class calls; "": it is not known. */
struct slice range_function_of(struct slice class_name);
/* The same of an object's call: `call` has the function's name. */
bool range_call_object(struct reasoner *reasoner,
                       const struct expression *call,
                       const struct why_object *object,
                       const struct range *operands,
                       uint32_t count,
                       struct range *result);
/* Whether the function calculates with its operand at that place. */
bool range_reads(struct slice name, uint32_t place);
/* Whether nothing of what the function is of reaches its result: `x.new_zeros(3)`. */
bool range_is_new(struct slice name);
/* Whether the call gives what was there before: `getattr(value, name)`, `next(batches)`. */
bool range_hands_over(const struct expression *call);
/* Whether functions.def has it. */
bool range_is_function(struct slice name);
/* Whether the function's items are those of what it is given: `enumerate(batches)`. */
bool range_gives_items(struct slice name);

#endif
