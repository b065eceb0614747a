/* Where a NaN comes from, as a picture. */
#include "runtime/view/why/report/picture.h"

#include "runtime/base/memory.h"
#include "runtime/view/flow/near.h"

/* What the value was made from has a mark, and the rest has none: so it is told apart. */
static enum flow_mark mark_of(void *context, uint64_t event)
{
    const struct why *why = context;
    uint32_t node = flow_graph_find(&why->graph, event);

    if (node == FLOW_NONE || !why->facts[node].is_in_slice) {
        return FLOW_MARK_NONE;
    }
    if (why->facts[node].made != 0) {
        return FLOW_MARK_PRODUCER;
    }
    return why->facts[node].holds != 0 ? FLOW_MARK_PASSED : FLOW_MARK_EQUAL;
}

static struct slice remark_of(void *context, uint64_t event)
{
    struct why *why = context;
    uint32_t node = flow_graph_find(&why->graph, event);
    struct why_producer producer;

    if (node == FLOW_NONE || mark_of(context, event) != FLOW_MARK_PRODUCER) {
        return SLICE("");
    }
    why_judge(why, node, why->facts[node].made, &producer);
    return producer.reason;
}

/* Plain values of the slice are drawn plainly. */
static bool keep_marked(struct flow_graph *graph, struct error *error)
{
    bool *kept = memory_allocate((size_t)graph->node_count + 1, sizeof *kept);
    bool is_done;

    if (kept == NULL) {
        return why_out_of_memory(error);
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        kept[i] = graph->nodes[i].mark != FLOW_MARK_NONE;
        if (graph->nodes[i].mark == FLOW_MARK_EQUAL) {
            graph->nodes[i].mark = FLOW_MARK_NONE;
        }
    }
    is_done = flow_graph_keep(graph, kept, error);
    memory_free(kept);
    return is_done;
}

/* What is nearest to the first value of the gravest mark. */
static bool keep_near(struct flow_graph *graph, uint32_t limit, struct error *error)
{
    uint32_t first = 0;
    bool *kept;
    bool is_done;

    if (limit == 0 || graph->node_count <= limit) {
        return true;
    }
    kept = memory_allocate(graph->node_count, sizeof *kept);
    if (kept == NULL) {
        return why_out_of_memory(error);
    }
    for (uint32_t i = 1; i < graph->node_count; i++) {
        first = graph->nodes[i].mark > graph->nodes[first].mark ? i : first;
    }
    is_done = flow_graph_near(graph, first, limit, kept, error) &&
              flow_graph_keep(graph, kept, error);
    memory_free(kept);
    return is_done;
}

bool why_picture_add(struct why *why,
                     const struct render_options *options,
                     struct buffer *bytes,
                     struct error *error)
{
    struct flow_options flow = {
        .fold = FLOW_FOLD_AUTO,
        .has_scalars = true,
        .mark = mark_of,
        .remark = remark_of,
        .mark_context = why,
    };
    struct render_options render = *options;
    struct buffer verdict = BUFFER_INIT;
    struct slice first;
    struct flow_graph graph;
    bool is_done;

    flow_graph_init(&graph);
    why_head_add(why, &verdict);
    first = buffer_slice(&verdict);
    render.picture.verdict = &first;
    render.picture.verdict_count = 1;
    log_reader_rewind(why->reader);
    is_done = flow_graph_build(&graph, why->reader, &why->sources, &flow, error) &&
              keep_marked(&graph, error) &&
              keep_near(&graph, options->box_limit, error);
    if (is_done && options->node_limit > 0 && graph.node_count > options->node_limit) {
        error_set(error, ERROR_USAGE,
                  "%lu nodes are too many to draw (limit: %lu): `monitorch why --all` "
                  "lists them as text",
                  (unsigned long)graph.node_count, (unsigned long)options->node_limit);
        is_done = false;
    }
    is_done = is_done && render_graph(&graph, &render, bytes, error);
    buffer_release(&verdict);
    flow_graph_release(&graph);
    return is_done;
}
