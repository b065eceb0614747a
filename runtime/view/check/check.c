/* Checks of the events of a trace, as they are read. */
#include "runtime/view/check/check.h"

#include "runtime/base/hash/mix.h"
#include "runtime/base/memory.h"
#include "runtime/base/selection/selection.h"
#include "runtime/site/statement_text.h"
#include "runtime/view/list/tree_log.h"
#include "runtime/view/why/reason/expression.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/value_text.h"

#include <math.h>

const char *const check_options[CHECK_KIND_COUNT] = {
#define CHECK(name, option, summary) option,
#include "runtime/view/check/kinds.def"
#undef CHECK
};

const char *const check_summaries[CHECK_KIND_COUNT] = {
#define CHECK(name, option, summary) summary,
#include "runtime/view/check/kinds.def"
#undef CHECK
};

/* ---- The checks of a value, at the time its event is read ---- */

#define DIGITS 6

/* Keeps the value of the first offender and the calls around it, in the form that `show` prints. */
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

/* Adds a note to the finding if the value was made from uninitialised memory. */
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

static bool report(struct check *check,
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
        .function = open_call_function(call, check->reader)->name,
        .count = 1,
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

/* Adds the text of the event's statement, joined from all its lines. */
static void add_statement(struct check *check,
                          const struct log_event_view *event,
                          struct buffer *text)
{
    int depth = 0;

    for (uint32_t i = 0; i < STATEMENT_LINES_MAX; i++) {
        struct slice line = source_lines_get(check->sources, event->module_number,
                                             event->site->line + i);

        buffer_add(text, line);
        buffer_add_byte(text, ' ');
        depth += statement_depth(line);
        if (depth <= 0) {
            return;
        }
    }
}

/* Whether the event's statement names an infinity, such as `-torch.inf` or `float('-inf')`; for
 * a parameter, whether its default does. Sets `is_handed_on` if the statement only passes values
 * on. */
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

/* Whether the infinity is intended, and so allowed: a line or a default names it, or it is a
 * -Inf that may come from one that was named, or a number that is only passed on. If the rules
 * do not allow intended infinities, this holds for numbers only. */
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

/* The greatest magnitude of the finite elements. Below 0: there are none. */
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

/* Whether the values are magnitudes. Integers are not: they are counts or ids, such as token ids
 * and sizes. */
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
            if (!report(check, CHECK_NAN, event, call, words)) {
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
            if (!report(check, CHECK_INF, event, call, words)) {
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
    return report(check, CHECK_MAX_ABS, event, call, words);
}

static bool check_dtype(struct check *check,
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
    return report(check, CHECK_DTYPE, event, call, words);
}

static bool check_shapes(struct check *check,
                         const struct log_event_view *event,
                         struct open_call *call,
                         struct buffer *words,
                         bool *is_bad)
{
    const struct check_rules *rules = check->rules;

    for (uint32_t i = 0; i < rules->shape_count; i++) {
        if (name_select(event->name, event->path, rules->shapes[i].name) !=
            NAME_ITSELF) {
            continue;
        }
        check->shape_counts[i]++;
        check->checked[CHECK_SHAPE]++;
        if (!check_shape_fits(check, &rules->shapes[i], event, words)) {
            *is_bad = true;
            if (!report(check, CHECK_SHAPE, event, call, words)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- Arrays that are remembered for the check at the end of the trace ---- */

static bool is_all_zero(const struct log_event_view *event)
{
    return event->statistics.zero_count == event->statistics.count;
}

static bool remember_zeros(struct check *check, const struct log_event_view *event)
{
    enum dtype_class class = dtype_class(event->shape->dtype);
    uint32_t name;
    uint64_t key;
    uint32_t index;
    void *zeros = check->zeros;

    if (!event->has_statistics || event->statistics.count == 0 ||
        (class != DTYPE_CLASS_FLOATING && class != DTYPE_CLASS_COMPLEX) ||
        (event->flags & LOG_EVENT_READ) != 0 || event->site->kind == SITE_ENTER) {
        return true;
    }
    check->checked[CHECK_ZEROS]++;
    if (!text_table_add(&check->texts, event->name, &name)) {
        check->has_failed = true;
        return false;
    }
    key = number_map_key(event->site_number, name);
    index = number_map_get(&check->zero_index, key);
    if (index != NUMBER_MAP_NONE) {
        check->zeros[index].is_alive |= !is_all_zero(event);
        check->zeros[index].count++;
        return true;
    }
    if (!memory_grow(&zeros, &check->zero_capacity, (size_t)check->zero_count + 1,
                     sizeof *check->zeros) ||
        !number_map_put(&check->zero_index, key, check->zero_count)) {
        check->zeros = zeros;
        check->has_failed = true;
        return false;
    }
    check->zeros = zeros;
    check->zeros[check->zero_count++] = (struct check_zero){
        .module = event->module_number,
        .site = event->site_number - event->module->first_site,
        .name = name,
        .is_alive = !is_all_zero(event),
        .count = 1,
        .event = event->number,
        .call = event->call,
        .visit = event->visit,
    };
    return true;
}

bool check_init(struct check *check,
                const struct check_rules *rules,
                struct log_reader *reader,
                struct source_lines *sources,
                struct error *error)
{
    *check = (struct check){
        .rules = rules, .reader = reader, .sources = sources, .first = BUFFER_INIT};
    arena_init(&check->arena);
    open_calls_init(&check->calls);
    number_map_init(&check->group_index);
    number_map_init(&check->zero_index);
    uninitialised_names_init(&check->uninitialised);
    check_gradients_init(&check->gradients);
    log_reader_show_parameters(reader, true);
    check->shape_counts = arena_allocate(&check->arena, (size_t)rules->shape_count + 1,
                                         sizeof *check->shape_counts);
    if (check->shape_counts == NULL || !text_table_init(&check->texts)) {
        return error_set_memory(error);
    }
    memset(check->shape_counts, 0, rules->shape_count * sizeof *check->shape_counts);
    return true;
}

void check_release(struct check *check)
{
    arena_release(&check->arena);
    open_calls_release(&check->calls);
    text_table_release(&check->texts);
    number_map_release(&check->group_index);
    number_map_release(&check->zero_index);
    uninitialised_names_release(&check->uninitialised);
    check_gradients_release(&check->gradients);
    memory_free(check->groups);
    memory_free(check->zeros);
    buffer_release(&check->first);
}

/* ---- findings ---- */

static uint64_t group_key(struct check *check, const struct check_group *group)
{
    uint32_t name = 0;

    if (!text_table_add(&check->texts, group->name, &name)) {
        check->has_failed = true;
    }
    return hash_mix(number_map_key(group->module, group->line),
                    number_map_key(name, (uint32_t)group->kind));
}

/* Adds an offender to its group. The first of a group stores `words`. Empties `words` in any
 * case. Returns false if memory runs out. */
bool check_found(struct check *check, struct check_group *group, struct buffer *words)
{
    uint64_t key = group_key(check, group);
    uint32_t index = number_map_get(&check->group_index, key);
    void *groups = check->groups;

    if (check->has_failed) {
        return false;
    }
    if (index != NUMBER_MAP_NONE) {
        check->groups[index].count += group->count;
        words->size = 0;
        return true;
    }
    if (!memory_grow(&groups, &check->group_capacity, (size_t)check->group_count + 1,
                     sizeof *check->groups)) {
        check->has_failed = true;
        return false;
    }
    check->groups = groups;
    group->name = arena_copy(&check->arena, group->name);
    group->function = arena_copy(&check->arena, group->function);
    group->words = arena_copy(&check->arena, buffer_slice(words));
    check->has_failed |= check->arena.has_failed || words->has_failed ||
                         !number_map_put(&check->group_index, key, check->group_count);
    words->size = 0;
    check->groups[check->group_count++] = *group;
    return !check->has_failed;
}

/* ---- the events ---- */

static bool add_event(struct check *check,
                      const struct log_event_view *event,
                      struct open_call *call)
{
    const bool *is_wanted = check->rules->is_wanted;
    bool fits = event_filter_match(&check->rules->filter, call, event);
    struct buffer words = BUFFER_INIT;
    bool is_bad = false;
    bool is_done = true;

    if (check->event_count++ == 0) {
        check->first_event = event->number;
    }
    if (!fits) {
        return true;
    }
    check->matched_count++;
    is_done = check_values(check, event, call, &words, &is_bad);
    if (is_done && event->kind == VALUE_TENSOR) {
        is_done = (!is_wanted[CHECK_DTYPE] ||
                   check_dtype(check, event, call, &words, &is_bad)) &&
                  (!is_wanted[CHECK_SHAPE] ||
                   check_shapes(check, event, call, &words, &is_bad)) &&
                  (!is_wanted[CHECK_ZEROS] || remember_zeros(check, event));
    }
    check->offender_count += is_bad;
    buffer_release(&words);
    return is_done;
}

static bool add_call(struct check *check, struct open_call *call, bool is_new)
{
    if (call == NULL) {
        check->has_failed = true;
        return false;
    }
    if (is_new) {
        event_filter_judge(&check->rules->filter, call, check->reader);
        if (!call->is_wanted &&
            !number_map_put(&check->gradients.wanted_calls, call->call, 0)) {
            check->has_failed = true;
            return false;
        }
    }
    return true;
}

static bool visit_event(struct check *check, const struct log_event_view *event)
{
    bool is_new = false;
    struct open_call *call = open_calls_of_event(&check->calls, event, &is_new);

    if ((event->flags & LOG_EVENT_PARAMETER) != 0) {
        return add_call(check, call, is_new) &&
               check_gradients_add_parameter(check, event);
    }
    return add_call(check, call, is_new) && add_event(check, event, call) &&
           uninitialised_names_follow(&check->uninitialised, event);
}

bool check_visit(struct check *check, const struct log_item *item, struct error *error)
{
    struct open_call *call;
    bool is_new = false;
    bool is_done = true;

    switch (item->kind) {
    case LOG_CALL:
        call = open_calls_begin(&check->calls, &item->call, &is_new);
        is_done = add_call(check, call, is_new);
        break;
    case LOG_EVENT:
        is_done = visit_event(check, &item->event);
        break;
    case LOG_END:
        call = open_calls_find(&check->calls, item->end.call);
        if (call != NULL) {
            open_calls_end(&check->calls, call);
        }
        break;
    default:
        is_done = check_gradients_add(check, item);
        break;
    }
    if (!is_done) {
        error_set_memory(error);
    }
    return is_done;
}

/* Whether the statement creates zeros on purpose: `torch.zeros(…)`, `x.zero_()`. */
static bool
asks_for_zeros(struct check *check, const struct check_zero *zero, uint32_t line)
{
    struct slice text = source_lines_get(check->sources, zero->module, line);

    return slice_find(text, SLICE("zero"), 0) < text.size ||
           slice_find(text, SLICE("full"), 0) < text.size;
}

static bool find_zeros(struct check *check)
{
    struct buffer words = BUFFER_INIT;
    bool is_done = true;

    for (uint32_t i = 0; i < check->zero_count && is_done; i++) {
        const struct check_zero *zero = &check->zeros[i];
        const struct log_module *module =
            log_reader_module(check->reader, zero->module);
        const struct site *site = &module->table.sites[zero->site];
        struct check_group group = {
            .kind = CHECK_ZEROS,
            .module = zero->module,
            .line = site->line,
            .name = check->texts.texts[zero->name],
            .function = module->table.functions[site->function].name,
            .count = zero->count,
            .event = zero->event,
            .call = zero->call,
            .visit = zero->visit,
        };

        if (zero->is_alive || asks_for_zeros(check, zero, site->line)) {
            continue;
        }
        if (group.name.size == 0 && site->kind == SITE_RETURN) {
            group.name = SLICE("return");
        }
        buffer_add(&words, SLICE("holds only zeros"));
        if (zero->count > 1) {
            buffer_add(&words, SLICE(", each of "));
            buffer_add_number(&words, zero->count);
            buffer_add(&words, SLICE(" times"));
        }
        check->offender_count += zero->count;
        is_done = check_found(check, &group, &words);
    }
    buffer_release(&words);
    return is_done;
}

bool check_finish(struct check *check, struct error *error)
{
    if ((check->rules->is_wanted[CHECK_ZEROS] && !find_zeros(check)) ||
        !check_gradients_finish(check) || check->has_failed ||
        check->sources->has_failed) {
        return error_set_memory(error);
    }
    return true;
}
