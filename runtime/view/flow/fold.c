/* Folding of raw nodes to clusters: turns of loops, repeated calls and levels of a recursion
 * that are alike become one. Calls and turns are alike if they have the same sites, functions,
 * dtypes and marks in them. Neither the order nor the number of repetitions counts. Units are
 * compared by sums of hashes (flow_mix), in one pass from the last unit to the first. */
#include "runtime/view/flow/fold.h"

#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"

#include <assert.h>

/* A bijection in which each bit of the result depends on all bits of the number. */
static uint64_t scatter(uint64_t number)
{
    number ^= number >> 30;
    number *= 0xbf58476d1ce4e5b9u;
    number ^= number >> 27;
    number *= 0x94d049bb133111ebu;
    return number ^ number >> 31;
}

/* A bijection in each of its arguments, so consecutive numbers do not collide. */
uint64_t flow_mix(uint64_t hash, uint64_t number)
{
    return scatter(hash * 0x9e3779b97f4a7c15u + scatter(number + 1));
}

/* ---- kinds ---- */

/* Counts one more of that kind, and sets `nth` to the new count. Returns false if memory runs
 * out. */
static bool kinds_add(struct flow_kinds *kinds, uint64_t kind, uint32_t *nth)
{
    uint32_t index = number_map_get(&kinds->index, kind);
    void *counts = kinds->counts;
    void *removed = kinds->removed;

    if (index == NUMBER_MAP_NONE) {
        index = kinds->count;
        if (!memory_grow(&counts, &kinds->count_capacity, (size_t)index + 1,
                         sizeof *kinds->counts)) {
            return false;
        }
        kinds->counts = counts;
        if (!memory_grow(&removed, &kinds->removed_capacity, (size_t)index + 1,
                         sizeof *kinds->removed)) {
            return false;
        }
        kinds->removed = removed;
        if (!number_map_put(&kinds->index, kind, index)) {
            return false;
        }
        kinds->counts[index] = 0;
        kinds->removed[index] = 0;
        kinds->count++;
    }
    *nth = ++kinds->counts[index];
    return true;
}

/* The place of the next item of the kind: 0 for all if they are folded, else 0, 1, … */
static uint32_t flow_kinds_place(struct flow_kinds *kinds, uint64_t kind)
{
    uint32_t index = number_map_get(&kinds->index, kind);

    if (index == NUMBER_MAP_NONE || kinds->counts[index] >= FLOW_ALIKE_MIN) {
        return 0;
    }
    return kinds->removed[index]++;
}

static void flow_kinds_release(struct flow_kinds *kinds)
{
    number_map_release(&kinds->index);
    memory_free(kinds->counts);
    memory_free(kinds->removed);
}

/* ---- keys of units ---- */

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Whether a byte next to a number makes it a step of its own. */
static bool is_edge(char byte)
{
    return byte == '.' || byte == '[' || byte == ']';
}

static void add_wild(struct buffer *wild, struct slice text)
{
    for (size_t i = 0; i < text.size;) {
        size_t end = i;

        while (end < text.size && is_digit(text.bytes[end])) {
            end++;
        }
        if (end > i && (i == 0 || is_edge(text.bytes[i - 1])) &&
            (end == text.size || is_edge(text.bytes[end]))) {
            buffer_add_byte(wild, '#');
        } else {
            end = end == i ? i + 1 : end;
            buffer_add(wild, slice_part(text, i, end));
        }
        i = end;
    }
}

/* The number of the text with `#` for every number that is a step of a path or an index.
 * FLOW_NONE: out of memory. */
static uint32_t find_wild(struct flow_folding *folding, uint32_t text)
{
    struct flow_builder *builder = folding->builder;
    uint32_t number = number_map_get(&folding->wild_texts, text);
    struct buffer wild = BUFFER_INIT;
    bool is_done;

    if (text == 0 || number != NUMBER_MAP_NONE) {
        return text == 0 ? 0 : number;
    }
    add_wild(&wild, flow_text_of(builder, text));
    is_done = !wild.has_failed &&
              text_table_add(&builder->reading->texts, buffer_slice(&wild), &number) &&
              number_map_put(&folding->wild_texts, text, number);
    buffer_release(&wild);
    if (!is_done) {
        flow_out_of_memory(builder);
        return FLOW_NONE;
    }
    return number;
}

/* The caller, if it is a call of the same function of the same module. FLOW_NONE: it is not. */
static uint32_t flow_recursion_of(struct flow_folding *folding,
                                  const struct flow_unit *unit)
{
    struct flow_builder *builder = folding->builder;
    const struct reading_call *call = &builder->calls[unit->call];
    const struct reading_call *caller;

    if (unit->loop != FLOW_NONE || call->parent == FLOW_NONE) {
        return FLOW_NONE;
    }
    caller = &builder->calls[call->parent];
    return caller->module == call->module && caller->function == call->function &&
                   caller->class_name == call->class_name && caller->path == call->path
               ? call->parent
               : FLOW_NONE;
}

/* Sets the key of a unit. Calls of a module with a number in its path are equal wherever they
 * are made; other calls only if they are made at the same line. */
static bool find_key(struct flow_folding *folding, uint32_t index)
{
    const struct flow_builder *builder = folding->builder;
    const struct flow_unit *unit = &builder->units[index];
    const struct reading_call *call = &builder->calls[unit->call];
    uint64_t key = flow_mix(call->thread, unit->loop);
    uint32_t wild = call->path;

    assert(index < builder->unit_count);
    assert(index < builder->unit_count);
    if (unit->loop == FLOW_NONE) {
        wild = find_wild(folding, call->path);
        if (wild == FLOW_NONE) {
            return false;
        }
        key = flow_mix(key, number_map_key(call->module, call->function));
        key = flow_mix(key, number_map_key(wild, call->class_name));
        if (wild == call->path && builder->options->fold == FLOW_FOLD_AUTO) {
            key = flow_mix(key, call->line);
        }
    }
    folding->shapes[index] = (struct flow_shape){key, 0};
    return true;
}

/* ---- bodies of units ---- */

/* The kind of a node in its unit. A closed call's kind includes the line and module of the call,
 * so that two layers of one class are not alike. */
static uint64_t flow_node_kind(const struct flow_folding *folding,
                               const struct flow_raw *node,
                               uint32_t unit,
                               uint32_t path)
{
    uint64_t kind =
        flow_mix(number_map_key(unit, node->site), number_map_key(node->name, path));

    if (node->closed_call != FLOW_NONE) {
        const struct reading_call *call = &folding->builder->calls[node->closed_call];

        kind = flow_mix(
            kind, number_map_key(call->line,
                                 number_map_get(&folding->wild_texts, call->path)));
    }
    return flow_mix(kind, (uint64_t)node->mark << 24 | (uint64_t)node->dtype << 16 |
                              (uint64_t)node->kind << 8 |
                              (node->is_read || node->is_promoted));
}

/* Adds the nth item of a kind. Only the first FLOW_ALIKE_MIN count, because more of them are
 * folded. */
static void add_to_body(struct flow_shape *shape, uint64_t kind, uint32_t nth)
{
    if (nth <= FLOW_ALIKE_MIN) {
        shape->body += flow_mix(kind, nth) | 1;
    }
}

/* Adds a node to the body of its unit. A source is left out: it is a node of the first turn that
 * reads it only, and would make that turn differ from the others. */
static bool add_node(struct flow_folding *folding, const struct flow_raw *node)
{
    struct flow_builder *builder = folding->builder;
    struct flow_shape *shape = &folding->shapes[node->unit];
    uint32_t wild = find_wild(folding, node->path);
    uint32_t nth;

    if (wild == FLOW_NONE) {
        return false;
    }
    if (!kinds_add(&folding->node_kinds,
                   flow_node_kind(folding, node, node->unit, node->path), &nth) ||
        (wild != node->path &&
         !kinds_add(&folding->leaf_kinds,
                    flow_node_kind(folding, node, node->unit, wild), &nth))) {
        return flow_out_of_memory(builder);
    }
    if (!node->is_read && !node->is_promoted) {
        add_to_body(shape, flow_node_kind(folding, node, 0, wild), nth);
    }
    return true;
}

/* Adds a unit to the body of its parent. Units are visited from last to first and children
 * follow their parents, so the unit's own body is complete here. */
static bool add_to_parent(struct flow_folding *folding, uint32_t index)
{
    struct flow_builder *builder = folding->builder;
    const struct flow_unit *unit = &builder->units[index];
    const struct flow_shape *shape = &folding->shapes[index];
    bool is_recursive = flow_recursion_of(folding, unit) != FLOW_NONE;
    uint64_t kind = is_recursive ? 1 : flow_mix(shape->key, shape->body);
    uint32_t nth;

    assert(index < builder->unit_count);
    assert(index < builder->unit_count);
    if (shape->body == 0) {
        return true;
    }
    if (!kinds_add(&folding->unit_kinds, flow_mix(unit->parent, kind), &nth)) {
        return flow_out_of_memory(builder);
    }
    if (unit->parent != FLOW_NONE) {
        add_to_body(&folding->shapes[unit->parent], kind, nth);
    }
    return true;
}

/* Finds the shapes of all units. */
static bool flow_shapes_find(struct flow_folding *folding)
{
    struct flow_builder *builder = folding->builder;

    for (uint32_t i = 0; i < builder->unit_count; i++) {
        if (!find_key(folding, i)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < builder->raw_count; i++) {
        if (!builder->raws[i].is_hidden && !add_node(folding, &builder->raws[i])) {
            return false;
        }
    }
    for (uint32_t i = builder->unit_count; i-- > 0;) {
        if (!add_to_parent(folding, i)) {
            return false;
        }
    }
    return true;
}

static void folding_release(struct flow_folding *folding)
{
    flow_kinds_release(&folding->unit_kinds);
    flow_kinds_release(&folding->node_kinds);
    flow_kinds_release(&folding->leaf_kinds);
    number_map_release(&folding->wild_texts);
    memory_free(folding->shapes);
}

/* ---- units ---- */

/* Levels of a recursion: for each call the outermost level that is like it, and the number of
 * levels. */
struct levels {
    uint32_t *outermost; /* owned; by unit */
    uint32_t *counts;    /* owned; by the outermost unit */
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

/* The place of a unit. Units with equal places are folded together. */
static uint64_t unit_place(struct flow_folding *folding, uint32_t index)
{
    const struct flow_builder *builder = folding->builder;
    const struct flow_shape *shape = &folding->shapes[index];
    uint32_t parent = builder->units[index].parent;
    uint32_t around = parent == FLOW_NONE ? FLOW_NONE : builder->units[parent].cluster;
    uint64_t kind = flow_mix(shape->key, shape->body);

    assert(index < builder->unit_count);
    assert(index < builder->unit_count);
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

/* The path that a node is folded by. Turns that each append one item to a list record it as
 * `[0]`, `[1]`, …; an item that is the only one of its kind in its turn is the same in every
 * turn. FLOW_NONE: out of memory. */
static uint32_t folded_path(struct flow_folding *folding, const struct flow_raw *node)
{
    uint32_t wild = find_wild(folding, node->path);
    uint32_t kind;

    if (wild == FLOW_NONE || wild == node->path) {
        return wild;
    }
    kind = number_map_get(&folding->leaf_kinds.index,
                          flow_node_kind(folding, node, node->unit, wild));
    return kind != NUMBER_MAP_NONE && folding->leaf_kinds.counts[kind] == 1
               ? wild
               : node->path;
}

static uint64_t
node_place(struct flow_folding *folding, const struct flow_raw *node, uint32_t path)
{
    const struct flow_builder *builder = folding->builder;
    uint32_t around = builder->units[node->unit].cluster;

    if (builder->options->fold == FLOW_FOLD_ALL) {
        return flow_mix(flow_mix(number_map_key(around, node->site),
                                 number_map_key(node->name, path)),
                        node->is_read || node->is_promoted);
    }
    return flow_mix(
        flow_node_kind(folding, node, around, path),
        flow_kinds_place(&folding->node_kinds,
                         flow_node_kind(folding, node, node->unit, node->path)));
}

static bool
fold_node(struct flow_folding *folding, struct number_map *places, uint32_t index)
{
    struct flow_builder *builder = folding->builder;
    struct flow_raw *node = &builder->raws[index];
    struct flow_cluster *cluster;
    uint64_t place = 0;

    assert(index < builder->raw_count);
    assert(index < builder->raw_count);
    node->cluster = NUMBER_MAP_NONE;
    if (builder->options->fold != FLOW_FOLD_NONE) {
        uint32_t path = folded_path(folding, node);

        if (path == FLOW_NONE) {
            return false;
        }
        place = node_place(folding, node, path);
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
