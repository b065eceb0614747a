/* Evaluation of a statement's expression: the range of each part, computed from the ranges of
 * the values that the statement read. */
#include "runtime/view/why/reason/range.h"

#include <assert.h>
#include <math.h>

/* The number of recorded items of a container at which there may be more that were not recorded. */
#define PARTS_MAX 64

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
        mask_of_input(&range);
    }
    return range;
}

/* Compares two names. Traces write subscripts with single quotes. */
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

/* Whether the name is a part of `whole`: `state['w']` of `state`, `out.logits` of `out`. */
static bool is_part_of(struct slice name, struct slice whole)
{
    return name.size > whole.size && slice_starts(name, whole) &&
           (name.bytes[whole.size] == '[' || name.bytes[whole.size] == '.');
}

/* Finds the range of several values of one name, or of the recorded items of a container. */
static bool
find_parts(const struct reasoner *reasoner, struct slice name, struct range *range)
{
    const struct why_question *question = reasoner->question;
    uint32_t count = 0;

    for (uint32_t i = 0; i < question->input_count; i++) {
        const struct why_input *input = &question->inputs[i];
        struct range one;

        if (input->is_result ||
            (!is_called(name, input->name) && !is_part_of(input->name, name))) {
            continue;
        }
        one = range_of_input(input, name);
        *range = count++ == 0 ? range_part(&one, name) : range_either(range, &one);
    }
    if (count > 0 && (question->is_cut || count >= PARTS_MAX)) {
        *range = range_unknown(name); /* further values exist, and are unknown */
    }
    return count > 0;
}

static bool
find_input(const struct reasoner *reasoner, struct slice name, struct range *range)
{
    const struct why_question *question = reasoner->question;
    uint32_t count = 0;

    for (uint32_t i = reasoner->each_count; i > 0; i--) {
        if (slice_equal(reasoner->each[i - 1].word, name)) {
            *range = reasoner->each[i - 1].range;
            range->text = name;
            return true;
        }
    }
    for (uint32_t i = 0; i < question->input_count; i++) {
        if (!question->inputs[i].is_result &&
            is_called(name, question->inputs[i].name)) {
            *range = range_of_input(&question->inputs[i], name);
            count++;
        }
    }
    return count == 1 || find_parts(reasoner, name, range);
}

bool range_is_known(const struct reasoner *reasoner, struct slice name)
{
    static const char *const words[] = {"inf",  "infty", "nan",  "pi",
                                        "grad", "True",  "False"};
    struct slice last = slice_last_part(name, '.');
    struct range ignored;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_equal(last, slice_of(words[i]))) {
            return true;
        }
    }
    while (!find_input(reasoner, name, &ignored)) {
        if (slice_find(name, SLICE("."), 0) == name.size) {
            return false;
        }
        name.size -= slice_last_part(name, '.').size + 1;
    }
    return true;
}

/* The range of the value that a recorded call returned, or of its items. */
static struct range
range_of_result(const struct reasoner *reasoner, uint32_t first, struct slice text)
{
    const struct why_question *question = reasoner->question;
    struct range range = range_unknown(text);
    uint32_t count = 0;

    for (uint32_t i = first; i < question->input_count; i++) {
        const struct why_input *input = &question->inputs[i];
        struct range one;

        if (!input->is_result || input->call != question->inputs[first].call) {
            continue;
        }
        one = range_of_input(input, text);
        range = count++ == 0 ? (input->name.size == 0 ? one : range_part(&one, text))
                             : range_either(&range, &one);
    }
    return range;
}

/* Finds the item of a recorded call's value: `f(x)[0]`. */
static bool find_item(const struct reasoner *reasoner,
                      const struct expression *item,
                      struct range *range)
{
    const struct why_question *question = reasoner->question;
    const struct expression *call = &reasoner->expressions.items[item->left];
    struct slice rest;

    if (call->result == EXPRESSION_NONE || call->text.size > item->text.size) {
        return false;
    }
    rest = slice_part(item->text, call->text.size, item->text.size);
    for (uint32_t i = call->result; i < question->input_count; i++) {
        const struct why_input *input = &question->inputs[i];

        if (input->is_result && input->call == question->inputs[call->result].call &&
            is_called(rest, input->name)) {
            *range = range_of_input(input, item->text);
            return true;
        }
    }
    return false;
}

/* Reports a name without a recorded value. Its effect on the result is unknown. */
static struct range not_recorded(struct reasoner *reasoner, struct slice text)
{
    if (reasoner->quiet == 0) {
        struct buffer *words = cause_begin(reasoner);

        add_quoted(words, text);
        buffer_add(words, SLICE(" is not recorded"));
        cause_end(reasoner, WHY_NAN | WHY_INF, CERTAINTY_MAYBE);
    }
    return range_unknown(text);
}

static struct range evaluate_quietly(struct reasoner *reasoner, uint32_t index)
{
    struct range range;

    reasoner->quiet++;
    range = range_evaluate(reasoner, index);
    reasoner->quiet--;
    return range;
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
    buffer_add(words, SLICE(" is a gradient: backward() is not recorded line by line"));
    cause_end(reasoner, WHY_NAN | WHY_INF, CERTAINTY_MAYBE);
    if (reasoner->count > 0) {
        reasoner->causes[reasoner->count - 1].is_outside = true;
    }
    return range_unknown(text);
}

/* Whether the attribute has the same elements, as `.T` and `.data` have. */
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
    if (slice_equal(name, SLICE("True")) || slice_equal(name, SLICE("False"))) {
        return range_number(name, name.bytes[0] == 'T');
    }
    return slice_equal(name, SLICE("None")) ? range_unknown(name)
                                            : not_recorded(reasoner, name);
}

/* ---- expressions ---- */

static struct range evaluate_binary(struct reasoner *reasoner, uint32_t index)
{
    assert(index < reasoner->expressions.count);

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
    assert(index < reasoner->expressions.count);

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
    result.is_masked = false;
    return result;
}

/* Reads a number such as `float('-inf')` or `float("nan")`. */
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

/* Whether an argument with that keyword is an operand, and not a setting. */
static bool is_operand(struct slice key)
{
    return key.size == 0 || slice_equal(key, SLICE("input")) ||
           slice_equal(key, SLICE("other")) || slice_equal(key, SLICE("value")) ||
           slice_equal(key, SLICE("fill_value")) || slice_equal(key, SLICE("target"));
}

static bool is_masked(struct slice word)
{
    return slice_equal(word, SLICE("masked_fill")) ||
           slice_equal(word, SLICE("masked_fill_")) ||
           slice_equal(word, SLICE("where"));
}

/* The range of `where(mask, a, b)`, `a.where(mask, b)` or `a.masked_fill(mask, b)`: either
 * value. */
static struct range evaluate_masked(const struct expression *call,
                                    const struct range *operands)
{
    bool is_method = call->left != EXPRESSION_NONE;
    uint32_t first = slice_equal(call->word, SLICE("where")) && !is_method ? 1 : 0;
    struct range result = range_either(&operands[first], &operands[2]);

    result.text = call->text;
    return result;
}

/* Whether the call gives a number by its name, as `float('-inf')` does. */
static bool is_named_number(const struct reasoner *reasoner,
                            const struct expression *call,
                            double *number)
{
    const struct expression *first;

    if (!slice_equal(call->word, SLICE("float")) || call->first == EXPRESSION_NONE) {
        return false;
    }
    first = &reasoner->expressions.items[call->first];
    return first->kind == EXPRESSION_STRING && read_float(first->text, number);
}

/* Evaluates the object of a method and the arguments. Stores the operands among them in
 * `operands`, and returns their number. */
static uint32_t evaluate_operands(struct reasoner *reasoner,
                                  const struct expression *call,
                                  struct range operands[OPERANDS_MAX],
                                  bool *is_of_value)
{
    uint32_t count = 0;

    *is_of_value = true;
    if (call->left != EXPRESSION_NONE) {
        const struct expression *left = &reasoner->expressions.items[call->left];

        *is_of_value = left->kind != EXPRESSION_NAME ||
                       find_input(reasoner, left->text, &operands[0]) ||
                       slice_equal(slice_last_part(left->text, '.'), SLICE("grad"));
        operands[count++] = *is_of_value ? range_evaluate(reasoner, call->left)
                                         : range_unknown(left->text);
    }
    for (uint32_t i = call->first; i != EXPRESSION_NONE;
         i = reasoner->expressions.items[i].next) {
        const struct expression *argument = &reasoner->expressions.items[i];
        bool is_read =
            is_operand(argument->key) && *is_of_value && range_reads(call->word, count);
        struct range range;

        if (count == OPERANDS_MAX || argument->kind == EXPRESSION_STRING) {
            continue;
        }
        range = is_read ? range_evaluate(reasoner, i) : evaluate_quietly(reasoner, i);
        if (is_operand(argument->key)) {
            operands[count++] = range;
        }
    }
    return count;
}

/* Finds the object that is called, as in `loss_fct(x, y)`, `self.criterion(x, y)` or
 * `nn.CrossEntropyLoss()(x, y)`. Returns false if none of a known class is. */
static bool find_object(const struct reasoner *reasoner,
                        const struct expression *call,
                        struct why_object *object)
{
    const struct why_question *question = reasoner->question;
    const struct expression *left =
        call->left == EXPRESSION_NONE ? NULL : &reasoner->expressions.items[call->left];

    if (left != NULL && left->kind == EXPRESSION_CALL && call->word.size == 0) {
        *object = (struct why_object){SLICE(""), left->word, question->statement};
        return range_function_of(left->word).size > 0;
    }
    for (uint32_t i = 0; i < question->object_count; i++) {
        struct slice name = question->objects[i].name;
        struct slice of = left == NULL ? SLICE("") : left->text;
        bool is_it = left == NULL
                         ? slice_equal(name, call->word)
                         : name.size == of.size + 1 + call->word.size &&
                               slice_starts(name, of) && name.bytes[of.size] == '.' &&
                               slice_ends(name, call->word);

        if (is_it && (left == NULL || left->kind == EXPRESSION_NAME)) {
            *object = question->objects[i];
            return object->class_name.size > 0;
        }
    }
    return false;
}

static bool
evaluate_object(struct reasoner *reasoner, uint32_t index, struct range *result)
{
    assert(index < reasoner->expressions.count);

    struct expression call = reasoner->expressions.items[index];
    struct range operands[OPERANDS_MAX];
    struct why_object object;
    uint32_t count;
    bool is_of_value;

    if (!find_object(reasoner, &call, &object)) {
        return false;
    }
    call.word = range_function_of(object.class_name);
    call.left = EXPRESSION_NONE;
    count = evaluate_operands(reasoner, &call, operands, &is_of_value);
    return count > 0 &&
           range_call_object(reasoner, &call, &object, operands, count, result);
}

static struct range evaluate_call(struct reasoner *reasoner, uint32_t index)
{
    assert(index < reasoner->expressions.count);

    const struct expression *item = &reasoner->expressions.items[index];
    struct range operands[OPERANDS_MAX];
    struct range result;
    double number;
    uint32_t count;
    bool is_of_value;

    if (item->result != EXPRESSION_NONE) {
        return range_of_result(reasoner, item->result, item->text);
    }
    if (is_named_number(reasoner, item, &number)) {
        return written(reasoner, item->text, number);
    }
    if (range_hands_over(item)) {
        return not_recorded(reasoner, item->text);
    }
    if (index != reasoner->callee && evaluate_object(reasoner, index, &result)) {
        return result;
    }
    count = evaluate_operands(reasoner, item, operands, &is_of_value);
    if (index == reasoner->callee) {
        return range_unknown(item->text); /* the call has not started yet */
    }
    if (count == 0) {
        return slice_equal(item->word, SLICE("backward"))
                   ? gradient(reasoner, item->text)
                   : inside(reasoner, item->text);
    }
    if (is_masked(item->word)) {
        return count < 3 ? inside(reasoner, item->text)
                         : evaluate_masked(item, operands);
    }
    if ((!is_of_value && !range_is_new(item->word)) ||
        !range_call(reasoner, item, operands, count, &result)) {
        return inside(reasoner, item->text);
    }
    return result;
}

/* Whether an index may select no element at all. The index is one of those between the brackets. */
static bool is_selection(struct reasoner *reasoner, uint32_t index)
{
    assert(index < reasoner->expressions.count);

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
    assert(index < reasoner->expressions.count);

    struct expression item = reasoner->expressions.items[index];
    struct range range;

    if (find_input(reasoner, item.text, &range) ||
        (item.left != EXPRESSION_NONE && find_item(reasoner, &item, &range))) {
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
    assert(index < reasoner->expressions.count);

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

/* The range of a comprehension such as `[x.log() for x in xs]`: that of its value for one item
 * of `xs`. */
static struct range evaluate_each(struct reasoner *reasoner, uint32_t index)
{
    assert(index < reasoner->expressions.count);

    struct expression item = reasoner->expressions.items[index];
    struct range whole = evaluate_quietly(reasoner, item.right);
    struct range one;

    if (reasoner->each_count == EACH_MAX) {
        return range_unknown(item.text);
    }
    reasoner->each[reasoner->each_count++] =
        (struct each){item.word, range_part(&whole, item.word)};
    one = range_evaluate(reasoner, item.left);
    reasoner->each_count--;
    return range_part(&one, item.text);
}

static struct range evaluate_either(struct reasoner *reasoner, uint32_t index)
{
    assert(index < reasoner->expressions.count);

    struct expression item = reasoner->expressions.items[index];
    struct range left = range_evaluate(reasoner, item.left);
    struct range right = range_evaluate(reasoner, item.right);

    left = range_either(&left, &right);
    left.text = item.text;
    return left;
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
    case EXPRESSION_EITHER:
        return evaluate_either(reasoner, index);
    case EXPRESSION_EACH:
        return evaluate_each(reasoner, index);
    default:
        return range_unknown(item->text);
    }
}
