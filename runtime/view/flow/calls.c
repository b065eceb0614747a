/* The calls and turns of loops that a trace's events belong to. */
#include "runtime/view/flow/build.h"

/* ---- turns of loops ---- */

static bool unit_add(struct flow_builder *builder,
                     uint32_t parent,
                     uint32_t call,
                     uint32_t loop,
                     uint32_t *unit)
{
    void *items = builder->units;

    if (!flow_grow(builder, &items, &builder->unit_capacity, builder->unit_count,
                   sizeof *builder->units)) {
        return false;
    }
    builder->units = items;
    builder->units[builder->unit_count] =
        (struct flow_unit){parent, call, loop, builder->unit_count, 1, FLOW_NONE};
    *unit = builder->unit_count++;
    return true;
}

/* Whether the site stands in the loop's body, or is its header. */
static bool
loop_has_site(const struct flow_module *module, uint32_t loop, uint32_t site)
{
    return site >= loop && site < module->ends[loop];
}

static bool
loop_has_line(const struct flow_module *module, uint32_t loop, uint32_t line)
{
    const struct site_table *table = &module->module->table;
    uint32_t end = module->ends[loop];

    return line == 0 || (line >= table->sites[loop].line &&
                         (end == table->site_count || line < table->sites[end].line ||
                          table->sites[end].function != table->sites[loop].function));
}

bool flow_turns_follow(struct flow_builder *builder,
                       const struct log_event_view *event,
                       uint32_t index)
{
    struct flow_call *call = &builder->calls[index];
    const struct flow_module *module = &builder->modules[event->module_number];
    uint32_t first = event->module->first_site;
    uint32_t site = event->site_number - first;
    uint32_t unit = call->open_unit;

    if (event->module_number != call->module) {
        return true;
    }
    while (builder->units[unit].loop != FLOW_NONE) {
        uint32_t loop = builder->units[unit].loop - first;

        if (loop != site && loop_has_site(module, loop, site)) {
            break;
        }
        unit = builder->units[unit].parent;
    }
    if (event->site->kind == SITE_LOOP &&
        !unit_add(builder, unit, index, event->site_number, &unit)) {
        return false;
    }
    builder->calls[index].open_unit = unit;
    return true;
}

/* A call is made at that line: turns of loops that it does not stand in have ended. */
static void
turns_follow_line(struct flow_builder *builder, struct flow_call *call, uint32_t line)
{
    const struct flow_module *module = &builder->modules[call->module];
    uint32_t first = module->module->first_site;

    while (builder->units[call->open_unit].loop != FLOW_NONE &&
           !loop_has_line(module, builder->units[call->open_unit].loop - first, line)) {
        call->open_unit = builder->units[call->open_unit].parent;
    }
}

/* ---- calls ---- */

static bool call_has_module(const struct flow_builder *builder,
                            const struct flow_call *call)
{
    return call->class_name != 0 && builder->texts.texts[call->class_name].size > 0;
}

static bool find_scopes(struct flow_builder *builder, struct flow_call *call)
{
    const struct flow_module *module = &builder->modules[call->module];

    if (call->function == 0) {
        call->scope = module->globals;
    } else {
        call->scope = builder->scope_count++;
    }
    call->owner = builder->functions[module->first_function + call->function].owner;
    if (call_has_module(builder, call)) {
        return flow_scope_of(builder, call->class_name, call->path, &call->owner);
    }
    return true;
}

static void put_pending(struct flow_builder *builder, uint32_t index)
{
    struct flow_call *call = &builder->calls[index];
    struct flow_call *parent = &builder->calls[call->parent];

    call->is_pending = true;
    if (parent->first_pending == FLOW_NONE) {
        parent->first_pending = index;
    } else {
        builder->calls[parent->last_pending].next_pending = index;
    }
    parent->last_pending = index;
}

static bool
call_add(struct flow_builder *builder, const struct open_call *open, uint32_t *index)
{
    void *items = builder->calls;
    uint32_t parent = number_map_get(&builder->call_index, open->parent_number);
    struct flow_call call = {
        .number = open->call,
        .parent = open->parent_number == 0 ? FLOW_NONE : parent,
        .module = open->module_number,
        .function = open->function,
        .line = open->line,
        .first_pending = FLOW_NONE,
        .last_pending = FLOW_NONE,
        .next_pending = FLOW_NONE,
        .first_argument = FLOW_NONE,
        .first_result = FLOW_NONE,
        .thread = open->thread,
        .is_joined = open->is_joined || !open->is_begun,
        .term_node = FLOW_NONE,
        .next_at_term = FLOW_NONE,
        .is_wanted = open->is_wanted,
    };
    uint32_t parent_unit = FLOW_NONE;

    if (call.parent != FLOW_NONE && !call.is_wanted) {
        const struct flow_call *caller = &builder->calls[call.parent];

        call.is_between = caller->is_wanted || caller->is_between;
    }
    if (!flow_text(builder, open->path, &call.path) ||
        !flow_text(builder, open->class_name, &call.class_name) ||
        !find_scopes(builder, &call)) {
        return false;
    }
    if (call.parent != FLOW_NONE) {
        turns_follow_line(builder, &builder->calls[call.parent], call.line);
        parent_unit = builder->calls[call.parent].open_unit;
    }
    if (!flow_grow(builder, &items, &builder->call_capacity, builder->call_count,
                   sizeof *builder->calls)) {
        return false;
    }
    builder->calls = items;
    *index = builder->call_count;
    if (!unit_add(builder, parent_unit, *index, FLOW_NONE, &call.unit)) {
        return false;
    }
    call.open_unit = call.unit;
    if (!number_map_put(&builder->call_index, call.number, *index)) {
        return flow_out_of_memory(builder);
    }
    builder->calls[builder->call_count++] = call;
    builder->functions[builder->modules[call.module].first_function + call.function]
        .last_call = *index;
    if (call.parent != FLOW_NONE) {
        put_pending(builder, *index);
    }
    return true;
}

bool flow_call_begin(struct flow_builder *builder, const struct log_call_view *view)
{
    bool is_new;
    uint32_t index;
    struct open_call *open = open_calls_begin(&builder->open_calls, view, &is_new);

    if (open == NULL) {
        return flow_out_of_memory(builder);
    }
    if (!is_new) {
        return true;
    }
    if (builder->options->filter != NULL) {
        event_filter_judge(builder->options->filter, open, builder->reader);
    } else {
        open->is_wanted = true;
    }
    return flow_module_get(builder, view->module, view->module_number) &&
           call_add(builder, open, &index);
}

bool flow_call_of_event(struct flow_builder *builder,
                        const struct log_event_view *event,
                        struct open_call **open,
                        uint32_t *index)
{
    bool is_new;

    *open = open_calls_of_event(&builder->open_calls, event, &is_new);
    if (*open == NULL) {
        return flow_out_of_memory(builder);
    }
    if (!flow_module_get(builder, event->module, event->module_number)) {
        return false;
    }
    if (is_new) {
        (*open)->is_wanted = true;
        if (builder->options->filter != NULL) {
            event_filter_judge(builder->options->filter, *open, builder->reader);
        }
        return call_add(builder, *open, index);
    }
    *index = number_map_get(&builder->call_index, event->call);
    return true;
}

void flow_call_end(struct flow_builder *builder, uint32_t number)
{
    uint32_t index = number_map_get(&builder->call_index, number);

    open_calls_end(&builder->open_calls, open_calls_find(&builder->open_calls, number));
    if (index != NUMBER_MAP_NONE) {
        builder->calls[index].is_ended = true;
    }
}
