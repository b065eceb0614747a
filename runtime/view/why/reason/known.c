/* Functions of torch that reduce many elements to one, and functions with their own ways to make
 * NaN: losses of no elements, normalization by zero, a variance that overflows, clipped
 * gradients. */
#include "runtime/view/why/reason/call.h"

#include <float.h>
#include <math.h>

/* Functions that reduce many elements to one. */

static bool has_dimension(const struct range *range, int64_t size)
{
    for (uint32_t i = 0; range->shape != NULL && i < range->dimension_count; i++) {
        if (range->shape[i] == size) {
            return true;
        }
    }
    return false;
}

/* Reports a value without elements, or with a dimension of size 0. */
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

    result.is_selected = false; /* an empty one would have raised an error */
    return result;
}

/* The recorded figures of all elements, if the call reduces all elements without further
 * arguments: `x.std()`, and not `x.std(0)`. NULL if they are not known, or if an element is not
 * finite. */
static const struct statistics *whole_statistics(const struct call *call)
{
    const struct why_input *input = call->x->input;

    if (input == NULL || !call->x->is_bounded ||
        call->expression->first != EXPRESSION_NONE ||
        call->expression->left == EXPRESSION_NONE || input->statistics.count < 2 ||
        statistics_finite_count(&input->statistics) < input->statistics.count) {
        return NULL;
    }
    return &input->statistics;
}

/* Narrows the bounds to a recorded figure, up to its rounding. A figure that is small beside the
 * elements gives no bound. */
static void narrow(struct range *result, const struct range *x, double figure)
{
    double most = fmax(fabs(x->low), fabs(x->high));
    double rounding = 0.01 * most;

    if (!isfinite(figure) || fabs(figure) <= rounding) {
        return;
    }
    result->low = fmax(result->low, figure - rounding);
    result->high = fmin(result->high, figure + rounding);
    result->is_attained = false;
    result->zero = CERTAINTY_NO;
}

/* Reports that the sum inside a mean may overflow. The sum is computed in the value's own dtype
 * if that is at least as wide as float32. `whole` is the figures of all elements, or NULL. */
static void report_sum(const struct call *call,
                       const struct statistics *whole,
                       struct range *result)
{
    const struct range *x = call->x;
    double greatest = dtype_greatest(x->dtype);
    double most = whole != NULL ? fabs(whole->mean) : fmax(fabs(x->low), fabs(x->high));
    struct buffer *words;

    most *= x->has_count ? (double)x->count : 1;
    if (!x->is_tensor || !x->is_bounded || dtype_size(x->dtype) < sizeof(float) ||
        isinf(greatest) || !(most > greatest)) {
        return;
    }
    words = cause_begin(call->reasoner);
    buffer_add_format(words, "overflow of %s: the sum of ", dtype_text(x->dtype));
    add_quoted(words, x->text);
    buffer_add(words, whole != NULL ? SLICE(" is ") : SLICE(" can reach "));
    buffer_add_format(words, "%.4g, above %.4g", most, greatest);
    cause_end(call->reasoner, WHY_INF, whole != NULL ? CERTAINTY_YES : CERTAINTY_MAYBE);
    result->posinf = certainty_either(result->posinf, CERTAINTY_MAYBE);
    result->neginf = certainty_either(result->neginf, CERTAINTY_MAYBE);
}

struct range call_mean(const struct call *call)
{
    const struct statistics *whole = whole_statistics(call);
    struct range result = call_one_of(call);

    report_nothing(call);
    if (result.low < 0 && result.high > 0) {
        result.zero = CERTAINTY_MAYBE;
    } else if (call->x->is_bounded && result.low >= 0 && result.high > 0 &&
               call->x->zero == CERTAINTY_NO) {
        result.zero = CERTAINTY_NO;
    }
    if (whole != NULL) {
        narrow(&result, call->x, whole->mean);
    }
    report_sum(call, whole, &result);
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
    const struct statistics *whole = whole_statistics(call);
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
    if (whole != NULL) {
        narrow(&result, x, whole->std);
    }
    if (slice_equal(call->name, SLICE("var"))) {
        result.low = result.low * result.low;
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

/* Finds an argument of the constructor that made the object, by its keyword or by its place from
 * 0 on. Fills `all`. Returns false if the constructor's call is not known, or may have passed
 * the argument in `*args`. */
static bool find_made_with(const struct why_object *object,
                           struct expressions *all,
                           const char *key,
                           int place,
                           const struct expression **item)
{
    const struct expression *made = NULL;

    *item = NULL;
    expression_read(all, object->maker);
    for (uint32_t i = 0; i < all->count && !all->has_failed; i++) {
        if (all->items[i].kind == EXPRESSION_CALL &&
            slice_equal(all->items[i].word, object->class_name)) {
            if (made != NULL) {
                return false; /* several calls: not known which */
            }
            made = &all->items[i];
        }
    }
    if (made == NULL) {
        return false;
    }
    for (uint32_t i = made->first; i != EXPRESSION_NONE; i = all->items[i].next) {
        const struct expression *argument = &all->items[i];

        if (argument->kind == EXPRESSION_REST) {
            return false;
        }
        if (argument->key.size > 0 ? slice_equal(argument->key, slice_of(key))
                                   : place-- == 0) {
            *item = argument;
        }
    }
    return true;
}

/* A setting of a function or object: its place among the function's arguments, and among those
 * of the constructor. */
struct setting {
    const char *key;
    int place;
    int place_in_class;
    double otherwise;
};

/* Finds the number of a setting, or its default if the call does not give it. Returns false if
 * it is not known. */
static bool
setting(const struct call *call, const struct setting *wanted, double *number)
{
    const struct expressions *all = &call->reasoner->expressions;
    const struct expression *item = call_argument(call, wanted->key);
    struct range range;

    *number = wanted->otherwise;
    if (call->object != NULL) {
        struct expressions made;

        return find_made_with(call->object, &made, wanted->key, wanted->place_in_class,
                              &item) &&
               (item == NULL || expression_number(&made, item, number));
    }
    if (item == NULL && wanted->place >= 0) {
        item = call_nth(call, wanted->place);
    }
    if (item == NULL) {
        return !call_has_rest(call);
    }
    call->reasoner->quiet++;
    range = range_evaluate(call->reasoner, (uint32_t)(item - all->items));
    call->reasoner->quiet--;
    *number = range.low;
    return range.is_bounded && range.low == range.high;
}

/* Whether a loss is the mean of its elements. */
static enum certainty is_mean(const struct call *call)
{
    const struct expression *item = call_argument(call, "reduction");
    struct expressions made;
    bool is_known = !call_has_rest(call);

    if (call->object != NULL) {
        is_known = find_made_with(call->object, &made, "reduction", -1, &item);
    }
    if (item == NULL || item->kind != EXPRESSION_STRING) {
        return is_known && item == NULL ? CERTAINTY_YES : CERTAINTY_MAYBE;
    }
    return slice_find(item->text, SLICE("mean"), 0) < item->text.size ? CERTAINTY_YES
                                                                      : CERTAINTY_NO;
}

static bool is_all_zero(const struct range *x)
{
    return x->is_bounded && x->low == 0 && x->high == 0 && range_is_finite(x);
}

static bool is_empty(const struct range *x)
{
    return x->has_count && x->count == 0;
}

static struct buffer *begin(const struct call *call, const char *words)
{
    struct buffer *text = cause_begin(call->reasoner);

    buffer_add(text, call->name);
    buffer_add(text, slice_of(words));
    return text;
}

/* Reports that the cause is inside the call, if no other cause was found. */
static struct range rest_of(const struct call *call, uint32_t causes)
{
    struct range result = range_unknown(call->expression->text);

    if (call->reasoner->count == causes) {
        struct buffer *text = cause_begin(call->reasoner);

        buffer_add(text, SLICE("inside "));
        add_quoted(text, call->expression->text);
        cause_end(call->reasoner, WHY_NAN | WHY_INF, CERTAINTY_MAYBE);
    }
    result.dtype = call_dtype(call);
    return result;
}

/* ---- losses ---- */

static void report_empty(const struct call *call, const struct range *x)
{
    struct buffer *text;

    if (is_empty(x)) {
        text = begin(call, " of nothing: ");
        add_quoted(text, x->text);
        buffer_add(text, SLICE(" is empty"));
        cause_end(call->reasoner, WHY_NAN, CERTAINTY_YES);
    }
}

static void report_ignored(const struct call *call, const struct range *target)
{
    double ignored;
    enum certainty mean = is_mean(call);
    bool is_known =
        setting(call, &(struct setting){"ignore_index", 4, 2, -100}, &ignored);
    struct buffer *text;

    if (mean == CERTAINTY_NO || !target->is_bounded || is_empty(target) ||
        target->low != target->high ||
        dtype_class(target->dtype) == DTYPE_CLASS_FLOATING || target->low != ignored) {
        return;
    }
    text = begin(call, " of nothing: every target in ");
    add_quoted(text, target->text);
    buffer_add(text, SLICE(" is "));
    add_real(text, target->low);
    buffer_add(text, SLICE(", which is ignored"));
    cause_end(call->reasoner, WHY_NAN,
              is_known && mean == CERTAINTY_YES ? CERTAINTY_YES : CERTAINTY_MAYBE);
}

struct range call_cross_entropy(const struct call *call)
{
    uint32_t causes = call->reasoner->count;
    const struct range *x = call->x;
    struct buffer *text;

    report_empty(call, x);
    if (call->second != NULL) {
        report_ignored(call, call->second);
    }
    if (x->posinf == CERTAINTY_YES) {
        text = begin(call, " of +Inf is Inf - Inf: ");
        add_quoted(text, x->text);
        buffer_add(text, SLICE(" has some"));
        cause_end(call->reasoner, WHY_NAN, CERTAINTY_YES);
    }
    if (x->neginf == CERTAINTY_YES) {
        text = begin(call, " of a target whose value is -Inf: ");
        add_quoted(text, x->text);
        buffer_add(text, SLICE(" has some"));
        cause_end(call->reasoner, WHY_INF, CERTAINTY_MAYBE);
        text = begin(call, " of a row that is -Inf everywhere, or of -Inf times 0: ");
        add_quoted(text, x->text);
        buffer_add(text, SLICE(" has -Inf"));
        cause_end(call->reasoner, WHY_NAN, CERTAINTY_MAYBE);
    }
    return rest_of(call, causes);
}

struct range call_loss(const struct call *call)
{
    uint32_t causes = call->reasoner->count;

    report_empty(call, call->x);
    return rest_of(call, causes);
}

/* ---- normalization ---- */

/* The least positive number of the dtype. */
static double dtype_least(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_FLOAT16:
        return 5.96e-8;
    case DTYPE_BFLOAT16:
        return 9.18e-41;
    case DTYPE_FLOAT32:
        return 1.4e-45;
    default:
        return 0;
    }
}

/* Reports a division of 0 by the greater of 0 and eps. `x` is a value that is divided by its
 * length. */
static void
report_length(const struct call *call, const struct range *x, double eps, bool is_known)
{
    enum dtype dtype = call_dtype(call);
    bool is_lost = eps < dtype_least(dtype) / 2;
    struct buffer *text;

    if (x->zero == CERTAINTY_NO || (is_known && eps > 0 && !is_lost)) {
        return;
    }
    text = begin(call, " of 0 is 0/0: ");
    add_zeros(text, x);
    if (!is_known) {
        buffer_add(text, SLICE(", eps is not recorded"));
    } else {
        buffer_add(text, SLICE(", eps is "));
        add_real(text, eps);
        if (eps > 0) {
            buffer_add(text, SLICE(", which is 0 in "));
            buffer_add(text, slice_of(dtype_text(dtype)));
        }
    }
    cause_end(call->reasoner, WHY_NAN,
              is_known && is_all_zero(x) ? CERTAINTY_YES : CERTAINTY_MAYBE);
}

struct range call_normalize(const struct call *call)
{
    uint32_t causes = call->reasoner->count;
    double eps;
    bool is_known = setting(call, &(struct setting){"eps", 3, -1, 1e-12}, &eps);
    struct range result;

    report_length(call, call->x, eps, is_known);
    if (range_is_finite(call->x) && call->x->is_bounded &&
        call->reasoner->count == causes) {
        result = range_mapped(call->x, call->expression->text, -1, 1);
        result.is_attained = false;
        return result;
    }
    return rest_of(call, causes);
}

struct range call_cosine(const struct call *call)
{
    uint32_t causes = call->reasoner->count;
    double eps;
    bool is_known = setting(call, &(struct setting){"eps", 3, 1, 1e-8}, &eps);

    report_length(call, call->x, eps, is_known);
    if (call->second != NULL) {
        report_length(call, call->second, eps, is_known);
    }
    return rest_of(call, causes);
}

struct range call_layer_norm(const struct call *call)
{
    const struct range *x = call->x;
    uint32_t causes = call->reasoner->count;
    double most = fmax(fabs(x->low), fabs(x->high));
    double eps;
    bool is_known = setting(call, &(struct setting){"eps", 4, 1, 1e-5}, &eps);
    struct buffer *text;

    if (x->is_bounded && x->dtype != DTYPE_FLOAT64 && most * most > FLT_MAX / 4) {
        text = begin(call, " squares its input, and the variance overflows float32: ");
        add_quoted(text, x->text);
        buffer_add(text, x->is_attained ? SLICE(" has ") : SLICE(" can reach "));
        add_real(text, most);
        cause_end(call->reasoner, WHY_NAN | WHY_INF, CERTAINTY_MAYBE);
    }
    if (is_known && eps == 0) {
        text = begin(call, " of a row whose values are equal is 0/0: eps is 0, of ");
        add_quoted(text, x->text);
        cause_end(call->reasoner, WHY_NAN,
                  x->is_bounded && x->low == x->high && range_is_finite(x)
                      ? CERTAINTY_YES
                      : CERTAINTY_MAYBE);
    }
    if (certainty_either(x->posinf, x->neginf) == CERTAINTY_YES) {
        text = begin(call, " of Inf is Inf - Inf: ");
        add_quoted(text, x->text);
        buffer_add(text, SLICE(" has some"));
        cause_end(call->reasoner, WHY_NAN, CERTAINTY_YES);
    }
    return rest_of(call, causes);
}

/* ---- attention ---- */

/* Whether the mask forbids any key: an element is True, or is -Inf in a mask that is added to
 * the scores. */
static bool mask_forbids(const struct range *mask)
{
    return mask->input != NULL && mask->input->has_statistics &&
           (mask->dtype == DTYPE_BOOL
                ? mask->input->statistics.zero_count < mask->input->statistics.count
                : mask->neginf == CERTAINTY_YES);
}

/* Reports an argument that may mask all keys of a query. The rows that it masks are not
 * recorded. */
static void report_mask(const struct call *call, const struct range *mask)
{
    const struct statistics *statistics;
    struct buffer *text;

    if (!mask_forbids(mask)) {
        return;
    }
    statistics = &mask->input->statistics;
    text = begin(call, " of a query all of whose keys are masked: ");
    add_quoted(text, mask->text);
    buffer_add(text, mask->dtype == DTYPE_BOOL ? SLICE(" is True at ")
                                               : SLICE(" is -Inf at "));
    buffer_add_number(text, mask->dtype == DTYPE_BOOL
                                ? statistics->count - statistics->zero_count
                                : statistics->neginf_count);
    buffer_add(text, SLICE(" of "));
    buffer_add_number(text, statistics->count);
    buffer_add(text, SLICE(" places"));
    cause_end(call->reasoner, WHY_NAN, CERTAINTY_MAYBE);
}

struct range call_attention(const struct call *call)
{
    const struct expressions *all = &call->reasoner->expressions;

    for (uint32_t i = call->expression->first; i != EXPRESSION_NONE;
         i = all->items[i].next) {
        if (all->items[i].kind == EXPRESSION_NAME) {
            struct range argument = range_evaluate(call->reasoner, i);

            report_mask(call, &argument);
        }
    }
    return rest_of(call, call->reasoner->count);
}

/* ---- gradients ---- */

/* Returns the norm of all gradients. The recorder does not see the gradients. */
struct range call_clip_gradients(const struct call *call)
{
    begin(call, " gives the norm of gradients: backward() made one that is not finite");
    cause_end(call->reasoner, WHY_NAN | WHY_INF, CERTAINTY_MAYBE);
    if (call->reasoner->count > 0) {
        call->reasoner->causes[call->reasoner->count - 1].is_outside = true;
    }
    begin(call, " squares gradients, and their sum overflows");
    cause_end(call->reasoner, WHY_INF, CERTAINTY_MAYBE);
    return range_unknown(call->expression->text);
}

/* ---- sizes, and values that are computed from them ---- */

/* A range from the least to the greatest of the arguments and 0. */
struct range call_between(const struct call *call)
{
    struct range result = range_number(call->expression->text, 0);

    for (uint32_t i = 0; i < call->operand_count; i++) {
        result = range_either(&result, &call->operands[i]);
    }
    result.text = call->expression->text;
    result.is_tensor = true;
    result.has_count = false;
    result.dtype = DTYPE_OTHER;
    return result;
}

/* The range of `nan_to_num`: finite. Infinities become the dtype's greatest numbers. */
struct range call_without_nan(const struct call *call)
{
    struct range result = range_part(call->x, call->expression->text);

    if (!range_is_finite(call->x)) {
        result.is_bounded = false;
        result.low = -INFINITY;
        result.high = INFINITY;
        result.zero = CERTAINTY_MAYBE;
    }
    result.nan = result.posinf = result.neginf = CERTAINTY_NO;
    return result;
}

/* The range of a module that sums products of its input with its weights. `why` has found the
 * weights finite, so only an overflow or an infinite input makes an infinity. */
static struct range call_products(const struct call *call)
{
    const struct range *x = call->x;
    enum dtype dtype = call->reasoner->question->dtype;
    struct buffer *text = cause_begin(call->reasoner);
    struct range result = range_unknown(call->expression->text);

    if (range_is_finite(x)) {
        buffer_add(text, SLICE("overflow of "));
        buffer_add(text, slice_of(dtype_text(dtype)));
        buffer_add(text, SLICE(": "));
        buffer_add(text, call->name);
        buffer_add(text, SLICE(" sums products with "));
        add_quoted(text, x->text);
        if (x->is_bounded) {
            buffer_add(text, x->is_attained ? SLICE(", which reaches ")
                                            : SLICE(", which can reach "));
            add_real(text, fmax(fabs(x->low), fabs(x->high)));
        }
        buffer_add(text, SLICE("; the greatest number is "));
        add_real(text, dtype_greatest(dtype));
    } else {
        buffer_add(text, call->name);
        buffer_add(text, SLICE(" sums products with Inf: in "));
        add_quoted(text, x->text);
    }
    cause_end(call->reasoner, WHY_NAN | WHY_INF, CERTAINTY_MAYBE);
    result.dtype = dtype;
    return result;
}

struct range call_linear(const struct call *call)
{
    struct range unknown = range_unknown(call->expression->text);
    const struct range *weight = call->second == NULL ? &unknown : call->second;
    struct range product;

    if (call->object != NULL) {
        return call_products(call);
    }
    product = range_matmul(call->reasoner, call->expression->text, call->x, weight);
    return call->operand_count < 3 ? product
                                   : range_sum(call->reasoner, call->expression->text,
                                               &product, &call->operands[2], false);
}
