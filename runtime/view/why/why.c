/* Where a NaN, an infinity or any value comes from: the order of the finding. */
#include "runtime/view/why/why.h"

#include "runtime/base/memory.h"

#include <math.h>

void why_init(struct why *why)
{
    *why = (struct why){.target = FLOW_NONE, .backward = BACKWARD_NONE};
    backwards_init(&why->backwards);
    flow_graph_init(&why->graph);
    arena_init(&why->arena);
    number_map_init(&why->written);
    number_map_init(&why->owners);
    number_map_init(&why->absorbing);
    number_map_init(&why->object_names);
}

void why_release(struct why *why)
{
    source_lines_release(&why->sources);
    log_reader_free(why->reader);
    flow_graph_release(&why->graph);
    arena_release(&why->arena);
    number_map_release(&why->written);
    number_map_release(&why->owners);
    number_map_release(&why->absorbing);
    number_map_release(&why->object_names);
    memory_free(why->owner_addresses);
    memory_free(why->objects);
    memory_free(why->rows);
    memory_free(why->steps);
    backwards_release(&why->backwards);
    why_init(why);
}

/* Edges are in the order of their targets. */
static bool index_edges(struct why *why, struct error *error)
{
    uint32_t count = why->graph.node_count;
    uint32_t edge = 0;

    why->first_edges =
        arena_allocate(&why->arena, (size_t)count + 1, sizeof *why->first_edges);
    if (why->first_edges == NULL) {
        return why_out_of_memory(error);
    }
    for (uint32_t i = 0; i <= count; i++) {
        while (edge < why->graph.edge_count && why->graph.edges[edge].target < i) {
            edge++;
        }
        why->first_edges[i] = edge;
    }
    return true;
}

/* What each value holds that none of its sources does: NaN and infinities apart. */
static void find_made(struct why *why)
{
    for (uint32_t i = 0; i < why->graph.node_count; i++) {
        unsigned held = 0;

        for (uint32_t k = why->first_edges[i]; k < why->first_edges[i + 1]; k++) {
            const struct flow_edge *edge = &why->graph.edges[k];

            held |= edge->kind == FLOW_EDGE_FORM ? 0 : why->facts[edge->source].holds;
        }
        held |= (held & WHY_INF) != 0 ? WHY_INF : 0;
        why->facts[i].made = why->facts[i].holds & (uint8_t)~held;
    }
}

static bool build(struct why *why, struct error *error)
{
    struct flow_options options = {
        .fold = FLOW_FOLD_NONE,
        .has_scalars = true,
        .progress = why->ask.progress,
        .progress_context = why->ask.progress_context,
    };

    if (!flow_graph_build(&why->graph, why->reader, &why->sources, &options, error) ||
        !why_read_facts(why, error) || !index_edges(why, error)) {
        return false;
    }
    find_made(why);
    return true;
}

/* Each value of a trace is in the graph: so many bytes, with its edges and what `why` adds. Measured;
 * values with many edges need more. */
#define BYTES_OF_VALUE 1100
/* Where so much is needed, it is announced. */
#define ANNOUNCED_BYTES ((uint64_t)1 << 30)

static bool check_memory(const struct why *why, const char *path, struct error *error)
{
    const struct why_ask *ask = &why->ask;
    uint64_t bytes = why->value_count * BYTES_OF_VALUE;

    if (ask->memory_limit > 0 && bytes > ask->memory_limit) {
        error_set(error, ERROR_INPUT,
                  "%.300s: %llu values: to explain one needs about %.3g GB of memory, "
                  "above the "
                  "limit of %.3g GB. Allow it with --memory %.0fG, or record less: "
                  "fewer functions, or the newest events alone (last=1000000)",
                  path, (unsigned long long)why->value_count, (double)bytes / 1e9,
                  (double)ask->memory_limit / 1e9, ceil((double)bytes / 1e9));
        return false;
    }
    if (ask->announce != NULL && bytes >= ANNOUNCED_BYTES) {
        ask->announce(ask->progress_context, why->value_count, bytes);
    }
    return true;
}

bool why_find(struct why *why,
              const char *path,
              const struct why_ask *ask,
              struct error *error)
{
    uint64_t start;

    why->ask = *ask;
    why->reader = log_reader_new(path, error);
    if (why->reader == NULL) {
        return false;
    }
    source_lines_init(&why->sources, why->reader, ask->strip);
    why_count(why);
    if (why->nonfinite_count == 0 && why->backwards.bad_count == 0 &&
        (ask->event.size == 0 || why_read_start(ask->event, &start))) {
        return true; /* there is nothing to look for: no graph is needed */
    }
    if (!check_memory(why, path, error) || !build(why, error) ||
        !why_choose(why, error)) {
        return false;
    }
    why_choose_backward(why);
    if (why->target != FLOW_NONE &&
        (!why_walk(why, error) || (ask->wants_texts && !why_read_texts(why, error)))) {
        return false;
    }
    return (!why->arena.has_failed && !why->sources.has_failed) ||
           why_out_of_memory(error);
}

bool why_is_bad(const struct why *why)
{
    return why->backward != BACKWARD_NONE ||
           (why->target != FLOW_NONE && why->facts[why->target].holds != 0 &&
            !why->is_soft);
}
