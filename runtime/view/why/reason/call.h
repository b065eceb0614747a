/* Calls of functions with known names: declarations that only the files of this folder share. */
#ifndef MONITORCH_VIEW_WHY_REASON_CALL_H
#define MONITORCH_VIEW_WHY_REASON_CALL_H

#include "runtime/view/why/reason/range.h"

/* The behaviour of a function, as listed in functions.def. */
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

/* Finds the function in functions.def. Returns false if it is not there. */
bool function_how(struct slice name, enum how *how);

/* The call that is being evaluated. */
struct call {
    struct reasoner *reasoner;
    const struct expression *expression;
    struct slice name; /* without the `_` of in-place methods */
    const struct range *x;
    const struct range *second; /* may be NULL */
    const struct range *operands;
    uint32_t operand_count;
    const struct why_object *
        object; /* the called object, whose constructor got the settings; NULL: a function */
};

/* An argument by its keyword, or by its place among those without a keyword. NULL if it is not
 * given. */
const struct expression *call_argument(const struct call *call, const char *key);
const struct expression *call_nth(const struct call *call, int place);
/* Whether the call passes `*args` or `**kwargs`, which may contain an argument that is not found
 * otherwise. */
bool call_has_rest(const struct call *call);
/* Whether the argument is a plain number. `item` may be NULL. */
bool call_number(const struct call *call,
                 const struct expression *item,
                 double *number);
/* As call_number, for any expression of `all`. `item` is one of its items. */
bool expression_number(const struct expressions *all,
                       const struct expression *item,
                       double *number);
/* The dtype of the first operand if it is floating, or else of the statement's result. */
enum dtype call_dtype(const struct call *call);

/* known.c: functions that reduce many elements to one. */
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
