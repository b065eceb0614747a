/* A part of a graph: the nodes that are wanted, and what is between and around them. */
#include "runtime/view/flow/flow.h"

#include "runtime/base/memory.h"
#include "runtime/base/text_table.h"

/* Where each node and each group is in what remains; FLOW_NONE: nowhere. */
struct places {
    uint32_t *nodes;  /* owned */
    uint32_t *groups; /* owned */
};

/* A parent stands before its children, so from behind a group is known to be needed before its
 * parent is reached. */
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

/* They stay in their order: nodes do. */
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

/* Of the nodes that remain: how many files there are, and that of the most. */
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
    /* Beside the files there is the empty text. */
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
