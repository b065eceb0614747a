/* Functions that are known by name: what they do to a range, and how they can make NaN and
 * infinities. */
#include "runtime/view/why_range.h"

#include <math.h>

enum how {
    LOG,
    LOG1P,
    SQRT,
    RSQRT,
    RECIPROCAL,
    POW,
    EXP,
    EXP2,
    HYPERBOLIC,
    ARC,
    ATANH,
    ACOSH,
    DIVIDE,
    MULTIPLY,
    ADD,
    SUBTRACT,
    REMAINDER,
    MATMUL,
    SQUARE,
    ABS,
    NEGATE,
    RELU,
    UNIT,
    SIGNED_UNIT,
    CLAMP,
    CLAMP_MIN,
    CLAMP_MAX,
    SOFTMAX,
    MEAN,
    SUM,
    PRODUCT,
    STD,
    NORM,
    PART,
    PART_OF,
    PART_OR_TWO,
    EITHER,
    FILL,
    WHERE,
    FULL,
    TO_HALF,
    TO_BFLOAT16,
    TO_FLOAT,
    TO_DOUBLE,
    TO,
    SAME,
};

static const struct {
    const char *name;
    enum how how;
} functions[] = {
#define FUNCTION(name, how) {name, how},
#include "runtime/view/why_functions.def"
#undef FUNCTION
};

#define FUNCTION_COUNT (sizeof functions / sizeof *functions)

/* One call that is looked at. */
struct call {
    struct reasoner *reasoner;
    const struct expression *expression;
    struct slice name; /* without the `_` of in-place methods */
    const struct range *x;
    const struct range *second; /* may be NULL */
};

static const struct expression *find_argument(const struct call *call, const char *key)
{
    const struct expressions *all = &call->reasoner->expressions;

    for (uint32_t i = call->expression->first; i != EXPRESSION_NONE;
         i = all->items[i].next) {
        if (slice_equal(all->items[i].key, slice_of(key))) {
            return &all->items[i];
        }
    }
    return NULL;
}

/* The argument of that place, where it has no keyword. NULL: there is none. */
static const struct expression *nth_argument(const struct call *call, int place)
{
    const struct expressions *all = &call->reasoner->expressions;

    for (uint32_t i = call->expression->first; i != EXPRESSION_NONE;
         i = all->items[i].next) {
        if (all->items[i].key.size == 0 && place-- == 0) {
            return &all->items[i];
        }
    }
    return NULL;
}

static bool
number_of(const struct call *call, const struct expression *item, double *number)
{
    const struct expressions *all = &call->reasoner->expressions;
    double sign = 1;

    if (item != NULL && item->kind == EXPRESSION_UNARY &&
        slice_equal(item->word, SLICE("-")) && item->left != EXPRESSION_NONE) {
        sign = -1;
        item = &all->items[item->left];
    }
    if (item == NULL || item->kind != EXPRESSION_NUMBER) {
        return false;
    }
    *number = sign * item->number;
    return true;
}

/* ---- functions with a domain ---- */

static void tell_beyond(const struct call *call,
                        const char *words_before,
                        const char *bound,
                        double value,
                        enum certainty certainty)
{
    struct buffer *words;

    if (certainty == CERTAINTY_NO) {
        return;
    }
    words = cause_begin(call->reasoner);
    buffer_add(words, call->name);
    buffer_add(words, slice_of(words_before));
    buffer_add(words, SLICE(": "));
    if (call->x->is_bounded) {
        buffer_add(words, slice_of(bound));
        buffer_add(words, SLICE(" of "));
        add_quoted(words, call->x->text);
        buffer_add(words, call->x->is_attained ? SLICE(" is ") : SLICE(" can be "));
        add_real(words, value);
    } else {
        add_quoted(words, call->x->text);
        buffer_add(words, SLICE(" has one"));
    }
    cause_end(call->reasoner, WHY_NAN, certainty);
}

static void tell_zero(const struct call *call, const char *gives, unsigned makes)
{
    struct buffer *words;

    if (call->x->zero == CERTAINTY_NO) {
        return;
    }
    words = cause_begin(call->reasoner);
    buffer_add(words, call->name);
    buffer_add(words, SLICE(" of 0 gives "));
    buffer_add(words, slice_of(gives));
    buffer_add(words, SLICE(": "));
    add_zeros(words, call->x);
    cause_end(call->reasoner, makes, call->x->zero);
}

/* A point at the edge of the domain, where the function is infinite. */
static void
tell_point(const struct call *call, double point, const char *gives, unsigned makes)
{
    enum certainty certainty = range_has(call->x, point);
    struct buffer *words;

    if (certainty == CERTAINTY_NO) {
        return;
    }
    words = cause_begin(call->reasoner);
    buffer_add(words, call->name);
    buffer_add(words, SLICE(" of "));
    add_real(words, point);
    buffer_add(words, SLICE(" gives "));
    buffer_add(words, slice_of(gives));
    buffer_add(words, SLICE(": "));
    add_quoted(words, call->x->text);
    buffer_add(words,
               certainty == CERTAINTY_YES ? SLICE(" has it") : SLICE(" can be it"));
    cause_end(call->reasoner, makes, certainty);
}

/* Of the function, where it is finite: between the images of the bounds. */
static struct range rising(const struct call *call,
                           double (*function)(double),
                           double lowest,
                           double highest)
{
    const struct range *x = call->x;
    double low = function(fmin(fmax(x->low, lowest), highest));
    double high = function(fmax(fmin(x->high, highest), lowest));
    struct range result = range_mapped(x, call->expression->text, low, high);

    if (range_has_below(x, lowest) != CERTAINTY_NO ||
        range_has_above(x, highest) != CERTAINTY_NO) {
        result.nan = certainty_either(result.nan, CERTAINTY_MAYBE);
        result.is_attained = false;
    }
    if (!isfinite(low) || !isfinite(high)) {
        result.is_attained = false;
        result.zero = CERTAINTY_MAYBE;
    }
    return result;
}

static struct range logarithm(const struct call *call)
{
    bool is_log1p = slice_equal(call->name, SLICE("log1p"));
    double edge = is_log1p ? -1 : 0;
    enum certainty at_edge = range_has(call->x, edge);
    struct range result;

    tell_beyond(call, is_log1p ? " below -1" : " of a negative number", "min",
                call->x->low, range_has_below(call->x, edge));
    if (is_log1p) {
        tell_point(call, -1, "-Inf", WHY_NEGINF);
    } else {
        tell_zero(call, "-Inf", WHY_NEGINF);
    }
    result = rising(call, is_log1p ? log1p : log, edge, INFINITY);
    result.neginf = certainty_either(result.neginf, at_edge);
    return result;
}

static struct range square_root(const struct call *call)
{
    tell_beyond(call, " of a negative number", "min", call->x->low,
                range_has_below(call->x, 0));
    return rising(call, sqrt, 0, INFINITY);
}

/* 1 / x, and 1 / sqrt(x). */
static struct range inverse(const struct call *call, bool is_root)
{
    const struct range *x = call->x;
    struct range result;

    if (is_root) {
        tell_beyond(call, " of a negative number", "min", x->low,
                    range_has_below(x, 0));
    }
    tell_zero(call, "Inf", WHY_INF);
    if (x->is_bounded && x->low > 0) {
        return range_mapped(x, call->expression->text,
                            1 / (is_root ? sqrt(x->high) : x->high),
                            1 / (is_root ? sqrt(x->low) : x->low));
    }
    result = range_unknown(call->expression->text);
    result.dtype = x->dtype;
    result.zero = CERTAINTY_NO;
    return result;
}

static struct range arc(const struct call *call, enum how how)
{
    const struct range *x = call->x;
    enum certainty outside;

    if (how == ACOSH) {
        tell_beyond(call, " below 1", "min", x->low, range_has_below(x, 1));
        return rising(call, acosh, 1, INFINITY);
    }
    outside = range_has_above(x, 1);
    tell_beyond(call, " above 1", "max", x->high, outside);
    tell_beyond(call, " below -1", "min", x->low, range_has_below(x, -1));
    if (how == ATANH) {
        tell_point(call, 1, "Inf", WHY_POSINF);
        tell_point(call, -1, "-Inf", WHY_NEGINF);
        return range_unknown(call->expression->text);
    }
    return range_mapped(x, call->expression->text, -3.15, 3.15);
}

/* ---- overflow ---- */

static enum dtype floating(const struct call *call)
{
    return dtype_class(call->x->dtype) == DTYPE_CLASS_FLOATING
               ? call->x->dtype
               : call->reasoner->question->dtype;
}

static struct range exponential(const struct call *call, enum how how)
{
    const struct range *x = call->x;
    enum dtype dtype = floating(call);
    double limit = log(dtype_greatest(dtype)) / (how == EXP2 ? log(2) : 1) +
                   (how == HYPERBOLIC ? log(2) : 0);
    double reached = how == HYPERBOLIC ? fmax(fabs(x->low), fabs(x->high)) : x->high;
    enum certainty beyond = range_has_above(x, limit);
    double scale = how == EXP2 ? log(2) : 1;
    struct range result;

    if (how == HYPERBOLIC) {
        beyond = certainty_either(beyond, range_has_below(x, -limit));
    }
    if (beyond != CERTAINTY_NO) {
        struct buffer *words = cause_begin(call->reasoner);

        buffer_add(words, call->name);
        buffer_add(words, SLICE(" overflows above "));
        add_real(words, limit);
        buffer_add(words, SLICE(" in "));
        buffer_add(words, slice_of(dtype_text(dtype)));
        buffer_add(words, SLICE(": "));
        add_quoted(words, x->text);
        if (x->is_bounded) {
            buffer_add(words,
                       x->is_attained ? SLICE(" has max ") : SLICE(" can reach "));
            add_real(words, reached);
        }
        cause_end(call->reasoner, WHY_INF, beyond);
    }
    result = range_mapped(x, call->expression->text, exp(fmin(x->low, limit) * scale),
                          exp(fmin(x->high, limit) * scale));
    if (how == HYPERBOLIC || slice_equal(call->name, SLICE("expm1"))) {
        result.low = how == HYPERBOLIC ? -INFINITY : result.low - 1;
        result.high = how == HYPERBOLIC ? INFINITY : result.high - 1;
        result.is_bounded = result.is_bounded && how != HYPERBOLIC;
        result.zero = x->zero;
    }
    result.dtype = dtype;
    /* exp(-Inf) is 0. */
    result.zero =
        certainty_either(result.zero, certainty_both(x->neginf, CERTAINTY_MAYBE));
    result.posinf = certainty_either(x->posinf, beyond);
    result.neginf = CERTAINTY_NO;
    return result;
}

static struct range cast(const struct call *call, enum dtype dtype)
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

static struct range convert(const struct call *call)
{
    const struct expression *named = find_argument(call, "dtype");
    bool is_function = call->expression->left == EXPRESSION_NONE;
    enum dtype dtype =
        dtype_of(named != NULL ? named : nth_argument(call, is_function ? 1 : 0));

    if (dtype == DTYPE_OTHER && named == NULL) {
        dtype = dtype_of(nth_argument(call, is_function ? 2 : 1));
    }
    if (dtype != DTYPE_OTHER) {
        return cast(call, dtype);
    }
    /* `.to(other)` takes the other's dtype: that of what was made, at least at the end. */
    return cast(call, call->reasoner->question->dtype);
}

/* ---- of many elements, one ---- */

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
static void tell_nothing(const struct call *call)
{
    const struct range *x = call->x;
    struct buffer *words;

    if (!(x->has_count && x->count == 0) && !has_dimension(x, 0)) {
        return;
    }
    words = cause_begin(call->reasoner);
    buffer_add(words, call->name);
    buffer_add(words, SLICE(" of nothing: "));
    add_quoted(words, x->text);
    buffer_add(words, SLICE(" is empty"));
    cause_end(call->reasoner, WHY_NAN, CERTAINTY_YES);
}

static struct range mean(const struct call *call)
{
    struct range result;

    tell_nothing(call);
    result = range_part(call->x, call->expression->text);
    if (result.low < 0 && result.high > 0) {
        result.zero = CERTAINTY_MAYBE;
    } else if (call->x->is_bounded && result.low >= 0 && result.high > 0 &&
               call->x->zero == CERTAINTY_NO) {
        result.zero = CERTAINTY_NO;
    }
    return result;
}

static struct range sum(const struct call *call)
{
    const struct range *x = call->x;
    struct range result = range_part(x, call->expression->text);
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
        result.zero = x->low > 0 ? CERTAINTY_NO : CERTAINTY_MAYBE;
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

static struct range product(const struct call *call)
{
    const struct range *x = call->x;
    struct range result = range_part(x, call->expression->text);
    double most = fmax(fabs(x->low), fabs(x->high));
    double greatest = dtype_greatest(floating(call));

    result.is_bounded = false;
    result.low = x->low >= 0 ? 0 : -INFINITY;
    result.high = INFINITY;
    result.zero = CERTAINTY_MAYBE;
    if (most > 1 && (!x->has_count || (double)x->count * log(most) > log(greatest))) {
        struct buffer *words = cause_begin(call->reasoner);

        buffer_add(words, SLICE("overflow of "));
        buffer_add(words, slice_of(dtype_text(floating(call))));
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

static struct range deviation(const struct call *call)
{
    const struct range *x = call->x;
    struct range result = range_mapped(x, call->expression->text, 0, x->high - x->low);
    bool is_single = x->has_count && x->count == 1;
    bool can_be_single = !x->has_count || has_dimension(x, 1);

    if (is_single || can_be_single) {
        struct buffer *words = cause_begin(call->reasoner);

        buffer_add(words, call->name);
        buffer_add(words, SLICE(" of one element: "));
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
    tell_nothing(call);
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

static struct range norm(const struct call *call)
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

static struct range softmax(const struct call *call)
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

/* ---- others ---- */

static struct range clamp(const struct call *call, enum how how)
{
    const struct range *x = call->x;
    int place = call->expression->left == EXPRESSION_NONE ? 1 : 0;
    const struct expression *least = find_argument(call, "min");
    const struct expression *most = find_argument(call, "max");
    struct range result = range_part(x, call->expression->text);
    double number;

    if (least == NULL && how != CLAMP_MAX) {
        least = nth_argument(call, place);
    }
    if (most == NULL && how != CLAMP_MIN) {
        most = nth_argument(call, how == CLAMP_MAX ? place : place + 1);
    }
    result.is_attained = x->is_attained;
    result.has_count = x->has_count;
    result.count = x->count;
    if (number_of(call, least, &number)) {
        result.low = fmax(x->low, number);
        result.high = fmax(x->high, number);
        result.neginf = CERTAINTY_NO;
    }
    if (number_of(call, most, &number)) {
        result.low = fmin(result.low, number);
        result.high = fmin(result.high, number);
        result.posinf = CERTAINTY_NO;
    }
    result.is_bounded = isfinite(result.low) && isfinite(result.high);
    result.zero = result.low > 0 || result.high < 0 ? CERTAINTY_NO : x->zero;
    if (result.low == 0 && x->low < 0) {
        result.zero = result.is_attained ? CERTAINTY_YES : CERTAINTY_MAYBE;
    }
    return result;
}

static struct range bounded(const struct call *call, double low, double high)
{
    struct range result = range_mapped(call->x, call->expression->text, low, high);

    result.is_bounded = true;
    result.is_attained = false;
    result.posinf = result.neginf = CERTAINTY_NO;
    result.zero = CERTAINTY_MAYBE;
    return result;
}

static struct range absolute(const struct call *call)
{
    const struct range *x = call->x;
    double low = fabs(x->low);
    double high = fabs(x->high);
    bool has_both = x->low < 0 && x->high > 0;
    struct range result = range_mapped(x, call->expression->text,
                                       has_both ? 0 : fmin(low, high), fmax(low, high));

    result.zero = x->zero;
    result.posinf = certainty_either(x->posinf, x->neginf);
    result.neginf = CERTAINTY_NO;
    return result;
}

static struct range same(const struct call *call)
{
    struct range result = *call->x;

    result.text = call->expression->text;
    result.shape = NULL;
    return result;
}

static struct range two(const struct call *call, enum how how)
{
    struct slice text = call->expression->text;
    struct range unknown = range_unknown(text);
    const struct range *second = call->second == NULL ? &unknown : call->second;

    switch (how) {
    case DIVIDE:
        return range_quotient(call->reasoner, text, call->x, second);
    case MULTIPLY:
        return range_product(call->reasoner, text, call->x, second);
    case REMAINDER:
        return range_remainder(call->reasoner, text, call->x, second);
    case MATMUL:
        return range_matmul(call->reasoner, text, call->x, second);
    case POW:
        return range_power(call->reasoner, text, call->x, second);
    case EITHER:
    case FILL:
        return range_either(call->x, second);
    default:
        return range_sum(call->reasoner, text, call->x, second, how == SUBTRACT);
    }
}

static struct range apply(const struct call *call, enum how how)
{
    struct range two_number = range_number(SLICE("2"), 2);

    switch (how) {
    case LOG:
    case LOG1P:
        return logarithm(call);
    case SQRT:
        return square_root(call);
    case RSQRT:
    case RECIPROCAL:
        return inverse(call, how == RSQRT);
    case EXP:
    case EXP2:
    case HYPERBOLIC:
        return exponential(call, how);
    case ARC:
    case ATANH:
    case ACOSH:
        return arc(call, how);
    case SQUARE:
        return range_power(call->reasoner, call->expression->text, call->x,
                           &two_number);
    case ABS:
        return absolute(call);
    case NEGATE:
        return range_mapped(call->x, call->expression->text, -call->x->high,
                            -call->x->low);
    case RELU:
        return range_mapped(call->x, call->expression->text, fmax(0, call->x->low),
                            fmax(0, call->x->high));
    case UNIT:
        return bounded(call, 0, 1);
    case SIGNED_UNIT:
        return bounded(call, -1, 1);
    case CLAMP:
    case CLAMP_MIN:
    case CLAMP_MAX:
        return clamp(call, how);
    case SOFTMAX:
        return softmax(call);
    case MEAN:
        return mean(call);
    case SUM:
        return sum(call);
    case PRODUCT:
        return product(call);
    case STD:
        return deviation(call);
    case NORM:
        return norm(call);
    case PART:
    case PART_OF:
        return range_part(call->x, call->expression->text);
    case PART_OR_TWO:
        return call->second == NULL || !call->second->is_tensor
                   ? range_part(call->x, call->expression->text)
                   : range_either(call->x, call->second);
    case FULL:
        return call->second != NULL ? *call->second : *call->x;
    case TO_HALF:
        return cast(call, DTYPE_FLOAT16);
    case TO_BFLOAT16:
        return cast(call, DTYPE_BFLOAT16);
    case TO_FLOAT:
        return cast(call, DTYPE_FLOAT32);
    case TO_DOUBLE:
        return cast(call, DTYPE_FLOAT64);
    case TO:
        return convert(call);
    case SAME:
        return same(call);
    default:
        return two(call, how);
    }
}

bool range_call(struct reasoner *reasoner,
                const struct expression *expression,
                const struct range *x,
                const struct range *second,
                struct range *result)
{
    struct call call = {reasoner, expression, expression->word, x, second};

    if (call.name.size > 1 && slice_ends(call.name, SLICE("_"))) {
        call.name.size--;
    }
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        if (slice_equal(call.name, slice_of(functions[i].name))) {
            *result = apply(&call, functions[i].how);
            result->text = expression->text;
            result->input = NULL;
            return true;
        }
    }
    return false;
}
