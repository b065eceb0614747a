/* Which event's value went into which other one's. */
#include "runtime/view/sql/tables/edges.h"

#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"

#include <stdlib.h>

void sql_edges_release(struct sql_edges *edges)
{
    memory_free(edges->edges);
    memory_free(edges->by_source);
    *edges = (struct sql_edges){.edges = NULL};
}

const char *sql_edge_kind_text(enum flow_edge_kind kind)
{
    static const char *const texts[] = {
        [FLOW_EDGE_VALUE] = "value", [FLOW_EDGE_SAME] = "same",
        [FLOW_EDGE_WRITE] = "write", [FLOW_EDGE_ALIAS] = "alias",
        [FLOW_EDGE_FORM] = "form",
    };

    return texts[kind];
}

/* ---- order ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_edges(const void *left, const void *right)
{
    const struct sql_edge *a = left;
    const struct sql_edge *b = right;
    int order = compare_numbers(a->target, b->target);

    order = order != 0 ? order : compare_numbers(a->source, b->source);
    return order != 0 ? order : compare_numbers(a->kind, b->kind);
}

static int compare_by_source(const void *left, const void *right, void *context)
{
    const struct sql_edge *edges = context;
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    int order = compare_numbers(edges[a].source, edges[b].source);

    return order != 0 ? order : compare_numbers(a, b);
}

static bool copy_edges(struct sql_edges *edges, const struct flow_graph *graph)
{
    edges->edges = memory_allocate(graph->edge_count, sizeof *edges->edges);
    edges->by_source = memory_allocate(graph->edge_count, sizeof *edges->by_source);
    if (edges->edges == NULL || edges->by_source == NULL) {
        return false;
    }
    edges->count = graph->edge_count;
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const struct flow_edge *edge = &graph->edges[i];

        edges->edges[i] = (struct sql_edge){
            .source = graph->nodes[edge->source].event,
            .target = graph->nodes[edge->target].event,
            .kind = edge->kind,
        };
        edges->by_source[i] = i;
    }
    if (edges->count > 1) {
        qsort(edges->edges, edges->count, sizeof *edges->edges, compare_edges);
        qsort_r(edges->by_source, edges->count, sizeof *edges->by_source,
                compare_by_source, edges->edges);
    }
    return true;
}

/* ---- finding them ---- */

static bool go_on(void *context, uint64_t events)
{
    const atomic_bool *is_interrupted = context;

    (void)events;
    return !atomic_load(is_interrupted);
}

bool sql_edges_read(struct sql_edges *edges,
                    struct log_reader *reader,
                    struct source_lines *sources,
                    atomic_bool *is_interrupted,
                    struct error *error)
{
    struct flow_options options = {
        .fold = FLOW_FOLD_NONE,
        .has_scalars = true,
        .progress = go_on,
        .progress_context = is_interrupted,
    };
    struct flow_graph graph;
    bool is_built;

    flow_graph_init(&graph);
    is_built = flow_graph_build(&graph, reader, sources, &options, error);
    if (is_built && !copy_edges(edges, &graph)) {
        error_set_memory(error);
        is_built = false;
    } else if (!is_built && atomic_load(is_interrupted)) {
        *error = ERROR_INIT;
    }
    flow_graph_release(&graph);
    if (!is_built) {
        sql_edges_release(edges);
    }
    edges->is_known = is_built;
    return is_built;
}

/* ---- lookups ---- */

static bool is_target_before(const void *list, size_t place, uint64_t target)
{
    const struct sql_edges *edges = list;

    return edges->edges[place].target < target;
}

static bool is_source_before(const void *list, size_t place, uint64_t source)
{
    const struct sql_edges *edges = list;

    return edges->edges[edges->by_source[place]].source < source;
}

static void find_range(const struct sql_edges *edges,
                       sorted_is_before is_before,
                       uint64_t key,
                       size_t *first,
                       size_t *end)
{
    *first = sorted_place(edges, edges->count, is_before, key);
    *end = key == UINT64_MAX ? edges->count
                             : sorted_place(edges, edges->count, is_before, key + 1);
}

void sql_edges_find_target(const struct sql_edges *edges,
                           uint64_t target,
                           size_t *first,
                           size_t *end)
{
    find_range(edges, is_target_before, target, first, end);
}

void sql_edges_find_source(const struct sql_edges *edges,
                           uint64_t source,
                           size_t *first,
                           size_t *end)
{
    find_range(edges, is_source_before, source, first, end);
}
