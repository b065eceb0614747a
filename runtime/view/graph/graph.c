/* The graph of a trace in compact arrays. */
#include "runtime/view/graph/graph.h"

#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"
#include "runtime/view/flow/flow.h"

#include <assert.h>

static_assert((int)GRAPH_VALUE == FLOW_EDGE_VALUE &&
                  (int)GRAPH_SAME == FLOW_EDGE_SAME &&
                  (int)GRAPH_WRITE == FLOW_EDGE_WRITE &&
                  (int)GRAPH_ALIAS == FLOW_EDGE_ALIAS &&
                  (int)GRAPH_SHAPE == FLOW_EDGE_FORM,
              "the kinds of edges are numbered alike");

void graph_init(struct graph *graph)
{
    *graph = (struct graph){.events = NULL};
}

void graph_release(struct graph *graph)
{
    memory_free(graph->events);
    memory_free(graph->first_edges);
    memory_free(graph->edges);
    graph_init(graph);
}

static bool allocate(struct graph *graph, uint32_t node_count, uint32_t edge_count)
{
    graph->events = memory_allocate(node_count, sizeof *graph->events);
    graph->first_edges =
        memory_allocate((size_t)node_count + 1, sizeof *graph->first_edges);
    graph->edges = memory_allocate(edge_count, sizeof *graph->edges);
    return graph->events != NULL && graph->first_edges != NULL && graph->edges != NULL;
}

static void fill(struct graph *graph, const struct flow_graph *flow)
{
    uint32_t edge = 0;

    for (uint32_t i = 0; i < flow->node_count; i++) {
        graph->events[i] = flow->nodes[i].event;
        graph->first_edges[i] = edge;
        for (; edge < flow->edge_count && flow->edges[edge].target == i; edge++) {
            graph->edges[edge] =
                (struct graph_edge){.source = flow->edges[edge].source,
                                    .kind = flow->edges[edge].kind,
                                    .is_unsure = flow->edges[edge].is_unsure};
        }
    }
    assert(edge == flow->edge_count);
    graph->first_edges[flow->node_count] = edge;
    graph->node_count = flow->node_count;
    graph->edge_count = flow->edge_count;
}

bool graph_build(struct graph *graph,
                 struct log_reader *reader,
                 struct source_lines *sources,
                 const struct graph_options *options,
                 struct error *error)
{
    struct flow_options flow_options = {
        .fold = FLOW_FOLD_NONE,
        .has_scalars = true,
        .has_no_values = true,
        .progress = options->progress,
        .progress_context = options->progress_context,
    };
    struct flow_graph flow;
    bool is_done;

    flow_graph_init(&flow);
    is_done = flow_graph_build(&flow, reader, sources, &flow_options, error);
    if (is_done && !allocate(graph, flow.node_count, flow.edge_count)) {
        is_done = error_set_memory(error);
    }
    if (is_done) {
        fill(graph, &flow);
    } else {
        graph_release(graph);
    }
    flow_graph_release(&flow);
    return is_done;
}

static bool is_before(const void *events, size_t place, uint64_t event)
{
    return ((const uint64_t *)events)[place] < event;
}

uint32_t graph_find(const struct graph *graph, uint64_t event)
{
    size_t place = sorted_place(graph->events, graph->node_count, is_before, event);

    return place < graph->node_count && graph->events[place] == event ? (uint32_t)place
                                                                      : GRAPH_NONE;
}

struct graph_sources graph_sources_of(const struct graph *graph, uint64_t event)
{
    uint32_t node = graph_find(graph, event);

    return node == GRAPH_NONE ? (struct graph_sources){.graph = graph}
                              : (struct graph_sources){graph, graph->first_edges[node],
                                                       graph->first_edges[node + 1]};
}

bool graph_sources_next(struct graph_sources *sources, struct graph_source *source)
{
    const struct graph_edge *edge = &sources->graph->edges[sources->edge];

    if (sources->edge == sources->end) {
        return false;
    }
    sources->edge++;
    *source = (struct graph_source){.event = sources->graph->events[edge->source],
                                    .kind = (enum graph_kind)edge->kind,
                                    .is_certain = !edge->is_unsure};
    return true;
}
