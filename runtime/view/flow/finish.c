/* Clusters of raw nodes to the graph's nodes and edges. */
#include "runtime/view/flow/build.h"

#include "runtime/base/memory.h"

#include <assert.h>
#include <stdlib.h>

/* So far out of an edge's ends is looked for what they share. */
#define DEPTH_MAX 256

struct slice flow_keep(struct flow_builder *builder, struct slice text)
{
    void *items = builder->kept_texts;
    size_t capacity = builder->kept_count;
    uint32_t number;

    if (text.size == 0) {
        return (struct slice){"", 0};
    }
    if (!text_table_add(&builder->texts, text, &number) ||
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

/* ---- which are shown ---- */

/* Sources are told before it is known who reads them: those that nobody has read are left
 * out. Returns how many clusters are left. */
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

/* The newest ones, by the last event that each stands for. */
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

/* The oldest ones, by the first event that each stands for: clusters are in that order. */
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
    return flow_keep(builder, builder->texts.texts[number]);
}

/* `out[0]`; of items that are folded, `outs[0] … outs[49]`. */
static struct slice name_of(struct flow_builder *builder,
                            const struct flow_raw *node,
                            const struct flow_raw *last)
{
    struct slice name = builder->texts.texts[node->name];
    struct slice path = builder->texts.texts[node->path];
    struct buffer whole = BUFFER_INIT;
    struct slice kept;

    if (path.size == 0) {
        return flow_keep(builder, name);
    }
    buffer_add(&whole, name);
    buffer_add(&whole, path);
    if (last->path != node->path) {
        buffer_add(&whole, SLICE(" \xE2\x80\xA6 "));
        buffer_add(&whole, builder->texts.texts[last->name]);
        buffer_add(&whole, builder->texts.texts[last->path]);
    }
    builder->graph->arena.has_failed |= whole.has_failed;
    kept = flow_keep(builder, buffer_slice(&whole));
    buffer_release(&whole);
    return kept;
}

/* `model.py:31 by y`: the file alone, without the folders that it is in. */
static struct slice writer_of(struct flow_builder *builder, const struct flow_raw *node)
{
    uint32_t writer = number_map_get(&builder->written_sites, node->alias_site);
    struct buffer text = BUFFER_INIT;
    struct slice path, kept;
    const struct flow_raw *by;
    size_t start;

    if (writer == NUMBER_MAP_NONE) {
        return (struct slice){"", 0};
    }
    by = &builder->raws[writer];
    path = builder->modules[by->module].module->table.path;
    start = path.size;
    while (start > 0 && path.bytes[start - 1] != '/') {
        start--;
    }
    buffer_add(&text, slice_part(path, start, path.size));
    buffer_add_byte(&text, ':');
    buffer_add_number(&text, by->line);
    buffer_add(&text, SLICE(" by "));
    buffer_add(&text, builder->texts.texts[by->name]);
    builder->graph->arena.has_failed |= text.has_failed;
    kept = flow_keep(builder, buffer_slice(&text));
    buffer_release(&text);
    return kept;
}

static struct slice code_of(struct flow_builder *builder, const struct flow_raw *node)
{
    struct slice line = source_lines_get(builder->lines, node->module, node->line);
    const struct log_module *module = builder->modules[node->module].module;

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

/* `h.0 … h.3, 41 values inside` */
static struct slice inside_of(struct flow_builder *builder,
                              const struct flow_raw *first,
                              const struct flow_raw *last)
{
    struct slice from = builder->texts.texts[builder->calls[first->closed_call].path];
    struct slice to = builder->texts.texts[builder->calls[last->closed_call].path];
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

/* A call that is one node stands in its caller's lines. */
static void fill_call(struct flow_builder *builder,
                      const struct flow_raw *first,
                      const struct flow_raw *last,
                      struct flow_node *node)
{
    const struct flow_call *call = &builder->calls[first->closed_call];
    uint32_t module = builder->calls[call->parent].module;

    node->inside = inside_of(builder, first, last);
    node->file = flow_keep(builder, builder->modules[module].module->table.path);
    node->line = call->line;
    node->code =
        call->line == 0
            ? (struct slice){"", 0}
            : flow_keep(builder, source_lines_get(builder->lines, module, call->line));
    node->change = CHANGE_NEW;
    node->difference = 0;
    node->changed_by = (struct slice){"", 0};
}

static void fill_node(struct flow_builder *builder,
                      const struct flow_cluster *cluster,
                      struct flow_node *node)
{
    const struct flow_raw *first = &builder->raws[cluster->first];
    const struct flow_raw *last = &builder->raws[cluster->last];
    const struct flow_raw *marked = &builder->raws[cluster->marked];
    const struct flow_call *call = &builder->calls[first->call];
    const struct site_table *called = &builder->modules[call->module].module->table;
    const struct site_table *table = &builder->modules[first->module].module->table;

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
        .line = first->line,
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
    if (last->change == CHANGE_ALIASED) {
        node->changed_by = writer_of(builder, last);
    }
    if (first->closed_call != FLOW_NONE) {
        fill_call(builder, first, last, node);
    }
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

/* What is around an edge's source: marked by the edge's number, in both arrays. */
struct around {
    uint32_t *units;    /* owned: the units themselves */
    uint32_t *clusters; /* owned: what they are folded to */
};

/* Whether the edge leads from one turn to another that it is folded with, or from one such call
 * to another. */
static bool
is_carried(const struct flow_builder *builder, struct around *around, uint32_t edge)
{
    const struct flow_raw_edge *raw = &builder->edges[edge];
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

/* Equal ones become one. */
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

/* What stands before its source leads on to the next turn; but a source may be told in a later
 * turn first, and stand behind what was made from it in the one before. */
static bool goes_back(const struct flow_builder *builder,
                      const struct flow_raw_edge *edge,
                      uint32_t from,
                      uint32_t to)
{
    return from == to || (from > to && !builder->raws[edge->source].is_read);
}

/* Gives how many there are between nodes that are shown. */
static uint32_t collect_edges(struct flow_builder *builder,
                              struct around *around,
                              struct flow_edge *edges)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < builder->edge_count; i++) {
        const struct flow_raw_edge *edge = &builder->edges[i];
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

/* The names that edges have, by the numbers of their texts. */
static bool add_names(struct flow_builder *builder)
{
    struct flow_graph *graph = builder->graph;
    size_t count = (size_t)builder->texts.count + 1;

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
            graph->names[name] = flow_keep(builder, builder->texts.texts[name]);
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

        qsort(edges, count, sizeof *edges, edge_compare);
        graph->edge_count = merge_edges(edges, count);
        graph->edges = arena_allocate(&graph->arena, graph->edge_count, sizeof *edges);
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
    size_t capacity = (size_t)builder->texts.count + 1;
    uint32_t *counts = memory_allocate_zeroed(capacity, sizeof *counts);
    uint32_t most = 0;

    if (counts == NULL) {
        return flow_out_of_memory(builder);
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t file = text_table_find(&builder->texts, graph->nodes[i].file);

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
