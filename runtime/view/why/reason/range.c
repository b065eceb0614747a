/* Ranges: the known facts about a value inside a statement, and the effect of arithmetic on
 * them. */
#include "runtime/view/why/reason/range.h"

#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"

#include <float.h>
#include <math.h>

/* Additive masks: values whose elements are 0 except for a minimum that a line wrote. If an
 * addition or a narrower dtype turns the minimum into -Inf, that is intended: softmax turns it
 * into 0. */

/* The least distance of a mask's minimum below the values that it is added to. */
#define MINIMUM_LEAST 1e3
#define TOLERANCE     1e-6

static bool is_close(double a, double b, double scale)
{
    return fabs(a - b) <= TOLERANCE * fabs(scale);
}

/* Whether each finite element equals the least or the greatest one. This holds if and only if
 * the variance is the largest that is possible between them. */
static bool has_two_values(const struct why_input *input, double low, double high)
{
    const struct statistics *statistics = &input->statistics;
    double count = (double)statistics_finite_count(statistics);
    double variance =
        count < 2 ? 0 : statistics->std * statistics->std * (count - 1) / count;
    double most = (statistics->mean - low) * (high - statistics->mean);

    return input->dtype == DTYPE_BOOL ||
           (isfinite(most) && is_close(variance, most, (high - low) * (high - low)));
}

/* Whether the number is the least of a floating dtype, `torch.finfo(dtype).min`, which programs
 * write and no calculation gives. */
static bool is_least_of_dtype(double low)
{
    static const enum dtype dtypes[] = {DTYPE_FLOAT16, DTYPE_BFLOAT16, DTYPE_FLOAT32,
                                        DTYPE_FLOAT64};

    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (low == -dtype_greatest(dtypes[i])) {
            return true;
        }
    }
    return false;
}

void mask_of_input(struct range *range)
{
    const struct why_input *input = range->input;

    if (!range->is_bounded || input == NULL || !input->has_statistics) {
        return;
    }
    range->has_two_values = has_two_values(input, range->low, range->high);
    if (range->has_two_values && range->high == 0 &&
        (is_least_of_dtype(range->low) || input->is_mask)) {
        range->is_masked = true;
        range->plain_low = range->plain_high = 0;
    }
}

static bool is_constant(const struct range *range)
{
    return range->is_bounded && range->low == range->high && range->has_count &&
           range->count == 1 && range_is_finite(range);
}

static void
mask_of_either(struct range *either, const struct range *a, const struct range *b)
{
    const struct range *least = a->low < b->low ? a : b;
    const struct range *other = least == a ? b : a;

    either->is_masked = false;
    either->has_two_values = is_constant(a) && is_constant(b);
    if (either->is_bounded && is_constant(least) && least->low <= -MINIMUM_LEAST &&
        other->is_bounded && other->low > least->low) {
        either->is_masked = true;
        either->plain_low = other->low;
        either->plain_high = other->high;
    }
}

static void mask_of_sum(struct range *sum,
                        const struct range *a,
                        const struct range *b,
                        bool is_difference)
{
    double low = b->is_masked ? b->plain_low : b->low;
    double high = b->is_masked ? b->plain_high : b->high;

    sum->has_two_values =
        (a->has_two_values && is_constant(b)) || (is_constant(a) && b->has_two_values);
    if (!sum->is_bounded || !(a->is_masked || b->is_masked) ||
        (is_difference && b->is_masked)) {
        return;
    }
    sum->is_masked = true;
    sum->plain_low =
        (a->is_masked ? a->plain_low : a->low) + (is_difference ? -high : low);
    sum->plain_high =
        (a->is_masked ? a->plain_high : a->high) + (is_difference ? -low : high);
}

static void
mask_of_product(struct range *product, const struct range *a, const struct range *b)
{
    const struct range *two = a->has_two_values ? a : b;
    const struct range *number = two == a ? b : a;

    if (!product->is_bounded || !two->has_two_values || !is_constant(number)) {
        return;
    }
    product->has_two_values = true;
    if (product->high == 0 && product->low <= -MINIMUM_LEAST) {
        product->is_masked = true;
        product->plain_low = product->plain_high = 0;
    }
}

/* Whether only the mask's minimum is beyond the numbers of a dtype. */
static bool mask_overflows(const struct range *range, double greatest)
{
    return range->is_masked && range->high <= greatest && range->low < -greatest &&
           range->plain_low >= -greatest && range->plain_high <= greatest;
}

#define TEXT_LIMIT 70
#define DIGITS     4

struct range range_unknown(struct slice text)
{
    return (struct range){
        .text = text,
        .low = -INFINITY,
        .high = INFINITY,
        .is_tensor = true,
        .zero = CERTAINTY_MAYBE,
        .nan = CERTAINTY_MAYBE,
        .posinf = CERTAINTY_MAYBE,
        .neginf = CERTAINTY_MAYBE,
    };
}

struct range range_number(struct slice text, double number)
{
    return (struct range){
        .text = text,
        .low = number,
        .high = number,
        .is_bounded = isfinite(number),
        .is_attained = isfinite(number),
        .zero = number == 0 ? CERTAINTY_YES : CERTAINTY_NO,
        .nan = isnan(number) ? CERTAINTY_YES : CERTAINTY_NO,
        .posinf = isinf(number) && number > 0 ? CERTAINTY_YES : CERTAINTY_NO,
        .neginf = isinf(number) && number < 0 ? CERTAINTY_YES : CERTAINTY_NO,
        .has_count = true,
        .count = 1,
    };
}

enum certainty certainty_both(enum certainty a, enum certainty b)
{
    if (a == CERTAINTY_NO || b == CERTAINTY_NO) {
        return CERTAINTY_NO;
    }
    return a == CERTAINTY_YES && b == CERTAINTY_YES ? CERTAINTY_YES : CERTAINTY_MAYBE;
}

enum certainty certainty_either(enum certainty a, enum certainty b)
{
    return a > b ? a : b;
}

static enum certainty weaken(enum certainty certainty)
{
    return certainty == CERTAINTY_YES ? CERTAINTY_MAYBE : certainty;
}

struct range range_part(const struct range *whole, struct slice text)
{
    struct range part = *whole;

    part.text = text;
    part.is_attained = false;
    part.zero = weaken(whole->zero);
    part.nan = weaken(whole->nan);
    part.posinf = weaken(whole->posinf);
    part.neginf = weaken(whole->neginf);
    part.has_count = false;
    part.shape = NULL;
    part.input = NULL;
    if (whole->is_bounded && whole->low == 0 && whole->high == 0 &&
        range_is_finite(whole)) {
        part.zero = CERTAINTY_YES;
    }
    return part;
}

struct range range_selected(const struct range *whole, struct slice text)
{
    struct range selected = range_part(whole, text);

    selected.is_selected = true;
    return selected;
}

struct range range_either(const struct range *a, const struct range *b)
{
    struct range either = range_part(a, a->text);

    either.low = fmin(a->low, b->low);
    either.high = fmax(a->high, b->high);
    if (!a->is_bounded && (a->posinf | a->neginf) == CERTAINTY_YES) {
        either.low = b->low; /* `a` has infinities only, and no bounds */
        either.high = b->high;
    }
    if (!b->is_bounded && !b->is_tensor) {
        either.low = a->low;
        either.high = a->high;
    }
    either.is_bounded = (a->is_bounded || !a->is_tensor) &&
                        (b->is_bounded || !b->is_tensor) && isfinite(either.low) &&
                        isfinite(either.high);
    either.is_tensor = a->is_tensor || b->is_tensor;
    either.is_selected = a->is_selected && b->is_selected;
    either.zero = weaken(certainty_either(a->zero, b->zero));
    either.nan = weaken(certainty_either(a->nan, b->nan));
    either.posinf = weaken(certainty_either(a->posinf, b->posinf));
    either.neginf = weaken(certainty_either(a->neginf, b->neginf));
    either.dtype = a->dtype != DTYPE_OTHER ? a->dtype : b->dtype;
    mask_of_either(&either, a, b);
    return either;
}

struct range
range_mapped(const struct range *from, struct slice text, double low, double high)
{
    struct range mapped = *from;

    mapped.text = text;
    mapped.low = low;
    mapped.high = high;
    mapped.is_bounded = from->is_bounded && isfinite(low) && isfinite(high);
    mapped.input = NULL;
    mapped.is_masked = mapped.has_two_values = false;
    mapped.zero = low > 0 || high < 0 ? CERTAINTY_NO : CERTAINTY_MAYBE;
    if (mapped.is_attained && (low == 0 || high == 0)) {
        mapped.zero = CERTAINTY_YES;
    }
    mapped.posinf = mapped.neginf =
        weaken(certainty_either(from->posinf, from->neginf));
    return mapped;
}

bool range_is_finite(const struct range *range)
{
    return range->nan == CERTAINTY_NO && range->posinf == CERTAINTY_NO &&
           range->neginf == CERTAINTY_NO;
}

enum certainty range_has(const struct range *range, double value)
{
    if (value == 0) {
        return range->zero;
    }
    if (!range->is_bounded) {
        return CERTAINTY_MAYBE;
    }
    if (value < range->low || value > range->high) {
        return CERTAINTY_NO;
    }
    return range->is_attained && (value == range->low || value == range->high)
               ? CERTAINTY_YES
               : CERTAINTY_MAYBE;
}

enum certainty range_has_below(const struct range *range, double value)
{
    if (!range->is_bounded) {
        return range->low >= value ? CERTAINTY_NO : CERTAINTY_MAYBE;
    }
    if (range->low >= value) {
        return CERTAINTY_NO;
    }
    return range->is_attained || range->high < value ? CERTAINTY_YES : CERTAINTY_MAYBE;
}

enum certainty range_has_above(const struct range *range, double value)
{
    if (!range->is_bounded) {
        return range->high <= value ? CERTAINTY_NO : CERTAINTY_MAYBE;
    }
    if (range->high <= value) {
        return CERTAINTY_NO;
    }
    return range->is_attained || range->low > value ? CERTAINTY_YES : CERTAINTY_MAYBE;
}

double dtype_greatest(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_FLOAT16:
        return 65504;
    case DTYPE_BFLOAT16:
        return 3.3895313892515355e38;
    case DTYPE_FLOAT32:
        return FLT_MAX;
    case DTYPE_FLOAT64:
        return DBL_MAX;
    case DTYPE_FLOAT8_E5M2:
        return 57344;
    default:
        return INFINITY;
    }
}

/* ---- words ---- */

struct buffer *cause_begin(struct reasoner *reasoner)
{
    if (reasoner->count < CAUSES_MAX) {
        reasoner->causes[reasoner->count] =
            (struct cause){.start = reasoner->words.size};
    }
    return &reasoner->words;
}

void cause_end(struct reasoner *reasoner, unsigned makes, enum certainty certainty)
{
    struct cause *cause = &reasoner->causes[reasoner->count];

    if (reasoner->count == CAUSES_MAX) {
        return;
    }
    cause->makes = makes;
    cause->is_certain = certainty == CERTAINTY_YES;
    cause->end = reasoner->words.size;
    reasoner->count++;
}

void add_quoted(struct buffer *words, struct slice text)
{
    buffer_add_byte(words, '`');
    text_add_shortened(words, text, TEXT_LIMIT);
    buffer_add_byte(words, '`');
}

void add_real(struct buffer *words, double number)
{
    real_add_short(words, number, DIGITS);
}

void add_zeros(struct buffer *words, const struct range *range)
{
    add_quoted(words, range->text);
    if (range->input != NULL && range->input->has_statistics &&
        range->input->statistics.count > 1) {
        uint64_t count = range->input->statistics.zero_count;

        buffer_add(words, SLICE(" has "));
        buffer_add_number(words, count);
        buffer_add(words, count == 1 ? SLICE(" zero") : SLICE(" zeros"));
    } else if (range->input != NULL && !range->is_bounded) {
        buffer_add(words, SLICE(" is not recorded"));
    } else {
        buffer_add(words, range->input != NULL ? SLICE(" is 0") : SLICE(" was 0"));
    }
}

/* Reports a mask's minimum that becomes -Inf, as intended. */
static void report_mask(struct reasoner *reasoner, struct range *range)
{
    struct buffer *words = cause_begin(reasoner);

    buffer_add(words, SLICE("the minimum of a mask, "));
    add_real(words, range->low);
    buffer_add(words, SLICE(", is -Inf in "));
    buffer_add(words, slice_of(dtype_text(range->dtype)));
    cause_end(reasoner, WHY_NEGINF, CERTAINTY_YES);
    if (reasoner->count > 0) {
        reasoner->causes[reasoner->count - 1].is_written = true;
    }
    range->neginf = CERTAINTY_YES;
    range->low = range->plain_low;
    range->high = range->plain_high;
    range->is_attained = range->is_masked = range->has_two_values = false;
}

void range_overflow(struct reasoner *reasoner, struct range *range)
{
    double greatest = dtype_greatest(range->dtype);
    double reached = fmax(fabs(range->low), fabs(range->high));
    struct buffer *words;
    bool is_low;

    if (!range->is_tensor || !range->is_bounded || isinf(greatest) ||
        reached <= greatest || isnan(reached)) {
        return;
    }
    if (mask_overflows(range, greatest)) {
        report_mask(reasoner, range);
        return;
    }
    words = cause_begin(reasoner);
    buffer_add(words, SLICE("overflow of "));
    buffer_add(words, slice_of(dtype_text(range->dtype)));
    buffer_add(words, SLICE(": "));
    add_quoted(words, range->text);
    is_low = -range->low > range->high;
    buffer_add(words, range->is_attained ? SLICE(" is ") : SLICE(" can reach "));
    add_real(words, is_low ? -reached : reached);
    buffer_add(words, is_low ? SLICE(", below ") : SLICE(", above "));
    add_real(words, is_low ? -greatest : greatest);
    cause_end(reasoner, WHY_INF, range->is_attained ? CERTAINTY_YES : CERTAINTY_MAYBE);
    range->posinf = certainty_either(range->posinf, CERTAINTY_MAYBE);
    range->neginf = certainty_either(range->neginf, CERTAINTY_MAYBE);
    range->low = fmax(range->low, -greatest);
    range->high = fmin(range->high, greatest);
    range->is_attained = false; /* values beyond the bound became infinities */
}

/* The effect of arithmetic on ranges, and the ways in which it makes NaN and infinities. */

/* The dtype of a result: the wider floating one of the tensors. Numbers of Python do not count. */
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

/* The range of an operator's result on the elements of two values, without its bounds. */
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
        result.has_count = true; /* if one operand is empty, the result is empty */
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

/* Whether both values have the elements that make a NaN together. Certain only if one operand is
 * a single value, since the places of the elements are unknown. */
static enum certainty overlaps(const struct range *a,
                               enum certainty first,
                               const struct range *b,
                               enum certainty second)
{
    enum certainty both = certainty_both(first, second);

    return both == CERTAINTY_YES && !is_single(a) && !is_single(b) ? CERTAINTY_MAYBE
                                                                   : both;
}

/* Reports elements of two operands that make NaN together, such as 0 * Inf, unless `certainty`
 * is NO. */
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

/* Sets the bounds to the least and the greatest corner. */
static void set_corners(struct range *result, const double corners[4])
{
    result->low = result->high = corners[0];
    for (int i = 1; i < 4; i++) {
        result->low = fmin(result->low, corners[i]);
        result->high = fmax(result->high, corners[i]);
    }
}

static bool may_be_positive(const struct range *x)
{
    return !x->is_bounded || x->high > 0 || x->posinf != CERTAINTY_NO;
}

static bool may_be_negative(const struct range *x)
{
    return !x->is_bounded || x->low < 0 || x->neginf != CERTAINTY_NO;
}

/* Whether the infinities of `a` can become infinities of that sign in the product with `b`. */
static bool
may_give_infinity(const struct range *a, const struct range *b, bool is_positive)
{
    return (a->posinf != CERTAINTY_NO &&
            (is_positive ? may_be_positive(b) : may_be_negative(b))) ||
           (a->neginf != CERTAINTY_NO &&
            (is_positive ? may_be_negative(b) : may_be_positive(b)));
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
    if (!may_give_infinity(a, b, true) && !may_give_infinity(b, a, true)) {
        result.posinf = CERTAINTY_NO;
    }
    if (!may_give_infinity(a, b, false) && !may_give_infinity(b, a, false)) {
        result.neginf = CERTAINTY_NO;
    }
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
    /* The numerator is unknown where the divisor is 0. If the result is NaN, it was 0 too. */
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

/* Reports causes in a power with several possible exponents. */
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

/* Sets the bounds of a power with a fixed exponent. */
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

/* The number of products in each sum; 0 if it is not known. */
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
