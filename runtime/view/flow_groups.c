/* Units of calls and turns to the boxes around the graph's nodes. */
#include "runtime/view/flow_build.h"

#include "runtime/base/memory.h"

/* So far above is a call of the same function looked for. */
#define RECURSION_MAX 1000

/* Marks what is around each shown node. What a filter kept back, and something was made from,
 * stands in the boxes that there are anyway. */
static void mark_needed(const struct flow_builder *builder, uint8_t *is_needed)
{
    for (uint32_t i = 0; i < builder->cluster_count; i++) {
        const struct flow_cluster *cluster = &builder->clusters[i];
        const struct flow_raw *node = &builder->raws[cluster->first];
        uint32_t unit;

        if (cluster->node == FLOW_NONE || node->is_promoted) {
            continue;
        }
        unit = builder->units[node->unit].cluster;
        while (unit != FLOW_NONE && !is_needed[unit]) {
            is_needed[unit] = true;
            unit = builder->units[unit].parent;
            unit = unit == FLOW_NONE ? unit : builder->units[unit].cluster;
        }
    }
}

/* A module's own lines have no box where nothing recorded imported it: the picture is that. */
static bool has_box(const struct flow_builder *builder, const struct flow_unit *unit)
{
    const struct flow_call *call = &builder->calls[unit->call];

    if (unit->loop != FLOW_NONE) {
        return unit->count > 1;
    }
    return call->function != 0 || call->parent != FLOW_NONE;
}

static bool is_recursive(const struct flow_builder *builder, uint32_t index)
{
    const struct flow_call *call = &builder->calls[builder->units[index].call];
    uint32_t above = call->parent;

    for (int i = 0; i < RECURSION_MAX && above != FLOW_NONE; i++) {
        const struct flow_call *around = &builder->calls[above];

        if (around->function == call->function && around->module == call->module &&
            builder->units[around->unit].cluster != index) {
            return true;
        }
        above = around->parent;
    }
    return false;
}

static struct flow_group group_of_call(struct flow_builder *builder, uint32_t index)
{
    const struct flow_call *call = &builder->calls[builder->units[index].call];
    const struct site_table *table = &builder->modules[call->module].module->table;
    const struct site_function *function = &table->functions[call->function];

    return (struct flow_group){
        .kind = FLOW_GROUP_CALL,
        .call = call->number,
        .function = flow_keep(builder, function->name),
        .path = flow_keep(builder, builder->texts.texts[call->path]),
        .class_name = flow_keep(builder, builder->texts.texts[call->class_name]),
        .code = {"", 0},
        .file = flow_keep(builder, table->path),
        .line = function->line,
        .thread = call->thread,
        .is_recursive = is_recursive(builder, index),
    };
}

static struct flow_group group_of_loop(struct flow_builder *builder, uint32_t index)
{
    const struct flow_unit *unit = &builder->units[index];
    const struct flow_call *call = &builder->calls[unit->call];
    const struct log_module *module = builder->modules[call->module].module;
    uint32_t line = module->table.sites[unit->loop - module->first_site].line;

    return (struct flow_group){
        .kind = FLOW_GROUP_LOOP,
        .call = call->number,
        .function = {"", 0},
        .path = {"", 0},
        .class_name = {"", 0},
        .code =
            flow_keep(builder, source_lines_get(builder->lines, call->module, line)),
        .file = flow_keep(builder, module->table.path),
        .line = line,
        .thread = call->thread,
    };
}

static uint32_t group_above(const struct flow_builder *builder, uint32_t unit)
{
    uint32_t parent = builder->units[unit].parent;

    return parent == FLOW_NONE ? FLOW_NONE
                               : builder->units[builder->units[parent].cluster].group;
}

/* A unit's parent stands before it, so its box is known. */
static bool add_groups(struct flow_builder *builder, const uint8_t *is_needed)
{
    struct flow_graph *graph = builder->graph;
    uint32_t count = 0;

    for (uint32_t i = 0; i < builder->unit_count; i++) {
        count += is_needed[i] && has_box(builder, &builder->units[i]);
    }
    graph->groups = arena_allocate(&graph->arena, count, sizeof *graph->groups);
    if (graph->groups == NULL) {
        return flow_out_of_memory(builder);
    }
    for (uint32_t i = 0; i < builder->unit_count; i++) {
        struct flow_unit *unit = &builder->units[i];
        struct flow_group *group = &graph->groups[graph->group_count];

        if (unit->cluster != i) {
            continue;
        }
        unit->group = group_above(builder, i);
        if (is_needed[i] && has_box(builder, unit)) {
            *group = unit->loop == FLOW_NONE ? group_of_call(builder, i)
                                             : group_of_loop(builder, i);
            group->parent = unit->group;
            group->count = unit->count;
            unit->group = graph->group_count++;
        }
    }
    return true;
}

bool flow_groups(struct flow_builder *builder)
{
    uint8_t *is_needed = memory_allocate_zeroed(builder->unit_count, 1);
    bool is_done;

    if (is_needed == NULL) {
        return flow_out_of_memory(builder);
    }
    mark_needed(builder, is_needed);
    is_done = add_groups(builder, is_needed);
    memory_free(is_needed);
    return is_done;
}
