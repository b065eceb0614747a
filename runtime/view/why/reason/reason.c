/* Reason for a statement's NaN or infinity. The statement's expression is evaluated with the
 * ranges of its inputs; each step that can have made a NaN or an infinity is noted as a cause.
 * This file chooses among the causes. */
#include "runtime/view/why/reason/reason.h"

#include "runtime/view/why/reason/call.h"
#include "runtime/view/why/reason/range.h"

#include <assert.h>
#include <math.h>

/* Matching of the recorded calls of a statement with the expressions of its text. The value that
 * a recorded call returned is known, and was not made inside of the expression. */

static struct slice own_name(struct slice qualified)
{
    return slice_last_part(qualified, '.');
}

/* Whether the function runs when an object is called: `self.norm(x)`. */
static bool is_of_object(struct slice name)
{
    return slice_equal(name, SLICE("forward")) || slice_equal(name, SLICE("__call__"));
}

/* Whether the expression may be the call of that function. */
static bool may_call(const struct expression *item, const struct why_input *result)
{
    struct slice name = own_name(result->callee);

    if (item->kind != EXPRESSION_CALL) {
        return false;
    }
    if (slice_equal(item->word, name)) {
        return true;
    }
    return is_of_object(name) && !item->is_library &&
           (result->path.size == 0 || item->word.size == 0 ||
            slice_equal(own_name(result->path), item->word));
}

static bool is_first_of_call(const struct why_question *question, uint32_t index)
{
    assert(index < question->input_count);
    for (uint32_t i = 0; i < index; i++) {
        if (question->inputs[i].is_result &&
            question->inputs[i].call == question->inputs[index].call) {
            return false;
        }
    }
    return question->inputs[index].is_result;
}

static bool is_same_function(const struct why_input *a, const struct why_input *b)
{
    return slice_equal(a->callee, b->callee) && slice_equal(a->path, b->path);
}

/* The number of recorded calls of the function of this input. */
static uint32_t count_calls(const struct why_question *question, uint32_t index)
{
    uint32_t count = 0;

    assert(index < question->input_count);
    for (uint32_t i = 0; i < question->input_count; i++) {
        count += is_first_of_call(question, i) &&
                 is_same_function(&question->inputs[i], &question->inputs[index]);
    }
    return count;
}

static uint32_t count_places(const struct expressions *all,
                             const struct why_input *result)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < all->count; i++) {
        count += may_call(&all->items[i], result);
    }
    return count;
}

/* The index of a call among those of its function, in the order in which they returned. */
static uint32_t rank_of(const struct why_question *question, uint32_t index)
{
    uint32_t rank = 0;

    assert(index < question->input_count);
    for (uint32_t i = 0; i < index; i++) {
        rank += is_first_of_call(question, i) &&
                is_same_function(&question->inputs[i], &question->inputs[index]);
    }
    return rank;
}

/* Matches recorded calls with expressions. Expressions are stored in the order in which they
 * end, and calls are evaluated in the same order. If a function has as many expressions as
 * recorded calls, they are therefore matched in order. */
static void calls_match(struct reasoner *reasoner)
{
    const struct why_question *question = reasoner->question;
    struct expressions *all = &reasoner->expressions;

    for (uint32_t i = 0; i < question->input_count; i++) {
        const struct why_input *result = &question->inputs[i];
        uint32_t rank;

        if (!is_first_of_call(question, i) ||
            count_places(all, result) != count_calls(question, i)) {
            continue;
        }
        rank = rank_of(question, i);
        for (uint32_t k = 0; k < all->count; k++) {
            if (may_call(&all->items[k], result) && rank-- == 0) {
                all->items[k].result = i;
                break;
            }
        }
    }
}

/* ---- arguments ---- */

/* Whether the expression creates an object of the class: `Norm(8)` calls `Norm.__init__`. */
static bool may_make(const struct expression *item, const struct why_question *question)
{
    struct slice class = question->callee;

    if (item->kind != EXPRESSION_CALL || !slice_ends(class, SLICE(".__init__"))) {
        return false;
    }
    class = own_name(slice_part(class, 0, class.size - strlen(".__init__")));
    return slice_equal(item->word, class) ||
           (question->class_name.size > 0 &&
            slice_equal(item->word, question->class_name));
}

/* The only expression that calls the function of the argument in question. EXPRESSION_NONE if
 * there are none or several. */
static uint32_t find_callee(const struct reasoner *reasoner)
{
    const struct why_question *question = reasoner->question;
    struct why_input callee = {.callee = question->callee,
                               .path = question->callee_path};
    uint32_t found = EXPRESSION_NONE;

    for (uint32_t i = 0; i < reasoner->expressions.count; i++) {
        const struct expression *item = &reasoner->expressions.items[i];

        if (!may_make(item, question) && !may_call(item, &callee)) {
            continue;
        }
        if (found != EXPRESSION_NONE) {
            return EXPRESSION_NONE;
        }
        found = i;
    }
    return found;
}

/* Finds the expression that gives the parameter in question its value. */
static enum call_given calls_find_argument(struct reasoner *reasoner,
                                           uint32_t *argument)
{
    const struct why_question *question = reasoner->question;
    const struct expressions *all = &reasoner->expressions;
    uint32_t callee = find_callee(reasoner);
    uint32_t place = 0;
    bool has_rest = false;

    if (callee == EXPRESSION_NONE) {
        return CALL_GIVEN_UNKNOWN;
    }
    reasoner->callee = callee;
    for (uint32_t i = all->items[callee].first; i != EXPRESSION_NONE;
         i = all->items[i].next) {
        const struct expression *item = &all->items[i];

        if (item->kind == EXPRESSION_REST) {
            has_rest = true;
        } else if (item->key.size > 0 ? slice_equal(item->key, question->parameter)
                                      : !has_rest && place++ == question->position) {
            *argument = i;
            return CALL_GIVEN;
        }
    }
    return has_rest ? CALL_GIVEN_UNKNOWN : CALL_GIVEN_NOT;
}

#define REPORTED_MAX 3

/* Reports an overflow by a cast that the text does not show: the target of the assignment has a
 * narrower dtype. */
static void judge_result(struct reasoner *reasoner, struct range *result)
{
    const struct why_question *question = reasoner->question;

    if (dtype_class(question->dtype) == DTYPE_CLASS_FLOATING &&
        result->dtype != question->dtype && result->is_bounded) {
        result->dtype = question->dtype;
        result->is_tensor = true;
        range_overflow(reasoner, result);
    }
}

static bool is_wanted(const struct cause *cause, unsigned made, bool is_certain)
{
    return (cause->makes & made) != 0 && cause->is_certain == is_certain;
}

/* Keeps only the causes that reduce many numbers to one, for a question about absorbed
 * infinities. */
static void keep_absorbing(struct reasoner *reasoner)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < reasoner->count; i++) {
        if (reasoner->causes[i].is_absorbing) {
            reasoner->causes[kept++] = reasoner->causes[i];
        }
    }
    reasoner->count = kept;
}

static uint32_t
count_wanted(const struct reasoner *reasoner, unsigned made, bool is_certain)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < reasoner->count; i++) {
        count += is_wanted(&reasoner->causes[i], made, is_certain);
    }
    return count;
}

static void add_causes(const struct reasoner *reasoner,
                       unsigned made,
                       bool is_certain,
                       struct slice separator,
                       struct buffer *text,
                       struct why_answer *answer)
{
    uint32_t reported = 0;

    answer->is_written = true;
    for (uint32_t i = 0; i < reasoner->count && reported < REPORTED_MAX; i++) {
        const struct cause *cause = &reasoner->causes[i];

        if (is_wanted(cause, made, is_certain)) {
            buffer_add(text, reported++ > 0 ? separator : SLICE(""));
            buffer_add(text, slice_part(buffer_slice(&reasoner->words), cause->start,
                                        cause->end));
            answer->is_written = answer->is_written && cause->is_written;
            answer->is_outside = answer->is_outside || cause->is_outside;
        }
    }
    answer->is_written = answer->is_written && reported > 0;
    answer->is_reported = reported > 0;
}

static bool makes_certainly(const struct reasoner *reasoner, unsigned made)
{
    return count_wanted(reasoner, made, true) > 0;
}

/* For a NaN without a certain cause, adds the steps that made an infinity before it. */
static unsigned widen(const struct reasoner *reasoner, unsigned made)
{
    if ((made & WHY_NAN) == 0) {
        return made;
    }
    return makes_certainly(reasoner, made) ? made : made | WHY_INF;
}

/* Appends the step that turned infinities of the same statement into NaN. */
static void add_way(const struct reasoner *reasoner, unsigned made, struct buffer *text)
{
    struct why_answer ignored = {0};

    if ((made & WHY_NAN) != 0 && !makes_certainly(reasoner, WHY_NAN) &&
        count_wanted(reasoner, WHY_NAN, false) == 1) {
        buffer_add(text, SLICE("; then "));
        add_causes(reasoner, WHY_NAN, false, SLICE(""), text, &ignored);
    }
}

/* The name that a part belongs to: `batch` for `batch['x'][0]`. */
static const struct expression *base_of(const struct expressions *all, uint32_t index)
{
    assert(index < all->count);
    while (all->items[index].kind == EXPRESSION_INDEX ||
           all->items[index].kind == EXPRESSION_ATTRIBUTE) {
        if (all->items[index].left == EXPRESSION_NONE) {
            break;
        }
        index = all->items[index].left;
    }
    return &all->items[index];
}

/* Whether the expression only passes on an existing value that is not recorded: a name, an
 * attribute, an item, `getattr(value, name)`. */
static bool is_handed_over(struct reasoner *reasoner, uint32_t root)
{
    const struct expression *base = base_of(&reasoner->expressions, root);

    if (base->kind == EXPRESSION_CALL) {
        return base->result == EXPRESSION_NONE && range_hands_over(base);
    }
    return base->kind == EXPRESSION_NAME && !range_is_known(reasoner, base->text);
}

/* Whether the statement is the head of a `for` loop. */
static bool is_loop(struct slice statement)
{
    return slice_starts(statement, SLICE("for ")) ||
           slice_starts(statement, SLICE("async for "));
}

/* The iterated expression whose items no recorded line made: an unknown call, or a name without
 * recorded values. EXPRESSION_NONE if there is none. */
static uint32_t find_items(struct reasoner *reasoner, uint32_t index)
{
    assert(index < reasoner->expressions.count);

    const struct expression *item = &reasoner->expressions.items[index];
    uint32_t found = EXPRESSION_NONE;

    if (item->kind == EXPRESSION_NAME) {
        return range_is_known(reasoner, item->text) ? EXPRESSION_NONE : index;
    }
    if (item->kind != EXPRESSION_CALL || item->result != EXPRESSION_NONE) {
        return EXPRESSION_NONE;
    }
    if (!range_gives_items(item->word)) {
        return item->left == EXPRESSION_NONE && !item->is_library &&
                       !range_is_function(item->word)
                   ? index
                   : EXPRESSION_NONE;
    }
    if (item->left != EXPRESSION_NONE) {
        return find_items(reasoner, item->left);
    }
    for (uint32_t i = item->first; i != EXPRESSION_NONE && found == EXPRESSION_NONE;
         i = reasoner->expressions.items[i].next) {
        found = find_items(reasoner, i);
    }
    return found;
}

/* Whether the expression is a collective call such as `dist.all_reduce(x)`, whose result depends
 * on other ranks. */
static bool is_collective(const struct reasoner *reasoner, uint32_t index)
{
    assert(index < reasoner->expressions.count);

    static const char *const words[] = {"all_reduce",
                                        "broadcast",
                                        "reduce",
                                        "recv",
                                        "irecv",
                                        "all_gather",
                                        "reduce_scatter",
                                        "scatter",
                                        "all_to_all",
                                        "gather",
                                        "all_gather_into_tensor",
                                        "reduce_scatter_tensor",
                                        "all_to_all_single"};
    const struct expression *call = &reasoner->expressions.items[index];
    struct slice of;

    if (call->kind != EXPRESSION_CALL) {
        return false;
    }
    of = call->left == EXPRESSION_NONE ? call->text
                                       : reasoner->expressions.items[call->left].text;
    if (!slice_equal(of, SLICE("dist")) &&
        slice_find(of, SLICE("distributed"), 0) == of.size) {
        return false;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_equal(call->word, slice_of(words[i]))) {
            return true;
        }
    }
    return false;
}

/* Whether the statement only passes the value on. Its source is stored in `answer`. */
static bool
find_handed(struct reasoner *reasoner, uint32_t root, struct why_answer *answer)
{
    const struct why_question *question = reasoner->question;
    uint32_t found = root;

    if (question->callee.size == 0 && is_loop(question->statement)) {
        found = find_items(reasoner, root);
        answer->is_item = answer->is_handed = found != EXPRESSION_NONE;
    } else if (is_collective(reasoner, root)) {
        answer->is_collective = answer->is_handed = true;
    } else {
        answer->is_handed = is_handed_over(reasoner, root);
    }
    if (answer->is_handed) {
        answer->text = reasoner->expressions.items[found].text;
    }
    return answer->is_handed;
}

/* The part of the statement that made the value. EXPRESSION_NONE if there is none; the answer is
 * complete then. */
static uint32_t find_root(struct reasoner *reasoner, struct why_answer *answer)
{
    const struct why_question *question = reasoner->question;
    uint32_t root = expression_read(&reasoner->expressions, question->statement);
    uint32_t argument = EXPRESSION_NONE;

    reasoner->callee = EXPRESSION_NONE;
    if (root == EXPRESSION_NONE || reasoner->expressions.has_failed) {
        return EXPRESSION_NONE;
    }
    if (question->callee.size > 0) {
        switch (calls_find_argument(reasoner, &argument)) {
        case CALL_GIVEN:
            root = argument;
            break;
        case CALL_GIVEN_NOT:
            answer->is_default = true;
            return EXPRESSION_NONE;
        default:
            break;
        }
    }
    calls_match(reasoner);
    return find_handed(reasoner, root, answer) ? EXPRESSION_NONE : root;
}

/* Reads the statement's expression into the reasoner and matches its recorded calls. Returns the
 * root, or EXPRESSION_NONE if it cannot be read. */
static uint32_t reasoner_read(struct reasoner *reasoner)
{
    uint32_t root =
        expression_read(&reasoner->expressions, reasoner->question->statement);

    reasoner->callee = EXPRESSION_NONE;
    if (root == EXPRESSION_NONE || reasoner->expressions.has_failed) {
        return EXPRESSION_NONE;
    }
    calls_match(reasoner);
    return root;
}

bool why_writes_mask(struct slice statement, double number)
{
    static const char *const words[] = {"masked_fill", "masked_fill_", "where", "full",
                                        "full_like",   "new_full",     "fill_"};
    struct expressions all;
    bool has_number = false;
    bool has_mask = slice_find(statement, SLICE("] = -"), 0) < statement.size;

    if (expression_read(&all, statement) == EXPRESSION_NONE) {
        return false;
    }
    for (uint32_t i = 0; i < all.count; i++) {
        const struct expression *item = &all.items[i];

        has_number = has_number ||
                     (item->kind == EXPRESSION_NUMBER && item->number == fabs(number));
        has_mask = has_mask || (item->kind == EXPRESSION_BINARY &&
                                slice_equal(item->word, SLICE("*")));
        for (size_t k = 0; k < sizeof words / sizeof *words && !has_mask; k++) {
            has_mask = item->kind == EXPRESSION_CALL &&
                       slice_equal(item->word, slice_of(words[k]));
        }
    }
    return has_number && has_mask;
}

struct why_answer why_reason_add(struct buffer *text,
                                 const struct why_question *question)
{
    struct reasoner reasoner = {.question = question, .words = BUFFER_INIT};
    struct why_answer answer = {.text = {"", 0}};
    uint32_t root = find_root(&reasoner, &answer);
    unsigned made = question->made;
    struct range result;
    uint32_t certain;
    uint32_t possible;

    if (root != EXPRESSION_NONE) {
        result = range_evaluate(&reasoner, root);
        judge_result(&reasoner, &result);
        if (question->is_absorbed) {
            keep_absorbing(&reasoner);
        }
        made = widen(&reasoner, made);
        certain = count_wanted(&reasoner, made, true);
        possible = count_wanted(&reasoner, made, false);
        if (certain > 0) {
            answer.is_certain = true;
            add_causes(&reasoner, made, true, SLICE("; "), text, &answer);
            add_way(&reasoner, question->made, text);
        } else if (possible > 0 && possible <= REPORTED_MAX) {
            add_causes(&reasoner, made, false, SLICE("; or "), text, &answer);
        } else if (possible == 0) {
            answer.is_impossible = result.is_bounded && range_is_finite(&result);
        }
    }
    text->has_failed = text->has_failed || reasoner.words.has_failed;
    buffer_release(&reasoner.words);
    return answer;
}

/* Reason for a gradient that the backward of a statement made: the steps of its expression whose
 * derivative is infinite or undefined for the inputs.
 *
 * The forward values are known by their ranges, as for a NaN of the forward. Of the gradients
 * only the one that arrived is known, so a step is certain if its derivative alone decides it: 1
 * / (2 sqrt(0)) is infinite, and 0 times that is NaN. */

/* A gradient of at least this part of its dtype's greatest number may have overflowed in the
 * backward. */
#define NEAR_OVERFLOW 1e-4

/* The evaluation of one statement's derivatives. */
struct derivation {
    struct reasoner reasoner; /* holds the causes of the backward */
    const struct why_backward *backward;
};

/* The range of a part of the expression, without the causes of the forward. */
static struct range range_of(struct derivation *derivation, uint32_t index)
{
    struct reasoner *reasoner = &derivation->reasoner;
    uint32_t count = reasoner->count;
    struct range range = range_evaluate(reasoner, index);

    reasoner->count = count;
    return range;
}

static void report(struct derivation *derivation,
                   struct slice function,
                   const char *where,
                   const struct range *x,
                   enum certainty certainty,
                   bool has_zeros)
{
    struct buffer *words;

    if (certainty == CERTAINTY_NO) {
        return;
    }
    words = cause_begin(&derivation->reasoner);
    buffer_add(words, SLICE("the derivative of "));
    buffer_add(words, function);
    buffer_add(words, slice_of(where));
    buffer_add(words, SLICE(": "));
    if (has_zeros) {
        add_zeros(words, x);
    } else {
        add_quoted(words, x->text);
        buffer_add(words, certainty == CERTAINTY_YES ? SLICE(" has it")
                                                     : SLICE(" can have it"));
    }
    cause_end(&derivation->reasoner, WHY_NAN | WHY_INF, certainty);
}

static void
report_zero(struct derivation *derivation, struct slice function, const struct range *x)
{
    report(derivation, function, " at 0 is infinite", x, x->zero, true);
}

static void report_point(struct derivation *derivation,
                         struct slice function,
                         const struct range *x,
                         double point)
{
    report(derivation, function, point < 0 ? " at -1 is infinite" : " at 1 is infinite",
           x, range_has(x, point), false);
}

/* Reports a NaN of the forward that another branch hides: its derivative is NaN, and 0 times NaN
 * is NaN. */
static void report_below(struct derivation *derivation,
                         struct slice function,
                         const struct range *x)
{
    enum certainty certainty = range_has_below(x, 0);
    struct buffer *words;

    if (certainty == CERTAINTY_NO) {
        return;
    }
    words = cause_begin(&derivation->reasoner);
    buffer_add(words, SLICE("the derivative of "));
    buffer_add(words, function);
    buffer_add(words, SLICE(" below 0 is NaN, also where the value is not used: "));
    if (x->is_bounded) {
        buffer_add(words, SLICE("min of "));
        add_quoted(words, x->text);
        buffer_add(words, x->is_attained ? SLICE(" is ") : SLICE(" can be "));
        add_real(words, x->low);
    } else {
        add_quoted(words, x->text);
        buffer_add(words, SLICE(" has one"));
    }
    cause_end(&derivation->reasoner, WHY_NAN, certainty);
}

static void report_power(struct derivation *derivation,
                         const struct range *x,
                         const struct range *y)
{
    bool is_plain = y->is_bounded && y->low == y->high;

    if (!is_plain || y->low >= 1 || y->low == 0) {
        return;
    }
    report_zero(derivation, SLICE("a power below 1"), x);
    if (floor(y->low) != y->low) {
        report_below(derivation, SLICE("a power"), x);
    }
}

/* ---- the steps of an expression ---- */

static void derive_binary(struct derivation *derivation, uint32_t index)
{
    assert(index < derivation->reasoner.expressions.count);

    struct expression item = derivation->reasoner.expressions.items[index];
    struct range left, right;

    if (slice_equal(item.word, SLICE("/"))) {
        right = range_of(derivation, item.right);
        report_zero(derivation, SLICE("a division by its divisor"), &right);
    } else if (slice_equal(item.word, SLICE("**"))) {
        left = range_of(derivation, item.left);
        right = range_of(derivation, item.right);
        report_power(derivation, &left, &right);
    }
}

/* Finds the first operand of the call (the object of a method, or the first argument) and the
 * one after it. */
static uint32_t operand_of(const struct derivation *derivation,
                           const struct expression *call,
                           uint32_t place)
{
    const struct expressions *all = &derivation->reasoner.expressions;
    uint32_t index = call->first;

    if (call->left != EXPRESSION_NONE && !call->is_library) {
        if (place == 0) {
            return call->left;
        }
        place--;
    }
    while (place > 0 && index != EXPRESSION_NONE) {
        index = all->items[index].next;
        place--;
    }
    return index;
}

/* Derivatives of functions of torch whose ranges are not evaluated. */
static const struct {
    const char *name;
    const char *words;
} special[] = {
    {"atan2", "the derivative of atan2 at (0, 0) is 0/0"},
    {"logsumexp",
     "the derivative of logsumexp is NaN in a row that is -Inf everywhere"},
    {"eigh", "the derivative of eigh is infinite where two eigenvalues are equal"},
    {"svd", "the derivative of svd is infinite where two singular values are equal"},
};

static void derive_special(struct derivation *derivation, const struct expression *call)
{
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (slice_equal(call->word, slice_of(special[i].name))) {
            struct buffer *words = cause_begin(&derivation->reasoner);

            buffer_add(words, slice_of(special[i].words));
            cause_end(&derivation->reasoner, WHY_NAN | WHY_INF, CERTAINTY_MAYBE);
        }
    }
}

static void derive_of(struct derivation *derivation,
                      struct slice word,
                      enum how how,
                      struct range *x)
{
    switch (how) {
    case HOW_SQRT:
    case HOW_RSQRT:
        report_zero(derivation, word, x);
        report_below(derivation, word, x);
        return;
    case HOW_LOG:
    case HOW_RECIPROCAL:
        report_zero(derivation, word, x);
        return;
    case HOW_LOG1P:
        report_point(derivation, word, x, -1);
        return;
    case HOW_ARC:
    case HOW_ATANH:
        report_point(derivation, word, x, 1);
        report_point(derivation, word, x, -1);
        return;
    case HOW_ACOSH:
        report_point(derivation, word, x, 1);
        return;
    default:
        return;
    }
}

static void derive_call(struct derivation *derivation, uint32_t index)
{
    assert(index < derivation->reasoner.expressions.count);

    struct expression call = derivation->reasoner.expressions.items[index];
    uint32_t first = operand_of(derivation, &call, 0);
    struct range x, second;
    enum how how;

    derive_special(derivation, &call);
    if (call.result != EXPRESSION_NONE || first == EXPRESSION_NONE ||
        !function_how(call.word, &how)) {
        return;
    }
    x = range_of(derivation, first);
    if (how == HOW_DIVIDE || how == HOW_POW) {
        uint32_t other = operand_of(derivation, &call, 1);

        second = range_of(derivation, other);
        if (how == HOW_POW) {
            report_power(derivation, &x, &second);
        } else {
            report_zero(derivation, SLICE("a division by its divisor"), &second);
        }
        return;
    }
    derive_of(derivation, call.word, how, &x);
}

/* ---- the gradient that arrived ---- */

/* Reports a gradient that is close to the dtype's greatest number: the next product may
 * overflow. */
static void derive_overflow(struct derivation *derivation)
{
    const struct why_input *given = &derivation->backward->given;
    double greatest = dtype_greatest(derivation->backward->dtype);
    double low, high, reached;
    struct buffer *words;

    if (!given->has_statistics || !isfinite(greatest) ||
        statistics_finite_count(&given->statistics) == 0 ||
        dtype_class(given->dtype) != DTYPE_CLASS_FLOATING) {
        return;
    }
    low = statistics_bound_real(given->dtype, given->statistics.min);
    high = statistics_bound_real(given->dtype, given->statistics.max);
    reached = fmax(fabs(low), fabs(high));
    if (reached < greatest * NEAR_OVERFLOW) {
        return;
    }
    words = cause_begin(&derivation->reasoner);
    buffer_add(words, SLICE("overflow of "));
    buffer_add(words, slice_of(dtype_text(derivation->backward->dtype)));
    buffer_add(words, SLICE(": the gradient of "));
    add_quoted(words, given->name);
    buffer_add(words, SLICE(" is as large as "));
    add_real(words, reached);
    buffer_add(words, SLICE(", and the greatest number is "));
    add_real(words, greatest);
    cause_end(&derivation->reasoner, WHY_NAN | WHY_INF,
              reached >= greatest ? CERTAINTY_YES : CERTAINTY_MAYBE);
}

/* Reports inputs that held NaN or infinities in the forward: a product with them is not finite. */
static void derive_inputs(struct derivation *derivation)
{
    const struct why_question *question = derivation->backward->question;

    for (uint32_t i = 0; i < question->input_count; i++) {
        const struct why_input *input = &question->inputs[i];
        const struct statistics *statistics = &input->statistics;
        struct buffer *words;

        if (!input->has_statistics ||
            statistics_finite_count(statistics) == statistics->count ||
            dtype_class(input->dtype) != DTYPE_CLASS_FLOATING) {
            continue;
        }
        words = cause_begin(&derivation->reasoner);
        add_quoted(words, input->name);
        buffer_add(words,
                   statistics->nan_count > 0 ? SLICE(" has NaN") : SLICE(" has Inf"));
        buffer_add(words, SLICE(" in the forward, and 0 times that is NaN"));
        cause_end(&derivation->reasoner, WHY_NAN | WHY_INF, CERTAINTY_MAYBE);
    }
}

/* ---- the answer ---- */

static uint32_t add_backward_causes(const struct reasoner *reasoner,
                                    bool is_certain,
                                    struct slice separator,
                                    struct buffer *text)
{
    uint32_t reported = 0;

    for (uint32_t i = 0; i < reasoner->count && reported < REPORTED_MAX; i++) {
        const struct cause *cause = &reasoner->causes[i];

        if (cause->is_certain == is_certain) {
            buffer_add(text, reported++ > 0 ? separator : SLICE(""));
            buffer_add(text, slice_part(buffer_slice(&reasoner->words), cause->start,
                                        cause->end));
        }
    }
    return reported;
}

/* A call of the statement that is neither recorded nor known, so its lines may be the cause. ""
 * if there is none. */
static struct slice find_unknown_call(struct reasoner *reasoner)
{
    for (uint32_t i = 0; i < reasoner->expressions.count; i++) {
        const struct expression *item = &reasoner->expressions.items[i];
        enum how how;

        if (item->kind == EXPRESSION_CALL && item->result == EXPRESSION_NONE &&
            !function_how(item->word, &how)) {
            return item->text;
        }
    }
    return SLICE("");
}

/* The number of autograd functions that are named. */
#define FUNCTIONS_NAMED 4

void why_functions_add(struct buffer *text, struct slice functions)
{
    size_t end = 0;
    size_t count = 0;

    for (size_t at = 0; at < functions.size; count++) {
        at = slice_find(functions, SLICE(" "), at) + 1;
        end = count < FUNCTIONS_NAMED ? at - 1 : end;
    }
    buffer_add_printable(text, slice_part(functions, 0, end));
    if (count > FUNCTIONS_NAMED) {
        buffer_add(text, SLICE(" and "));
        buffer_add_number(text, count - FUNCTIONS_NAMED);
        buffer_add(text, SLICE(" more"));
    }
}

static void add_functions(const struct why_backward *backward,
                          struct slice call,
                          struct buffer *text)
{
    buffer_add(text, SLICE("the gradient of "));
    add_quoted(text, backward->given.name);
    buffer_add(text, SLICE(" is finite"));
    if (backward->functions.size == 0) {
        return;
    }
    buffer_add(text, SLICE(", and autograd ran "));
    why_functions_add(text, backward->functions);
    if (call.size > 0) {
        buffer_add(text, SLICE("; one of these made it, inside "));
        add_quoted(text, call);
        buffer_add(text, SLICE(", whose lines are not recorded"));
    } else {
        buffer_add(text, SLICE("; no step of the line is known to make it, so a hook "
                               "of the program may have"));
    }
}
struct why_answer why_backward_add(struct buffer *text,
                                   const struct why_backward *backward)
{
    struct derivation derivation = {
        .reasoner = {.question = backward->question, .words = BUFFER_INIT},
        .backward = backward,
    };
    struct reasoner *reasoner = &derivation.reasoner;
    struct why_answer answer = {.text = {"", 0}};
    uint32_t root = reasoner_read(reasoner);

    for (uint32_t i = 0; root != EXPRESSION_NONE && i < reasoner->expressions.count;
         i++) {
        if (reasoner->expressions.items[i].kind == EXPRESSION_BINARY) {
            derive_binary(&derivation, i);
        } else if (reasoner->expressions.items[i].kind == EXPRESSION_CALL) {
            derive_call(&derivation, i);
        }
    }
    derive_inputs(&derivation);
    derive_overflow(&derivation);
    answer.is_certain = add_backward_causes(reasoner, true, SLICE("; "), text) > 0;
    answer.is_reported = answer.is_certain ||
                         add_backward_causes(reasoner, false, SLICE("; or "), text) > 0;
    if (!answer.is_reported) {
        add_functions(backward, find_unknown_call(reasoner), text);
    }
    text->has_failed = text->has_failed || reasoner->words.has_failed;
    buffer_release(&reasoner->words);
    return answer;
}
