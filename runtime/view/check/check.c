/* Checks on the events of a trace, as they are read. */
#include "runtime/view/check/check.h"

#include "runtime/base/memory.h"

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
    number_map_init(&check->called);
    uninitialised_names_init(&check->uninitialised);
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
    number_map_release(&check->called);
    uninitialised_names_release(&check->uninitialised);
    memory_free(check->groups);
    memory_free(check->sites);
    memory_free(check->zeros);
    buffer_release(&check->first);
}

/* ---- what was found ---- */

static uint64_t group_key(struct check *check, const struct check_group *group)
{
    uint32_t name = 0;

    if (!text_table_add(&check->texts, group->name, &name)) {
        check->has_failed = true;
    }
    return number_map_key(group->module, group->line) * 0x9e3779b97f4a7c15u +
           number_map_key(name, (uint32_t)group->kind);
}

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

/* ---- the stream ---- */

static bool take_event(struct check *check,
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
    if ((is_wanted[CHECK_UNUSED] || is_wanted[CHECK_DEAD]) &&
        !check_remember_site(check, event, fits)) {
        return false;
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
                  (!is_wanted[CHECK_ZEROS] || check_remember_zeros(check, event));
    }
    check->offender_count += is_bad;
    buffer_release(&words);
    return is_done;
}

static bool take_call(struct check *check, struct open_call *call, bool is_new)
{
    if (call == NULL) {
        check->has_failed = true;
        return false;
    }
    if (is_new) {
        uint64_t key = number_map_key(call->module_number, call->function);

        event_filter_judge(&check->rules->filter, call, check->reader);
        if (check->rules->is_wanted[CHECK_DEAD] &&
            number_map_get(&check->called, key) == NUMBER_MAP_NONE &&
            !number_map_put(&check->called, key, 1)) {
            check->has_failed = true;
            return false;
        }
    }
    return true;
}

bool check_take(struct check *check, const struct log_item *item, struct error *error)
{
    struct open_call *call;
    bool is_new = false;
    bool is_done = true;

    switch (item->kind) {
    case LOG_CALL:
        call = open_calls_begin(&check->calls, &item->call, &is_new);
        is_done = take_call(check, call, is_new);
        break;
    case LOG_EVENT:
        call = open_calls_of_event(&check->calls, &item->event, &is_new);
        is_done = take_call(check, call, is_new) &&
                  take_event(check, &item->event, call) &&
                  uninitialised_names_follow(&check->uninitialised, &item->event);
        break;
    case LOG_END:
        call = open_calls_find(&check->calls, item->end.call);
        if (call != NULL) {
            is_done =
                item->end.how != LOG_END_LEFT ||
                number_map_put(&check->called,
                               number_map_key(call->module_number, call->function),
                               CHECK_WAS_LEFT);
            open_calls_end(&check->calls, call);
        }
        break;
    default:
        break;
    }
    if (!is_done) {
        error_set_memory(error);
    }
    return is_done;
}

bool check_finish(struct check *check, struct error *error)
{
    const bool *is_wanted = check->rules->is_wanted;

    if ((is_wanted[CHECK_ZEROS] && !check_find_zeros(check)) ||
        (is_wanted[CHECK_UNUSED] && !check_find_unused(check)) ||
        (is_wanted[CHECK_DEAD] && !check_find_dead(check)) || check->has_failed ||
        check->sources->has_failed) {
        return error_set_memory(error);
    }
    return true;
}
