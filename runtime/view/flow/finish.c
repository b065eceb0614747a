/* The end of a graph's construction: clusters of raw nodes become nodes and edges, units become
 * boxes. */
#include "runtime/view/flow/build.h"

#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"
#include "runtime/view/words/number_text.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Boxes: the units of calls and turns around the graph's nodes. */

/* The most callers that are searched for a call of the same function. */
#define RECURSION_MAX 1000

/* Marks the units around each shown node. A source that the filter left out, but that a shown
 * value was made from, needs no box of its own. */
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

/* Whether the unit is the drawn step or encloses it. It has no box then: the whole picture is
 * that unit. */
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

/* Whether the unit has a box. A module's own lines have none if no recorded code imported the
 * module: the whole picture is that unit. A turn has one only if several turns of one loop were
 * folded. */
static bool has_box(const struct flow_builder *builder, const struct flow_unit *unit)
{
    const struct reading_call *call = &builder->calls[unit->call];

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
#define DIGITS_MAX 18 /* of a number: longer ones are not folded */

/* The ranges of the numbers in the paths of all modules that a box has. */
struct path_spans {
    uint64_t low[SPANS_MAX], high[SPANS_MAX];
    bool is_begun;
};

/* Finds the next step of `path` from `start` on that is a number. Returns its start and sets its
 * end and value. Returns the path's size if there is none. */
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

/* Appends the path with ranges: `blocks.0-11.attention`. */
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
        const struct reading_call *call = &builder->calls[i];
        const struct flow_unit *first =
            &builder->units[builder->units[call->unit].cluster];

        if (call->path != 0 && first->group != FLOW_NONE && first->count > 1) {
            spans_add(&spans[first->group], flow_text_of(builder, call->path));
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
    const struct reading_call *call = &builder->calls[builder->units[index].call];
    uint32_t above = call->parent;

    for (int i = 0; i < RECURSION_MAX && above != FLOW_NONE; i++) {
        const struct reading_call *around = &builder->calls[above];

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
    const struct reading_call *call = &builder->calls[builder->units[index].call];
    const struct site_table *table = flow_table_of(builder, call);
    const struct site_function *function = &table->functions[call->function];

    return (struct flow_group){
        .kind = FLOW_GROUP_CALL,
        .call = call->number,
        .function = flow_keep(builder, function->name),
        .path = flow_keep(builder, flow_text_of(builder, call->path)),
        .class_name = flow_keep(builder, flow_text_of(builder, call->class_name)),
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
    const struct reading_call *call = &builder->calls[unit->call];
    const struct log_module *module = builder->reading->modules[call->module];
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

/* A unit's parent precedes it, so the parent's box is known. */
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

/* Makes boxes of units. */
static bool flow_groups(struct flow_builder *builder)
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

/* The most enclosing units of an edge's ends that are compared. */
#define DEPTH_MAX 256

struct slice flow_keep(struct flow_builder *builder, struct slice text)
{
    void *items = builder->kept_texts;
    size_t capacity = builder->kept_count;
    uint32_t number;

    if (text.size == 0) {
        return (struct slice){"", 0};
    }
    if (!text_table_add(&builder->reading->texts, text, &number) ||
        (number >= capacity && !memory_grow(&items, &capacity, (size_t)number + 1,
                                            sizeof *builder->kept_texts))) {
        builder->graph->arena.has_failed = true;
        return (struct slice){"", 0};
    }
    builder->kept_texts = items;
    while (builder->kept_count < capacity) {
        builder->kept_texts[builder->kept_count++] = (struct slice){NULL, 0};
    }
    if (builder->kept_texts[number].bytes == NULL) {
        builder->kept_texts[number] = arena_copy(&builder->graph->arena, text);
    }
    return builder->kept_texts[number].bytes == NULL ? (struct slice){"", 0}
                                                     : builder->kept_texts[number];
}

/* ---- shown nodes ---- */

/* Marks sources that no statement has read as unused: a source is recorded before it is known
 * who reads it. Returns the number of other clusters. */
static uint32_t drop_unused(struct flow_builder *builder)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < builder->cluster_count; i++) {
        const struct flow_raw *last = &builder->raws[builder->clusters[i].last];

        builder->clusters[i].is_unused = (last->flags & FLOW_NODE_SOURCE) != 0;
    }
    for (uint32_t i = 0; i < builder->edge_count; i++) {
        uint32_t ends[] = {builder->raws[builder->edges[i].source].cluster,
                           builder->raws[builder->edges[i].target].cluster};

        for (size_t j = 0; j < sizeof ends / sizeof *ends; j++) {
            if (ends[j] != FLOW_NONE) {
                builder->clusters[ends[j]].is_unused = false;
            }
        }
    }
    for (uint32_t i = 0; i < builder->cluster_count; i++) {
        left += !builder->clusters[i].is_unused;
    }
    return left;
}

/* Chooses the newest nodes, by the last event of each. */
static void choose_newest(struct flow_builder *builder, uint64_t left)
{
    for (uint32_t i = builder->raw_count; i-- > 0 && left > 0;) {
        uint32_t cluster = builder->raws[i].cluster;

        if (cluster != FLOW_NONE && builder->clusters[cluster].last == i &&
            !builder->clusters[cluster].is_unused) {
            builder->clusters[cluster].node = 0;
            left--;
        }
    }
}

/* Chooses the oldest nodes, by the first event of each: clusters are in that order. */
static void choose_oldest(struct flow_builder *builder, uint64_t left)
{
    for (uint32_t i = 0; i < builder->cluster_count && left > 0; i++) {
        if (!builder->clusters[i].is_unused && builder->clusters[i].node == FLOW_NONE) {
            builder->clusters[i].node = 0;
            left--;
        }
    }
}

static void choose_nodes(struct flow_builder *builder)
{
    struct flow_left_out *left_out = &builder->graph->left_out;
    uint64_t limit = builder->options->max_nodes;
    uint32_t used = drop_unused(builder);
    uint64_t left = limit == 0 || limit > used ? used : limit;
    uint64_t oldest = builder->options->keeps_ends ? left / 2 : 0;
    uint32_t count = 0;

    if (builder->options->keeps_ends) {
        left_out->between_nodes += used - left;
    } else {
        left_out->older_nodes += used - left;
    }
    choose_newest(builder, left - oldest);
    choose_oldest(builder, oldest);
    for (uint32_t i = 0; i < builder->cluster_count; i++) {
        if (builder->clusters[i].node != FLOW_NONE) {
            builder->clusters[i].node = count++;
        }
    }
    builder->graph->node_count = count;
}

/* ---- nodes ---- */

static struct slice text_of(struct flow_builder *builder, uint32_t number)
{
    return flow_keep(builder, flow_text_of(builder, number));
}

/* The name `out[0]`, or `outs[0] … outs[49]` for folded items. */
static struct slice name_of(struct flow_builder *builder,
                            const struct flow_raw *node,
                            const struct flow_raw *last)
{
    struct slice name = flow_text_of(builder, node->name);
    struct slice path = flow_text_of(builder, node->path);
    struct buffer whole = BUFFER_INIT;
    struct slice kept;

    if (path.size == 0) {
        return flow_keep(builder, name);
    }
    buffer_add(&whole, name);
    buffer_add(&whole, path);
    if (last->path != node->path) {
        buffer_add(&whole, SLICE(" \xE2\x80\xA6 "));
        buffer_add(&whole, flow_text_of(builder, last->name));
        buffer_add(&whole, flow_text_of(builder, last->path));
    }
    builder->graph->arena.has_failed |= whole.has_failed;
    kept = flow_keep(builder, buffer_slice(&whole));
    buffer_release(&whole);
    return kept;
}

/* The text `model.py:31 by y`, without the file's folder. */
static struct slice writer_of(struct flow_builder *builder, const struct flow_raw *node)
{
    uint32_t writer =
        number_map_get(&builder->reading->written_sites, node->alias_site);
    struct buffer text = BUFFER_INIT;
    struct slice path, kept;
    const struct flow_raw *by;
    uint32_t module;
    size_t start;

    if (writer == NUMBER_MAP_NONE) {
        return (struct slice){"", 0};
    }
    by = &builder->raws[writer];
    path = flow_module_of(builder, by, &module)->table.path;
    start = path.size;
    while (start > 0 && path.bytes[start - 1] != '/') {
        start--;
    }
    buffer_add(&text, slice_part(path, start, path.size));
    buffer_add_byte(&text, ':');
    buffer_add_number(&text, flow_site_of(builder, by)->line);
    buffer_add(&text, SLICE(" by "));
    buffer_add(&text, flow_text_of(builder, by->name));
    builder->graph->arena.has_failed |= text.has_failed;
    kept = flow_keep(builder, buffer_slice(&text));
    buffer_release(&text);
    return kept;
}

static struct slice code_of(struct flow_builder *builder, const struct flow_raw *node)
{
    uint32_t number;
    const struct log_module *module = flow_module_of(builder, node, &number);
    struct slice line =
        source_lines_get(builder->lines, number, flow_site_of(builder, node)->line);

    return flow_keep(
        builder, flow_statement(line, &module->table, node->site - module->first_site));
}

static struct slice remark_of(struct flow_builder *builder, const struct flow_raw *node)
{
    const struct flow_options *options = builder->options;

    return node->mark == FLOW_MARK_NONE || options->remark == NULL
               ? (struct slice){"", 0}
               : flow_keep(builder,
                           options->remark(options->mark_context, node->event));
}

/* The text `h.0 … h.3, 41 values inside`. */
static struct slice inside_of(struct flow_builder *builder,
                              const struct flow_raw *first,
                              const struct flow_raw *last)
{
    struct slice from = flow_text_of(builder, builder->calls[first->closed_call].path);
    struct slice to = flow_text_of(builder, builder->calls[last->closed_call].path);
    struct buffer text = BUFFER_INIT;
    struct slice kept;

    buffer_add(&text, from);
    if (!slice_equal(from, to)) {
        buffer_add(&text, SLICE(" \xE2\x80\xA6 "));
        buffer_add(&text, to);
    }
    buffer_add(&text, from.size > 0 ? SLICE(", ") : SLICE(""));
    buffer_add_number(&text, first->inside_values);
    buffer_add(&text, first->inside_values == 1 ? SLICE(" value inside")
                                                : SLICE(" values inside"));
    builder->graph->arena.has_failed |= text.has_failed;
    kept = flow_keep(builder, buffer_slice(&text));
    buffer_release(&text);
    return kept;
}

/* A call that is one node is shown at its line in the caller. */
static void fill_call(struct flow_builder *builder,
                      const struct flow_raw *first,
                      const struct flow_raw *last,
                      struct flow_node *node)
{
    const struct reading_call *call = &builder->calls[first->closed_call];
    uint32_t module = builder->calls[call->parent].module;

    node->inside = inside_of(builder, first, last);
    node->callee = flow_callee_of(builder, first->closed_call);
    node->inside_count = node->count * first->inside_values;
    node->file = flow_keep(builder, builder->reading->modules[module]->table.path);
    node->line = call->line;
    node->code =
        call->line == 0
            ? (struct slice){"", 0}
            : flow_keep(builder, source_lines_get(builder->lines, module, call->line));
    node->change = CHANGE_NEW;
    node->difference = 0;
    node->changed_by = (struct slice){"", 0};
}

/* Appends `38 gradients, 21 of parameters` or `21 parameters changed, learning rate 0.001`. */
static void add_written_count(const struct reading_update *update, struct buffer *text)
{
    static const char *const nouns[] = {
        [LOG_STEP_BACKWARD] = "gradient",
        [LOG_STEP_OPTIMIZER] = "parameter",
        [LOG_STEP_GRADIENTS] = "gradient",
    };

    buffer_add_number(text, update->value_count);
    buffer_add_byte(text, ' ');
    buffer_add(text, slice_of(nouns[update->tag]));
    buffer_add(text, update->value_count == 1 ? SLICE("") : SLICE("s"));
    if (update->tag == LOG_STEP_OPTIMIZER) {
        buffer_add(text, SLICE(" changed"));
    }
    if (update->parameter_count > 0) {
        buffer_add_format(text, ", %llu of parameters",
                          (unsigned long long)update->parameter_count);
    }
    if (update->tag == LOG_STEP_OPTIMIZER && !isnan(update->rate)) {
        buffer_add(text, SLICE(", learning rate "));
        real_add_short(text, update->rate, 4);
    }
}

/* Appends `largest 0.18: head.weight` or `3 with NaN or Inf, largest finite 2: …`. */
static void add_largest(struct flow_builder *builder,
                        const struct reading_update *update,
                        struct buffer *text)
{
    if (update->bad_count > 0) {
        buffer_add_format(text, "%llu with NaN or Inf",
                          (unsigned long long)update->bad_count);
    }
    if (update->largest > 0) {
        buffer_add(text, update->bad_count > 0 ? SLICE(", largest finite ")
                                               : SLICE("largest "));
        real_add_short(text, update->largest, 4);
        buffer_add(text, SLICE(": "));
        buffer_add(text, flow_text_of(builder, update->largest_name));
    }
}

/* Fills in the figures of the last update, or of the one with the gravest mark if that has NaN
 * or infinities. */
static void fill_update(struct flow_builder *builder,
                        const struct flow_cluster *cluster,
                        struct flow_node *node)
{
    const struct reading_update *marked =
        reading_update_of(builder->reading, cluster->marked);
    const struct reading_update *update =
        marked->bad_count > 0 ? marked
                              : reading_update_of(builder->reading, cluster->last);
    uint32_t module;
    struct buffer text = BUFFER_INIT;

    flow_module_of(builder, &builder->raws[cluster->first], &module);
    node->line = update->line;
    node->code =
        flow_keep(builder, source_lines_get(builder->lines, module, update->line));
    node->flags |= update->bad_count > 0 ? FLOW_NODE_NONFINITE : 0;
    add_written_count(update, &text);
    node->text = flow_keep(builder, buffer_slice(&text));
    builder->graph->arena.has_failed |= text.has_failed;
    text.size = 0;
    add_largest(builder, update, &text);
    node->inside = flow_keep(builder, buffer_slice(&text));
    builder->graph->arena.has_failed |= text.has_failed;
    buffer_release(&text);
}

static void fill_rest(struct flow_builder *builder,
                      const struct flow_cluster *cluster,
                      struct flow_node *node)
{
    const struct flow_raw *first = &builder->raws[cluster->first];
    const struct flow_raw *last = &builder->raws[cluster->last];

    if (last->change == CHANGE_ALIASED) {
        node->changed_by = writer_of(builder, last);
    }
    if (first->closed_call != FLOW_NONE) {
        fill_call(builder, first, last, node);
    }
    if ((last->flags & FLOW_NODE_UPDATE) != 0) {
        fill_update(builder, cluster, node);
    }
}

static void fill_node(struct flow_builder *builder,
                      const struct flow_cluster *cluster,
                      struct flow_node *node)
{
    const struct flow_raw *first = &builder->raws[cluster->first];
    const struct flow_raw *last = &builder->raws[cluster->last];
    const struct flow_raw *marked = &builder->raws[cluster->marked];
    const struct reading_call *call = &builder->calls[first->call];
    const struct site_table *called = flow_table_of(builder, call);
    uint32_t module;
    const struct site_table *table = &flow_module_of(builder, first, &module)->table;

    *node = (struct flow_node){
        .flags = last->flags,
        .group = builder->units[builder->units[first->unit].cluster].group,
        .event = first->event,
        .count = cluster->count,
        .mark = (enum flow_mark)marked->mark,
        .marked = marked->event,
        .remark = remark_of(builder, marked),
        .name = name_of(builder, first, last),
        .file = flow_keep(builder, table->path),
        .line = flow_site_of(builder, first)->line,
        .code = code_of(builder, first),
        .function = flow_keep(builder, called->functions[call->function].name),
        .guess = text_of(builder, last->guess),
        .change = (enum change)last->change,
        .difference = last->difference,
        .changed_by = {"", 0},
        .kind = (enum value_kind)last->kind,
        .inside = {"", 0},
        .keeps = {"", 0},
        .text = {"", 0},
        .type = {"", 0},
        .dtype_text = {"", 0},
        .device = {"", 0},
        .layout = {"", 0},
        .note = {"", 0},
    };
    fill_rest(builder, cluster, node);
}

static bool add_nodes(struct flow_builder *builder)
{
    struct flow_graph *graph = builder->graph;

    graph->nodes =
        arena_allocate(&graph->arena, graph->node_count, sizeof *graph->nodes);
    if (graph->nodes == NULL) {
        return flow_out_of_memory(builder);
    }
    for (uint32_t i = 0; i < builder->cluster_count; i++) {
        const struct flow_cluster *cluster = &builder->clusters[i];

        graph->event_count += cluster->count;
        if (cluster->node != FLOW_NONE) {
            fill_node(builder, cluster, &graph->nodes[cluster->node]);
        }
    }
    return true;
}

/* ---- edges ---- */

/* The units around an edge's source, marked with the edge's number in both arrays. */
struct around {
    uint32_t *units;    /* owned; by unit */
    uint32_t *clusters; /* owned; by the unit that it is folded with */
};

/* Whether the edge leads from one turn to another that is folded with it, or likewise between
 * calls. */
static bool
is_carried(const struct flow_builder *builder, struct around *around, uint32_t edge)
{
    const struct reading_edge *raw = &builder->edges[edge];
    uint32_t from = builder->raws[raw->source].unit;
    uint32_t to = builder->raws[raw->target].unit;

    if (from == to || builder->options->fold == FLOW_FOLD_NONE) {
        return false;
    }
    for (int i = 0; i < DEPTH_MAX && from != FLOW_NONE; i++) {
        around->units[from] = edge + 1;
        around->clusters[builder->units[from].cluster] = edge + 1;
        from = builder->units[from].parent;
    }
    for (int i = 0; i < DEPTH_MAX && to != FLOW_NONE; i++) {
        if (around->units[to] == edge + 1) {
            return false;
        }
        if (around->clusters[builder->units[to].cluster] == edge + 1) {
            return true;
        }
        to = builder->units[to].parent;
    }
    return false;
}

static int edge_compare(const void *a, const void *b)
{
    const struct flow_edge *left = a;
    const struct flow_edge *right = b;

    if (left->target != right->target) {
        return left->target < right->target ? -1 : 1;
    }
    if (left->source != right->source) {
        return left->source < right->source ? -1 : 1;
    }
    if (left->kind != right->kind) {
        return left->kind < right->kind ? -1 : 1;
    }
    return (int)left->is_carried - (int)right->is_carried;
}

static uint64_t edge_key(const struct flow_edge *edge)
{
    return ((uint64_t)edge->source << 32 | edge->target) * 0x9e3779b97f4a7c15u ^
           ((uint64_t)edge->kind << 1 | edge->is_carried);
}

/* Merges equal edges without sorting. In a folded graph nearly all are merged here; the rest is
 * left for merge_edges. Returns false if memory runs out. */
static bool gather_edges(struct flow_edge *edges, uint32_t *count)
{
    struct number_map known;
    uint32_t kept = 0;
    bool is_done = true;

    number_map_init(&known);
    for (uint32_t i = 0; i < *count && is_done; i++) {
        uint64_t key = edge_key(&edges[i]);
        uint32_t at = number_map_get(&known, key);

        if (at != NUMBER_MAP_NONE && edge_compare(&edges[at], &edges[i]) == 0) {
            edges[at].count += edges[i].count;
            edges[at].is_unsure = edges[at].is_unsure && edges[i].is_unsure;
            continue;
        }
        is_done = at != NUMBER_MAP_NONE || number_map_put(&known, key, kept);
        edges[kept++] = edges[i];
    }
    number_map_release(&known);
    *count = kept;
    return is_done;
}

/* Merges equal edges of the sorted array. */
static uint32_t merge_edges(struct flow_edge *edges, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (kept > 0 && edge_compare(&edges[kept - 1], &edges[i]) == 0) {
            edges[kept - 1].count += edges[i].count;
            edges[kept - 1].is_unsure = edges[kept - 1].is_unsure && edges[i].is_unsure;
        } else {
            edges[kept++] = edges[i];
        }
    }
    return kept;
}

/* An edge to an earlier node leads to the next turn. The exception is a source: it may be
 * recorded first in a later turn, after a value of an earlier turn that was made from it. */
static bool goes_back(const struct flow_builder *builder,
                      const struct reading_edge *edge,
                      uint32_t from,
                      uint32_t to)
{
    return from == to || (from > to && !builder->raws[edge->source].is_read);
}

/* Collects the edges between shown nodes, and returns their number. */
static uint32_t collect_edges(struct flow_builder *builder,
                              struct around *around,
                              struct flow_edge *edges)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < builder->edge_count; i++) {
        const struct reading_edge *edge = &builder->edges[i];
        uint32_t source = builder->raws[edge->source].cluster;
        uint32_t target = builder->raws[edge->target].cluster;
        uint32_t from = builder->clusters[source].node;
        uint32_t to = builder->clusters[target].node;

        if (from != FLOW_NONE && to != FLOW_NONE) {
            edges[count++] = (struct flow_edge){
                .kind = edge->kind,
                .name = edge->name,
                .source = from,
                .target = to,
                .count = 1,
                .is_unsure = edge->is_unsure,
                .is_carried = goes_back(builder, edge, from, to) ||
                              is_carried(builder, around, i),
            };
        }
    }
    return count;
}

/* Adds the names of edges, by the numbers of their texts. */
static bool add_names(struct flow_builder *builder)
{
    struct flow_graph *graph = builder->graph;
    size_t count = (size_t)builder->reading->texts.count + 1;

    graph->names = arena_allocate(&graph->arena, count, sizeof *graph->names);
    if (graph->names == NULL) {
        return flow_out_of_memory(builder);
    }
    memset(graph->names, 0, count * sizeof *graph->names);
    graph->names[0] = SLICE("");
    for (uint32_t i = 0; i < builder->edge_count; i++) {
        uint32_t name = builder->edges[i].name;

        assert(name < count);
        if (graph->names[name].bytes == NULL) {
            graph->names[name] = flow_keep(builder, flow_text_of(builder, name));
        }
    }
    return true;
}

static bool add_edges(struct flow_builder *builder)
{
    struct flow_graph *graph = builder->graph;
    struct flow_edge *edges = memory_allocate(builder->edge_count, sizeof *edges);
    struct around around = {
        memory_allocate_zeroed(builder->unit_count, sizeof *around.units),
        memory_allocate_zeroed(builder->unit_count, sizeof *around.clusters),
    };

    if (edges != NULL && around.units != NULL && around.clusters != NULL) {
        uint32_t count = collect_edges(builder, &around, edges);
        bool is_done =
            builder->cluster_count == builder->raw_count || gather_edges(edges, &count);

        qsort(edges, count, sizeof *edges, edge_compare);
        graph->edge_count = merge_edges(edges, count);
        graph->edges =
            !is_done ? NULL
                     : arena_allocate(&graph->arena, graph->edge_count, sizeof *edges);
        if (graph->edges != NULL && graph->edge_count > 0) {
            memcpy(graph->edges, edges, graph->edge_count * sizeof *edges);
        }
    }
    memory_free(edges);
    memory_free(around.units);
    memory_free(around.clusters);
    return graph->edges != NULL || flow_out_of_memory(builder);
}

/* ---- files ---- */

static bool count_files(struct flow_builder *builder)
{
    struct flow_graph *graph = builder->graph;
    size_t capacity = (size_t)builder->reading->texts.count + 1;
    uint32_t *counts = memory_allocate_zeroed(capacity, sizeof *counts);
    uint32_t most = 0;

    if (counts == NULL) {
        return flow_out_of_memory(builder);
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t file = text_table_find(&builder->reading->texts, graph->nodes[i].file);

        if (file == NUMBER_MAP_NONE || file >= capacity) {
            continue;
        }
        graph->file_count += counts[file] == 0;
        if (++counts[file] > most) {
            most = counts[file];
            graph->file = graph->nodes[i].file;
        }
    }
    memory_free(counts);
    return true;
}

bool flow_finish(struct flow_builder *builder)
{
    choose_nodes(builder);
    return flow_groups(builder) && add_nodes(builder) && add_names(builder) &&
           add_edges(builder) && count_files(builder);
}
