/* Functions of known names, and their effect on a range. */
#include "runtime/view/why/reason/call.h"

#include "runtime/view/words/number_text.h"

#include <math.h>

/* Functions that are not defined for all numbers: logarithms, roots, inverses, arcs. */

/* Appends a bound that is beyond an edge, with enough digits to show the difference. */
static void add_real_beyond(struct buffer *words, double value, double edge)
{
    bool is_near = fabs(value - edge) < 1e-3 * fmax(fabs(edge), 1e-3);

    if (is_near) {
        real_add_short(words, value, 9);
    } else {
        add_real(words, value);
    }
}

static void report_beyond(const struct call *call,
                          const char *words_before,
                          const char *bound,
                          double value,
                          double edge,
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
        add_real_beyond(words, value, edge);
    } else {
        add_quoted(words, call->x->text);
        buffer_add(words, SLICE(" has one"));
    }
    cause_end(call->reasoner, WHY_NAN, certainty);
}

static void report_zero(const struct call *call, const char *gives, unsigned makes)
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

/* Reports a point at the edge of the domain where the function is infinite. */
static void
report_point(const struct call *call, double point, const char *gives, unsigned makes)
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

/* The range of a rising function, where it is finite: between the images of the bounds. */
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

static struct range call_logarithm(const struct call *call)
{
    bool is_log1p = slice_equal(call->name, SLICE("log1p"));
    double edge = is_log1p ? -1 : 0;
    enum certainty at_edge = range_has(call->x, edge);
    struct range result;

    report_beyond(call, is_log1p ? " below -1" : " of a negative number", "min",
                  call->x->low, edge, range_has_below(call->x, edge));
    if (is_log1p) {
        report_point(call, -1, "-Inf", WHY_NEGINF);
    } else {
        report_zero(call, "-Inf", WHY_NEGINF);
    }
    result = rising(call, is_log1p ? log1p : log, edge, INFINITY);
    result.neginf = certainty_either(result.neginf, at_edge);
    return result;
}

static struct range call_square_root(const struct call *call)
{
    report_beyond(call, " of a negative number", "min", call->x->low, 0,
                  range_has_below(call->x, 0));
    return rising(call, sqrt, 0, INFINITY);
}

/* The range of 1 / x or 1 / sqrt(x). */
static struct range call_inverse(const struct call *call, bool is_root)
{
    const struct range *x = call->x;
    struct range result;

    if (is_root) {
        report_beyond(call, " of a negative number", "min", x->low, 0,
                      range_has_below(x, 0));
    }
    report_zero(call, "Inf", WHY_INF);
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

static struct range call_arc(const struct call *call, enum how how)
{
    const struct range *x = call->x;
    enum certainty outside;

    if (how == HOW_ACOSH) {
        report_beyond(call, " below 1", "min", x->low, 1, range_has_below(x, 1));
        return rising(call, acosh, 1, INFINITY);
    }
    if (how == HOW_LOGIT) {
        report_beyond(call, " above 1", "max", x->high, 1, range_has_above(x, 1));
        report_beyond(call, " below 0", "min", x->low, 0, range_has_below(x, 0));
        report_point(call, 1, "Inf", WHY_POSINF);
        report_zero(call, "-Inf", WHY_NEGINF);
        return range_unknown(call->expression->text);
    }
    outside = range_has_above(x, 1);
    report_beyond(call, " above 1", "max", x->high, 1, outside);
    report_beyond(call, " below -1", "min", x->low, -1, range_has_below(x, -1));
    if (how == HOW_ATANH) {
        report_point(call, 1, "Inf", WHY_POSINF);
        report_point(call, -1, "-Inf", WHY_NEGINF);
        return range_unknown(call->expression->text);
    }
    return range_mapped(x, call->expression->text, -3.15, 3.15);
}

/* Exponentials, and casts to narrower dtypes, which make values too large. */

enum dtype call_dtype(const struct call *call)
{
    return dtype_class(call->x->dtype) == DTYPE_CLASS_FLOATING
               ? call->x->dtype
               : call->reasoner->question->dtype;
}

/* Reports that the function overflows above the limit, with the operand's largest value. */
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

static struct range call_exponential(const struct call *call, enum how how)
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
    /* exp(-Inf) is 0 */
    result.zero =
        certainty_either(result.zero, certainty_both(x->neginf, CERTAINTY_MAYBE));
    result.posinf = certainty_either(x->posinf, beyond);
    result.is_attained = result.is_attained && beyond == CERTAINTY_NO;
    result.neginf = CERTAINTY_NO;
    return result;
}

static struct range call_cast(const struct call *call, enum dtype dtype)
{
    struct range result = *call->x;

    result.text = call->expression->text;
    result.input = NULL;
    result.dtype = dtype;
    range_overflow(call->reasoner, &result);
    return result;
}

/* The dtype that an argument such as `torch.float16`, `'float16'` or `dtype=torch.half` names.
 * DTYPE_OTHER if it names none. */
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

/* The range of `.to(…)` and `.type(…)`. */
static struct range call_convert(const struct call *call)
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
    /* `.to(other)` converts to the dtype of `other`. The dtype of the statement's result is the
     * best guess. */
    return call_cast(call, call->reasoner->question->dtype);
}

static const struct {
    const char *name;
    enum how how;
} functions[] = {
#define FUNCTION(name, how) {name, HOW_##how},
#include "runtime/view/why/reason/functions.def"
#undef FUNCTION
};

#define FUNCTION_COUNT (sizeof functions / sizeof *functions)

/* Classes of torch.nn whose objects only call a function. */
static const struct {
    const char *class_name;
    const char *function;
} classes[] = {
#define CLASS(class_name, function) {class_name, function},
#include "runtime/view/why/reason/classes.def"
#undef CLASS
};

struct slice range_function_of(struct slice class_name)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (slice_equal(class_name, slice_of(classes[i].class_name))) {
            return slice_of(classes[i].function);
        }
    }
    return SLICE("");
}

struct slice why_class_of(struct slice type)
{
    struct slice class_name = slice_last_part(type, '.');

    return slice_starts(type, SLICE("torch.nn.modules.")) &&
                   range_function_of(class_name).size > 0
               ? class_name
               : SLICE("");
}

const struct expression *call_argument(const struct call *call, const char *key)
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

const struct expression *call_nth(const struct call *call, int place)
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

bool call_has_rest(const struct call *call)
{
    const struct expressions *all = &call->reasoner->expressions;

    for (uint32_t i = call->expression->first; i != EXPRESSION_NONE;
         i = all->items[i].next) {
        if (all->items[i].kind == EXPRESSION_REST) {
            return true;
        }
    }
    return false;
}

bool expression_number(const struct expressions *all,
                       const struct expression *item,
                       double *number)
{
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

bool call_number(const struct call *call, const struct expression *item, double *number)
{
    return expression_number(&call->reasoner->expressions, item, number);
}

static struct range clamp(const struct call *call, enum how how)
{
    const struct range *x = call->x;
    int place = call->expression->left == EXPRESSION_NONE ? 1 : 0;
    const struct expression *least = call_argument(call, "min");
    const struct expression *most = call_argument(call, "max");
    struct range result = range_part(x, call->expression->text);
    double number;

    if (least == NULL && how != HOW_CLAMP_MAX) {
        least = call_nth(call, place);
    }
    if (most == NULL && how != HOW_CLAMP_MIN) {
        most = call_nth(call, how == HOW_CLAMP_MAX ? place : place + 1);
    }
    result.is_attained = x->is_attained;
    result.has_count = x->has_count;
    result.count = x->count;
    if (call_number(call, least, &number)) {
        result.low = fmax(x->low, number);
        result.high = fmax(x->high, number);
        result.neginf = CERTAINTY_NO;
    }
    if (call_number(call, most, &number)) {
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

/* The range of an array with equal elements. */
static struct range constant(const struct call *call, double number)
{
    struct range result = range_number(call->expression->text, number);

    result.is_tensor = true;
    result.has_count = false;
    return result;
}

static struct range two(const struct call *call, enum how how)
{
    struct slice text = call->expression->text;
    struct range unknown = range_unknown(text);
    const struct range *second = call->second == NULL ? &unknown : call->second;

    switch (how) {
    case HOW_DIVIDE:
        return range_quotient(call->reasoner, text, call->x, second);
    case HOW_MULTIPLY:
        return range_product(call->reasoner, text, call->x, second);
    case HOW_REMAINDER:
        return range_remainder(call->reasoner, text, call->x, second);
    case HOW_MATMUL:
        return range_matmul(call->reasoner, text, call->x, second);
    case HOW_POW:
        return range_power(call->reasoner, text, call->x, second);
    case HOW_EITHER:
    case HOW_FILL:
        return range_either(call->x, second);
    default:
        return range_sum(call->reasoner, text, call->x, second, how == HOW_SUBTRACT);
    }
}

/* The number of operands of `x.index_add(dim, index, source)`, with x. */
#define SCATTER_OPERANDS 4

/* Whether the source argument is known, and is not scaled or multiplied. */
static bool is_plain_scatter(const struct call *call)
{
    return call->operand_count == SCATTER_OPERANDS &&
           call_argument(call, "alpha") == NULL &&
           call_argument(call, "reduce") == NULL;
}

/* The range of `x` with elements of the source written over its own, or added to them. In the
 * worst case all are added to one element. */
static struct range scatter(const struct call *call, bool is_sum)
{
    struct range source = call->operands[SCATTER_OPERANDS - 1];
    struct range zero = range_number(SLICE("0"), 0);

    if (!is_sum) {
        return range_either(call->x, &source);
    }
    source.is_attained = source.is_attained && source.has_count && source.count == 1;
    if (source.has_count) {
        source.low = fmin(0, source.low * (double)source.count);
        source.high = fmax(0, source.high * (double)source.count);
    }
    source.is_bounded = source.is_bounded && source.has_count;
    source = range_either(&source, &zero);
    return range_sum(call->reasoner, call->expression->text, call->x, &source, false);
}

/* Notes that a function reduced many numbers, some of them infinite, to one. Such a result hides
 * the other numbers. A sum passes the infinity on; a loss turns the -Inf of a target into Inf. */
static void note_absorbed(const struct call *call, enum how how)
{
    const struct range *x = call->x;
    bool is_loss = how == HOW_CROSS_ENTROPY || how == HOW_LOSS;
    struct buffer *text;

    if (!call->reasoner->question->is_absorbed ||
        slice_starts(call->name, SLICE("cum")) ||
        !(is_loss || how == HOW_SUM || how == HOW_MEAN || how == HOW_NORM) ||
        certainty_either(x->posinf, x->neginf) != CERTAINTY_YES) {
        return;
    }
    text = cause_begin(call->reasoner);
    buffer_add(text, call->name);
    buffer_add(text, how == HOW_CROSS_ENTROPY && x->posinf != CERTAINTY_YES
                         ? SLICE(" of a target whose value is -Inf: ")
                         : SLICE(" of infinite elements: "));
    add_quoted(text, x->text);
    buffer_add(text,
               x->posinf == CERTAINTY_YES ? SLICE(" has Inf") : SLICE(" has -Inf"));
    cause_end(call->reasoner, WHY_INF, is_loss ? CERTAINTY_YES : CERTAINTY_MAYBE);
    if (call->reasoner->count > 0) {
        call->reasoner->causes[call->reasoner->count - 1].is_absorbing = true;
    }
}

static struct range apply(const struct call *call, enum how how)
{
    struct range two_number = range_number(SLICE("2"), 2);
    struct range zero_number = range_number(SLICE("0"), 0);

    switch (how) {
    case HOW_LOG:
    case HOW_LOG1P:
        return call_logarithm(call);
    case HOW_SQRT:
        return call_square_root(call);
    case HOW_RSQRT:
    case HOW_RECIPROCAL:
        return call_inverse(call, how == HOW_RSQRT);
    case HOW_EXP:
    case HOW_EXP2:
    case HOW_HYPERBOLIC:
        return call_exponential(call, how);
    case HOW_ARC:
    case HOW_ATANH:
    case HOW_ACOSH:
        return call_arc(call, how);
    case HOW_SQUARE:
        return range_power(call->reasoner, call->expression->text, call->x,
                           &two_number);
    case HOW_ABS:
        return absolute(call);
    case HOW_NEGATE:
        return range_mapped(call->x, call->expression->text, -call->x->high,
                            -call->x->low);
    case HOW_RELU:
        return range_mapped(call->x, call->expression->text, fmax(0, call->x->low),
                            fmax(0, call->x->high));
    case HOW_UNIT:
        return bounded(call, 0, 1);
    case HOW_SIGNED_UNIT:
        return bounded(call, -1, 1);
    case HOW_CLAMP:
    case HOW_CLAMP_MIN:
    case HOW_CLAMP_MAX:
        return clamp(call, how);
    case HOW_SOFTMAX:
        return call_softmax(call);
    case HOW_MEAN:
        return call_mean(call);
    case HOW_SUM:
        return call_sum(call);
    case HOW_SCATTER:
    case HOW_SCATTER_ADD:
        return scatter(call, how == HOW_SCATTER_ADD);
    case HOW_PRODUCT:
        return call_product(call);
    case HOW_STD:
        return call_deviation(call);
    case HOW_NORM:
        return call_norm(call);
    case HOW_PART:
        return range_part(call->x, call->expression->text);
    case HOW_PART_OF:
        return call_one_of(call);
    case HOW_SELECTED:
        return range_selected(call->x, call->expression->text);
    case HOW_PART_OR_TWO:
        return call->second == NULL || !call->second->is_tensor
                   ? range_part(call->x, call->expression->text)
                   : range_either(call->x, call->second);
    case HOW_ZEROS:
    case HOW_ONES:
        return constant(call, how == HOW_ONES ? 1 : 0);
    case HOW_FULL:
        return call
            ->operands[call->operand_count - 1]; /* the argument after the shape */
    case HOW_LINEAR:
        return call_linear(call);
    case HOW_CROSS_ENTROPY:
        return call_cross_entropy(call);
    case HOW_LOSS:
        return call_loss(call);
    case HOW_NORMALIZE:
        return call_normalize(call);
    case HOW_COSINE:
        return call_cosine(call);
    case HOW_LAYER_NORM:
        return call_layer_norm(call);
    case HOW_ATTENTION:
        return call_attention(call);
    case HOW_CLIP_GRADIENTS:
        return call_clip_gradients(call);
    case HOW_BETWEEN:
        return call_between(call);
    case HOW_ACTIVATION: /* within 1 of its operand or of 0 */
        return range_mapped(call->x, call->expression->text, fmin(call->x->low, 0) - 1,
                            fmax(call->x->high, 0) + 1);
    case HOW_TRIANGLE:
        return range_either(call->x, &zero_number);
    case HOW_EMBEDDING:
        return range_part(call->second == NULL ? call->x : call->second,
                          call->expression->text);
    case HOW_LOGIT: /* clamped if eps is given */
        return call_argument(call, "eps") != NULL || call->operand_count > 1
                   ? bounded(call, -745, 745)
                   : call_arc(call, HOW_LOGIT);
    case HOW_NAN_TO_NUM:
        return call_without_nan(call);
    case HOW_TO_HALF:
        return call_cast(call, DTYPE_FLOAT16);
    case HOW_TO_BFLOAT16:
        return call_cast(call, DTYPE_BFLOAT16);
    case HOW_TO_FLOAT:
        return call_cast(call, DTYPE_FLOAT32);
    case HOW_TO_DOUBLE:
        return call_cast(call, DTYPE_FLOAT64);
    case HOW_TO:
        return call_convert(call);
    case HOW_SAME:
        return same(call);
    default:
        return two(call, how);
    }
}

/* The function's index in the table; FUNCTION_COUNT if it is not known. */
static size_t find_function(struct slice name)
{
    size_t i = 0;

    if (name.size > 1 && slice_ends(name, SLICE("_"))) {
        name.size--;
    }
    while (i < FUNCTION_COUNT && !slice_equal(name, slice_of(functions[i].name))) {
        i++;
    }
    return i;
}

bool function_how(struct slice name, enum how *how)
{
    size_t found = find_function(name);

    if (found == FUNCTION_COUNT) {
        return false;
    }
    *how = functions[found].how;
    return true;
}

bool range_is_function(struct slice name)
{
    return find_function(name) < FUNCTION_COUNT;
}

bool range_reads(struct slice name, uint32_t place)
{
    size_t known = find_function(name);
    enum how how;

    if (known == FUNCTION_COUNT) {
        return slice_starts(name, SLICE("masked_fill")) ||
               slice_equal(name, SLICE("where"));
    }
    how = functions[known].how;
    switch (how) {
    case HOW_POW:
    case HOW_DIVIDE:
    case HOW_MULTIPLY:
    case HOW_ADD:
    case HOW_SUBTRACT:
    case HOW_REMAINDER:
    case HOW_MATMUL:
    case HOW_PART_OR_TWO:
    case HOW_EITHER:
    case HOW_FILL:
    case HOW_WHERE:
    case HOW_FULL:
    case HOW_LINEAR:
    case HOW_COSINE:
    case HOW_BETWEEN:
    case HOW_CROSS_ENTROPY:
        return true;
    case HOW_EMBEDDING:
        return place == 1;
    case HOW_SCATTER:
    case HOW_SCATTER_ADD:
        return place == 0 || place == SCATTER_OPERANDS - 1;
    case HOW_ZEROS:
    case HOW_ONES:
        return false;
    default:
        return place == 0;
    }
}

bool range_is_new(struct slice name)
{
    size_t known = find_function(name);

    return slice_starts(name, SLICE("new_")) && known < FUNCTION_COUNT;
}

bool range_gives_items(struct slice name)
{
    static const char *const names[] = {"enumerate", "zip",   "reversed", "sorted",
                                        "list",      "tuple", "iter",     "items",
                                        "values",    "tqdm"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (slice_equal(name, slice_of(names[i]))) {
            return true;
        }
    }
    return false;
}

bool range_hands_over(const struct expression *call)
{
    static const char *const functions_of_objects[] = {"getattr", "next"};
    static const char *const methods[] = {"get",     "pop",        "popleft",
                                          "popitem", "setdefault", "get_nowait"};

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (call->left != EXPRESSION_NONE &&
            slice_equal(call->word, slice_of(methods[i]))) {
            return true;
        }
    }
    return call->left == EXPRESSION_NONE &&
           (slice_equal(call->word, slice_of(functions_of_objects[0])) ||
            slice_equal(call->word, slice_of(functions_of_objects[1])));
}

static bool is_scatter(enum how how)
{
    return how == HOW_SCATTER || how == HOW_SCATTER_ADD;
}

static bool call_function(struct reasoner *reasoner,
                          const struct expression *expression,
                          const struct why_object *object,
                          const struct range *operands,
                          uint32_t count,
                          struct range *result)
{
    size_t known = find_function(expression->word);
    struct call call = {.reasoner = reasoner,
                        .expression = expression,
                        .name = expression->word,
                        .x = &operands[0],
                        .second = count > 1 ? &operands[1] : NULL,
                        .operands = operands,
                        .operand_count = count,
                        .object = object};

    if (known == FUNCTION_COUNT ||
        (is_scatter(functions[known].how) && !is_plain_scatter(&call))) {
        return false;
    }
    if (call.name.size > 1 && slice_ends(call.name, SLICE("_"))) {
        call.name.size--;
    }
    if (object != NULL) {
        call.name = object->class_name;
    }
    note_absorbed(&call, functions[known].how);
    *result = apply(&call, functions[known].how);
    result->text = expression->text;
    result->input = NULL;
    return true;
}

bool range_call(struct reasoner *reasoner,
                const struct expression *expression,
                const struct range *operands,
                uint32_t count,
                struct range *result)
{
    return call_function(reasoner, expression, NULL, operands, count, result);
}

bool range_call_object(struct reasoner *reasoner,
                       const struct expression *call,
                       const struct why_object *object,
                       const struct range *operands,
                       uint32_t count,
                       struct range *result)
{
    return call_function(reasoner, call, object, operands, count, result);
}
