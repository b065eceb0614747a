/* Functions that are not defined everywhere: logarithms, roots, inverses, arcs. */
#include "runtime/view/why/reason/call.h"

#include "runtime/view/words/number_text.h"

#include <math.h>

/* A bound that is beyond an edge, with digits enough to see that it is. */
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

/* A point at the edge of the domain, where the function is infinite. */
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

/* Of the function, where it is finite: between the images of the bounds. */
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

struct range call_logarithm(const struct call *call)
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

struct range call_square_root(const struct call *call)
{
    report_beyond(call, " of a negative number", "min", call->x->low, 0,
                  range_has_below(call->x, 0));
    return rising(call, sqrt, 0, INFINITY);
}

/* 1 / x, and 1 / sqrt(x). */
struct range call_inverse(const struct call *call, bool is_root)
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

struct range call_arc(const struct call *call, enum how how)
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
