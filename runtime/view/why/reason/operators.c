/* What arithmetic does to ranges, and how it can make NaN and infinities. */
#include "runtime/view/why/reason/range.h"

#include <math.h>

/* Of tensors the wider floating one; numbers of Python's do not count. */
static enum dtype common_dtype(const struct range *a, const struct range *b)
{
    bool a_floats = dtype_class(a->dtype) == DTYPE_CLASS_FLOATING;
    bool b_floats = dtype_class(b->dtype) == DTYPE_CLASS_FLOATING;

    if (!a_floats || !b_floats) {
        return a_floats ? a->dtype : b_floats ? b->dtype : DTYPE_OTHER;
    }
    if (a->dtype != b->dtype && dtype_size(a->dtype) == dtype_size(b->dtype)) {
        return DTYPE_FLOAT32; /* float16 and bfloat16 */
    }
    return dtype_size(a->dtype) >= dtype_size(b->dtype) ? a->dtype : b->dtype;
}

static bool is_single(const struct range *range)
{
    return range->has_count && range->count == 1;
}

/* The result of an operator between the elements of two values. */
static struct range
combine(struct slice text, const struct range *a, const struct range *b)
{
    struct range result = range_unknown(text);

    result.is_tensor = a->is_tensor || b->is_tensor;
    result.is_bounded = a->is_bounded && b->is_bounded;
    result.is_attained =
        a->is_attained && b->is_attained &&
        (is_single(a) || is_single(b) || (a->low == a->high || b->low == b->high));
    result.dtype = common_dtype(a, b);
    result.nan = certainty_either(a->nan, b->nan);
    result.posinf = result.neginf = CERTAINTY_NO;
    if (!range_is_finite(a) || !range_is_finite(b)) {
        result.posinf = result.neginf = CERTAINTY_MAYBE;
    }
    result.is_selected = a->is_selected || b->is_selected;
    if ((a->has_count && a->count == 0) || (b->has_count && b->count == 0)) {
        result.has_count = true; /* whatever the other one is: what is made is empty */
        result.count = 0;
    } else if (is_single(b)) {
        result.has_count = a->has_count;
        result.count = a->count;
        result.shape = a->shape;
        result.dimension_count = a->dimension_count;
    } else if (is_single(a) || (a->shape == NULL && a->has_count)) {
        result.has_count = b->has_count;
        result.count = b->count;
        result.shape = b->shape;
        result.dimension_count = b->dimension_count;
    }
    return result;
}

static void set_zero(struct range *range)
{
    if (!range->is_bounded) {
        range->zero = CERTAINTY_MAYBE;
    } else if (range->low > 0 || range->high < 0) {
        range->zero = CERTAINTY_NO;
    } else if ((range->is_attained && (range->low == 0 || range->high == 0)) ||
               (range->low == 0 && range->high == 0)) {
        range->zero = CERTAINTY_YES;
    } else {
        range->zero = CERTAINTY_MAYBE;
    }
}

/* Both hold what meets; for sure only where one of them is a single value. */
static enum certainty overlaps(const struct range *a,
                               enum certainty first,
                               const struct range *b,
                               enum certainty second)
{
    enum certainty both = certainty_both(first, second);

    return both == CERTAINTY_YES && !is_single(a) && !is_single(b) ? CERTAINTY_MAYBE
                                                                   : both;
}

/* What a value has that is an infinity: told where `certainty` is not NO. */
static void report_overlap(struct reasoner *reasoner,
                           enum certainty certainty,
                           const char *what,
                           const struct range *a,
                           const struct range *b)
{
    struct buffer *words;

    if (certainty == CERTAINTY_NO) {
        return;
    }
    words = cause_begin(reasoner);
    buffer_add(words, slice_of(what));
    buffer_add(words, SLICE(" in "));
    add_quoted(words, a->text);
    buffer_add(words, SLICE(" and "));
    add_quoted(words, b->text);
    cause_end(reasoner, WHY_NAN, certainty);
}

struct range range_sum(struct reasoner *reasoner,
                       struct slice text,
                       const struct range *a,
                       const struct range *b,
                       bool is_difference)
{
    struct range result = combine(text, a, b);
    double low = is_difference ? -b->high : b->low;
    double high = is_difference ? -b->low : b->high;
    enum certainty opposed = certainty_either(
        overlaps(a, a->posinf, b, is_difference ? b->posinf : b->neginf),
        overlaps(a, a->neginf, b, is_difference ? b->neginf : b->posinf));

    report_overlap(reasoner, opposed, is_difference ? "Inf - Inf:" : "Inf + -Inf:", a,
                   b);
    result.nan = certainty_either(result.nan, opposed);
    if (result.is_bounded) {
        result.low = a->low + low;
        result.high = a->high + high;
    }
    mask_of_sum(&result, a, b, is_difference);
    set_zero(&result);
    range_overflow(reasoner, &result);
    return result;
}

/* The least and the greatest of what the corners give. */
static void set_corners(struct range *result, const double corners[4])
{
    result->low = result->high = corners[0];
    for (int i = 1; i < 4; i++) {
        result->low = fmin(result->low, corners[i]);
        result->high = fmax(result->high, corners[i]);
    }
}

struct range range_product(struct reasoner *reasoner,
                           struct slice text,
                           const struct range *a,
                           const struct range *b)
{
    struct range result = combine(text, a, b);
    enum certainty inf_a = certainty_either(a->posinf, a->neginf);
    enum certainty inf_b = certainty_either(b->posinf, b->neginf);
    enum certainty left = overlaps(a, a->zero, b, inf_b);
    enum certainty right = overlaps(a, inf_a, b, b->zero);

    report_overlap(reasoner, left, "0 * Inf:", a, b);
    report_overlap(reasoner, right, "Inf * 0:", a, b);
    result.nan = certainty_either(result.nan, certainty_either(left, right));
    if (result.is_bounded) {
        double corners[] = {a->low * b->low, a->low * b->high, a->high * b->low,
                            a->high * b->high};

        set_corners(&result, corners);
        if (a->input != NULL && a->input == b->input) {
            bool has_both = a->low < 0 && a->high > 0;

            result.low = has_both ? 0 : fmin(corners[0], corners[3]);
            result.is_attained = a->is_attained && !has_both;
        }
    }
    mask_of_product(&result, a, b);
    set_zero(&result);
    if (result.is_bounded && a->zero == CERTAINTY_NO && b->zero == CERTAINTY_NO) {
        result.zero = CERTAINTY_NO;
    }
    range_overflow(reasoner, &result);
    return result;
}

/* ---- division ---- */

static bool is_all_zero(const struct range *range)
{
    return range->is_bounded && range->low == 0 && range->high == 0;
}

static void
report_division(struct reasoner *reasoner, const struct range *a, const struct range *b)
{
    unsigned made = reasoner->question->made;
    bool is_both = (made & WHY_NAN) != 0 && a->zero != CERTAINTY_NO;
    unsigned makes =
        (a->zero != CERTAINTY_NO ? WHY_NAN : 0) | (is_all_zero(a) ? 0 : WHY_INF);
    enum certainty certainty = b->zero;
    struct buffer *words = cause_begin(reasoner);

    if (is_both && (made & WHY_INF) == 0) {
        buffer_add(words, SLICE("0/0: "));
    } else {
        buffer_add(words, SLICE("division by zero: "));
    }
    add_zeros(words, b);
    if (is_both && !slice_equal(a->text, b->text)) {
        buffer_add(words,
                   (made & WHY_INF) == 0 ? SLICE(", ") : SLICE(", and 0/0 is NaN: "));
        add_zeros(words, a);
    }
    /* Whether a zero stands above the zero is not known: only that it must, if NaN came. */
    if (a->zero == CERTAINTY_MAYBE && (made & WHY_INF) == 0) {
        certainty = certainty_both(certainty, CERTAINTY_MAYBE);
    }
    cause_end(reasoner, makes, certainty);
}

struct range range_quotient(struct reasoner *reasoner,
                            struct slice text,
                            const struct range *a,
                            const struct range *b)
{
    struct range result = combine(text, a, b);
    enum certainty infinite = overlaps(a, certainty_either(a->posinf, a->neginf), b,
                                       certainty_either(b->posinf, b->neginf));

    report_overlap(reasoner, infinite, "Inf / Inf:", a, b);
    result.nan = certainty_either(result.nan, infinite);
    if (b->zero != CERTAINTY_NO) {
        report_division(reasoner, a, b);
        result.is_bounded = false;
        result.is_attained = false;
        result.low = -INFINITY;
        result.high = INFINITY;
        result.nan =
            certainty_either(result.nan, certainty_both(a->zero, CERTAINTY_MAYBE));
        result.posinf = result.neginf = CERTAINTY_MAYBE;
        result.zero = a->zero;
        return result;
    }
    if (result.is_bounded && (b->low > 0 || b->high < 0)) {
        double corners[] = {a->low / b->low, a->low / b->high, a->high / b->low,
                            a->high / b->high};

        set_corners(&result, corners);
    } else {
        result.is_bounded = false;
        result.is_attained = false;
    }
    set_zero(&result);
    result.zero = a->zero == CERTAINTY_NO ? CERTAINTY_NO : result.zero;
    range_overflow(reasoner, &result);
    return result;
}

struct range range_remainder(struct reasoner *reasoner,
                             struct slice text,
                             const struct range *a,
                             const struct range *b)
{
    struct range result = combine(text, a, b);
    struct buffer *words;
    double limit = fmax(fabs(b->low), fabs(b->high));

    if (b->zero != CERTAINTY_NO) {
        words = cause_begin(reasoner);
        buffer_add(words, SLICE("remainder of a division by zero: "));
        add_zeros(words, b);
        cause_end(reasoner, WHY_NAN, b->zero);
        result.nan = certainty_either(result.nan, CERTAINTY_MAYBE);
    }
    result.is_bounded = b->is_bounded;
    result.low = -limit;
    result.high = limit;
    result.is_attained = false;
    set_zero(&result);
    return result;
}

/* ---- powers ---- */

static void
report_power(struct reasoner *reasoner, const struct range *a, double exponent)
{
    enum certainty negative = range_has_below(a, 0);
    struct buffer *words;

    if (exponent < 0 && a->zero != CERTAINTY_NO) {
        words = cause_begin(reasoner);
        buffer_add(words, SLICE("0 to a negative power gives Inf: "));
        add_zeros(words, a);
        cause_end(reasoner, WHY_INF, a->zero);
    }
    if (exponent != floor(exponent) && negative != CERTAINTY_NO) {
        words = cause_begin(reasoner);
        buffer_add(words, SLICE("a negative number to the power "));
        add_real(words, exponent);
        buffer_add(words, SLICE(": min of "));
        add_quoted(words, a->text);
        buffer_add(words, a->is_bounded ? SLICE(" is ") : SLICE(" is unknown"));
        if (a->is_bounded) {
            add_real(words, a->low);
        }
        cause_end(reasoner, WHY_NAN, negative);
    }
}

/* To powers of which several are possible. */
static void report_powers(struct reasoner *reasoner,
                          struct slice text,
                          const struct range *a,
                          const struct range *b)
{
    struct buffer *words;

    if (range_has_below(a, 0) != CERTAINTY_NO) {
        words = cause_begin(reasoner);
        buffer_add(words, SLICE("a negative number to a power that is no integer in "));
        add_quoted(words, text);
        cause_end(reasoner, WHY_NAN, CERTAINTY_MAYBE);
    }
    if (a->zero != CERTAINTY_NO && range_has_below(b, 0) != CERTAINTY_NO) {
        words = cause_begin(reasoner);
        buffer_add(words, SLICE("0 to a negative power gives Inf: "));
        add_zeros(words, a);
        cause_end(reasoner, WHY_INF, CERTAINTY_MAYBE);
    }
    words = cause_begin(reasoner);
    buffer_add(words, SLICE("overflow of "));
    add_quoted(words, text);
    cause_end(reasoner, WHY_INF, CERTAINTY_MAYBE);
}

/* To a fixed power. */
static void set_power(struct range *result, const struct range *a, double exponent)
{
    bool is_even = exponent == floor(exponent) && fmod(exponent, 2) == 0;
    double low = pow(fabs(a->low), exponent);
    double high = pow(fabs(a->high), exponent);

    if (exponent < 0 && a->zero != CERTAINTY_NO) {
        result->is_bounded = false;
        return;
    }
    if (exponent < 0 && a->low < 0 && a->high > 0) {
        result->is_bounded = false;
        return;
    }
    if (is_even || a->low >= 0) {
        result->low = a->low <= 0 && a->high >= 0 && exponent > 0 ? 0 : fmin(low, high);
        result->high = fmax(low, high);
    } else {
        result->low = copysign(low, a->low);
        result->high = copysign(high, a->high);
    }
}

struct range range_power(struct reasoner *reasoner,
                         struct slice text,
                         const struct range *a,
                         const struct range *b)
{
    struct range result = combine(text, a, b);

    if (b->is_bounded && b->low == b->high) {
        report_power(reasoner, a, b->low);
        if (result.is_bounded) {
            set_power(&result, a, b->low);
        }
    } else if (result.is_bounded && (a->low > 0 || (a->low == 0 && b->low >= 0))) {
        double corners[] = {pow(a->low, b->low), pow(a->low, b->high),
                            pow(a->high, b->low), pow(a->high, b->high)};

        set_corners(&result, corners);
    } else {
        report_powers(reasoner, text, a, b);
        result.is_bounded = false;
    }
    if (!result.is_bounded) {
        result.low = -INFINITY;
        result.high = INFINITY;
        result.is_attained = false;
        result.nan = certainty_either(result.nan, CERTAINTY_MAYBE);
        result.posinf = result.neginf = CERTAINTY_MAYBE;
    } else if (isinf(result.high) || isinf(result.low)) {
        result.high = fmin(result.high, 1.7976931348623157e308);
        result.low = fmax(result.low, -1.7976931348623157e308);
    }
    set_zero(&result);
    if (a->zero == CERTAINTY_NO && result.is_bounded) {
        result.zero = CERTAINTY_NO;
    }
    if (result.is_bounded) {
        range_overflow(reasoner, &result);
    }
    return result;
}

/* ---- products of matrices ---- */

/* How many products each sum has; 0: not known. */
static double inner_size(const struct range *a, const struct range *b)
{
    if (a->shape != NULL && a->dimension_count > 0) {
        return (double)a->shape[a->dimension_count - 1];
    }
    if (b->shape != NULL && b->dimension_count > 1) {
        return (double)b->shape[b->dimension_count - 2];
    }
    return b->shape != NULL && b->dimension_count == 1 ? (double)b->shape[0] : 0;
}

struct range range_matmul(struct reasoner *reasoner,
                          struct slice text,
                          const struct range *a,
                          const struct range *b)
{
    struct range result = combine(text, a, b);
    double size = inner_size(a, b);
    double reached = fmax(fabs(a->low), fabs(a->high)) *
                     fmax(fabs(b->low), fabs(b->high)) * (size > 0 ? size : 1);
    enum certainty inf_a = certainty_either(a->posinf, a->neginf);
    enum certainty inf_b = certainty_either(b->posinf, b->neginf);

    report_overlap(reasoner,
                   certainty_both(CERTAINTY_MAYBE, certainty_either(inf_a, inf_b)),
                   "Inf * 0, or Inf - Inf:", a, b);
    if (dtype_class(result.dtype) == DTYPE_CLASS_FLOATING &&
        dtype_greatest(reasoner->question->dtype) < dtype_greatest(result.dtype)) {
        result.dtype = reasoner->question->dtype; /* under autocast */
    }
    result.is_attained = false;
    result.shape = NULL;
    result.has_count = false;
    if (result.is_bounded) {
        result.low = -reached;
        result.high = reached;
        result.is_bounded = size > 0;
    }
    set_zero(&result);
    if (result.is_bounded) {
        range_overflow(reasoner, &result);
    }
    return result;
}
