/* The tree of the modules that were called. */
#include "runtime/view/calls/tree.h"

#include "runtime/base/memory.h"
#include "runtime/view/calls/builder.h"

#include <assert.h>

/* Numbers of at most this many digits fit into 63 bits. */
#define INDEX_DIGITS 18

void call_tree_init(struct call_tree *tree)
{
    *tree = (struct call_tree){.nodes = NULL};
    arena_init(&tree->arena);
}

void call_tree_release(struct call_tree *tree)
{
    memory_free(tree->nodes);
    arena_release(&tree->arena);
    call_tree_init(tree);
}

bool call_index_read(struct slice segment, uint64_t *index)
{
    uint64_t read = 0;

    if (segment.size == 0 || segment.size > INDEX_DIGITS) {
        return false;
    }
    for (size_t i = 0; i < segment.size; i++) {
        if (segment.bytes[i] < '0' || segment.bytes[i] > '9') {
            return false;
        }
        read = read * 10 + (uint64_t)(segment.bytes[i] - '0');
    }
    *index = read;
    return true;
}

/* ---- from paths ---- */

/* The node of the next segment of a path, below `node`. An index is added to `node` itself.
 * CALL_NODE_NONE: out of memory, or too many nodes. */
static uint32_t
step(struct call_builder *builder, uint32_t node, struct slice segment, uint64_t number)
{
    struct call_tree *tree = builder->tree;
    uint64_t index;

    if (node != 0 && call_index_read(segment, &index)) {
        return call_builder_add_index(builder, node, index) ? node : CALL_NODE_NONE;
    }
    node = call_builder_child(builder, node, segment);
    if (node != CALL_NODE_NONE) {
        tree->nodes[node].count++;
        if (number < tree->nodes[node].first_seen) {
            tree->nodes[node].first_seen = number;
        }
    }
    return node;
}

static bool
add_path(struct call_builder *builder, const struct call_path *path, uint64_t number)
{
    struct call_tree *tree = builder->tree;
    uint32_t node = 0;
    uint32_t above = 0;
    size_t start = 0;

    tree->nodes[0].count++;
    while (start < path->path.size) {
        size_t end = slice_find(path->path, SLICE("."), start);

        if (end > start) {
            above = node;
            node = step(builder, node, slice_part(path->path, start, end), number);
            if (node == CALL_NODE_NONE) {
                return false;
            }
        }
        start = end + 1;
    }
    return call_builder_absorb(builder, node,
                               &(struct call_node){.call_count = 1,
                                                   .first_seen = number,
                                                   .shape = path->shape,
                                                   .has_own_shape = node != above});
}

/* ---- from trees, as tree.h describes ---- */

struct conversion {
    struct call_builder builder;
    const struct call_tree *from; /* borrowed */
    uint32_t *map; /* borrowed; by node of `from`: its new node, or CALL_NODE_NONE */
    bool has_failed;
};

/* Sets the new node of a node whose parent has one already. */
typedef void (*place_function)(struct conversion *conversion, uint32_t node);

/* Merges the node into the child of that name, which is created if there is none. */
static void place_below(struct conversion *conversion, uint32_t node, uint32_t parent)
{
    assert(node < conversion->from->node_count);

    const struct call_node *old = &conversion->from->nodes[node];
    uint32_t place = call_builder_child(&conversion->builder, parent, old->name);

    conversion->map[node] = place;
    conversion->has_failed = place == CALL_NODE_NONE ||
                             !call_builder_absorb(&conversion->builder, place, old);
}

static void place_pruned(struct conversion *conversion, uint32_t node)
{
    assert(node < conversion->from->node_count);

    const struct call_node *old = &conversion->from->nodes[node];

    if (old->first_child == CALL_NODE_NONE && old->parent != 0) {
        conversion->map[node] = CALL_NODE_NONE;
    } else {
        place_below(conversion, node, conversion->map[old->parent]);
    }
}

static void place_squashed(struct conversion *conversion, uint32_t node)
{
    assert(node < conversion->from->node_count);

    struct call_node old = conversion->from->nodes[node];
    uint32_t parent = conversion->map[old.parent];
    uint64_t index;

    if (parent == 0 || !call_index_read(old.name, &index)) {
        place_below(conversion, node, parent);
        return;
    }
    old.count = 0; /* the parent counts these paths already */
    conversion->map[node] = parent;
    conversion->has_failed =
        !call_builder_add_index(&conversion->builder, parent, index) ||
        !call_builder_absorb(&conversion->builder, parent, &old);
}

static void place_merged(struct conversion *conversion, uint32_t node)
{
    place_below(conversion, node, 0);
}

/* ---- public ---- */

static bool end(struct call_builder *builder, bool is_done, struct error *error)
{
    is_done = is_done && call_builder_finish(builder);
    call_builder_release(builder);
    if (!is_done) {
        error_set_memory(error);
    }
    return is_done;
}

bool call_tree_build(struct call_tree *tree,
                     const struct call_path *paths,
                     size_t count,
                     struct error *error)
{
    struct call_builder builder;
    bool is_done = call_builder_init(&builder, tree, CALL_ROOT_NAME);

    for (size_t i = 0; i < count && is_done; i++) {
        is_done = add_path(&builder, &paths[i], i);
    }
    return end(&builder, is_done, error);
}

static bool convert(struct call_tree *tree,
                    const struct call_tree *from,
                    uint32_t *map,
                    place_function place,
                    struct error *error)
{
    struct conversion conversion = {.from = from, .map = map};
    bool is_done = call_builder_init(&conversion.builder, tree, from->nodes[0].name) &&
                   call_builder_absorb(&conversion.builder, 0, &from->nodes[0]);

    map[0] = 0;
    for (uint32_t i = 1; i < from->node_count && is_done; i++) {
        place(&conversion, i);
        is_done = !conversion.has_failed;
    }
    return end(&conversion.builder, is_done, error);
}

static bool convert_without_map(struct call_tree *tree,
                                const struct call_tree *from,
                                place_function place,
                                struct error *error)
{
    uint32_t *map = memory_allocate(from->node_count, sizeof *map);
    bool is_done;

    if (map == NULL) {
        return error_set_memory(error);
    }
    is_done = convert(tree, from, map, place, error);
    memory_free(map);
    return is_done;
}

bool call_tree_prune(struct call_tree *tree,
                     const struct call_tree *from,
                     struct error *error)
{
    return convert_without_map(tree, from, place_pruned, error);
}

bool call_tree_squash(struct call_tree *tree,
                      const struct call_tree *from,
                      struct error *error)
{
    return convert_without_map(tree, from, place_squashed, error);
}

bool call_tree_merge(struct call_tree *tree,
                     const struct call_tree *from,
                     uint32_t *map,
                     struct error *error)
{
    return convert(tree, from, map, place_merged, error);
}
