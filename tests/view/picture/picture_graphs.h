/* Graphs for the tests of pictures, made by hand: no trace is needed. */
#ifndef MONITORCH_TESTS_UNIT_PICTURE_GRAPHS_H
#define MONITORCH_TESTS_UNIT_PICTURE_GRAPHS_H

#include "runtime/array/sample.h"
#include "runtime/array/statistics/statistics.h"
#include "runtime/view/flow/flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Arrays are the graph's arena's, and large enough for what the tests do. */
static inline void hand_graph_init(struct flow_graph *graph,
                                   uint32_t nodes,
                                   uint32_t edges,
                                   uint32_t groups)
{
    *graph = (struct flow_graph){
        .node_count = 0, .file = SLICE("demo/model.py"), .file_count = 1};
    arena_init(&graph->arena);
    graph->nodes = arena_allocate(&graph->arena, nodes, sizeof *graph->nodes);
    graph->edges = arena_allocate(&graph->arena, edges, sizeof *graph->edges);
    graph->groups = arena_allocate(&graph->arena, groups, sizeof *graph->groups);
}

static inline void hand_graph_release(struct flow_graph *graph)
{
    arena_release(&graph->arena);
}

/* A scalar until it is given a tensor. */
static inline struct flow_node *hand_node(struct flow_graph *graph,
                                          const char *name,
                                          uint32_t line,
                                          const char *code,
                                          uint32_t group)
{
    struct flow_node *node = &graph->nodes[graph->node_count];

    *node = (struct flow_node){
        .group = group,
        .event = graph->node_count,
        .count = 1,
        .name = slice_of(name),
        .file = graph->file,
        .line = line,
        .code = slice_of(code),
        .function = SLICE("forward"),
        .guess = SLICE(""),
        .change = CHANGE_NEW,
        .changed_by = SLICE(""),
        .kind = VALUE_INT,
        .text = SLICE("4"),
        .type = SLICE(""),
        .dtype_text = SLICE(""),
        .device = SLICE("cpu"),
        .layout = SLICE("strided"),
        .note = SLICE(""),
    };
    graph->node_count++;
    graph->event_count++;
    return node;
}

static inline double hand_random(uint64_t *state)
{
    double sum = 0;

    for (int i = 0; i < 6; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*state >> 40) / 16777216.0 - 0.5;
    }
    return sum * 1.414;
}

/* Makes the node a float32 tensor of random numbers, those from 0 to 5 in `special` set. */
static inline float *hand_tensor(struct flow_graph *graph,
                                 struct flow_node *node,
                                 uint32_t dimension_count,
                                 const int64_t *dimensions)
{
    struct arena *arena = &graph->arena;
    int64_t *shape = arena_allocate(arena, dimension_count, sizeof *shape);
    size_t count = 1;
    uint64_t state = graph->node_count * 977u + 5;
    float *values;

    for (uint32_t i = 0; i < dimension_count; i++) {
        shape[i] = dimensions[i];
        count *= (size_t)dimensions[i];
    }
    values = arena_allocate(arena, count, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)hand_random(&state);
    }
    node->kind = VALUE_TENSOR;
    node->dtype = DTYPE_FLOAT32;
    node->dtype_text = SLICE("float32");
    node->dimension_count = dimension_count;
    node->shape = shape;
    return values;
}

/* Measures and samples what the values are by now. */
static inline void
hand_measure(struct flow_graph *graph, struct flow_node *node, const void *values)
{
    struct array array = {.data = values,
                          .dtype = node->dtype,
                          .dimension_count = node->dimension_count,
                          .shape = node->shape};
    uint64_t hash;
    char *sample;

    statistics_measure(&array, STATISTICS_WANT_VALUES, 1, &node->statistics, &hash);
    node->has_statistics = true;
    sample_grid_init(&node->grid, node->shape, node->dimension_count,
                     sample_tables(32, 8, 6));
    sample = arena_allocate(&graph->arena, node->grid.count + 1, 16);
    sample_copy(&node->grid, &array, sample);
    node->sample = sample;
    node->nan_count = node->statistics.nan_count;
    node->posinf_count = node->statistics.posinf_count;
    node->neginf_count = node->statistics.neginf_count;
    if (statistics_finite_count(&node->statistics) < node->statistics.count) {
        node->flags |= FLOW_NODE_NONFINITE;
    }
}

static inline struct flow_node *hand_random_tensor(struct flow_graph *graph,
                                                   struct flow_node *node,
                                                   uint32_t dimension_count,
                                                   const int64_t *dimensions)
{
    hand_measure(graph, node, hand_tensor(graph, node, dimension_count, dimensions));
    return node;
}

static inline void hand_edge(struct flow_graph *graph,
                             enum graph_kind kind,
                             uint32_t source,
                             uint32_t target)
{
    graph->edges[graph->edge_count++] = (struct flow_edge){
        .kind = kind, .source = source, .target = target, .count = 1};
}

static inline struct flow_group *
hand_group(struct flow_graph *graph, enum flow_group_kind kind, uint32_t parent)
{
    struct flow_group *group = &graph->groups[graph->group_count++];

    *group = (struct flow_group){.kind = kind,
                                 .parent = parent,
                                 .count = 1,
                                 .function = SLICE(""),
                                 .path = SLICE(""),
                                 .class_name = SLICE(""),
                                 .code = SLICE(""),
                                 .file = graph->file,
                                 .line = 7};
    return group;
}

/* A bit of everything that a picture can show. */
static inline void hand_graph_fill(struct flow_graph *graph)
{
    struct flow_group *group;
    struct flow_node *node;
    float *values;
    uint32_t none = FLOW_NONE;

    hand_graph_init(graph, 32, 64, 8);
    group = hand_group(graph, FLOW_GROUP_CALL, FLOW_NONE);
    group->function = SLICE("Block.forward");
    group->class_name = SLICE("Block");
    group->path = SLICE("blocks.0-11");
    group->count = 12;
    group->line = 14;
    group = hand_group(graph, FLOW_GROUP_CALL, 0);
    group->function = SLICE("Attention.forward");
    group->path = SLICE("blocks.0-11.attention");
    group->line = 31;
    group = hand_group(graph, FLOW_GROUP_LOOP, FLOW_NONE);
    group->code = SLICE("for t in range(50):");
    group->count = 50;
    group->line = 48;

    node = hand_node(graph, "x", 3, "x = torch.randn(8, 8)", none);
    hand_random_tensor(graph, node, 2, (int64_t[]){8, 8});
    node = hand_node(graph, "self.weight", 0, "", none);
    hand_random_tensor(graph, node, 2, (int64_t[]){768, 768});
    node->flags = FLOW_NODE_SOURCE | FLOW_NODE_PARAMETER;
    node->requires_grad = true;
    node = hand_node(graph, "scale", 12, "def forward(self, x, scale):", 0);
    node->flags |= FLOW_NODE_ARGUMENT | FLOW_NODE_GUESSED;
    node->guess = SLICE("0.1");
    node->kind = VALUE_FLOAT;
    node->text = SLICE("0.1");
    node = hand_node(graph, "y", 15, "y = x @ self.weight * scale  # projected", 0);
    values = hand_tensor(graph, node, 2, (int64_t[]){8, 8});
    values[9] = NAN;
    values[20] = INFINITY;
    values[45] = -INFINITY;
    hand_measure(graph, node, values);
    node->count = 12;
    node->min = (struct flow_range){-2.3, -2.1};
    node->max = (struct flow_range){2.1, 2.6};
    node->mean = (struct flow_range){-0.01, 0.02};
    node->std = (struct flow_range){0.98, 1.02};
    node = hand_node(graph, "heads", 33, "heads = y.view(2, 8, 12, 64).transpose(1, 2)",
                     1);
    hand_random_tensor(graph, node, 4, (int64_t[]){2, 8, 12, 64});
    node = hand_node(graph, "bias", 34, "bias = self.bias[:40]", 1);
    hand_random_tensor(graph, node, 1, (int64_t[]){40});
    node = hand_node(graph, "y", 17, "y.add_(bias.sum())", 0);
    hand_random_tensor(graph, node, 2, (int64_t[]){8, 8});
    node->flags |= FLOW_NODE_IN_PLACE;
    node->change = CHANGE_MUTATED;
    node->difference = LOG_DIFFERS_VALUES;
    node = hand_node(graph, "view", 18, "view = y[0]", 0);
    hand_random_tensor(graph, node, 1, (int64_t[]){8});
    node->flags |= FLOW_NODE_ALIAS;
    node->change = CHANGE_ALIASED;
    node->changed_by = SLICE("model.py:17 by y");
    node = hand_node(graph, "h", 50, "h = torch.tanh(self.cell(h, y[t]))", 2);
    hand_random_tensor(graph, node, 3, (int64_t[]){3, 4, 5});
    node->count = 50;
    node->min = (struct flow_range){-0.99, -0.71};
    node->max = (struct flow_range){0.72, 0.98};
    node->mean = (struct flow_range){-0.1, 0.1};
    node->std = (struct flow_range){0.4, 0.5};
    node->change = CHANGE_REBOUND;
    node->difference = LOG_DIFFERS_DTYPE | LOG_DIFFERS_SHAPE;
    node = hand_node(graph, "loss", 60, "loss = F.cross_entropy(logits, target)", none);
    hand_random_tensor(graph, node, 0, NULL);
    node->requires_grad = true;
    node = hand_node(graph, "return", 61, "return loss", none);
    hand_random_tensor(graph, node, 0, NULL);
    node->flags |= FLOW_NODE_RESULT;
    node =
        hand_node(graph, "mask", 20, "mask = torch.empty(0, 8, device='cuda')", none);
    node->kind = VALUE_TENSOR;
    node->dtype = DTYPE_BOOL;
    node->dtype_text = SLICE("bool");
    node->device = SLICE("cuda:0");
    node->dimension_count = 2;
    node->shape = (const int64_t[]){0, 8};
    node->shape = memcpy(arena_allocate(&graph->arena, 2, sizeof(int64_t)), node->shape,
                         2 * sizeof(int64_t));

    hand_edge(graph, GRAPH_VALUE, 0, 3);
    hand_edge(graph, GRAPH_VALUE, 1, 3);
    hand_edge(graph, GRAPH_VALUE, 2, 3);
    hand_edge(graph, GRAPH_VALUE, 3, 4);
    graph->edges[graph->edge_count - 1].count = 12;
    hand_edge(graph, GRAPH_VALUE, 1, 5);
    hand_edge(graph, GRAPH_WRITE, 3, 6);
    hand_edge(graph, GRAPH_VALUE, 5, 6);
    hand_edge(graph, GRAPH_ALIAS, 6, 7);
    hand_edge(graph, GRAPH_VALUE, 6, 8);
    hand_edge(graph, GRAPH_VALUE, 8, 8);
    graph->edges[graph->edge_count - 1].is_carried = true;
    graph->edges[graph->edge_count - 1].count = 49;
    hand_edge(graph, GRAPH_VALUE, 8, 9);
    hand_edge(graph, GRAPH_VALUE, 11, 9);
    hand_edge(graph, GRAPH_SAME, 9, 10);
    graph->event_count = 312;
    graph->left_out = (struct flow_left_out){.older_nodes = 3, .scalars = 21};
}

#endif
