/* Why the backward of a statement made a gradient that is not finite: each step of its expression
 * whose derivative is infinite or undefined for what went in.
 *
 * The forward values are known by their ranges, as for a NaN of the forward. Of the gradients only the
 * one that arrived is known, so a step is certain if its derivative alone decides it: 1 / (2 sqrt(0))
 * is infinite, and 0 times that is NaN. */
#include "runtime/view/why/reason/call.h"

#include <math.h>

#define REPORTED_MAX 3
/* A gradient of at least this part of what its dtype holds may have overflowed on the way. */
#define NEAR_OVERFLOW 1e-4

/* The walk over one statement. */
struct derivation {
    struct reasoner reasoner; /* its causes are those of the backward */
    const struct why_backward *backward;
};

/* The range of a part of the expression; causes of the forward are dropped. */
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

/* A NaN of the forward that another branch hides: its derivative is NaN, and 0 times NaN too. */
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

/* What the call is of: the value of a method, or the first argument; then the one after it. */
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

/* Functions that torch has, and whose ranges are not followed: what their derivatives do. */
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

/* A gradient that is near what the dtype holds: the next product is beyond it. */
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

/* What went in was infinite or NaN already: a product with it is, too. */
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

static uint32_t add_causes(const struct reasoner *reasoner,
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

static void add_functions(const struct why_backward *backward, struct buffer *text)
{
    struct slice functions = backward->functions;

    buffer_add(text, SLICE("the gradient of "));
    add_quoted(text, backward->given.name);
    buffer_add(text, SLICE(" is finite"));
    if (functions.size > 0) {
        buffer_add(text, SLICE(", and autograd ran "));
        buffer_add_printable(text, functions);
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
    answer.is_certain = add_causes(reasoner, true, SLICE("; "), text) > 0;
    answer.is_reported =
        answer.is_certain || add_causes(reasoner, false, SLICE("; or "), text) > 0;
    if (!answer.is_reported) {
        add_functions(backward, text);
    }
    text->has_failed = text->has_failed || reasoner->words.has_failed;
    buffer_release(&reasoner->words);
    return answer;
}
