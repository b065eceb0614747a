/* Back over the graph: to what made a value NaN, and to everything that it was made from. */
#include "runtime/view/why/why.h"

#include "runtime/base/memory.h"

#include <stdlib.h>

/* So many rows of the slice are told without --all. */
#define ROWS_MAX 40

/* A queue of nodes, each in it as often as it got something new to pass. */
struct queue {
    uint32_t *nodes;  /* owned */
    uint32_t *depths; /* owned */
    size_t node_capacity;
    size_t depth_capacity;
    size_t count;
};

static bool put(struct queue *queue, uint32_t node, uint32_t depth)
{
    void *nodes = queue->nodes;
    void *depths = queue->depths;
    bool has_room = memory_grow(&nodes, &queue->node_capacity, queue->count + 1,
                                sizeof *queue->nodes);

    queue->nodes = nodes;
    if (!has_room || !memory_grow(&depths, &queue->depth_capacity, queue->count + 1,
                                  sizeof *queue->depths)) {
        return false;
    }
    queue->depths = depths;
    queue->nodes[queue->count] = node;
    queue->depths[queue->count++] = depth;
    return true;
}

static void release(struct queue *queue)
{
    memory_free(queue->nodes);
    memory_free(queue->depths);
    *queue = (struct queue){0};
}

/* ---- producers ---- */

/* NaN for NaN; an infinity of either sign for one of the other: a minus may stand between. */
static unsigned both(unsigned wanted, unsigned held)
{
    return (wanted & held & WHY_NAN) | ((wanted & WHY_INF) != 0 ? held & WHY_INF : 0);
}

/* The node is a producer of what it made, and a NaN that it made may be of an infinity. */
static unsigned next_wanted(const struct why_fact *fact)
{
    unsigned wanted = fact->passes;

    return (fact->made & fact->passes & WHY_NAN) != 0 ? wanted | WHY_INF : wanted;
}

/* What of the wanted the edge's source holds: nothing where its form alone was read. */
static unsigned
brings(const struct why *why, const struct flow_edge *edge, unsigned wanted)
{
    return edge->kind == FLOW_EDGE_FORM ? 0
                                        : both(wanted, why->facts[edge->source].holds);
}

/* Whether what certainly went in explains what is wanted: then nothing else is asked. */
static bool has_certain(const struct why *why, uint32_t node, unsigned wanted)
{
    for (uint32_t i = why->first_edges[node]; i < why->first_edges[node + 1]; i++) {
        if (!why->graph.edges[i].is_unsure &&
            brings(why, &why->graph.edges[i], wanted) != 0) {
            return true;
        }
    }
    return false;
}

static bool follow_edges(struct why *why, struct queue *queue, uint32_t node)
{
    unsigned wanted = next_wanted(&why->facts[node]);
    bool is_explained = has_certain(why, node, wanted);

    for (uint32_t i = why->first_edges[node]; i < why->first_edges[node + 1]; i++) {
        const struct flow_edge *edge = &why->graph.edges[i];
        uint32_t source = edge->source;
        struct why_fact *fact = &why->facts[source];
        unsigned passes = fact->passes | brings(why, edge, wanted);

        if (is_explained && edge->is_unsure) {
            continue;
        }
        if (passes != fact->passes) {
            fact->passes = (uint8_t)passes;
            if (!put(queue, source, 0)) {
                return false;
            }
        }
    }
    return true;
}

static uint64_t infinities(const struct flow_node *node)
{
    return node->has_statistics
               ? node->statistics.posinf_count + node->statistics.neginf_count
               : 0;
}

/* Whether more elements are infinite than in any array as large that it was made from. */
static bool has_more(const struct why *why, uint32_t node)
{
    const struct flow_node *target = &why->graph.nodes[node];
    bool has_equal = false;

    for (uint32_t i = why->first_edges[node]; i < why->first_edges[node + 1]; i++) {
        const struct flow_node *source = &why->graph.nodes[why->graph.edges[i].source];

        if (why->graph.edges[i].kind != FLOW_EDGE_FORM && source->has_statistics &&
            source->statistics.count == target->statistics.count) {
            has_equal = true;
            if (infinities(source) >= infinities(target)) {
                return false;
            }
        }
    }
    return has_equal && infinities(target) > 0;
}

static void keep_producer(struct why *why, const struct why_producer *producer)
{
    if (why->producer_count < WHY_PRODUCERS_MAX) {
        why->producers[why->producer_count++] = *producer;
    }
    why->producer_total++;
}

/* The first in the order of the trace are kept. Lines that write more infinities by name into
 * what has some count too: the last of them may be the one too many. */
static void collect_producers(struct why *why)
{
    struct why_producer producer;

    for (uint32_t i = 0; i < why->graph.node_count; i++) {
        const struct why_fact *fact = &why->facts[i];
        unsigned made = both(fact->passes, fact->made);

        if (made != 0) {
            why_judge(why, i, fact->made, &producer);
            keep_producer(why, &producer);
        } else if ((fact->passes & WHY_INF) != 0 && has_more(why, i)) {
            why_judge(why, i, fact->holds & WHY_INF, &producer);
            producer.is_more = true;
            if (producer.is_soft) {
                keep_producer(why, &producer);
            }
        }
    }
    why->main = 0;
    while (why->main + 1 < why->producer_count && why->producers[why->main].is_soft) {
        why->main++;
    }
    if (why->producer_count > 0 && why->producers[why->main].is_soft) {
        why->main = 0;
    }
}

/* Infinities that lines wrote by name are meant until they are absorbed: then the first line that did
 * so made the value. Gives whether there is one. */
static bool mark_absorbed(struct why *why)
{
    for (uint32_t i = 0; i < why->graph.node_count; i++) {
        struct why_fact *fact = &why->facts[i];

        if ((fact->passes & WHY_INF) != 0 && why_absorbs(why, i) == WHY_ABSORBS_MAKES) {
            fact->is_absorbed = true;
            fact->made = fact->holds & WHY_INF;
            return true;
        }
    }
    return false;
}

static bool find_producers(struct why *why)
{
    struct queue queue = {0};
    bool is_done;

    why->facts[why->target].passes = why->facts[why->target].holds;
    is_done = put(&queue, why->target, 0);
    for (size_t i = 0; is_done && i < queue.count; i++) {
        is_done = follow_edges(why, &queue, queue.nodes[i]);
    }
    release(&queue);
    if (!is_done) {
        return false;
    }
    collect_producers(why);
    if (why->producer_count > 0 && why->producers[why->main].is_soft &&
        mark_absorbed(why)) {
        why->producer_count = 0;
        why->producer_total = 0;
        collect_producers(why);
    }
    return true;
}

/* ---- the slice ---- */

static bool add_row(struct why *why, uint32_t node, uint32_t depth)
{
    void *rows = why->rows;

    if (!memory_grow(&rows, &why->row_capacity, (size_t)why->row_count + 1,
                     sizeof *why->rows)) {
        return false;
    }
    why->rows = rows;
    why->rows[why->row_count++] = (struct why_row){node, depth, 1};
    return true;
}

/* A site and what it writes is one row: a loop's turns and a function's calls are counted. */
static bool
read(struct why *why, struct number_map *seen, uint32_t node, uint32_t depth)
{
    const struct why_fact *fact = &why->facts[node];
    struct slice name = why->graph.nodes[node].name;
    uint64_t key = number_map_key(fact->module, fact->site) * 31;
    uint32_t row;

    for (size_t i = 0; i < name.size; i++) {
        key = (key ^ (unsigned char)name.bytes[i]) * 0x100000001b3u;
    }
    row = number_map_get(seen, key);
    why->slice_count++;
    if (row != NUMBER_MAP_NONE) {
        why->rows[row].count++;
        return true;
    }
    return number_map_put(seen, key, why->row_count) && add_row(why, node, depth);
}

static bool find_slice(struct why *why)
{
    struct queue queue = {0};
    struct number_map seen;
    bool is_bad = why->facts[why->target].holds != 0;
    bool is_done = put(&queue, why->target, 0);

    number_map_init(&seen);
    why->facts[why->target].is_in_slice = true;
    for (size_t i = 0; is_done && i < queue.count; i++) {
        uint32_t node = queue.nodes[i];
        uint32_t depth = queue.depths[i];

        is_done = read(why, &seen, node, depth);
        for (uint32_t k = why->first_edges[node];
             is_done && k < why->first_edges[node + 1]; k++) {
            uint32_t source = why->graph.edges[k].source;

            /* Of what only had a form to give, no element is in a NaN. */
            if (!why->facts[source].is_in_slice &&
                (!is_bad || why->graph.edges[k].kind != FLOW_EDGE_FORM)) {
                why->facts[source].is_in_slice = true;
                is_done = put(&queue, source, depth + 1);
            }
        }
    }
    number_map_release(&seen);
    release(&queue);
    return is_done;
}

/* Those that are told keep their place: nearest first, the newest first among equals. */
static int row_compare(const void *a, const void *b)
{
    const struct why_row *left = a;
    const struct why_row *right = b;

    if (left->depth != right->depth) {
        return left->depth < right->depth ? -1 : 1;
    }
    return left->node > right->node ? -1 : left->node < right->node;
}

static void limit_rows(struct why *why)
{
    uint32_t limit = why->ask.has_all_rows ? UINT32_MAX : ROWS_MAX;
    uint32_t kept = 0;

    qsort(why->rows, why->row_count, sizeof *why->rows, row_compare);
    while (kept < why->row_count && kept < limit &&
           why->rows[kept].depth <= why->ask.depth) {
        kept++;
    }
    why->hidden_rows = why->row_count - kept;
    why->row_count = kept;
}

static void mark_reported(struct why *why)
{
    why->facts[why->target].is_reported = true;
    for (uint32_t i = 0; i < why->row_count; i++) {
        why->facts[why->rows[i].node].is_reported = true;
    }
    for (uint32_t i = 0; i < why->producer_count; i++) {
        why->facts[why->producers[i].node].is_reported = true;
        for (uint32_t k = 0; k < why->producers[i].input_count; k++) {
            why->facts[why->producers[i].inputs[k]].is_reported = true;
        }
    }
}

bool why_walk(struct why *why, struct error *error)
{
    if (why->backward == BACKWARD_NONE && !find_producers(why)) {
        return why_out_of_memory(error);
    }
    if (!why_follow_backward(why, error)) {
        return false;
    }
    if (!find_slice(why)) {
        return why_out_of_memory(error);
    }
    limit_rows(why);
    mark_reported(why);
    why->target_statement = why_statement_of(why, why->target);
    return true;
}
