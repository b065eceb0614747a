/* Exponentials, and casts to narrower dtypes: how values get too large. */
#include "runtime/view/why/reason/call.h"

#include <math.h>

enum dtype call_dtype(const struct call *call)
{
    return dtype_class(call->x->dtype) == DTYPE_CLASS_FLOATING
               ? call->x->dtype
               : call->reasoner->question->dtype;
}

/* Says that the function overflows above the limit, and how far its operand goes. */
static void report_overflow(const struct call *call,
                            double limit,
                            double reached,
                            enum certainty beyond)
{
    const struct range *x = call->x;
    struct buffer *words = cause_begin(call->reasoner);

    buffer_add(words, call->name);
    buffer_add(words, SLICE(" overflows above "));
    add_real(words, limit);
    buffer_add(words, SLICE(" in "));
    buffer_add(words, slice_of(dtype_text(call_dtype(call))));
    buffer_add(words, SLICE(": "));
    add_quoted(words, x->text);
    if (x->is_bounded) {
        buffer_add(words, x->is_attained ? SLICE(" has max ") : SLICE(" can reach "));
        add_real(words, reached);
    }
    cause_end(call->reasoner, WHY_INF, beyond);
}

struct range call_exponential(const struct call *call, enum how how)
{
    const struct range *x = call->x;
    enum dtype dtype = call_dtype(call);
    double limit = log(dtype_greatest(dtype)) / (how == HOW_EXP2 ? log(2) : 1) +
                   (how == HOW_HYPERBOLIC ? log(2) : 0);
    double reached =
        how == HOW_HYPERBOLIC ? fmax(fabs(x->low), fabs(x->high)) : x->high;
    enum certainty beyond = range_has_above(x, limit);
    double scale = how == HOW_EXP2 ? log(2) : 1;
    struct range result;

    if (how == HOW_HYPERBOLIC) {
        beyond = certainty_either(beyond, range_has_below(x, -limit));
    }
    if (beyond != CERTAINTY_NO) {
        report_overflow(call, limit, reached, beyond);
    }
    result = range_mapped(x, call->expression->text, exp(fmin(x->low, limit) * scale),
                          exp(fmin(x->high, limit) * scale));
    if (how == HOW_HYPERBOLIC || slice_equal(call->name, SLICE("expm1"))) {
        result.low = how == HOW_HYPERBOLIC ? -INFINITY : result.low - 1;
        result.high = how == HOW_HYPERBOLIC ? INFINITY : result.high - 1;
        result.is_bounded = result.is_bounded && how != HOW_HYPERBOLIC;
        result.zero = x->zero;
    }
    result.dtype = dtype;
    /* exp(-Inf) is 0. */
    result.zero =
        certainty_either(result.zero, certainty_both(x->neginf, CERTAINTY_MAYBE));
    result.posinf = certainty_either(x->posinf, beyond);
    result.is_attained = result.is_attained && beyond == CERTAINTY_NO;
    result.neginf = CERTAINTY_NO;
    return result;
}

struct range call_cast(const struct call *call, enum dtype dtype)
{
    struct range result = *call->x;

    result.text = call->expression->text;
    result.input = NULL;
    result.dtype = dtype;
    range_overflow(call->reasoner, &result);
    return result;
}

/* `torch.float16`, `'float16'`, `dtype=torch.half`; DTYPE_OTHER: none of these. */
static enum dtype dtype_of(const struct expression *item)
{
    struct slice text;
    size_t start;

    if (item == NULL ||
        (item->kind != EXPRESSION_NAME && item->kind != EXPRESSION_STRING)) {
        return DTYPE_OTHER;
    }
    text = item->text;
    if (item->kind == EXPRESSION_STRING && text.size > 2) {
        text = slice_part(text, 1, text.size - 1);
    }
    start = text.size;
    while (start > 0 && text.bytes[start - 1] != '.') {
        start--;
    }
    text = slice_part(text, start, text.size);
    if (slice_equal(text, SLICE("half"))) {
        return DTYPE_FLOAT16;
    }
    if (slice_equal(text, SLICE("float"))) {
        return DTYPE_FLOAT32;
    }
    return slice_equal(text, SLICE("double")) ? DTYPE_FLOAT64 : dtype_find(text);
}

struct range call_convert(const struct call *call)
{
    const struct expression *named = call_argument(call, "dtype");
    bool is_function = call->expression->left == EXPRESSION_NONE;
    enum dtype dtype =
        dtype_of(named != NULL ? named : call_nth(call, is_function ? 1 : 0));

    if (dtype == DTYPE_OTHER && named == NULL) {
        dtype = dtype_of(call_nth(call, is_function ? 2 : 1));
    }
    if (dtype != DTYPE_OTHER) {
        return call_cast(call, dtype);
    }
    /* `.to(other)` takes the other's dtype: that of what was made, at least at the end. */
    return call_cast(call, call->reasoner->question->dtype);
}
