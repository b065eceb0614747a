/* Units of calls and turns to the boxes around the graph's nodes. */
#include "runtime/view/flow/build.h"

#include "runtime/base/buffer.h"
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

/* Whether the unit that is drawn alone is the call or stands in it: the picture is that. */
static bool is_around_root(const struct flow_builder *builder,
                           const struct flow_unit *unit)
{
    for (uint32_t i = builder->root; i != FLOW_NONE; i = builder->units[i].parent) {
        if (unit == &builder->units[i]) {
            return true;
        }
    }
    return false;
}

/* A module's own lines have no box where nothing recorded imported it: the picture is that. A
 * turn that stands alone has none, though what is around it is folded. */
static bool has_box(const struct flow_builder *builder, const struct flow_unit *unit)
{
    const struct flow_call *call = &builder->calls[unit->call];

    if (unit->loop == FLOW_NONE && is_around_root(builder, unit)) {
        return false;
    }
    if (unit->loop != FLOW_NONE) {
        return unit->count > builder->units[builder->units[unit->parent].cluster].count;
    }
    return call->function != 0 || call->parent != FLOW_NONE;
}

/* ---- paths of folded modules ---- */

#define SPANS_MAX  8  /* numbers in a path */
#define DIGITS_MAX 18 /* of one: longer ones stay as they are */

/* The numbers in the paths of all modules that a box stands for. */
struct path_spans {
    uint64_t low[SPANS_MAX], high[SPANS_MAX];
    bool is_begun;
};

/* The next number that is a part of its own in `path`, from `start` on: where it begins; its end
 * and its value. The path's size where there is none. */
static size_t
find_number(struct slice path, size_t start, size_t *end, uint64_t *number)
{
    while (start < path.size) {
        size_t stop = slice_find(path, SLICE("."), start);
        size_t i = start;

        *number = 0;
        while (i < stop && path.bytes[i] >= '0' && path.bytes[i] <= '9' &&
               i - start < DIGITS_MAX) {
            *number = *number * 10 + (uint64_t)(path.bytes[i++] - '0');
        }
        if (i == stop && i > start) {
            *end = stop;
            return start;
        }
        start = stop + 1;
    }
    return path.size;
}

static void spans_add(struct path_spans *spans, struct slice path)
{
    size_t end = 0;
    uint64_t number;
    int i = 0;

    for (size_t at = find_number(path, 0, &end, &number);
         at < path.size && i < SPANS_MAX; at = find_number(path, end, &end, &number)) {
        bool is_first = !spans->is_begun;

        spans->low[i] = is_first || number < spans->low[i] ? number : spans->low[i];
        spans->high[i] = is_first || number > spans->high[i] ? number : spans->high[i];
        i++;
    }
    spans->is_begun = true;
}

/* `blocks.0-11.attention` */
static void
spans_add_text(const struct path_spans *spans, struct slice path, struct buffer *text)
{
    size_t start = 0;
    size_t end = 0;
    uint64_t number;
    int i = 0;

    for (size_t at = find_number(path, 0, &end, &number);
         at < path.size && i < SPANS_MAX; at = find_number(path, end, &end, &number)) {
        buffer_add(text, slice_part(path, start, at));
        buffer_add_number(text, spans->low[i]);
        if (spans->high[i] > spans->low[i]) {
            buffer_add_byte(text, '-');
            buffer_add_number(text, spans->high[i]);
        }
        start = end;
        i++;
    }
    buffer_add(text, slice_part(path, start, path.size));
}

static bool name_paths(struct flow_builder *builder)
{
    struct flow_graph *graph = builder->graph;
    struct path_spans *spans =
        memory_allocate_zeroed(graph->group_count, sizeof *spans);
    struct buffer text = BUFFER_INIT;

    if (spans == NULL) {
        return flow_out_of_memory(builder);
    }
    for (uint32_t i = 0; i < builder->call_count; i++) {
        const struct flow_call *call = &builder->calls[i];
        const struct flow_unit *first =
            &builder->units[builder->units[call->unit].cluster];

        if (call->path != 0 && first->group != FLOW_NONE && first->count > 1) {
            spans_add(&spans[first->group], builder->texts.texts[call->path]);
        }
    }
    for (uint32_t i = 0; i < graph->group_count; i++) {
        struct flow_group *group = &graph->groups[i];

        if (group->kind == FLOW_GROUP_CALL && group->count > 1 &&
            group->path.size > 0) {
            text.size = 0;
            spans_add_text(&spans[i], group->path, &text);
            group->path = flow_keep(builder, buffer_slice(&text));
        }
    }
    graph->arena.has_failed |= text.has_failed;
    buffer_release(&text);
    memory_free(spans);
    return true;
}

/* ---- boxes ---- */

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
    is_done = add_groups(builder, is_needed) && name_paths(builder);
    memory_free(is_needed);
    return is_done;
}
