/* A trace as a graph: the order of its making. */
#include "runtime/view/flow/flow.h"

#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"
#include "runtime/view/flow/build.h"

void flow_graph_init(struct flow_graph *graph)
{
    *graph = (struct flow_graph){.file = {"", 0}, .step.name = {"", 0}};
    arena_init(&graph->arena);
}

void flow_graph_release(struct flow_graph *graph)
{
    arena_release(&graph->arena);
    flow_graph_init(graph);
}

bool flow_out_of_memory(struct flow_builder *builder)
{
    return error_set_memory(builder->error);
}

bool flow_grow(struct flow_builder *builder,
               void **items,
               size_t *capacity,
               uint32_t count,
               size_t size)
{
    if (count == UINT32_MAX || !memory_grow(items, capacity, (size_t)count + 1, size)) {
        return flow_out_of_memory(builder);
    }
    return true;
}

bool flow_text(struct flow_builder *builder, struct slice text, uint32_t *number)
{
    return text_table_add(&builder->texts, text, number) || flow_out_of_memory(builder);
}

static bool builder_init(struct flow_builder *builder)
{
    open_calls_init(&builder->open_calls);
    arena_init(&builder->term_arena);
    if (!text_table_init(&builder->texts)) {
        return flow_out_of_memory(builder);
    }
    return true;
}

static void builder_release(struct flow_builder *builder)
{
    open_calls_release(&builder->open_calls);
    text_table_release(&builder->texts);
    number_map_release(&builder->call_index);
    number_map_release(&builder->binding_index);
    number_map_release(&builder->scope_index);
    number_map_release(&builder->content_index);
    number_map_release(&builder->leaf_index);
    number_map_release(&builder->writings);
    number_map_release(&builder->storages);
    number_map_release(&builder->written_sites);
    number_map_release(&builder->repeated);
    number_map_release(&builder->term_index);
    memory_free(builder->terms);
    arena_release(&builder->term_arena);
    memory_free(builder->uses);
    number_map_release(&builder->name_scopes);
    flow_modules_release(builder);
    memory_free(builder->calls);
    memory_free(builder->units);
    memory_free(builder->bindings);
    memory_free(builder->contents);
    memory_free(builder->leaves);
    memory_free(builder->raws);
    memory_free(builder->edges);
    memory_free(builder->guesses);
    memory_free(builder->threads);
    memory_free(builder->carried);
    memory_free(builder->sources);
    memory_free(builder->clusters);
    memory_free(builder->kept_texts);
}

bool flow_graph_build(struct flow_graph *graph,
                      struct log_reader *reader,
                      struct source_lines *sources,
                      const struct flow_options *options,
                      struct error *error)
{
    struct flow_builder builder = {
        .reader = reader,
        .lines = sources,
        .options = options,
        .graph = graph,
        .error = error,
        .root = FLOW_NONE,
    };
    bool is_done = builder_init(&builder) && flow_read(&builder) &&
                   flow_outline(&builder) && flow_mark_nans(&builder) &&
                   flow_fold(&builder) && flow_finish(&builder) &&
                   (options->has_no_values || flow_fill(&builder));

    builder_release(&builder);
    if (is_done && graph->arena.has_failed) {
        error_set_memory(error);
        is_done = false;
    }
    if (!is_done) {
        flow_graph_release(graph);
    }
    return is_done;
}

static bool is_before(const void *nodes, size_t place, uint64_t event)
{
    return ((const struct flow_node *)nodes)[place].event < event;
}

uint32_t flow_graph_find(const struct flow_graph *graph, uint64_t event)
{
    size_t place = sorted_place(graph->nodes, graph->node_count, is_before, event);

    return place < graph->node_count && graph->nodes[place].event == event
               ? (uint32_t)place
               : FLOW_NONE;
}
