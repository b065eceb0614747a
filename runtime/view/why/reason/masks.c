/* Additive masks: values of which all are 0 but those that a line wrote as its minimum. What adding
 * them, or a narrower dtype, makes of that minimum is meant: -Inf, of which softmax makes 0. */
#include "runtime/view/why/reason/range.h"

#include <math.h>

/* A mask's minimum is at least so far below what it is added to. */
#define MINIMUM_LEAST 1e3
#define TOLERANCE     1e-6

static bool is_close(double a, double b, double scale)
{
    return fabs(a - b) <= TOLERANCE * fabs(scale);
}

/* Whether each finite element is the least or the greatest one: then, and only then, the variance
 * is as large as it can be between them. */
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

/* The least number of a floating dtype, `torch.finfo(dtype).min`: written, and never calculated. */
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

void mask_of_either(struct range *either, const struct range *a, const struct range *b)
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

void mask_of_sum(struct range *sum,
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

void mask_of_product(struct range *product,
                     const struct range *a,
                     const struct range *b)
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

bool mask_overflows(const struct range *range, double greatest)
{
    return range->is_masked && range->high <= greatest && range->low < -greatest &&
           range->plain_low >= -greatest && range->plain_high <= greatest;
}
