/* The ranges of what a statement read, followed through its expression. */
#include "runtime/view/why_range.h"

#include <math.h>

/* ---- names ---- */

static enum certainty certainty_of(uint64_t count)
{
    return count > 0 ? CERTAINTY_YES : CERTAINTY_NO;
}

static struct range range_of_input(const struct why_input *input, struct slice text)
{
    const struct statistics *statistics = &input->statistics;
    struct range range;

    if (input->is_number) {
        range = range_number(text, input->number);
        range.input = input;
        return range;
    }
    range = range_unknown(text);
    range.input = input;
    range.dtype = input->dtype;
    range.shape = input->shape;
    range.dimension_count = input->dimension_count;
    if (!input->has_statistics) {
        return range;
    }
    range.has_count = true;
    range.count = statistics->count;
    range.zero = certainty_of(statistics->zero_count);
    range.nan = certainty_of(statistics->nan_count);
    range.posinf = certainty_of(statistics->posinf_count);
    range.neginf = certainty_of(statistics->neginf_count);
    if (dtype_class(input->dtype) != DTYPE_CLASS_COMPLEX &&
        statistics_finite_count(statistics) > 0) {
        range.low = statistics_bound_real(input->dtype, statistics->min);
        range.high = statistics_bound_real(input->dtype, statistics->max);
        range.is_bounded = isfinite(range.low) && isfinite(range.high);
        range.is_attained = range.is_bounded;
    }
    return range;
}

/* Traces spell subscripts with single quotes. */
static bool is_called(struct slice text, struct slice name)
{
    if (text.size != name.size) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        char byte = text.bytes[i] == '"' ? '\'' : text.bytes[i];

        if (byte != name.bytes[i]) {
            return false;
        }
    }
    return true;
}

static bool
find_input(const struct reasoner *reasoner, struct slice name, struct range *range)
{
    const struct why_question *question = reasoner->question;

    for (uint32_t i = 0; i < question->input_count; i++) {
        if (is_called(name, question->inputs[i].name)) {
            *range = range_of_input(&question->inputs[i], name);
            return true;
        }
    }
    return false;
}

static struct range written(struct reasoner *reasoner, struct slice text, double number)
{
    struct buffer *words = cause_begin(reasoner);
    unsigned makes = isnan(number) ? WHY_NAN : WHY_INF;

    buffer_add(words, SLICE("the statement names it: "));
    add_quoted(words, text);
    cause_end(reasoner, makes, CERTAINTY_YES);
    if (reasoner->count > 0) {
        reasoner->causes[reasoner->count - 1].is_written = true;
    }
    return range_number(text, number);
}

static struct range gradient(struct reasoner *reasoner, struct slice text)
{
    struct buffer *words = cause_begin(reasoner);

    add_quoted(words, text);
    buffer_add(words, SLICE(" is a gradient: what backward() does is not recorded line "
                            "by line"));
    cause_end(reasoner, WHY_NAN | WHY_INF, CERTAINTY_MAYBE);
    if (reasoner->count > 0) {
        reasoner->causes[reasoner->count - 1].is_outside = true;
    }
    return range_unknown(text);
}

/* `.T`, `.data` and their like: the elements are the same. */
static bool is_view_attribute(struct slice word)
{
    static const char *const words[] = {"T", "mT", "H", "mH", "data", "real"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_equal(word, slice_of(words[i]))) {
            return true;
        }
    }
    return false;
}

static struct range evaluate_name(struct reasoner *reasoner, struct slice name)
{
    struct slice last = slice_last_part(name, '.');
    struct range range;

    if (find_input(reasoner, name, &range)) {
        return range;
    }
    if (slice_equal(last, SLICE("inf")) || slice_equal(last, SLICE("infty"))) {
        return written(reasoner, name, INFINITY);
    }
    if (slice_equal(last, SLICE("nan"))) {
        return written(reasoner, name, NAN);
    }
    if (slice_equal(name, SLICE("math.pi"))) {
        return range_number(name, 3.141592653589793);
    }
    if (slice_equal(last, SLICE("grad"))) {
        return gradient(reasoner, name);
    }
    if (is_view_attribute(last) && last.size < name.size &&
        find_input(reasoner, slice_part(name, 0, name.size - last.size - 1), &range)) {
        range.text = name;
        range.shape = NULL;
        return range;
    }
    if (slice_equal(last, SLICE("eps"))) {
        range = range_unknown(name); /* whatever it is, it is small and no zero */
        range.low = 0;
        range.high = 1;
        range.is_bounded = true;
        range.zero = CERTAINTY_NO;
        range.nan = range.posinf = range.neginf = CERTAINTY_NO;
        range.is_tensor = false;
        range.has_count = true;
        range.count = 1;
        return range;
    }
    return range_unknown(name);
}

/* ---- expressions ---- */

static struct range evaluate_binary(struct reasoner *reasoner, uint32_t index)
{
    struct expression item = reasoner->expressions.items[index];
    struct range a = range_evaluate(reasoner, item.left);
    struct range b = range_evaluate(reasoner, item.right);
    struct slice word = item.word;

    if (slice_equal(word, SLICE("+")) || slice_equal(word, SLICE("-"))) {
        return range_sum(reasoner, item.text, &a, &b, word.bytes[0] == '-');
    }
    if (slice_equal(word, SLICE("*"))) {
        return range_product(reasoner, item.text, &a, &b);
    }
    if (slice_equal(word, SLICE("/")) || slice_equal(word, SLICE("//"))) {
        return range_quotient(reasoner, item.text, &a, &b);
    }
    if (slice_equal(word, SLICE("%"))) {
        return range_remainder(reasoner, item.text, &a, &b);
    }
    if (slice_equal(word, SLICE("**"))) {
        return range_power(reasoner, item.text, &a, &b);
    }
    if (slice_equal(word, SLICE("@"))) {
        return range_matmul(reasoner, item.text, &a, &b);
    }
    return range_unknown(item.text);
}

static struct range evaluate_unary(struct reasoner *reasoner, uint32_t index)
{
    struct expression item = reasoner->expressions.items[index];
    struct range x = range_evaluate(reasoner, item.left);
    struct range result;

    if (!slice_equal(item.word, SLICE("-"))) {
        return x;
    }
    result = x;
    result.text = item.text;
    result.low = -x.high;
    result.high = -x.low;
    result.posinf = x.neginf;
    result.neginf = x.posinf;
    return result;
}

/* `float('-inf')`, `float("nan")`. */
static bool read_float(struct slice text, double *number)
{
    static const struct {
        const char *text;
        double number;
    } known[] = {{"inf", INFINITY},      {"-inf", -INFINITY},      {"+inf", INFINITY},
                 {"infinity", INFINITY}, {"-infinity", -INFINITY}, {"nan", NAN},
                 {"Inf", INFINITY},      {"-Inf", -INFINITY},      {"NaN", NAN}};

    if (text.size < 2) {
        return false;
    }
    text = slice_part(text, 1, text.size - 1);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (slice_equal(text, slice_of(known[i].text))) {
            *number = known[i].number;
            return true;
        }
    }
    return false;
}

static struct range inside(struct reasoner *reasoner, struct slice text)
{
    struct buffer *words = cause_begin(reasoner);

    buffer_add(words, SLICE("inside "));
    add_quoted(words, text);
    cause_end(reasoner, WHY_NAN | WHY_INF, CERTAINTY_MAYBE);
    return range_unknown(text);
}

#define OPERANDS_MAX 4

/* Whether an argument that is given by that key is one that is calculated with. */
static bool is_operand(struct slice key)
{
    return key.size == 0 || slice_equal(key, SLICE("input")) ||
           slice_equal(key, SLICE("other")) || slice_equal(key, SLICE("value")) ||
           slice_equal(key, SLICE("fill_value"));
}

static bool is_masked(struct slice word)
{
    return slice_equal(word, SLICE("masked_fill")) ||
           slice_equal(word, SLICE("masked_fill_")) ||
           slice_equal(word, SLICE("where"));
}

/* `where(mask, a, b)`, `a.where(mask, b)`, `a.masked_fill(mask, b)`: one or the other. */
static struct range evaluate_masked(const struct expression *call,
                                    const struct range *operands)
{
    bool is_method = call->left != EXPRESSION_NONE;
    uint32_t first = slice_equal(call->word, SLICE("where")) && !is_method ? 1 : 0;
    struct range result = range_either(&operands[first], &operands[2]);

    result.text = call->text;
    return result;
}

static struct range evaluate_call(struct reasoner *reasoner, uint32_t index)
{
    struct expression item = reasoner->expressions.items[index];
    struct range operands[OPERANDS_MAX];
    struct range result;
    double number;
    uint32_t count = 0;
    bool is_of_value = true;

    if (item.left != EXPRESSION_NONE) {
        const struct expression *left = &reasoner->expressions.items[item.left];

        is_of_value = left->kind != EXPRESSION_NAME ||
                      find_input(reasoner, left->text, &operands[0]) ||
                      slice_equal(slice_last_part(left->text, '.'), SLICE("grad"));
        operands[count++] = range_evaluate(reasoner, item.left);
    }
    for (uint32_t i = item.first; i != EXPRESSION_NONE;
         i = reasoner->expressions.items[i].next) {
        const struct expression *argument = &reasoner->expressions.items[i];

        if (argument->kind == EXPRESSION_STRING && item.first == i &&
            slice_equal(item.word, SLICE("float")) &&
            read_float(argument->text, &number)) {
            return written(reasoner, item.text, number);
        }
        if (count < OPERANDS_MAX && argument->kind != EXPRESSION_STRING) {
            result = range_evaluate(reasoner, i);
            if (is_operand(argument->key)) {
                operands[count++] = result;
            }
        }
    }
    if (count == 0) {
        return slice_equal(item.word, SLICE("backward")) ? gradient(reasoner, item.text)
                                                         : inside(reasoner, item.text);
    }
    if (is_masked(item.word)) {
        return count < 3 ? inside(reasoner, item.text)
                         : evaluate_masked(&item, operands);
    }
    if (!is_of_value ||
        !range_call(reasoner, &reasoner->expressions.items[index], &operands[0],
                    count > 1 ? &operands[1] : NULL, &result)) {
        return inside(reasoner, item.text);
    }
    return result;
}

/* Whether no element may be left by this index, of those between the brackets. */
static bool is_selection(struct reasoner *reasoner, uint32_t index)
{
    static const char *const whole[] = {":", "::", "...", "None"};
    const struct expression *item = &reasoner->expressions.items[index];
    struct range range;

    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        if (slice_equal(item->text, slice_of(whole[i]))) {
            return false;
        }
    }
    switch (item->kind) {
    case EXPRESSION_NUMBER:
    case EXPRESSION_STRING:
        return false;
    case EXPRESSION_UNARY:
        return is_selection(reasoner, item->left);
    case EXPRESSION_NAME:
        return !find_input(reasoner, item->text, &range) || range.is_tensor;
    default:
        return true;
    }
}

static bool has_selection(struct reasoner *reasoner, uint32_t first)
{
    bool is_found = first == EXPRESSION_NONE;

    for (uint32_t i = first; i != EXPRESSION_NONE && !is_found;
         i = reasoner->expressions.items[i].next) {
        is_found = is_selection(reasoner, i);
    }
    return is_found;
}

static struct range evaluate_part(struct reasoner *reasoner, uint32_t index)
{
    struct expression item = reasoner->expressions.items[index];
    struct range range;

    if (find_input(reasoner, item.text, &range)) {
        return range;
    }
    if (item.kind == EXPRESSION_ATTRIBUTE && slice_equal(item.word, SLICE("grad"))) {
        return gradient(reasoner, item.text);
    }
    range = range_evaluate(reasoner, item.left);
    if (item.kind == EXPRESSION_ATTRIBUTE && is_view_attribute(item.word)) {
        range.text = item.text;
        return range;
    }
    return item.kind == EXPRESSION_INDEX && has_selection(reasoner, item.first)
               ? range_selected(&range, item.text)
               : range_part(&range, item.text);
}

static struct range evaluate_sequence(struct reasoner *reasoner, uint32_t index)
{
    struct expression item = reasoner->expressions.items[index];
    struct range all = range_unknown(item.text);
    bool is_first = true;

    for (uint32_t i = item.first; i != EXPRESSION_NONE;
         i = reasoner->expressions.items[i].next) {
        struct range one = range_evaluate(reasoner, i);

        all = is_first ? range_part(&one, item.text) : range_either(&all, &one);
        is_first = false;
    }
    all.text = item.text;
    return all;
}

struct range range_evaluate(struct reasoner *reasoner, uint32_t index)
{
    const struct expression *item;

    if (index == EXPRESSION_NONE) {
        return range_unknown(SLICE(""));
    }
    item = &reasoner->expressions.items[index];
    switch (item->kind) {
    case EXPRESSION_NAME:
        return evaluate_name(reasoner, item->text);
    case EXPRESSION_NUMBER:
        return range_number(item->text, item->number);
    case EXPRESSION_UNARY:
        return evaluate_unary(reasoner, index);
    case EXPRESSION_BINARY:
        return evaluate_binary(reasoner, index);
    case EXPRESSION_CALL:
        return evaluate_call(reasoner, index);
    case EXPRESSION_INDEX:
    case EXPRESSION_ATTRIBUTE:
        return evaluate_part(reasoner, index);
    case EXPRESSION_SEQUENCE:
        return evaluate_sequence(reasoner, index);
    default:
        return range_unknown(item->text);
    }
}
