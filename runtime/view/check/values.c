/* The checks of a value, as its event is read. */
#include "runtime/view/check/check.h"

#include "runtime/view/flow/build.h"
#include "runtime/view/list/tree_log.h"
#include "runtime/view/why/reason/infinity_text.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/value_text.h"

#include <math.h>

#define DIGITS    6
#define LINES_MAX 30

/* The first offender's value, and the calls around it, as `show` tells them. */
static void keep_first(struct check *check,
                       const struct log_event_view *event,
                       struct open_call *call)
{
    struct tree_log tree;

    if (check->first.size > 0) {
        return;
    }
    value_text_add(&check->first, event, check->has_color);
    buffer_add_byte(&check->first, '\n');
    tree_log_init(&tree, check->reader, check->sources);
    tree.has_color = check->has_color;
    tree_log_add_call(&tree, call, &check->first);
    check->has_failed |= tree.has_failed || check->first.has_failed;
    tree_log_release(&tree);
}

/* An alarm of a value that was made of memory that nothing had written to says so. */
static void add_uninitialised(const struct check *check,
                              const struct log_event_view *event,
                              struct buffer *words)
{
    struct slice name;
    bool is_part;
    uint32_t line =
        uninitialised_names_find(&check->uninitialised, event, &name, &is_part);

    if (line != 0) {
        buffer_add(words, SLICE("; `"));
        buffer_add(words, name);
        buffer_add(words, is_part
                              ? SLICE("` was perhaps uninitialised in part on line ")
                              : SLICE("` was uninitialised memory on line "));
        buffer_add_number(words, line);
        buffer_add(words, SLICE(", and no recorded line wrote to it since"));
    }
}

static bool tell(struct check *check,
                 enum check_kind kind,
                 const struct log_event_view *event,
                 struct open_call *call,
                 struct buffer *words)
{
    char whole[512];
    struct slice name = event->name;
    struct check_group group = {
        .kind = kind,
        .module = event->module_number,
        .line = event->site->line,
        .last_line = event->site->line,
        .function = open_call_function(call, check->reader)->name,
        .count = 1,
        .has_event = true,
        .event = event->number,
        .call = event->call,
        .visit = event->visit,
    };

    if (name.size == 0 && event->site->kind == SITE_RETURN) {
        name = SLICE("return");
    }
    if (event->path.size > 0 && name.size + event->path.size <= sizeof whole) {
        memcpy(whole, name.bytes, name.size);
        memcpy(whole + name.size, event->path.bytes, event->path.size);
        name = (struct slice){whole, name.size + event->path.size};
    }
    group.name = name;
    if (kind == CHECK_NAN || kind == CHECK_INF) {
        add_uninitialised(check, event, words);
    }
    keep_first(check, event, call);
    return check_found(check, &group, words);
}

/* ---- the checks of a value ---- */

static void
add_count(struct buffer *words, uint64_t count, const char *what, bool is_first)
{
    if (count > 0) {
        buffer_add(words, is_first ? SLICE("holds ") : SLICE(" and "));
        buffer_add_number(words, count);
        buffer_add_byte(words, ' ');
        buffer_add(words, slice_of(what));
    }
}

static bool has_nan(const struct log_event_view *event, struct buffer *words)
{
    if (event->kind == VALUE_TENSOR) {
        if (event->statistics.nan_count == 0) {
            return false;
        }
        add_count(words, event->statistics.nan_count, "NaN", true);
        buffer_add(words, SLICE(" of "));
        buffer_add_number(words, event->statistics.count);
        return true;
    }
    if (!isnan(event->real) &&
        (event->kind != VALUE_COMPLEX || !isnan(event->imaginary))) {
        return false;
    }
    buffer_add(words, SLICE("is NaN"));
    return true;
}

static bool has_inf(const struct log_event_view *event, struct buffer *words)
{
    const struct statistics *statistics = &event->statistics;

    if (event->kind == VALUE_TENSOR) {
        if ((statistics->posinf_count | statistics->neginf_count) == 0) {
            return false;
        }
        add_count(words, statistics->posinf_count, "Inf", true);
        add_count(words, statistics->neginf_count, "-Inf",
                  statistics->posinf_count == 0);
        buffer_add(words, SLICE(" of "));
        buffer_add_number(words, statistics->count);
        return true;
    }
    if (!isinf(event->real) &&
        (event->kind != VALUE_COMPLEX || !isinf(event->imaginary))) {
        return false;
    }
    buffer_add(words, isinf(event->real) && event->real < 0 ? SLICE("is -Inf")
                                                            : SLICE("is Inf"));
    return true;
}

/* The text of the event's statement, over all its lines. */
static void add_statement(struct check *check,
                          const struct log_event_view *event,
                          struct buffer *text)
{
    int depth = 0;

    for (uint32_t i = 0; i < LINES_MAX; i++) {
        struct slice line = source_lines_get(check->sources, event->module_number,
                                             event->site->line + i);

        buffer_add(text, line);
        buffer_add_byte(text, ' ');
        depth += flow_bracket_depth(line);
        if (depth <= 0) {
            return;
        }
    }
}

/* Whether the event's statement names an infinity: `-torch.inf`, `float('-inf')`; of a parameter,
 * its default. `is_handed_on`: whether it only hands values on. */
static bool names_infinity(struct check *check,
                           const struct log_event_view *event,
                           bool *is_handed_on)
{
    struct buffer text = BUFFER_INIT;
    struct slice named;
    bool is_named;

    add_statement(check, event, &text);
    named = buffer_slice(&text);
    *is_handed_on = event->site->kind == SITE_ENTER || statement_hands_on(named);
    if (event->site->kind == SITE_ENTER) {
        named = parameter_default(named, event->name);
    }
    is_named = infinity_is_named(named);
    check->has_failed |= text.has_failed;
    buffer_release(&text);
    return is_named;
}

static bool has_posinf(const struct log_event_view *event)
{
    return event->kind == VALUE_TENSOR ? event->statistics.posinf_count > 0
                                       : isinf(event->real) && event->real > 0;
}

/* What a line or a default names is let pass, -Inf that may have come of it, and a number where it is
 * handed on. Where every infinity is asked for, this is so of numbers alone. */
static bool is_meant(struct check *check, const struct log_event_view *event)
{
    bool is_number = event->kind == VALUE_FLOAT;
    bool is_negative = !has_posinf(event) && event->kind != VALUE_COMPLEX;
    bool is_handed_on;
    bool is_named;

    if (!check->rules->lets_meant && !is_number) {
        return false;
    }
    if (is_negative && check->has_meant) {
        check->meant_count++;
        return true;
    }
    is_named = names_infinity(check, event, &is_handed_on);
    check->has_meant = check->has_meant || (is_named && is_negative);
    is_named = is_named || (is_number && is_handed_on && check->has_meant_number);
    check->has_meant_number = check->has_meant_number || (is_named && is_number);
    check->meant_count += is_named;
    return is_named;
}

/* The greatest magnitude of what is finite; below 0: there is none. */
static double absmax(const struct log_event_view *event)
{
    const struct statistics *statistics = &event->statistics;

    if (event->kind == VALUE_FLOAT) {
        return isfinite(event->real) ? fabs(event->real) : -1;
    }
    if (event->kind == VALUE_COMPLEX) {
        return isfinite(event->real) && isfinite(event->imaginary)
                   ? hypot(event->real, event->imaginary)
                   : -1;
    }
    return statistics_finite_count(statistics) == 0
               ? -1
               : fmax(fabs(statistics->min.real), fabs(statistics->max.real));
}

/* Integers count and name things: token ids and sizes are no magnitudes. */
static bool has_magnitude(const struct log_event_view *event)
{
    enum dtype_class class;

    if (event->kind != VALUE_TENSOR) {
        return true;
    }
    class = dtype_class(event->shape->dtype);
    return class == DTYPE_CLASS_FLOATING || class == DTYPE_CLASS_COMPLEX;
}

static bool is_measured(const struct log_event_view *event)
{
    switch (event->kind) {
    case VALUE_TENSOR:
        return event->has_statistics &&
               dtype_class(event->shape->dtype) != DTYPE_CLASS_OPAQUE;
    case VALUE_FLOAT:
    case VALUE_COMPLEX:
        return true;
    default:
        return false;
    }
}

bool check_values(struct check *check,
                  const struct log_event_view *event,
                  struct open_call *call,
                  struct buffer *words,
                  bool *is_bad)
{
    const bool *is_wanted = check->rules->is_wanted;
    bool measured = is_measured(event);
    double most;

    if (is_wanted[CHECK_NAN] && measured) {
        check->checked[CHECK_NAN]++;
        if (has_nan(event, words)) {
            *is_bad = true;
            if (!tell(check, CHECK_NAN, event, call, words)) {
                return false;
            }
        }
    }
    if (is_wanted[CHECK_INF] && measured) {
        check->checked[CHECK_INF]++;
        if (has_inf(event, words) && is_meant(check, event)) {
            words->size = 0;
        } else if (words->size > 0) {
            *is_bad = true;
            if (!tell(check, CHECK_INF, event, call, words)) {
                return false;
            }
        }
    }
    if (!is_wanted[CHECK_MAX_ABS] || !measured || !has_magnitude(event)) {
        return true;
    }
    check->checked[CHECK_MAX_ABS]++;
    most = absmax(event);
    if (most <= check->rules->max_abs) {
        return true;
    }
    *is_bad = true;
    buffer_add(words, event->kind == VALUE_TENSOR ? SLICE("reaches ") : SLICE("is "));
    real_add_short(words, most, DIGITS);
    buffer_add(words, event->kind == VALUE_TENSOR ? SLICE(" in magnitude, above ")
                                                  : SLICE(", above "));
    real_add_short(words, check->rules->max_abs, DIGITS);
    return tell(check, CHECK_MAX_ABS, event, call, words);
}

bool check_dtype(struct check *check,
                 const struct log_event_view *event,
                 struct open_call *call,
                 struct buffer *words,
                 bool *is_bad)
{
    const struct check_rules *rules = check->rules;

    if (dtype_class(event->shape->dtype) != DTYPE_CLASS_FLOATING) {
        return true;
    }
    check->checked[CHECK_DTYPE]++;
    for (uint32_t i = 0; i < rules->dtype_count; i++) {
        if (event->shape->dtype == rules->dtypes[i]) {
            return true;
        }
    }
    *is_bad = true;
    buffer_add(words, SLICE("is "));
    buffer_add(words, event->shape->dtype_text);
    buffer_add(words, SLICE(", expected "));
    for (uint32_t i = 0; i < rules->dtype_count; i++) {
        buffer_add(words, i > 0 ? SLICE(" or ") : SLICE(""));
        buffer_add(words, slice_of(dtype_text(rules->dtypes[i])));
    }
    return tell(check, CHECK_DTYPE, event, call, words);
}

bool check_shapes(struct check *check,
                  const struct log_event_view *event,
                  struct open_call *call,
                  struct buffer *words,
                  bool *is_bad)
{
    const struct check_rules *rules = check->rules;

    for (uint32_t i = 0; i < rules->shape_count; i++) {
        if (!slice_match_inside(event->name, event->path, rules->shapes[i].name)) {
            continue;
        }
        check->shape_counts[i]++;
        check->checked[CHECK_SHAPE]++;
        if (!check_shape_fits(check, &rules->shapes[i], event, words)) {
            *is_bad = true;
            if (!tell(check, CHECK_SHAPE, event, call, words)) {
                return false;
            }
        }
    }
    return true;
}
