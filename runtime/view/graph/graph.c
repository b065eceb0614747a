/* The graph of a trace in compact arrays. */
#include "runtime/view/graph/graph.h"

#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"
#include "runtime/view/graph/reading.h"

#include <assert.h>
#include <stdlib.h>

#define LIMIT_OF_NAMES (1u << 28)

void graph_init(struct graph *graph)
{
    *graph = (struct graph){.nodes = NULL};
}

void graph_release(struct graph *graph)
{
    memory_free(graph->nodes);
    memory_free(graph->edges);
    memory_free(graph->calls);
    if (graph->texts.texts != NULL) {
        text_table_release(&graph->texts);
    }
    graph_init(graph);
}

/* ---- from a reading ---- */

/* Sets the index of each reading value in the graph, and returns the number of nodes.
 * GRAPH_NONE: a value that was recorded because it was read, and that has no edges. `places`
 * holds 0 at first. */
static uint32_t find_places(const struct reading *reading, uint32_t *places)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < reading->edge_count; i++) {
        places[reading->edges[i].source] = 1;
        places[reading->edges[i].target] = 1;
    }
    for (uint32_t i = 0; i < reading->value_count; i++) {
        bool is_unused =
            places[i] == 0 && (reading->values[i].flags & GRAPH_SOURCE) != 0;

        places[i] = is_unused ? GRAPH_NONE : count++;
    }
    return count;
}

static void
fill_nodes(struct graph *graph, const struct reading *reading, const uint32_t *places)
{
    for (uint32_t i = 0; i < reading->value_count; i++) {
        const struct reading_value *value = &reading->values[i];

        if (places[i] != GRAPH_NONE) {
            graph->nodes[places[i]] = (struct graph_node){
                .event = value->event,
                .site = value->site,
                .call = value->call,
                .name = value->name,
                .path = value->path,
                .flags = value->flags,
                .kind = value->kind,
            };
        }
    }
}

static int compare_edges(const void *left, const void *right)
{
    const struct graph_edge *a = left;
    const struct graph_edge *b = right;

    if (a->source != b->source) {
        return a->source < b->source ? -1 : 1;
    }
    return (int)a->kind - (int)b->kind;
}

/* Sorts the edges by target: counts the edges of each target, and turns the counts into indices. */
static void
fill_edges(struct graph *graph, const struct reading *reading, const uint32_t *places)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < reading->edge_count; i++) {
        graph->nodes[places[reading->edges[i].target]].first_edge++;
    }
    for (uint32_t i = 0; i <= graph->node_count; i++) {
        first += graph->nodes[i].first_edge;
        graph->nodes[i].first_edge = first;
    }
    for (uint32_t i = reading->edge_count; i-- > 0;) {
        const struct reading_edge *edge = &reading->edges[i];
        uint32_t place = --graph->nodes[places[edge->target]].first_edge;

        graph->edges[place] = (struct graph_edge){.source = places[edge->source],
                                                  .name = edge->name,
                                                  .kind = edge->kind,
                                                  .is_unsure = edge->is_unsure};
    }
}

/* Sorts the edges of each node by their sources, and merges equal ones. A merged edge is certain
 * if one of them is. */
static void order_edges(struct graph *graph)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t from = graph->nodes[i].first_edge;
        uint32_t count = graph->nodes[i + 1].first_edge - from;

        if (count > 1) {
            qsort(&graph->edges[from], count, sizeof *graph->edges, compare_edges);
        }
        graph->nodes[i].first_edge = kept;
        for (uint32_t k = 0; k < count; k++) {
            struct graph_edge edge = graph->edges[from + k];

            if (k > 0 && compare_edges(&graph->edges[kept - 1], &edge) == 0) {
                graph->edges[kept - 1].is_unsure &= edge.is_unsure;
            } else {
                graph->edges[kept++] = edge;
            }
        }
    }
    graph->nodes[graph->node_count].first_edge = kept;
    graph->edge_count = kept;
}

static void fill_calls(struct graph *graph, const struct reading *reading)
{
    for (uint32_t i = 0; i < reading->call_count; i++) {
        const struct reading_call *call = &reading->calls[i];

        graph->calls[i] = (struct graph_call){
            .number = call->number,
            .parent = call->parent,
            .module = call->module,
            .function = call->function,
            .line = call->line,
            .path = call->path,
            .class_name = call->class_name,
        };
    }
    graph->call_count = reading->call_count;
}

static bool allocate_nodes(struct graph *graph, struct reading *reading)
{
    graph->nodes = memory_allocate((size_t)graph->node_count + 1, sizeof *graph->nodes);
    if (graph->nodes == NULL) {
        return false;
    }
    graph->nodes[graph->node_count] = (struct graph_node){.event = UINT64_MAX};
    graph->texts = reading->texts;
    reading->texts = (struct text_table){.texts = NULL};
    return true;
}

static bool allocate_rest(struct graph *graph, const struct reading *reading)
{
    graph->edges =
        memory_allocate((size_t)reading->edge_count + 1, sizeof *graph->edges);
    graph->calls =
        memory_allocate((size_t)reading->call_count + 1, sizeof *graph->calls);
    return graph->edges != NULL && graph->calls != NULL;
}

/* Whether the edges of a node are sorted by source and all their numbers are in range. For
 * asserts. */
static __attribute__((unused)) bool has_sound_edges(const struct graph *graph,
                                                    uint32_t node)
{
    uint32_t end = graph->nodes[node + 1].first_edge;

    for (uint32_t i = graph->nodes[node].first_edge; i < end; i++) {
        const struct graph_edge *edge = &graph->edges[i];

        if (edge->source >= graph->node_count || edge->name >= graph->texts.count ||
            (i > graph->nodes[node].first_edge && compare_edges(edge - 1, edge) >= 0)) {
            return false;
        }
    }
    return true;
}

/* Whether the arrays satisfy what graph.h promises. For asserts. */
static __attribute__((unused)) bool is_sound(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];

        if (node->event >= graph->nodes[i + 1].event ||
            node->first_edge > graph->nodes[i + 1].first_edge ||
            node->call >= graph->call_count || node->name >= graph->texts.count ||
            node->path >= graph->texts.count || !has_sound_edges(graph, i)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < graph->call_count; i++) {
        const struct graph_call *call = &graph->calls[i];

        if ((call->parent != GRAPH_NONE && call->parent >= i) ||
            call->path >= graph->texts.count ||
            call->class_name >= graph->texts.count) {
            return false;
        }
    }
    return graph->nodes[graph->node_count].first_edge == graph->edge_count;
}

/* Fills the graph and moves the texts into it. Frees parts of the reading as soon as they are
 * copied, so that reading and graph are never both complete in memory. */
static bool fill(struct graph *graph, struct reading *reading)
{
    uint32_t *places =
        memory_allocate_zeroed((size_t)reading->value_count + 1, sizeof *places);
    bool is_done = false;

    if (places != NULL && reading->texts.count <= LIMIT_OF_NAMES) {
        graph->node_count = find_places(reading, places);
        is_done = allocate_nodes(graph, reading);
    }
    if (is_done) {
        fill_nodes(graph, reading, places);
        memory_free(reading->values);
        reading->values = NULL;
        is_done = allocate_rest(graph, reading);
    }
    if (is_done) {
        fill_edges(graph, reading, places);
        order_edges(graph);
        fill_calls(graph, reading);
        assert(is_sound(graph));
    }
    memory_free(places);
    return is_done;
}

bool graph_build(struct graph *graph,
                 struct log_reader *reader,
                 const struct graph_build_options *options,
                 struct error *error)
{
    struct reading_options reading_options = {
        .has_scalars = true,
        .progress = options->progress,
        .progress_context = options->progress_context,
    };
    struct reading reading;
    bool is_done;

    if (!reading_read(&reading, reader, &reading_options, error)) {
        graph_release(graph);
        return false;
    }
    is_done = fill(graph, &reading) || error_set_memory(error);
    reading_release(&reading);
    if (!is_done) {
        graph_release(graph);
    }
    return is_done;
}

/* ---- lookups ---- */

static bool is_before(const void *nodes, size_t place, uint64_t event)
{
    return ((const struct graph_node *)nodes)[place].event < event;
}

uint32_t graph_find(const struct graph *graph, uint64_t event)
{
    size_t place = sorted_place(graph->nodes, graph->node_count, is_before, event);

    return place < graph->node_count && graph->nodes[place].event == event
               ? (uint32_t)place
               : GRAPH_NONE;
}

struct slice graph_text(const struct graph *graph, uint32_t number)
{
    assert(number < graph->texts.count);
    return graph->texts.texts[number];
}

struct graph_sources graph_sources_of(const struct graph *graph, uint64_t event)
{
    uint32_t node = graph_find(graph, event);

    return node == GRAPH_NONE
               ? (struct graph_sources){.graph = graph}
               : (struct graph_sources){graph, graph->nodes[node].first_edge,
                                        graph->nodes[node + 1].first_edge};
}

bool graph_sources_next(struct graph_sources *sources, struct graph_source *source)
{
    const struct graph *graph = sources->graph;
    const struct graph_edge *edge;

    if (sources->edge == sources->end) {
        return false;
    }
    assert(sources->edge < sources->end && sources->end <= graph->edge_count);
    edge = &graph->edges[sources->edge++];
    *source = (struct graph_source){.event = graph->nodes[edge->source].event,
                                    .kind = (enum graph_kind)edge->kind,
                                    .is_certain = !edge->is_unsure};
    return true;
}
