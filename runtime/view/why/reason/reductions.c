/* Functions that make one element of many. */
#include "runtime/view/why/reason/call.h"

#include <math.h>

static bool has_dimension(const struct range *range, int64_t size)
{
    for (uint32_t i = 0; range->shape != NULL && i < range->dimension_count; i++) {
        if (range->shape[i] == size) {
            return true;
        }
    }
    return false;
}

/* Told where the value has no element, or no element along one of its dimensions. */
static void report_nothing(const struct call *call)
{
    const struct range *x = call->x;
    bool is_empty = (x->has_count && x->count == 0) || has_dimension(x, 0);
    struct buffer *words;

    if (!is_empty && (x->has_count || !x->is_selected)) {
        return;
    }
    words = cause_begin(call->reasoner);
    buffer_add(words, call->name);
    buffer_add(words, SLICE(" of nothing: "));
    add_quoted(words, x->text);
    buffer_add(words, x->input != NULL ? SLICE(" is empty") : SLICE(" was empty"));
    cause_end(call->reasoner, WHY_NAN, is_empty ? CERTAINTY_YES : CERTAINTY_MAYBE);
}

struct range call_one_of(const struct call *call)
{
    struct range result = range_part(call->x, call->expression->text);

    result.is_selected = false; /* it would have raised */
    return result;
}

struct range call_mean(const struct call *call)
{
    struct range result = call_one_of(call);

    report_nothing(call);
    if (result.low < 0 && result.high > 0) {
        result.zero = CERTAINTY_MAYBE;
    } else if (call->x->is_bounded && result.low >= 0 && result.high > 0 &&
               call->x->zero == CERTAINTY_NO) {
        result.zero = CERTAINTY_NO;
    }
    return result;
}

struct range call_sum(const struct call *call)
{
    const struct range *x = call->x;
    struct range result = call_one_of(call);
    double count = (double)x->count;

    if (x->is_bounded && x->has_count) {
        bool is_single = x->count == 1;

        result.low = fmin(x->low, x->low * count);
        result.high = fmax(x->high, x->high * count);
        result.is_attained = is_single && x->is_attained;
        if (x->low <= 0 && x->high >= 0) {
            result.zero = x->low == 0 && x->high == 0 ? CERTAINTY_YES : CERTAINTY_MAYBE;
        }
        range_overflow(call->reasoner, &result);
    } else {
        result.zero = x->low > 0 && !x->is_selected ? CERTAINTY_NO : CERTAINTY_MAYBE;
        result.low = x->low >= 0 ? x->low : -INFINITY;
        result.high = INFINITY;
        result.is_bounded = false;
    }
    if (certainty_both(x->posinf, x->neginf) != CERTAINTY_NO) {
        struct buffer *words = cause_begin(call->reasoner);

        buffer_add(words, SLICE("Inf + -Inf: both are in "));
        add_quoted(words, x->text);
        cause_end(call->reasoner, WHY_NAN, CERTAINTY_MAYBE);
        result.nan = certainty_either(result.nan, CERTAINTY_MAYBE);
    }
    return result;
}

struct range call_product(const struct call *call)
{
    const struct range *x = call->x;
    struct range result = range_part(x, call->expression->text);
    double most = fmax(fabs(x->low), fabs(x->high));
    double greatest = dtype_greatest(call_dtype(call));

    result.is_bounded = false;
    result.low = x->low >= 0 ? 0 : -INFINITY;
    result.high = INFINITY;
    result.zero = CERTAINTY_MAYBE;
    if (most > 1 && (!x->has_count || (double)x->count * log(most) > log(greatest))) {
        struct buffer *words = cause_begin(call->reasoner);

        buffer_add(words, SLICE("overflow of "));
        buffer_add(words, slice_of(dtype_text(call_dtype(call))));
        buffer_add(words, SLICE(": "));
        buffer_add(words, call->name);
        buffer_add(words, SLICE(" of "));
        if (x->has_count) {
            buffer_add_number(words, x->count);
            buffer_add_byte(words, ' ');
        }
        buffer_add(words, SLICE("values of up to "));
        add_real(words, most);
        buffer_add(words, SLICE(" in "));
        add_quoted(words, x->text);
        cause_end(call->reasoner, WHY_INF, CERTAINTY_MAYBE);
    }
    return result;
}

struct range call_deviation(const struct call *call)
{
    const struct range *x = call->x;
    struct range result = range_mapped(x, call->expression->text, 0, x->high - x->low);
    bool is_single = x->has_count && x->count == 1;
    bool can_be_single = !x->has_count || has_dimension(x, 1);

    if (is_single || can_be_single) {
        struct buffer *words = cause_begin(call->reasoner);

        buffer_add(words, call->name);
        buffer_add(words, SLICE(" of one element"));
        buffer_add(words, x->is_selected ? SLICE(" or none: ") : SLICE(": "));
        add_quoted(words, x->text);
        if (is_single) {
            buffer_add(words, SLICE(" has no more"));
        } else if (x->shape != NULL) {
            buffer_add(words, SLICE(" has a dimension of size 1"));
        } else {
            buffer_add(words, SLICE(" had no more"));
        }
        cause_end(call->reasoner, WHY_NAN, is_single ? CERTAINTY_YES : CERTAINTY_MAYBE);
        result.nan = certainty_either(result.nan, CERTAINTY_MAYBE);
    }
    if (!x->is_selected) {
        report_nothing(call);
    }
    result.is_selected = false;
    result.is_attained = false;
    result.has_count = false;
    result.shape = NULL;
    result.zero = x->is_bounded && x->low == x->high ? CERTAINTY_YES : CERTAINTY_MAYBE;
    if (slice_equal(call->name, SLICE("var"))) {
        result.high = result.high * result.high;
        range_overflow(call->reasoner, &result);
    }
    return result;
}

struct range call_norm(const struct call *call)
{
    const struct range *x = call->x;
    double most = fmax(fabs(x->low), fabs(x->high));
    double least = x->low > 0 ? x->low : x->high < 0 ? -x->high : 0;
    struct range result =
        range_mapped(x, call->expression->text, least,
                     x->has_count ? most * sqrt((double)x->count) : INFINITY);

    result.is_attained = false;
    result.has_count = false;
    result.shape = NULL;
    if (least == 0) {
        result.zero = x->is_bounded && most == 0 ? CERTAINTY_YES : CERTAINTY_MAYBE;
    }
    return result;
}

struct range call_softmax(const struct call *call)
{
    const struct range *x = call->x;
    struct range result =
        range_mapped(x, call->expression->text,
                     slice_equal(call->name, SLICE("softmax")) ? 0 : -1e4, 1);
    struct buffer *words;

    if (x->posinf != CERTAINTY_NO) {
        words = cause_begin(call->reasoner);
        buffer_add(words, call->name);
        buffer_add(words, SLICE(" of +Inf is Inf / Inf: "));
        add_quoted(words, x->text);
        buffer_add(words, SLICE(" has some"));
        cause_end(call->reasoner, WHY_NAN, x->posinf);
    }
    if (x->neginf != CERTAINTY_NO) {
        words = cause_begin(call->reasoner);
        buffer_add(words, call->name);
        buffer_add(words, SLICE(" of a row that is -Inf everywhere: "));
        add_quoted(words, x->text);
        if (x->input != NULL && x->input->has_statistics) {
            buffer_add(words, SLICE(" has "));
            buffer_add_number(words, x->input->statistics.neginf_count);
            buffer_add(words, SLICE(" -Inf of "));
            buffer_add_number(words, x->input->statistics.count);
        } else {
            buffer_add(words, SLICE(" has -Inf"));
        }
        cause_end(call->reasoner, WHY_NAN, CERTAINTY_MAYBE);
    }
    result.is_attained = false;
    result.zero = CERTAINTY_MAYBE;
    return result;
}
