/* Any bytes as a trace (short_trace.h says how), made a graph in each way of folding, then a part
 * of it: every number in it leads to something, what its header promises holds, and its DOT text
 * is lines of printable characters with a box closed for each one opened. */
#include "runtime/base/buffer.h"

#include "runtime/base/memory.h"
#include "runtime/view/flow/flow.h"
#include "runtime/view/picture/dot/dot.h"
#include "runtime/view/walk/event_filter.h"
#include "runtime/view/walk/source_lines.h"
#include "tests/fuzz/claim.h"
#include "tests/fuzz/short_trace.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_node(const struct flow_graph *graph, const struct flow_node *node)
{
    claim(node->group == FLOW_NONE || node->group < graph->group_count);
    claim(node->count > 0);
    claim(node->dimension_count == 0 || node->shape != NULL);
    if (node->sample != NULL) {
        claim(node->grid.count > 0 && node->grid.shape == node->shape);
        /* Read, for the sanitizer to see that it is there. */
        claim(hash_64((struct slice){node->sample,
                                     node->grid.count * dtype_size(node->dtype)}) != 1);
    }
}

static void check_edges(const struct flow_graph *graph)
{
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const struct flow_edge *edge = &graph->edges[i];

        claim(edge->source < graph->node_count && edge->target < graph->node_count);
        claim(edge->count > 0);
        claim(edge->source < edge->target || edge->is_carried ||
              (edge->source > edge->target &&
               (graph->nodes[edge->source].flags & FLOW_NODE_SOURCE) != 0));
    }
}

static void check_groups(const struct flow_graph *graph)
{
    for (uint32_t i = 0; i < graph->group_count; i++) {
        const struct flow_group *group = &graph->groups[i];

        claim(group->parent == FLOW_NONE || group->parent < i);
        claim(group->count > 0);
    }
}

static void check_dot(const struct flow_graph *graph)
{
    struct buffer text = BUFFER_INIT;
    struct picture_options options = {.title = SLICE("a & <b>")};
    struct error error = ERROR_INIT;
    long depth = 0;

    claim(dot_text_add(graph, &options, &text, &error));
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.bytes[i];

        claim(byte == '\n' || (byte >= ' ' && byte != 0x7F));
        /* Braces of names stand within labels. */
        if (byte == '\n' && i > 0 && (text.bytes[i - 1] == '{')) {
            depth++;
        }
        if (byte == '\n' && i > 0 && text.bytes[i - 1] == '}') {
            depth--;
        }
    }
    claim(depth == 0);
    buffer_release(&text);
}

/* Marks that look like chance, the same for the same event. */
static enum flow_mark mark_of(void *mark_context, uint64_t event)
{
    (void)mark_context;
    return (enum flow_mark)((event * 0x9E3779B97F4A7C15u >> 40) % FLOW_MARK_COUNT);
}

static struct slice remark_of(void *mark_context, uint64_t event)
{
    (void)mark_context;
    return event % 2 == 0 ? SLICE("<b>\x1b\xff & more") : SLICE("");
}

static void check_graph(const struct flow_graph *graph)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        check_node(graph, &graph->nodes[i]);
        claim(i == 0 || graph->nodes[i - 1].event < graph->nodes[i].event ||
              (graph->nodes[i].flags & FLOW_NODE_UPDATE) != 0 ||
              (graph->nodes[i - 1].flags & FLOW_NODE_UPDATE) != 0);
    }
    check_edges(graph);
    check_groups(graph);
    check_dot(graph);
}

/* What is around a node, and then every other one of it. */
static void check_part(struct flow_graph *graph)
{
    struct error error = ERROR_INIT;
    bool *kept = memory_allocate((size_t)graph->node_count + 1, sizeof *kept);
    uint32_t before = graph->node_count;
    uint64_t beside = graph->left_out.beside;

    claim(kept != NULL);
    if (before > 0) {
        claim(flow_graph_near(graph, before / 2, before / 2 + 1, kept, &error));
        claim(kept[before / 2]);
        claim(flow_graph_keep(graph, kept, &error));
        claim(graph->node_count >= 1 && graph->node_count <= before / 2 + 1);
        check_graph(graph);
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        kept[i] = i % 2 == 1;
    }
    claim(flow_graph_keep(graph, kept, &error));
    check_graph(graph);
    claim(graph->left_out.beside - beside == before - graph->node_count);
    memory_free(kept);
}

static void build(struct log_reader *reader, const struct flow_options *options)
{
    struct source_lines sources;
    struct error error = ERROR_INIT;
    struct flow_graph graph;

    log_reader_rewind(reader);
    source_lines_init(&sources, reader, NULL);
    flow_graph_init(&graph);
    claim(flow_graph_build(&graph, reader, &sources, options, &error));
    claim(options->max_nodes == 0 || graph.node_count <= options->max_nodes);
    check_graph(&graph);
    check_part(&graph);
    flow_graph_release(&graph);
    source_lines_release(&sources);
}

static void build_all(struct log_reader *reader)
{
    struct flow_options options = {.fold = FLOW_FOLD_AUTO};
    struct event_filter filter;
    struct error error = ERROR_INIT;

    build(reader, &options);
    for (uint32_t i = 0; i < 4; i++) {
        options.has_step = i < 3;
        options.is_step_call = i == 1;
        options.has_depth = i > 1;
        options.depth = i & 1;
        options.has_updates = i > 1;
        build(reader, &options);
    }
    options = (struct flow_options){.fold = FLOW_FOLD_AUTO};
    options.mark = mark_of;
    options.remark = remark_of;
    build(reader, &options);
    options.fold = FLOW_FOLD_ALL;
    options.has_scalars = true;
    build(reader, &options);
    options.fold = FLOW_FOLD_NONE;
    options.max_nodes = 3;
    options.first_event = 2;
    build(reader, &options);
    event_filter_init(&filter);
    claim(event_filter_add_glob(&filter, &filter.names, SLICE("*x*"), &error));
    options = (struct flow_options){.filter = &filter, .has_scalars = true};
    build(reader, &options);
    event_filter_release(&filter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    short_trace_read(data, size, build_all);
    return 0;
}
