/* Raw nodes to clusters: turns of loops, repeated calls and levels of a recursion that are alike
 * become one. */
#include "runtime/view/flow/fold.h"

#include "runtime/base/memory.h"

static void folding_release(struct flow_folding *folding)
{
    flow_kinds_release(&folding->unit_kinds);
    flow_kinds_release(&folding->node_kinds);
    flow_kinds_release(&folding->leaf_kinds);
    number_map_release(&folding->wild_texts);
    memory_free(folding->shapes);
}

/* ---- units ---- */

/* Levels of a recursion: each call's outermost one that it is alike, and how many are. */
struct levels {
    uint32_t *outermost; /* owned: units */
    uint32_t *counts;    /* owned: by the outermost unit */
};

static bool levels_find(struct flow_folding *folding, struct levels *levels)
{
    struct flow_builder *builder = folding->builder;

    levels->outermost = memory_allocate(builder->unit_count, sizeof(uint32_t));
    levels->counts = memory_allocate_zeroed(builder->unit_count, sizeof(uint32_t));
    if (levels->outermost == NULL || levels->counts == NULL) {
        return flow_out_of_memory(builder);
    }
    for (uint32_t i = 0; i < builder->unit_count; i++) {
        uint32_t caller = flow_recursion_of(folding, &builder->units[i]);
        uint32_t above = caller == FLOW_NONE ? i : builder->calls[caller].unit;
        bool is_alike = builder->options->fold == FLOW_FOLD_ALL ||
                        folding->shapes[above].body == folding->shapes[i].body;

        levels->outermost[i] = above != i && is_alike ? levels->outermost[above] : i;
        levels->counts[levels->outermost[i]]++;
    }
    return true;
}

static bool is_folded_level(const struct flow_folding *folding,
                            const struct levels *levels,
                            uint32_t unit)
{
    uint32_t outermost = levels->outermost[unit];

    return outermost != unit && (folding->builder->options->fold == FLOW_FOLD_ALL ||
                                 levels->counts[outermost] >= FLOW_ALIKE_MIN);
}

/* Where units of one place, that are folded together, are found again. */
static uint64_t unit_place(struct flow_folding *folding, uint32_t index)
{
    const struct flow_builder *builder = folding->builder;
    const struct flow_shape *shape = &folding->shapes[index];
    uint32_t parent = builder->units[index].parent;
    uint32_t around = parent == FLOW_NONE ? FLOW_NONE : builder->units[parent].cluster;
    uint64_t kind = flow_mix(shape->key, shape->body);

    if (builder->options->fold == FLOW_FOLD_ALL) {
        return flow_mix(around, shape->key);
    }
    return flow_mix(flow_mix(around, kind),
                    flow_kinds_place(&folding->unit_kinds, flow_mix(parent, kind)));
}

static bool fold_units(struct flow_folding *folding, const struct levels *levels)
{
    struct flow_builder *builder = folding->builder;
    struct number_map places;
    bool is_done = true;

    number_map_init(&places);
    for (uint32_t i = 0; i < builder->unit_count && is_done; i++) {
        struct flow_unit *unit = &builder->units[i];
        uint64_t place;
        uint32_t first;

        if (is_folded_level(folding, levels, i)) {
            unit->cluster = builder->units[levels->outermost[i]].cluster;
        } else {
            place = unit_place(folding, i);
            first = number_map_get(&places, place);
            unit->cluster = first == NUMBER_MAP_NONE ? i : first;
            is_done = first != NUMBER_MAP_NONE || number_map_put(&places, place, i);
        }
        if (unit->cluster != i) {
            builder->units[unit->cluster].count++;
        }
    }
    number_map_release(&places);
    return is_done || flow_out_of_memory(builder);
}

static bool find_units(struct flow_folding *folding)
{
    struct flow_builder *builder = folding->builder;
    struct levels levels = {NULL, NULL};
    bool is_done;

    folding->shapes = memory_allocate(builder->unit_count, sizeof *folding->shapes);
    if (folding->shapes == NULL) {
        return flow_out_of_memory(builder);
    }
    is_done = flow_shapes_find(folding) && levels_find(folding, &levels) &&
              fold_units(folding, &levels);
    memory_free(levels.outermost);
    memory_free(levels.counts);
    return is_done;
}

/* ---- nodes ---- */

static uint64_t node_place(struct flow_folding *folding, const struct flow_raw *node)
{
    const struct flow_builder *builder = folding->builder;
    uint32_t around = builder->units[node->unit].cluster;

    if (builder->options->fold == FLOW_FOLD_ALL) {
        return flow_mix(flow_mix(number_map_key(around, node->site),
                                 number_map_key(node->name, node->path)),
                        node->is_read || node->is_promoted);
    }
    return flow_mix(flow_node_kind(node, around, node->path),
                    flow_kinds_place(&folding->node_kinds,
                                     flow_node_kind(node, node->unit, node->path)));
}

static bool
fold_node(struct flow_folding *folding, struct number_map *places, uint32_t index)
{
    struct flow_builder *builder = folding->builder;
    struct flow_raw *node = &builder->raws[index];
    struct flow_cluster *cluster;
    uint64_t place = 0;

    node->cluster = NUMBER_MAP_NONE;
    if (builder->options->fold != FLOW_FOLD_NONE) {
        place = node_place(folding, node);
        node->cluster = number_map_get(places, place);
    }
    if (node->cluster == NUMBER_MAP_NONE) {
        node->cluster = builder->cluster_count;
        if (builder->options->fold != FLOW_FOLD_NONE &&
            !number_map_put(places, place, node->cluster)) {
            return flow_out_of_memory(builder);
        }
        builder->clusters[builder->cluster_count++] = (struct flow_cluster){
            .first = index, .last = index, .marked = index, .node = FLOW_NONE};
    }
    cluster = &builder->clusters[node->cluster];
    cluster->count++;
    cluster->last = index;
    if (node->mark > builder->raws[cluster->marked].mark) {
        cluster->marked = index;
    }
    return true;
}

static bool fold_nodes(struct flow_folding *folding)
{
    struct flow_builder *builder = folding->builder;
    struct number_map places;
    bool is_done = true;

    builder->clusters = memory_allocate(builder->raw_count, sizeof *builder->clusters);
    if (builder->clusters == NULL) {
        return flow_out_of_memory(builder);
    }
    number_map_init(&places);
    for (uint32_t i = 0; i < builder->raw_count && is_done; i++) {
        if (!builder->raws[i].is_hidden) {
            is_done = fold_node(folding, &places, i);
        }
    }
    number_map_release(&places);
    return is_done;
}

bool flow_fold(struct flow_builder *builder)
{
    struct flow_folding folding = {.builder = builder};
    bool is_done = (builder->options->fold == FLOW_FOLD_NONE || find_units(&folding)) &&
                   fold_nodes(&folding);

    folding_release(&folding);
    return is_done;
}
