/* What stands around a node of a graph. */
#include "runtime/view/flow/near.h"

#include "runtime/base/memory.h"

/* The edges by their targets, as the graph has them, and by their sources. */
struct index {
    uint32_t *first_in;  /* owned: node_count + 1: where the edges to each node begin */
    uint32_t *first_out; /* owned: node_count + 1: where in `out` those from it begin */
    uint32_t *out;       /* owned: edges */
    uint32_t *queue;     /* owned: nodes that are kept, in the order they were met */
    uint32_t count;
};

static bool index_allocate(struct index *index, const struct flow_graph *graph)
{
    size_t nodes = (size_t)graph->node_count + 1;

    index->first_in = memory_allocate_zeroed(nodes, sizeof *index->first_in);
    index->first_out = memory_allocate_zeroed(nodes, sizeof *index->first_out);
    index->out = memory_allocate(graph->edge_count, sizeof *index->out);
    index->queue = memory_allocate(nodes, sizeof *index->queue);
    return index->first_in != NULL && index->first_out != NULL && index->out != NULL &&
           index->queue != NULL;
}

static void index_release(struct index *index)
{
    memory_free(index->first_in);
    memory_free(index->first_out);
    memory_free(index->out);
    memory_free(index->queue);
}

/* Counts become places; then each edge takes the last free one of its source. */
static void index_fill(struct index *index, const struct flow_graph *graph)
{
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        index->first_in[graph->edges[i].target + 1]++;
        index->first_out[graph->edges[i].source]++;
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        index->first_in[i + 1] += index->first_in[i];
        index->first_out[i + 1] += index->first_out[i];
    }
    for (uint32_t i = graph->edge_count; i-- > 0;) {
        index->out[--index->first_out[graph->edges[i].source]] = i;
    }
}

static void visit(struct index *index, uint32_t node, uint32_t limit, bool *kept)
{
    if (!kept[node] && index->count < limit) {
        kept[node] = true;
        index->queue[index->count++] = node;
    }
}

static void
walk(struct index *index, const struct flow_graph *graph, uint32_t limit, bool *kept)
{
    for (uint32_t i = 0; i < index->count; i++) {
        uint32_t node = index->queue[i];

        for (uint32_t k = index->first_in[node]; k < index->first_in[node + 1]; k++) {
            visit(index, graph->edges[k].source, limit, kept);
        }
        if (graph->nodes[node].mark == FLOW_MARK_EQUAL && i > 0) {
            continue;
        }
        for (uint32_t k = index->first_out[node]; k < index->first_out[node + 1]; k++) {
            visit(index, graph->edges[index->out[k]].target, limit, kept);
        }
    }
}

bool flow_graph_near(const struct flow_graph *graph,
                     uint32_t start,
                     uint32_t limit,
                     bool *kept,
                     struct error *error)
{
    struct index index = {.count = 0};
    bool is_done = index_allocate(&index, graph);

    if (is_done) {
        memset(kept, 0, graph->node_count * sizeof *kept);
        index_fill(&index, graph);
        visit(&index, start, limit, kept);
        walk(&index, graph, limit, kept);
    } else {
        error_set_memory(error);
    }
    index_release(&index);
    return is_done;
}
