/* What is known of a value inside a statement. */
#include "runtime/view/why/reason/range.h"

#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"

#include <float.h>
#include <math.h>

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
        either.low = b->low; /* an infinity alone has no bounds */
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

/* A mask's minimum becomes -Inf, and that is what it is for. */
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
    range->is_attained = false; /* what was beyond is an infinity */
}
