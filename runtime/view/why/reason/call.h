/* Calls of functions that are known by name: what the files that follow them share. Not for use
 * elsewhere. */
#ifndef MONITORCH_VIEW_WHY_REASON_CALL_H
#define MONITORCH_VIEW_WHY_REASON_CALL_H

#include "runtime/view/why/reason/range.h"

/* What functions.def says of a function. */
enum how {
    HOW_LOG,
    HOW_LOG1P,
    HOW_SQRT,
    HOW_RSQRT,
    HOW_RECIPROCAL,
    HOW_POW,
    HOW_EXP,
    HOW_EXP2,
    HOW_HYPERBOLIC,
    HOW_ARC,
    HOW_ATANH,
    HOW_ACOSH,
    HOW_DIVIDE,
    HOW_MULTIPLY,
    HOW_ADD,
    HOW_SUBTRACT,
    HOW_REMAINDER,
    HOW_MATMUL,
    HOW_SQUARE,
    HOW_ABS,
    HOW_NEGATE,
    HOW_RELU,
    HOW_UNIT,
    HOW_SIGNED_UNIT,
    HOW_CLAMP,
    HOW_CLAMP_MIN,
    HOW_CLAMP_MAX,
    HOW_SOFTMAX,
    HOW_MEAN,
    HOW_SUM,
    HOW_SCATTER,
    HOW_SCATTER_ADD,
    HOW_PRODUCT,
    HOW_STD,
    HOW_NORM,
    HOW_PART,
    HOW_PART_OF,
    HOW_SELECTED,
    HOW_PART_OR_TWO,
    HOW_EITHER,
    HOW_FILL,
    HOW_WHERE,
    HOW_FULL,
    HOW_ZEROS,
    HOW_ONES,
    HOW_LINEAR,
    HOW_CROSS_ENTROPY,
    HOW_LOSS,
    HOW_NORMALIZE,
    HOW_COSINE,
    HOW_LAYER_NORM,
    HOW_ATTENTION,
    HOW_CLIP_GRADIENTS,
    HOW_BETWEEN,
    HOW_ACTIVATION,
    HOW_TRIANGLE,
    HOW_EMBEDDING,
    HOW_LOGIT,
    HOW_NAN_TO_NUM,
    HOW_TO_HALF,
    HOW_TO_BFLOAT16,
    HOW_TO_FLOAT,
    HOW_TO_DOUBLE,
    HOW_TO,
    HOW_SAME,
};

/* What functions.def says of the name; false: it is not there. */
bool function_how(struct slice name, enum how *how);

/* One call that is looked at. */
struct call {
    struct reasoner *reasoner;
    const struct expression *expression;
    struct slice name; /* without the `_` of in-place methods */
    const struct range *x;
    const struct range *second; /* may be NULL */
    const struct range *operands;
    uint32_t operand_count;
    const struct why_object
        *object; /* an object is called: its settings were given to its
                                        constructor; NULL: a function */
};

/* An argument by its keyword, or by its place among those without one; NULL: there is none. */
const struct expression *call_argument(const struct call *call, const char *key);
const struct expression *call_nth(const struct call *call, int place);
/* Whether it is given `*args` or `**kwargs`: what is not named may be among these. */
bool call_has_rest(const struct call *call);
/* Whether the argument, which may be NULL, is a plain number. */
bool call_number(const struct call *call,
                 const struct expression *item,
                 double *number);
/* The same for any expression of `all`, of which `item` is one. */
bool expression_number(const struct expressions *all,
                       const struct expression *item,
                       double *number);
/* Of what it is of, where that is floating; else of what the statement made. */
enum dtype call_dtype(const struct call *call);

/* known.c: of many elements, one. */
struct range call_one_of(const struct call *call);
struct range call_mean(const struct call *call);
struct range call_sum(const struct call *call);
struct range call_product(const struct call *call);
struct range call_deviation(const struct call *call);
struct range call_norm(const struct call *call);
struct range call_softmax(const struct call *call);

/* Functions with causes of their own. */
struct range call_cross_entropy(const struct call *call);
struct range call_loss(const struct call *call);
struct range call_normalize(const struct call *call);
struct range call_cosine(const struct call *call);
struct range call_layer_norm(const struct call *call);
struct range call_attention(const struct call *call);
struct range call_clip_gradients(const struct call *call);
struct range call_between(const struct call *call);
struct range call_without_nan(const struct call *call);
struct range call_linear(const struct call *call);

#endif
