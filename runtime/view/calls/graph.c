/* From a call tree to the graph that is drawn of it. */
#include "runtime/view/calls/graph.h"

#include "runtime/base/memory.h"
#include "runtime/base/number_map.h"

void call_graph_init(struct call_graph *graph)
{
    *graph = (struct call_graph){.is_drawn = NULL};
    call_tree_init(&graph->pruned);
    call_tree_init(&graph->merged);
}

void call_graph_release(struct call_graph *graph)
{
    call_tree_release(&graph->pruned);
    call_tree_release(&graph->merged);
    memory_free(graph->is_drawn);
    memory_free(graph->edges);
    call_graph_init(graph);
}

/* ---- the root ---- */

/* The path "root" alone is the model itself. */
static bool is_model(const struct call_tree *tree, uint32_t node)
{
    return node == 0 || (tree->nodes[node].parent == 0 &&
                         tree->nodes[node].first_child == CALL_NODE_NONE &&
                         slice_equal(tree->nodes[node].name, CALL_ROOT_NAME));
}

static bool draws_root(const struct call_tree *tree)
{
    uint32_t count = 0;

    if (!slice_equal(tree->nodes[0].name, CALL_ROOT_NAME)) {
        return true; /* a part of another tree */
    }
    for (uint32_t i = tree->nodes[0].first_child; i != CALL_NODE_NONE;
         i = tree->nodes[i].next) {
        if (is_model(tree, i)) {
            return true;
        }
        count++;
    }
    return count > 1;
}

/* ---- nodes and edges ---- */

/* What a graph is made of besides itself. */
struct making {
    const struct call_tree *tree; /* borrowed; before names were merged */
    uint32_t *map; /* owned; the number that each of its nodes has in the graph */
    struct number_map known; /* owned; edges that there are */
};

static bool add_edge(struct call_graph *graph,
                     struct making *making,
                     uint32_t source,
                     uint32_t target)
{
    if (number_map_get(&making->known, number_map_key(source, target)) !=
        NUMBER_MAP_NONE) {
        return true;
    }
    graph->edges[graph->edge_count++] = (struct call_graph_edge){source, target};
    return number_map_put(&making->known, number_map_key(source, target), 0);
}

static bool connect(struct call_graph *graph, struct making *making)
{
    const struct call_tree *tree = making->tree;

    graph->is_drawn =
        memory_allocate_zeroed(graph->tree->node_count, sizeof *graph->is_drawn);
    graph->edges = memory_allocate(tree->node_count, sizeof *graph->edges);
    if (graph->is_drawn == NULL || graph->edges == NULL) {
        return false;
    }
    graph->has_root = draws_root(tree);
    graph->is_drawn[0] = graph->has_root;
    for (uint32_t i = 1; i < tree->node_count; i++) {
        uint32_t parent = tree->nodes[i].parent;

        if (is_model(tree, i)) {
            graph->model = &tree->nodes[i];
            continue;
        }
        graph->is_drawn[making->map[i]] = true;
        if ((parent != 0 || graph->has_root) &&
            !add_edge(graph, making, making->map[parent], making->map[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < graph->tree->node_count; i++) {
        graph->drawn_count += graph->is_drawn[i];
    }
    return true;
}

/* Finds out what is drawn, and fills the map. */
static bool choose_nodes(struct call_graph *graph,
                         struct making *making,
                         const struct call_tree *tree,
                         struct error *error)
{
    if (!graph->options.has_leaves) {
        if (!call_tree_prune(&graph->pruned, tree, error)) {
            return false;
        }
        tree = &graph->pruned;
    }
    making->tree = tree;
    making->map = memory_allocate(tree->node_count, sizeof *making->map);
    if (making->map == NULL) {
        return error_set_memory(error);
    }
    if (graph->options.merges_names) {
        graph->tree = &graph->merged;
        return call_tree_merge(&graph->merged, tree, making->map, error);
    }
    graph->tree = tree;
    for (uint32_t i = 0; i < tree->node_count; i++) {
        making->map[i] = i;
    }
    return true;
}

bool call_graph_build(struct call_graph *graph,
                      const struct call_tree *tree,
                      const struct call_graph_options *options,
                      struct error *error)
{
    struct making making = {.tree = NULL};
    bool is_done;

    graph->options = *options;
    number_map_init(&making.known);
    is_done = choose_nodes(graph, &making, tree, error);
    if (is_done && !connect(graph, &making)) {
        error_set_memory(error);
        is_done = false;
    }
    number_map_release(&making.known);
    memory_free(making.map);
    return is_done;
}
