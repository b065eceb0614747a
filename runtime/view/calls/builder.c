/* The builder of a call tree, node by node. */
#include "runtime/view/calls/builder.h"

#include "runtime/base/memory.h"

#include <assert.h>
#include <stdlib.h>

/* ---- nodes ---- */

static bool reserve(struct call_builder *builder)
{
    struct call_tree *tree = builder->tree;
    void *nodes = tree->nodes;
    void *last_children = builder->last_children;
    size_t wanted = (size_t)tree->node_count + 1;

    if (tree->node_count == CALL_NODE_NONE - 1 ||
        !memory_grow(&nodes, &tree->node_capacity, wanted, sizeof *tree->nodes)) {
        return false;
    }
    tree->nodes = nodes;
    if (!memory_grow(&last_children, &builder->last_capacity, wanted,
                     sizeof *builder->last_children)) {
        return false;
    }
    builder->last_children = last_children;
    return true;
}

static uint32_t
add_node(struct call_builder *builder, uint32_t parent, struct slice name)
{
    struct call_tree *tree = builder->tree;
    uint32_t node = tree->node_count;
    uint32_t last;

    if (!reserve(builder)) {
        return CALL_NODE_NONE;
    }
    name = name.size == 0 ? SLICE("") : arena_copy(&tree->arena, name);
    if (name.bytes == NULL) {
        return CALL_NODE_NONE;
    }
    tree->nodes[node] = (struct call_node){
        .name = name,
        .first_seen = UINT64_MAX,
        .parent = parent,
        .first_child = CALL_NODE_NONE,
        .next = CALL_NODE_NONE,
        .shape = SLICE(""),
    };
    builder->last_children[node] = CALL_NODE_NONE;
    tree->node_count++;
    if (parent == CALL_NODE_NONE) {
        return node;
    }
    last = builder->last_children[parent];
    if (last == CALL_NODE_NONE) {
        tree->nodes[parent].first_child = node;
    } else {
        tree->nodes[last].next = node;
    }
    builder->last_children[parent] = node;
    return node;
}

bool call_builder_init(struct call_builder *builder,
                       struct call_tree *tree,
                       struct slice root_name)
{
    *builder = (struct call_builder){.tree = tree};
    number_map_init(&builder->children);
    if (!text_table_init(&builder->names) ||
        add_node(builder, CALL_NODE_NONE, root_name) == CALL_NODE_NONE) {
        return false;
    }
    tree->nodes[0].first_seen = 0;
    return true;
}

void call_builder_release(struct call_builder *builder)
{
    text_table_release(&builder->names);
    number_map_release(&builder->children);
    memory_free(builder->last_children);
    memory_free(builder->seen);
}

uint32_t
call_builder_child(struct call_builder *builder, uint32_t parent, struct slice name)
{
    uint32_t number;
    uint32_t node;

    if (!text_table_add(&builder->names, name, &number)) {
        return CALL_NODE_NONE;
    }
    node = number_map_get(&builder->children, number_map_key(parent, number));
    if (node != NUMBER_MAP_NONE) {
        return node;
    }
    node = add_node(builder, parent, name);
    if (node != CALL_NODE_NONE &&
        !number_map_put(&builder->children, number_map_key(parent, number), node)) {
        return CALL_NODE_NONE;
    }
    return node;
}

/* ---- contents of nodes ---- */

bool call_builder_add_index(struct call_builder *builder, uint32_t node, uint64_t index)
{
    void *seen = builder->seen;

    if (!memory_grow(&seen, &builder->seen_capacity, builder->seen_count + 1,
                     sizeof *builder->seen)) {
        return false;
    }
    builder->seen = seen;
    builder->seen[builder->seen_count++] = (struct call_seen_index){node, index};
    return true;
}

bool call_builder_absorb(struct call_builder *builder,
                         uint32_t node,
                         const struct call_node *from)
{
    struct call_tree *tree = builder->tree;
    struct call_node *to = &tree->nodes[node];

    assert(node < tree->node_count);
    to->count += from->count;
    to->call_count += from->call_count;
    if (from->first_seen < to->first_seen) {
        to->first_seen = from->first_seen;
    }
    if (from->shape.size > 0 &&
        (to->shape.size == 0 || (from->has_own_shape && !to->has_own_shape))) {
        to->has_own_shape = from->has_own_shape;
        to->shape = arena_copy(&tree->arena, from->shape);
        if (to->shape.bytes == NULL) {
            return false;
        }
    }
    for (uint32_t i = 0; i < from->index_count; i++) {
        if (!call_builder_add_index(builder, node, from->indices[i])) {
            return false;
        }
    }
    return true;
}

/* ---- indices ---- */

static int compare_seen(const void *left, const void *right)
{
    const struct call_seen_index *a = left;
    const struct call_seen_index *b = right;

    if (a->node != b->node) {
        return a->node < b->node ? -1 : 1;
    }
    return a->index < b->index ? -1 : a->index > b->index;
}

bool call_builder_finish(struct call_builder *builder)
{
    struct call_tree *tree = builder->tree;
    uint64_t *indices;

    if (builder->seen_count == 0) {
        return true;
    }
    indices = arena_allocate(&tree->arena, builder->seen_count, sizeof *indices);
    if (indices == NULL) {
        return false;
    }
    qsort(builder->seen, builder->seen_count, sizeof *builder->seen, compare_seen);
    for (size_t i = 0; i < builder->seen_count; i++) {
        const struct call_seen_index *seen = &builder->seen[i];
        struct call_node *node = &tree->nodes[seen->node];

        if (i > 0 && compare_seen(seen, seen - 1) == 0) {
            continue;
        }
        if (node->index_count == 0) {
            node->indices = indices;
        }
        indices[0] = seen->index;
        node->index_count++;
        indices++;
    }
    return true;
}
