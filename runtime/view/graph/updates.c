/* Updates of a training: a backward, and each call that writes to gradients or parameters, is
 * one node.
 *
 * A backward is made from the first value that it gave a gradient, because autograd starts
 * there. A call that writes to gradients, and an optimizer's step, are made from the update that
 * wrote each of those gradients last. Parameters and gradients are identified by their
 * addresses. */
#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"
#include "runtime/view/graph/build.h"

#include <assert.h>
#include <math.h>

static const struct slice gradient_suffix = {".grad", 5};

void graph_updates_release(struct graph_updates *updates)
{
    memory_free(updates->items);
    memory_free(updates->parameters);
    number_map_release(&updates->of_event);
    number_map_release(&updates->of_object);
}

static struct reading_update *newest(struct graph_updates *updates)
{
    return updates->count > 0 ? &updates->items[updates->count - 1] : NULL;
}

/* ---- the line of an update ---- */

/* A site of the call's function on that line of that file. GRAPH_NONE: none. */
static uint32_t site_on_line(const struct graph_builder *builder,
                             const struct graph_raw_call *call,
                             const struct log_step_view *step)
{
    const struct log_module *module = builder->modules[call->module].module;

    if (!slice_equal(module->table.path, step->file) &&
        !slice_equal(module->file, step->file)) {
        return GRAPH_NONE;
    }
    for (uint32_t i = 0; i < module->table.site_count; i++) {
        const struct site *site = &module->table.sites[i];

        if (site->line == step->line && site->function == call->function) {
            return module->first_site + i;
        }
    }
    return GRAPH_NONE;
}

/* The innermost unfinished call of the thread that has a site on that line. GRAPH_NONE: none. */
static uint32_t call_on_line(struct graph_builder *builder,
                             const struct log_step_view *step,
                             uint32_t *site)
{
    uint32_t index = builder->visit.serial == 0 ? GRAPH_NONE : builder->visit.call;

    while (index != GRAPH_NONE) {
        const struct graph_raw_call *call = &builder->calls[index];

        if (!call->is_ended && call->thread == step->thread) {
            *site = site_on_line(builder, call, step);
            if (*site != GRAPH_NONE) {
                return index;
            }
        }
        index = call->parent;
    }
    return GRAPH_NONE;
}

static bool add_node(struct graph_builder *builder,
                     struct reading_update *update,
                     uint32_t call,
                     uint32_t site,
                     uint64_t event)
{
    void *items = builder->raws;

    assert(call < builder->call_count);
    if (!graph_grow(builder, &items, &builder->raw_capacity, builder->raw_count,
                    sizeof *builder->raws)) {
        return false;
    }
    graph_turns_follow_line(builder, &builder->calls[call], update->line);
    builder->raws = items;
    update->value = builder->raw_count;
    builder->raws[builder->raw_count++] = (struct graph_raw){
        .event = event,
        .same_as = GRAPH_NONE,
        .object = update->value,
        .holder = update->value,
        .older = GRAPH_NONE,
        .content = GRAPH_NONE,
        .site = site,
        .call = call,
        .unit = builder->calls[call].open_unit,
        .name = update->name,
        .serial = builder->visit.serial,
        .written = GRAPH_NONE,
        .alias_site = UINT32_MAX,
        .flags = GRAPH_UPDATE,
        .kind = VALUE_NOTHING,
        .change = CHANGE_NEW,
        .is_hidden = event < builder->options->first_event,
    };
    return true;
}

/* The text before the last dot: `SGD` of `SGD.step` and `SGD.lr`; 0: no dot. GRAPH_NONE: out of
 * memory. */
static uint32_t optimizer_of(struct graph_builder *builder, struct slice name)
{
    struct slice last = slice_last_part(name, '.');
    uint32_t text;

    if (last.size == name.size) {
        return 0;
    }
    return graph_text_add(builder, slice_part(name, 0, name.size - last.size - 1),
                          &text)
               ? text
               : GRAPH_NONE;
}

static struct graph_rate *find_rate(struct graph_updates *updates, uint32_t optimizer)
{
    for (uint32_t i = updates->rate_count; i > 0; i--) {
        if (updates->rates[i - 1].optimizer == optimizer) {
            return &updates->rates[i - 1];
        }
    }
    return NULL;
}

/* Notes a learning rate. Settings are recorded when they change, at any line. Optimizers beyond
 * GRAPH_RATES_MAX have no known rate. */
static bool note_rate(struct graph_builder *builder, const struct log_event_view *event)
{
    struct graph_updates *updates = &builder->updates;
    uint32_t optimizer = optimizer_of(builder, event->name);
    struct graph_rate *rate;

    if (optimizer == GRAPH_NONE) {
        return false;
    }
    rate = find_rate(updates, optimizer);
    if (rate == NULL && updates->rate_count < GRAPH_RATES_MAX) {
        rate = &updates->rates[updates->rate_count++];
    }
    if (rate != NULL) {
        *rate = (struct graph_rate){optimizer, event->real};
    }
    return true;
}

static bool is_drawn(enum log_step_tag tag)
{
    return tag == LOG_STEP_BACKWARD || tag == LOG_STEP_OPTIMIZER ||
           tag == LOG_STEP_GRADIENTS;
}

bool graph_update_begin(struct graph_builder *builder,
                        const struct log_step_view *step,
                        uint64_t event)
{
    struct graph_updates *updates = &builder->updates;
    void *items = updates->items;
    struct reading_update *update;
    uint32_t site, call;

    updates->is_open = false;
    if (!is_drawn(step->tag)) {
        return true;
    }
    if (updates->count > 0 && newest(updates)->value == GRAPH_NONE) {
        updates->count--; /* the last update wrote nothing */
    }
    if (!graph_grow(builder, &items, &updates->capacity, updates->count,
                    sizeof *updates->items)) {
        return false;
    }
    updates->items = items;
    update = &updates->items[updates->count];
    *update = (struct reading_update){
        .value = GRAPH_NONE, .tag = step->tag, .line = step->line};
    if (!graph_text_add(builder,
                        step->name.size > 0 ? step->name : log_step_text(step->tag),
                        &update->name)) {
        return false;
    }
    update->optimizer = optimizer_of(builder, step->name);
    if (update->optimizer == GRAPH_NONE) {
        return false;
    }
    if (step->tag == LOG_STEP_BACKWARD) {
        call = call_on_line(builder, step, &site);
        if (call != GRAPH_NONE && !add_node(builder, update, call, site, event)) {
            return false;
        }
    }
    updates->is_backward = step->tag == LOG_STEP_BACKWARD;
    updates->is_open = update->value != GRAPH_NONE || !updates->is_backward;
    updates->count += updates->is_open;
    return true;
}

/* ---- parameters ---- */

/* The parameter with that address, added if it is new. GRAPH_NONE: out of memory. */
static uint32_t parameter_of(struct graph_builder *builder, uint64_t object)
{
    struct graph_updates *updates = &builder->updates;
    uint32_t index = number_map_get(&updates->of_object, object);
    void *items = updates->parameters;

    if (index != NUMBER_MAP_NONE) {
        return index;
    }
    index = updates->parameter_count;
    if (!graph_grow(builder, &items, &updates->parameter_capacity, index,
                    sizeof *updates->parameters)) {
        return GRAPH_NONE;
    }
    updates->parameters = items;
    if (!number_map_put(&updates->of_object, object, index)) {
        graph_out_of_memory(builder);
        return GRAPH_NONE;
    }
    updates->parameters[index] = (struct graph_parameter){.written_by = GRAPH_NONE};
    updates->parameter_count++;
    return index;
}

static bool note(struct graph_builder *builder,
                 struct number_map *map,
                 uint64_t key,
                 uint32_t index)
{
    return number_map_put(map, key, index) || graph_out_of_memory(builder);
}

/* Adds the event's statistics to the update. The gradient that a backward starts with is not
 * counted for `largest`, because the backward did not compute it. */
static bool add_figures(struct graph_builder *builder,
                        struct reading_update *update,
                        const struct log_event_view *event)
{
    const struct statistics *figures = &event->statistics;
    bool is_start = update->tag == LOG_STEP_BACKWARD && update->value_count == 0;
    double size;

    update->value_count++;
    if (!event->has_statistics) {
        return true;
    }
    if (figures->nan_count + figures->posinf_count + figures->neginf_count > 0) {
        update->bad_count++;
        builder->raws[update->value].has_nan = true;
    }
    if (is_start || statistics_finite_count(figures) == 0) {
        return true;
    }
    size = fmax(fabs(statistics_bound_real(event->shape->dtype, figures->min)),
                fabs(statistics_bound_real(event->shape->dtype, figures->max)));
    if (size <= update->largest) {
        return true;
    }
    update->largest = size;
    return graph_text_add(builder, event->name, &update->largest_name);
}

/* The node of the update that wrote the parameter's gradient last. GRAPH_NONE: none. */
static uint32_t raw_of(const struct graph_builder *builder,
                       const struct graph_parameter *one)
{
    return one->written_by == GRAPH_NONE
               ? GRAPH_NONE
               : builder->updates.items[one->written_by].value;
}

/* Adds a tensor that an update other than a backward read or wrote. */
static bool add_written(struct graph_builder *builder,
                        struct reading_update *update,
                        const struct log_event_view *event)
{
    bool is_gradient = slice_ends(event->name, gradient_suffix);
    uint32_t parameter =
        number_map_get(&builder->updates.of_object, event->tensor.object);

    if (parameter != NUMBER_MAP_NONE) {
        struct graph_parameter *one = &builder->updates.parameters[parameter];

        if (!graph_edge_add(builder, GRAPH_VALUE, raw_of(builder, one),
                            update->value)) {
            return false;
        }
        if (update->tag == LOG_STEP_GRADIENTS && is_gradient) {
            one->written_by = builder->updates.count - 1;
            one->version = event->tensor.version;
        }
    }
    if (update->tag == LOG_STEP_OPTIMIZER && update->value_count == 0) {
        const struct graph_rate *rate = find_rate(&builder->updates, update->optimizer);

        update->rate = rate == NULL ? NAN : rate->rate;
    }
    return (event->flags & LOG_EVENT_READ) != 0 ||
           is_gradient != (update->tag == LOG_STEP_GRADIENTS) ||
           add_figures(builder, update, event);
}

bool graph_update_parameter(struct graph_builder *builder,
                            const struct log_event_view *event)
{
    struct graph_updates *updates = &builder->updates;
    struct reading_update *update = newest(updates);
    struct open_call *open;
    uint32_t parameter, call;

    if (event->kind == VALUE_FLOAT && slice_ends(event->name, SLICE(".lr")) &&
        !note_rate(builder, event)) {
        return false;
    }
    if (event->kind == VALUE_TENSOR && !slice_ends(event->name, gradient_suffix)) {
        parameter = parameter_of(builder, event->tensor.object);
        if (parameter == GRAPH_NONE ||
            !note(builder, &updates->of_event, event->number, parameter)) {
            return false;
        }
    }
    if (update == NULL || !updates->is_open || update->tag == LOG_STEP_BACKWARD) {
        return true;
    }
    if (update->value == GRAPH_NONE &&
        (!graph_call_of_event(builder, event, &open, &call) ||
         !add_node(builder, update, call, event->site_number, event->number))) {
        return false;
    }
    return event->kind != VALUE_TENSOR || add_written(builder, update, event);
}

/* Adds a gradient that a backward accumulated in `.grad`. If its version is one more than that
 * of the last known write, the backward added to the gradient there. */
static bool add_accumulated(struct graph_builder *builder,
                            const struct reading_update *update,
                            const struct log_event_view *gradient)
{
    struct graph_updates *updates = &builder->updates;
    uint32_t index = number_map_get(&updates->of_event, gradient->number);
    uint64_t address = gradient->tensor.object;
    struct graph_parameter *one;

    if (index == NUMBER_MAP_NONE) {
        return true;
    }
    one = &updates->parameters[index];
    if (address != 0 && one->gradient == address &&
        gradient->tensor.version == one->version + 1 &&
        !graph_edge_add(builder, GRAPH_WRITE, raw_of(builder, one), update->value)) {
        return false;
    }
    *one = (struct graph_parameter){.written_by = updates->count - 1,
                                    .version = gradient->tensor.version,
                                    .gradient = address};
    return address == 0 || note(builder, &updates->of_object, address, index);
}

bool graph_update_gradient(struct graph_builder *builder,
                           const struct log_event_view *gradient)
{
    struct graph_updates *updates = &builder->updates;
    struct reading_update *update = newest(updates);
    bool is_parameter = (gradient->flags & LOG_EVENT_PARAMETER) != 0;

    if (!updates->is_backward || !updates->is_open) {
        return true;
    }
    if (is_parameter) {
        update->parameter_count++;
        if (!add_accumulated(builder, update, gradient)) {
            return false;
        }
    } else if (!update->has_start) {
        update->has_start = true;
        if (!graph_edge_add(builder, GRAPH_VALUE,
                            graph_raw_of_event(builder, gradient->number),
                            update->value)) {
            return false;
        }
    }
    return add_figures(builder, update, gradient);
}

/* Adds an edge to a value of the statement that made the update: `norm = clip_grad_norm_(…)`. */
bool graph_update_join(struct graph_builder *builder, uint32_t raw)
{
    const struct graph_updates *updates = &builder->updates;
    const struct graph_raw *from;

    assert(raw < builder->raw_count);
    if (updates->count == 0 || updates->items[updates->count - 1].value == GRAPH_NONE ||
        updates->items[updates->count - 1].tag == LOG_STEP_BACKWARD) {
        return true;
    }
    from = &builder->raws[updates->items[updates->count - 1].value];
    return from->site != builder->raws[raw].site ||
           from->call != builder->raws[raw].call ||
           from->unit != builder->raws[raw].unit ||
           graph_edge_add(builder, GRAPH_VALUE,
                          updates->items[updates->count - 1].value, raw);
}
