/* Checks of gradients: their norm, gradients that are always zero, parameters without gradients. */
#include "runtime/view/check/check.h"

#include "runtime/base/memory.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/value_text.h"

#include <assert.h>
#include <math.h>

#define DIGITS 6
#define GRAD   SLICE(".grad")

void check_gradients_init(struct check_gradients *gradients)
{
    *gradients = (struct check_gradients){.value = BUFFER_INIT};
    backwards_init(&gradients->backwards);
    number_map_init(&gradients->index);
    number_map_init(&gradients->wanted_calls);
}

void check_gradients_release(struct check_gradients *gradients)
{
    backwards_release(&gradients->backwards);
    number_map_release(&gradients->index);
    number_map_release(&gradients->wanted_calls);
    memory_free(gradients->items);
    memory_free(gradients->bad);
    buffer_release(&gradients->value);
}

/* ---- names that have gradients ---- */

/* The newest item of that name, for a parameter or at a site. NULL: there is none. */
static struct check_gradient *find_item(const struct check_gradients *gradients,
                                        uint64_t key)
{
    uint32_t index = number_map_get(&gradients->index, key);

    assert(index == NUMBER_MAP_NONE || index < gradients->count);
    return index == NUMBER_MAP_NONE ? NULL : &gradients->items[index];
}

static struct check_gradient *add_item(struct check *check,
                                       uint64_t key,
                                       uint32_t name,
                                       const struct log_event_view *event)
{
    struct check_gradients *gradients = &check->gradients;
    const struct check_gradient *before = find_item(gradients, key);
    uint32_t older =
        before == NULL ? CHECK_GRADIENT_NONE : (uint32_t)(before - gradients->items);
    void *items = gradients->items;

    if (!memory_grow(&items, &gradients->capacity, (size_t)gradients->count + 1,
                     sizeof *gradients->items)) {
        check->has_failed = true;
        return NULL;
    }
    gradients->items = items;
    gradients->items[gradients->count] = (struct check_gradient){
        .module = event->module_number,
        .site = event->site_number - event->module->first_site,
        .name = name,
        .older = older,
        .object = event->tensor.object,
        .event = event->number,
        .newest_event = event->number,
        .call = event->call,
        .visit = event->visit,
    };
    if (!number_map_put(&gradients->index, key, gradients->count)) {
        check->has_failed = true;
        return NULL;
    }
    return &gradients->items[gradients->count++];
}

/* Adds the value's name, with the place inside the value, to the texts of the check. */
static bool
add_name(struct check *check, const struct log_event_view *event, uint32_t *number)
{
    struct buffer name = BUFFER_INIT;
    bool is_return = event->name.size == 0 && event->site->kind == SITE_RETURN;

    buffer_add(&name, is_return ? SLICE("return") : event->name);
    buffer_add(&name, event->path);
    if (name.has_failed ||
        !text_table_add(&check->texts, buffer_slice(&name), number)) {
        check->has_failed = true;
    }
    buffer_release(&name);
    return !check->has_failed;
}

/* Finds a parameter. Two models may share its name, so it must be the same object, or its newest
 * event must have that number. */
static struct check_gradient *find_parameter(const struct check_gradients *gradients,
                                             uint64_t key,
                                             uint64_t object,
                                             uint64_t event)
{
    struct check_gradient *item = find_item(gradients, key);

    while (item != NULL && item->object != object && item->newest_event != event) {
        item =
            item->older == CHECK_GRADIENT_NONE ? NULL : &gradients->items[item->older];
    }
    return item;
}

/* ---- the norm ---- */

/* The sum of squares of the finite elements. */
static double find_square_sum(const struct statistics *statistics)
{
    double count = (double)statistics_finite_count(statistics);

    if (count == 0) {
        return 0;
    }
    return count * statistics->mean * statistics->mean +
           (count > 1 ? (count - 1) * statistics->std * statistics->std : 0);
}

static void set_norm(struct check_gradient *item, const struct log_event_view *event)
{
    const struct statistics *statistics = &event->statistics;

    item->is_new = true;
    item->square_sum = statistics_finite_count(statistics) < statistics->count
                           ? (double)INFINITY
                           : find_square_sum(statistics);
}

static uint32_t find_module(const struct check *check, struct slice file)
{
    uint32_t count = log_reader_module_count(check->reader);

    for (uint32_t i = 0; i < count; i++) {
        if (slice_equal(log_reader_module(check->reader, i)->table.path, file)) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* Sets the place of a finding to the line that called the backward pass, if that is in a
 * recorded file. Otherwise sets it to the line of the parameter with the largest gradient. */
static void set_place(const struct check *check,
                      const struct check_gradient *largest,
                      struct check_group *group)
{
    const struct backwards *backwards = &check->gradients.backwards;
    const struct backward *last =
        backwards->count > 0 ? &backwards->items[backwards->count - 1] : NULL;
    uint32_t module = last == NULL ? UINT32_MAX : find_module(check, last->file);
    const struct log_module *found;

    group->module = module == UINT32_MAX ? largest->module : module;
    found = log_reader_module(check->reader, group->module);
    group->line =
        module == UINT32_MAX ? found->table.sites[largest->site].line : last->line;
    group->function = found->table.functions[0].name;
    for (uint32_t i = 0; i < found->table.site_count; i++) {
        if (found->table.sites[i].line == group->line) {
            group->function =
                found->table.functions[found->table.sites[i].function].name;
            break;
        }
    }
}

static bool
report_norm(struct check *check, double norm, const struct check_gradient *largest)
{
    struct buffer words = BUFFER_INIT;
    struct check_group group = {
        .kind = CHECK_GRAD_NORM,
        .name = SLICE("gradients"),
        .count = 1,
        .event = largest->newest_event,
        .call = largest->call,
        .visit = largest->visit,
    };
    bool is_done;

    set_place(check, largest, &group);
    buffer_add(&words, SLICE("have the norm "));
    real_add_short(&words, norm, DIGITS);
    buffer_add(&words, SLICE(", above "));
    real_add_short(&words, check->rules->max_grad_norm, DIGITS);
    buffer_add_format(&words, ", in training step %llu; the largest is that of ",
                      (unsigned long long)check->gradients.training_step);
    buffer_add(&words, check->texts.texts[largest->name]);
    buffer_add(&words, SLICE(": "));
    real_add_short(&words, sqrt(largest->square_sum), DIGITS);
    check->offender_count++;
    is_done = check_found(check, &group, &words);
    buffer_release(&words);
    return is_done;
}

/* Checks the norm of the gradients since the last check. Called before an optimizer uses them. */
static bool judge_norm(struct check *check)
{
    struct check_gradients *gradients = &check->gradients;
    const struct check_gradient *largest = NULL;
    double sum = 0;

    if (!check->rules->is_wanted[CHECK_GRAD_NORM]) {
        return true;
    }
    for (uint32_t i = 0; i < gradients->count; i++) {
        struct check_gradient *item = &gradients->items[i];

        if (!item->is_new) {
            continue;
        }
        item->is_new = false;
        sum += item->square_sum;
        if (largest == NULL || item->square_sum > largest->square_sum) {
            largest = item;
        }
    }
    if (largest == NULL) {
        return true;
    }
    check->checked[CHECK_GRAD_NORM]++;
    return sqrt(sum) <= check->rules->max_grad_norm ||
           report_norm(check, sqrt(sum), largest);
}

/* ---- parameters, and the gradients that unscale_() writes ---- */

bool check_gradients_add_parameter(struct check *check,
                                   const struct log_event_view *event)
{
    struct check_gradients *gradients = &check->gradients;
    struct check_gradient *item;
    bool is_gradient = event->name.size > GRAD.size &&
                       slice_equal(slice_part(event->name, event->name.size - GRAD.size,
                                              event->name.size),
                                   GRAD);
    struct slice owner = is_gradient
                             ? slice_part(event->name, 0, event->name.size - GRAD.size)
                             : event->name;
    uint32_t name;

    if (event->kind != VALUE_TENSOR) {
        return true;
    }
    if (!text_table_add(&check->texts, owner, &name)) {
        check->has_failed = true;
        return false;
    }
    if (is_gradient) {
        item = find_item(gradients, number_map_key(UINT32_MAX, name));
        if (item != NULL && gradients->is_unscaling && event->has_statistics) {
            set_norm(item, event);
        }
        return true;
    }
    if ((event->shape->flags & LOG_FORM_REQUIRES_GRAD) == 0) {
        return true;
    }
    item = find_parameter(gradients, number_map_key(UINT32_MAX, name),
                          event->tensor.object, event->number);
    if (item == NULL) {
        item = add_item(check, number_map_key(UINT32_MAX, name), name, event);
        if (item == NULL) {
            return false;
        }
        item->is_parameter = true;
    }
    item->newest_event = event->number;
    return true;
}

/* ---- gradients ---- */

/* Keeps the first non-finite gradient of a backward pass. It is reported if nothing handles that
 * pass. */
static bool keep_bad(struct check *check, const struct log_event_view *event)
{
    struct check_gradients *gradients = &check->gradients;
    void *bad = gradients->bad;
    struct check_bad_gradient found = {.step = event->step,
                                       .next_event = check->event_count,
                                       .module = event->module_number,
                                       .line = event->site->line,
                                       .event = event->number,
                                       .call = event->call,
                                       .visit = event->visit};

    if (gradients->bad_count > 0 &&
        gradients->bad[gradients->bad_count - 1].step == event->step) {
        return true;
    }
    if (!memory_grow(&bad, &gradients->bad_capacity, (size_t)gradients->bad_count + 1,
                     sizeof *gradients->bad)) {
        check->has_failed = true;
        return false;
    }
    gradients->bad = bad;
    gradients->value.size = 0;
    value_text_add(&gradients->value, event, false);
    found.function = event->module->table.functions[event->site->function].name;
    found.value = arena_copy(&check->arena, buffer_slice(&gradients->value));
    found.nan_count = event->statistics.nan_count;
    found.inf_count = event->statistics.posinf_count + event->statistics.neginf_count;
    found.element_count = event->statistics.count;
    if (!add_name(check, event, &found.name)) {
        return false;
    }
    gradients->bad[gradients->bad_count++] = found;
    return true;
}

static bool report_bad(struct check *check, const struct check_bad_gradient *bad)
{
    struct buffer words = BUFFER_INIT;
    struct buffer name = BUFFER_INIT;
    struct check_group group = {
        .kind = bad->nan_count > 0 ? CHECK_NAN : CHECK_INF,
        .module = bad->module,
        .line = bad->line,
        .function = bad->function,
        .count = 1,
        .event = bad->event,
        .call = bad->call,
        .visit = bad->visit,
    };
    bool is_done;

    buffer_add(&name, SLICE("gradient of "));
    buffer_add(&name, check->texts.texts[bad->name]);
    group.name = buffer_slice(&name);
    buffer_add_format(
        &words, "holds %llu %s of %llu",
        (unsigned long long)(bad->nan_count > 0 ? bad->nan_count : bad->inf_count),
        bad->nan_count > 0 ? "NaN" : "Inf", (unsigned long long)bad->element_count);
    check->offender_count++;
    if (check->first.size == 0) {
        buffer_add(&check->first, bad->value);
        buffer_add_byte(&check->first, '\n');
    }
    check->has_failed |= name.has_failed;
    is_done = check_found(check, &group, &words);
    buffer_release(&words);
    buffer_release(&name);
    return is_done;
}

static bool follow_item(struct check *check, const struct log_event_view *event)
{
    struct check_gradients *gradients = &check->gradients;
    struct check_gradient *item;
    bool is_parameter = (event->flags & LOG_EVENT_PARAMETER) != 0;
    uint32_t name;
    uint64_t key;

    if (!add_name(check, event, &name)) {
        return false;
    }
    key = number_map_key(is_parameter ? UINT32_MAX : event->site_number, name);
    item = is_parameter ? find_parameter(gradients, key, 0, event->number)
                        : find_item(gradients, key);
    item = item != NULL ? item : add_item(check, key, name, event);
    if (item == NULL) {
        return false;
    }
    item->count++;
    item->is_alive = item->is_alive || event->statistics.count == 0 ||
                     event->statistics.zero_count < event->statistics.count;
    if (event->gradient == LOG_GRADIENT_ACCUMULATED) {
        set_norm(item, event);
    }
    return true;
}

static bool is_nonfinite(const struct log_event_view *event)
{
    return statistics_finite_count(&event->statistics) < event->statistics.count;
}

static bool add_gradient(struct check *check, const struct log_event_view *event)
{
    const struct check_rules *rules = check->rules;
    uint32_t known = number_map_get(&check->gradients.wanted_calls, event->call);
    struct open_call call = {.is_wanted = known != 0};

    check->gradients.gradient_count++;
    if (!event->has_statistics || !event_filter_match(&rules->filter, &call, event)) {
        return true;
    }
    if (is_nonfinite(event) && !keep_bad(check, event)) {
        return false;
    }
    check->checked[CHECK_DEAD_GRADIENTS]++;
    return follow_item(check, event);
}

bool check_gradients_add(struct check *check, const struct log_item *item)
{
    struct check_gradients *gradients = &check->gradients;

    if (!backwards_add(&gradients->backwards, check->reader, item,
                       check->event_count)) {
        check->has_failed = true;
        return false;
    }
    switch (item->kind) {
    case LOG_GRADIENT:
        gradients->training_step = item->event.training_step;
        return add_gradient(check, &item->event);
    case LOG_STEP:
        gradients->is_unscaling =
            item->step.tag == LOG_STEP_GRADIENTS &&
            slice_find(item->step.name, SLICE("unscale"), 0) < item->step.name.size;
        return item->step.tag != LOG_STEP_OPTIMIZER || judge_norm(check);
    case LOG_TRAINING_STEP:
        return judge_norm(check);
    default:
        return true;
    }
}

/* ---- at the end of the trace ---- */

static bool report_item(struct check *check,
                        enum check_kind kind,
                        const struct check_gradient *item,
                        struct slice what)
{
    const struct log_module *module = log_reader_module(check->reader, item->module);
    const struct site *site = &module->table.sites[item->site];
    struct buffer words = BUFFER_INIT;
    struct buffer name = BUFFER_INIT;
    struct check_group group = {
        .kind = kind,
        .module = item->module,
        .line = site->line,
        .function = module->table.functions[site->function].name,
        .count = kind == CHECK_DEAD_GRADIENTS ? item->count : 1,
        .event = item->event,
        .call = item->call,
        .visit = item->visit,
    };
    bool is_done;

    buffer_add(&name, kind == CHECK_DEAD_GRADIENTS ? SLICE("gradient of ") : SLICE(""));
    buffer_add(&name, check->texts.texts[item->name]);
    group.name = buffer_slice(&name);
    buffer_add(&words, what);
    if (group.count > 1) {
        buffer_add_format(&words, ", each of %llu times",
                          (unsigned long long)group.count);
    }
    check->offender_count += group.count;
    check->has_failed |= name.has_failed;
    is_done = check_found(check, &group, &words);
    buffer_release(&words);
    buffer_release(&name);
    return is_done;
}

/* Reports every non-finite gradient if the rules ask for all of them. Otherwise reports the
 * first one that nothing handled, unless a value before it is non-finite. */
static bool report_nonfinite(struct check *check)
{
    struct check_gradients *gradients = &check->gradients;
    const struct check_rules *rules = check->rules;
    uint32_t uncaught = backwards_find_bad(&gradients->backwards, 0);

    for (uint32_t i = 0; i < gradients->bad_count; i++) {
        const struct check_bad_gradient *bad = &gradients->bad[i];
        bool is_wanted = rules->is_wanted[bad->nan_count > 0 ? CHECK_NAN : CHECK_INF];
        bool is_first =
            check->group_count == 0 || check->groups[0].event >= bad->next_event;

        if (rules->lets_meant &&
            (uncaught == BACKWARD_NONE || !is_first ||
             gradients->backwards.items[uncaught].step != bad->step)) {
            continue;
        }
        if (is_wanted && !report_bad(check, bad)) {
            return false;
        }
        if (is_wanted && is_first && check->group_count > 1) {
            struct check_group first = check->groups[check->group_count - 1];

            memmove(check->groups + 1, check->groups,
                    (check->group_count - 1) * sizeof first);
            check->groups[0] = first;
            check->first.size = 0;
            buffer_add(&check->first, bad->value);
            buffer_add_byte(&check->first, '\n');
        }
    }
    return true;
}

bool check_gradients_finish(struct check *check)
{
    struct check_gradients *gradients = &check->gradients;
    const bool *is_wanted = check->rules->is_wanted;
    bool is_done = report_nonfinite(check);

    is_done = is_done && judge_norm(check);
    for (uint32_t i = 0; i < gradients->count && is_done; i++) {
        const struct check_gradient *item = &gradients->items[i];

        if (is_wanted[CHECK_DEAD_GRADIENTS] && item->count > 0 && !item->is_alive) {
            is_done =
                report_item(check, CHECK_DEAD_GRADIENTS, item, SLICE("is only zeros"));
        }
        if (item->is_parameter && gradients->gradient_count > 0) {
            check->checked[CHECK_UNUSED_PARAMETERS]++;
        }
        if (is_done && is_wanted[CHECK_UNUSED_PARAMETERS] && item->is_parameter &&
            gradients->gradient_count > 0 && item->count == 0) {
            is_done = report_item(check, CHECK_UNUSED_PARAMETERS, item,
                                  SLICE("got no gradient in any backward"));
        }
    }
    return is_done;
}
