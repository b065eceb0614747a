/* A part of a graph: the chosen nodes, the surroundings of one node, and the graph without
 * additional names of the same value. */
#include "runtime/view/flow/flow.h"

#include "runtime/base/memory.h"
#include "runtime/base/text_table.h"

#include <string.h>

/* The new index of each node and group. FLOW_NONE: it is removed. */
struct places {
    uint32_t *nodes;  /* owned */
    uint32_t *groups; /* owned */
};

/* Finds the groups that are still needed. A parent precedes its children, so in descending order
 * a group is known to be needed before its parent is visited. */
static void find_groups(const struct flow_graph *graph, struct places *places)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (places->nodes[i] != FLOW_NONE && graph->nodes[i].group != FLOW_NONE) {
            places->groups[graph->nodes[i].group] = 0;
        }
    }
    for (uint32_t i = graph->group_count; i-- > 0;) {
        uint32_t parent = graph->groups[i].parent;

        if (places->groups[i] != FLOW_NONE && parent != FLOW_NONE) {
            places->groups[parent] = 0;
        }
    }
}

static uint32_t place_of(const uint32_t *places, uint32_t index)
{
    return index == FLOW_NONE ? FLOW_NONE : places[index];
}

static void move_groups(struct flow_graph *graph, struct places *places)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < graph->group_count; i++) {
        if (places->groups[i] == FLOW_NONE) {
            continue;
        }
        places->groups[i] = count;
        graph->groups[count] = graph->groups[i];
        graph->groups[count].parent =
            place_of(places->groups, graph->groups[count].parent);
        count++;
    }
    graph->group_count = count;
}

static void move_nodes(struct flow_graph *graph, const struct places *places)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (places->nodes[i] == FLOW_NONE) {
            graph->event_count -= graph->nodes[i].count;
            continue;
        }
        graph->nodes[count] = graph->nodes[i];
        graph->nodes[count].group = place_of(places->groups, graph->nodes[count].group);
        count++;
    }
    graph->left_out.beside += graph->node_count - count;
    graph->node_count = count;
}

/* Keeps the order of the edges, because nodes keep theirs. */
static void move_edges(struct flow_graph *graph, const struct places *places)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < graph->edge_count; i++) {
        struct flow_edge edge = graph->edges[i];

        edge.source = places->nodes[edge.source];
        edge.target = places->nodes[edge.target];
        if (edge.source != FLOW_NONE && edge.target != FLOW_NONE) {
            graph->edges[count++] = edge;
        }
    }
    graph->edge_count = count;
}

/* ---- files ---- */

/* The number of files of the remaining nodes, and the file of the most. */
struct files {
    uint32_t count;
    struct slice most;
};

static bool count_files(const struct flow_graph *graph,
                        const struct places *places,
                        struct text_table *texts,
                        uint32_t *counts,
                        struct files *files)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t file;

        if (places->nodes[i] == FLOW_NONE) {
            continue;
        }
        if (!text_table_add(texts, graph->nodes[i].file, &file)) {
            return false;
        }
        files->count += counts[file] == 0;
        if (++counts[file] > most) {
            most = counts[file];
            files->most = graph->nodes[i].file;
        }
    }
    return true;
}

static bool find_files(const struct flow_graph *graph,
                       const struct places *places,
                       struct files *files)
{
    /* One more than the files, for the empty text. */
    uint32_t *counts =
        memory_allocate_zeroed((size_t)graph->node_count + 1, sizeof *counts);
    struct text_table texts;
    bool is_done;

    if (counts == NULL) {
        return false;
    }
    is_done =
        text_table_init(&texts) && count_files(graph, places, &texts, counts, files);
    text_table_release(&texts);
    memory_free(counts);
    return is_done;
}

/* ---- the whole ---- */

static void
find_places(const struct flow_graph *graph, const bool *kept, struct places *places)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < graph->node_count; i++) {
        places->nodes[i] = kept[i] ? count++ : FLOW_NONE;
    }
    for (uint32_t i = 0; i < graph->group_count; i++) {
        places->groups[i] = FLOW_NONE;
    }
    find_groups(graph, places);
}

bool flow_graph_keep(struct flow_graph *graph, const bool *kept, struct error *error)
{
    struct files files = {0, {"", 0}};
    struct places places = {
        memory_allocate(graph->node_count, sizeof *places.nodes),
        memory_allocate(graph->group_count, sizeof *places.groups),
    };
    bool is_done = places.nodes != NULL && places.groups != NULL;

    if (is_done) {
        find_places(graph, kept, &places);
        is_done = find_files(graph, &places, &files);
    }
    if (is_done) {
        graph->file_count = files.count;
        graph->file = files.most;
        move_groups(graph, &places);
        move_nodes(graph, &places);
        move_edges(graph, &places);
    } else {
        error_set_memory(error);
    }
    memory_free(places.nodes);
    memory_free(places.groups);
    return is_done;
}

/* The surroundings of a node of a graph. */

/* Indices of the edges: by their targets, as the graph has them, and by their sources. */
struct index {
    uint32_t *first_in;  /* owned; node_count + 1 items: first edge to each node */
    uint32_t *first_out; /* owned; node_count + 1 items: first place in `out` */
    uint32_t *out;       /* owned; edges, by source */
    uint32_t *queue;     /* owned; kept nodes, in the order of visits */
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

/* Counts the edges, and turns the counts into places; then each edge gets the last free place of
 * its source. */
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

/* ---- names of the same value ---- */

/* The edges of a node, as far as names need them. */
struct made {
    uint32_t
        source; /* source of its only edge, if that is of the same value; FLOW_NONE */
    bool is_several; /* has several edges to it, or one of another kind */
    bool is_used;    /* has edges from it */
};

static void find_made(const struct flow_graph *graph, struct made *made)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        made[i] = (struct made){.source = FLOW_NONE};
    }
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const struct flow_edge *edge = &graph->edges[i];
        struct made *target = &made[edge->target];

        made[edge->source].is_used = true;
        if (edge->kind != GRAPH_SAME || edge->is_carried || target->is_several ||
            target->source != FLOW_NONE) {
            target->is_several = true;
            target->source = FLOW_NONE;
        } else {
            target->source = edge->source;
        }
    }
}

/* Whether the node is only another name of its source, with edges to other nodes. */
static bool
is_name_alone(const struct flow_graph *graph, const struct made *made, uint32_t node)
{
    const struct flow_node *one = &graph->nodes[node];

    return made[node].source != FLOW_NONE && made[node].is_used &&
           one->mark == graph->nodes[made[node].source].mark &&
           one->gradient.count == 0 &&
           (one->flags & (FLOW_NODE_CALL | FLOW_NODE_UPDATE | FLOW_NODE_GUESSED |
                          FLOW_NODE_IN_PLACE | FLOW_NODE_ALIAS)) == 0;
}

/* Moves the starts of edges to the values themselves. There may be several edges between two
 * nodes afterwards. */
static void move_sources(struct flow_graph *graph, const uint32_t *stands_for)
{
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        struct flow_edge *edge = &graph->edges[i];

        edge->source = stands_for[edge->source];
        edge->is_carried = edge->is_carried || edge->source == edge->target;
    }
}

/* Merges equal edges. Edges are in the order of their targets. */
static void merge_edges(struct flow_graph *graph)
{
    uint32_t kept = 0;
    uint32_t first = 0;

    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const struct flow_edge edge = graph->edges[i];
        uint32_t known;

        first = kept > 0 && graph->edges[kept - 1].target == edge.target ? first : kept;
        for (known = first; known < kept; known++) {
            const struct flow_edge *one = &graph->edges[known];

            if (one->source == edge.source && one->kind == edge.kind &&
                one->is_carried == edge.is_carried) {
                break;
            }
        }
        if (known < kept) {
            graph->edges[known].count += edge.count;
            graph->edges[known].is_unsure &= edge.is_unsure;
        } else {
            graph->edges[kept++] = edge;
        }
    }
    graph->edge_count = kept;
}

/* Nodes are in the order of their events, and a node with a carried edge is never a mere name,
 * so the value of a name is known before the name is visited. If it is not, the node is kept. */
bool flow_graph_drop_names(struct flow_graph *graph, struct error *error)
{
    size_t count = (size_t)graph->node_count + 1;
    struct made *made = memory_allocate(count, sizeof *made);
    uint32_t *stands_for = memory_allocate(count, sizeof *stands_for);
    bool *kept = memory_allocate(count, sizeof *kept);
    bool is_done = made != NULL && stands_for != NULL && kept != NULL;

    if (is_done) {
        find_made(graph, made);
        for (uint32_t i = 0; i < graph->node_count; i++) {
            kept[i] = !is_name_alone(graph, made, i) || made[i].source >= i;
            stands_for[i] = kept[i] ? i : stands_for[made[i].source];
        }
        move_sources(graph, stands_for);
        is_done = flow_graph_keep(graph, kept, error);
        merge_edges(graph);
    } else {
        error_set_memory(error);
    }
    memory_free(made);
    memory_free(stands_for);
    memory_free(kept);
    return is_done;
}
