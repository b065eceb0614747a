/* Orders the nodes of each layer so that few edges cross: sweeps over the layers that put each node
 * at the mean place of its neighbours, then swaps of neighbours. The best order seen is kept, so
 * that more rounds never make it worse; a graph without crossings is left as it was found. */
#include "runtime/view/layout_sheet.h"

#include <float.h>
#include <string.h>

/* Swaps are tried where at most this many pairs of edges have to be looked at. */
#define SWAP_WORK_LIMIT 256
#define ROUND_LIMIT     24
/* Rounds without gain after which no more is hoped for. */
#define PATIENCE 4
/* Segments looked at in all rounds together. */
#define WORK_LIMIT 6000000

struct ordering {
    struct sheet *sheet;
    uint32_t *best; /* of layer_nodes */
    uint64_t best_crossings;
    double *means;      /* by node */
    uint32_t *moving;   /* nodes of one layer */
    uint32_t *scratch;  /* as long */
    uint32_t *tree;     /* counts of keys, as sums over ranges */
    uint32_t *sequence; /* keys of one layer's segments */
    uint32_t *fill;
};

/* Writes positions and keys of a layer after its nodes changed places. */
static void layer_number(struct sheet *sheet, uint32_t layer)
{
    uint32_t first = sheet->layer_starts[layer];
    uint32_t top_key = 0;
    uint32_t bottom_key = 0;

    for (uint32_t i = first; i < sheet->layer_starts[layer + 1]; i++) {
        struct sheet_node *node = &sheet->nodes[sheet->layer_nodes[i]];

        node->position = i - first;
        node->top_key = top_key;
        node->bottom_key = bottom_key;
        top_key += node->top_slot_count;
        bottom_key += node->bottom_slot_count;
    }
}

static void sheet_number(struct sheet *sheet)
{
    for (uint32_t layer = 0; layer < sheet->layer_count; layer++) {
        layer_number(sheet, layer);
    }
}

static inline uint32_t key_above(const struct sheet *sheet, uint32_t segment)
{
    const struct sheet_segment *s = &sheet->segments[segment];

    return sheet->nodes[s->upper].bottom_key + s->upper_slot;
}

static inline uint32_t key_below(const struct sheet *sheet, uint32_t segment)
{
    const struct sheet_segment *s = &sheet->segments[segment];

    return sheet->nodes[s->lower].top_key + s->lower_slot;
}

static uint32_t layer_bottom_keys(const struct sheet *sheet, uint32_t layer)
{
    const struct sheet_node *last =
        &sheet->nodes[sheet->layer_nodes[sheet->layer_starts[layer + 1] - 1]];

    return last->bottom_key + last->bottom_slot_count;
}

static uint32_t layer_top_keys(const struct sheet *sheet, uint32_t layer)
{
    const struct sheet_node *last =
        &sheet->nodes[sheet->layer_nodes[sheet->layer_starts[layer + 1] - 1]];

    return last->top_key + last->top_slot_count;
}

/* The keys below of the segments under `layer`, sorted by their keys above: bucket by bucket,
 * those of a bucket from the left. Gives their number. */
static uint32_t ordering_sequence(struct ordering *ordering, uint32_t layer)
{
    const struct sheet *sheet = ordering->sheet;
    uint32_t *fill = ordering->fill;
    uint32_t key_count = layer_bottom_keys(sheet, layer);
    uint32_t total = 0;

    memset(fill, 0, key_count * sizeof *fill);
    for (uint32_t i = sheet->layer_starts[layer]; i < sheet->layer_starts[layer + 1];
         i++) {
        uint32_t node = sheet->layer_nodes[i];

        for (uint32_t k = sheet->below.starts[node]; k < sheet->below.starts[node + 1];
             k++) {
            fill[key_above(sheet, sheet->below.items[k])]++;
        }
    }
    for (uint32_t key = 0; key < key_count; key++) {
        uint32_t count = fill[key];

        fill[key] = total;
        total += count;
    }
    for (uint32_t i = sheet->layer_starts[layer + 1];
         i < sheet->layer_starts[layer + 2]; i++) {
        uint32_t node = sheet->layer_nodes[i];

        for (uint32_t k = sheet->above.starts[node]; k < sheet->above.starts[node + 1];
             k++) {
            uint32_t segment = sheet->above.items[k];

            ordering->sequence[fill[key_above(sheet, segment)]++] =
                key_below(sheet, segment);
        }
    }
    return total;
}

/* Crossings between `layer` and the next: pairs of the sequence in the wrong order, counted with
 * a tree of partial sums (Barth, Jünger and Mutzel). */
static uint64_t ordering_count_layer(struct ordering *ordering, uint32_t layer)
{
    uint32_t count = ordering_sequence(ordering, layer);
    uint32_t key_count = layer_top_keys(ordering->sheet, layer + 1);
    uint32_t *tree = ordering->tree;
    uint64_t crossings = 0;

    memset(tree, 0, (key_count + 1) * sizeof *tree);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t not_right =
            0; /* earlier ones that end at the same place or left of it */

        for (uint32_t k = ordering->sequence[i] + 1; k > 0; k -= k & -k) {
            not_right += tree[k];
        }
        crossings += i - not_right;
        for (uint32_t k = ordering->sequence[i] + 1; k <= key_count; k += k & -k) {
            tree[k]++;
        }
    }
    return crossings;
}

static uint64_t ordering_count(struct ordering *ordering)
{
    uint64_t crossings = 0;

    for (uint32_t layer = 0; layer + 1 < ordering->sheet->layer_count; layer++) {
        crossings += ordering_count_layer(ordering, layer);
    }
    return crossings;
}

static uint32_t child_of(const struct sheet *sheet, uint32_t item)
{
    return sheet->segments[sheet->below.items[item]].lower;
}

/* Puts the lower ends of a node's segments on the stack, those to be visited first last: lanes
 * between the others, so that what branches off a long edge stands on both sides of it. Gives
 * the new depth. */
static uint32_t stack_children(const struct sheet *sheet,
                               uint32_t node,
                               uint32_t *stack,
                               uint32_t depth)
{
    uint32_t begin = sheet->below.starts[node];
    uint32_t end = sheet->below.starts[node + 1];
    uint32_t box_count = 0;
    uint32_t right_count;
    uint32_t skipped_count;

    for (uint32_t k = begin; k < end; k++) {
        box_count += sheet->nodes[child_of(sheet, k)].kind != SHEET_LANE;
    }
    right_count = box_count / 2;
    skipped_count = right_count;
    for (uint32_t k = end; k-- > begin && right_count > 0;) {
        if (sheet->nodes[child_of(sheet, k)].kind != SHEET_LANE) {
            stack[depth++] = child_of(sheet, k);
            right_count--;
        }
    }
    for (uint32_t k = end; k-- > begin;) {
        if (sheet->nodes[child_of(sheet, k)].kind == SHEET_LANE) {
            stack[depth++] = child_of(sheet, k);
        }
    }
    for (uint32_t k = end; k-- > begin;) {
        if (sheet->nodes[child_of(sheet, k)].kind == SHEET_LANE) {
            continue;
        }
        if (skipped_count > 0) {
            skipped_count--;
            continue;
        }
        stack[depth++] = child_of(sheet, k);
    }
    return depth;
}

static bool is_bundled(const struct sheet *sheet, uint32_t node)
{
    return node >= sheet->bundle_first && node < sheet->bundle_end;
}

/* The bundle stands at the right, where nothing else can bend it: what runs in it is drawn in as
 * many pieces as it has bends. */
static void layer_move_bundle(struct sheet *sheet, uint32_t layer)
{
    uint32_t end = sheet->layer_starts[layer + 1];

    for (uint32_t i = sheet->layer_starts[layer]; i + 1 < end; i++) {
        uint32_t node = sheet->layer_nodes[i];

        if (is_bundled(sheet, node)) {
            sheet->layer_nodes[i] = sheet->layer_nodes[i + 1];
            sheet->layer_nodes[i + 1] = node;
        }
    }
}

/* Puts nodes into their layers as a walk down from the first ones meets them, so that what
 * belongs together begins together. */
static bool ordering_start(struct ordering *ordering)
{
    struct sheet *sheet = ordering->sheet;
    struct sheet_lists by_layer;
    uint32_t *fill = arena_allocate(sheet->arena, sheet->layer_count, sizeof *fill);
    uint32_t *stack = arena_allocate(
        sheet->arena, (size_t)sheet->node_count + sheet->segment_count, sizeof *stack);
    bool *is_met = arena_allocate(sheet->arena, sheet->node_count, sizeof *is_met);

    if (fill == NULL || stack == NULL || is_met == NULL ||
        !sheet_lists_make(&by_layer, sheet->arena, &sheet->nodes->layer,
                          sizeof *sheet->nodes / sizeof(uint32_t), sheet->node_count,
                          sheet->layer_count)) {
        return false;
    }
    sheet->layer_starts = by_layer.starts;
    memcpy(fill, by_layer.starts, sheet->layer_count * sizeof *fill);
    memset(is_met, 0, sheet->node_count * sizeof *is_met);
    for (uint32_t i = 0; i < sheet->node_count; i++) {
        uint32_t depth = 0;

        stack[depth++] = by_layer.items[i];
        while (depth > 0) {
            uint32_t node = stack[--depth];

            if (is_met[node]) {
                continue;
            }
            is_met[node] = true;
            sheet->layer_nodes[fill[sheet->nodes[node].layer]++] = node;
            depth = stack_children(sheet, node, stack, depth);
        }
    }
    return true;
}

/* Sorts nodes by their means; equal ones keep their order, or reverse it where `turns_ties`. */
static void nodes_sort(struct ordering *ordering, uint32_t count, bool turns_ties)
{
    uint32_t *from = ordering->moving;
    uint32_t *to = ordering->scratch;
    const double *means = ordering->means;

    for (uint32_t i = 0; turns_ties && i < count / 2; i++) {
        uint32_t node = from[i];

        from[i] = from[count - 1 - i];
        from[count - 1 - i] = node;
    }
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t begin = 0; begin < count; begin += 2 * width) {
            uint32_t middle = begin + width < count ? begin + width : count;
            uint32_t end = middle + width < count ? middle + width : count;
            uint32_t left = begin;
            uint32_t right = middle;

            for (uint32_t i = begin; i < end; i++) {
                bool takes_left =
                    right >= end ||
                    (left < middle && means[from[left]] <= means[from[right]]);

                to[i] = takes_left ? from[left++] : from[right++];
            }
        }
        uint32_t *swap = from;

        from = to;
        to = swap;
    }
    if (from != ordering->moving) {
        memcpy(ordering->moving, from, count * sizeof *from);
    }
}

/* Orders one layer by the mean place of the neighbours above (or below) it. Nodes without such
 * neighbours stay where they are. */
static void
layer_order(struct ordering *ordering, uint32_t layer, bool is_above, bool turns_ties)
{
    struct sheet *sheet = ordering->sheet;
    const struct sheet_lists *lists = is_above ? &sheet->above : &sheet->below;
    uint32_t first = sheet->layer_starts[layer];
    uint32_t end = sheet->layer_starts[layer + 1];
    uint32_t count = 0;

    for (uint32_t i = first; i < end; i++) {
        uint32_t node = sheet->layer_nodes[i];
        uint32_t degree = lists->starts[node + 1] - lists->starts[node];
        double sum = 0.0;

        for (uint32_t k = lists->starts[node]; k < lists->starts[node + 1]; k++) {
            sum += is_above ? key_above(sheet, lists->items[k])
                            : key_below(sheet, lists->items[k]);
        }
        if (degree > 0) {
            ordering->means[node] = is_bundled(sheet, node) ? DBL_MAX : sum / degree;
            ordering->moving[count++] = node;
        }
    }
    nodes_sort(ordering, count, turns_ties);
    count = 0;
    for (uint32_t i = first; i < end; i++) {
        uint32_t node = sheet->layer_nodes[i];

        if (lists->starts[node + 1] > lists->starts[node]) {
            sheet->layer_nodes[i] = ordering->moving[count++];
        }
    }
    layer_number(sheet, layer);
}

/* Crossings gained by putting `right` before `left`, on one side of them. */
static int64_t pair_gain(const struct sheet *sheet,
                         const struct sheet_lists *lists,
                         bool is_above,
                         uint32_t left,
                         uint32_t right)
{
    int64_t gain = 0;

    for (uint32_t i = lists->starts[left]; i < lists->starts[left + 1]; i++) {
        uint32_t a = is_above ? key_above(sheet, lists->items[i])
                              : key_below(sheet, lists->items[i]);

        for (uint32_t k = lists->starts[right]; k < lists->starts[right + 1]; k++) {
            uint32_t b = is_above ? key_above(sheet, lists->items[k])
                                  : key_below(sheet, lists->items[k]);

            gain += (a > b) - (a < b);
        }
    }
    return gain;
}

static uint32_t degree_of(const struct sheet_lists *lists, uint32_t node)
{
    return lists->starts[node + 1] - lists->starts[node];
}

/* Swaps neighbours in a layer where that takes crossings away; true where it did. */
static bool layer_swap(struct sheet *sheet, uint32_t layer)
{
    uint32_t first = sheet->layer_starts[layer];
    bool has_changed = false;

    for (uint32_t i = first; i + 1 < sheet->layer_starts[layer + 1]; i++) {
        uint32_t left = sheet->layer_nodes[i];
        uint32_t right = sheet->layer_nodes[i + 1];
        uint64_t work =
            (uint64_t)degree_of(&sheet->above, left) * degree_of(&sheet->above, right) +
            (uint64_t)degree_of(&sheet->below, left) * degree_of(&sheet->below, right);

        if (work == 0 || work > SWAP_WORK_LIMIT || is_bundled(sheet, right) ||
            pair_gain(sheet, &sheet->above, true, left, right) +
                    pair_gain(sheet, &sheet->below, false, left, right) <=
                0) {
            continue;
        }
        sheet->layer_nodes[i] = right;
        sheet->layer_nodes[i + 1] = left;
        has_changed = true;
    }
    if (has_changed) {
        layer_number(sheet, layer);
    }
    return has_changed;
}

static void ordering_swap(struct ordering *ordering)
{
    bool has_changed = true;

    for (int pass = 0; has_changed && pass < 6; pass++) {
        has_changed = false;
        for (uint32_t layer = 0; layer < ordering->sheet->layer_count; layer++) {
            has_changed |= layer_swap(ordering->sheet, layer);
        }
    }
}

static void ordering_sweep(struct ordering *ordering, uint32_t round)
{
    uint32_t layer_count = ordering->sheet->layer_count;
    bool turns_ties = round % 4 >= 2;

    for (uint32_t i = 1; i < layer_count; i++) {
        if (round % 2 == 0) {
            layer_order(ordering, i, true, turns_ties);
        } else {
            layer_order(ordering, layer_count - 1 - i, false, turns_ties);
        }
    }
}

/* Looks for a better order; leaves the best one in `best`. */
static void ordering_improve(struct ordering *ordering)
{
    struct sheet *sheet = ordering->sheet;
    size_t size = sheet->node_count * sizeof(uint32_t);
    uint32_t round_limit = WORK_LIMIT / (sheet->segment_count + 1) + 2;
    uint32_t waited = 0;

    memcpy(ordering->best, sheet->layer_nodes, size);
    ordering->best_crossings = ordering_count(ordering);
    for (uint32_t round = 0; round < round_limit && round < ROUND_LIMIT &&
                             waited < PATIENCE && ordering->best_crossings > 0;
         round++) {
        uint64_t crossings;

        ordering_sweep(ordering, round);
        ordering_swap(ordering);
        crossings = ordering_count(ordering);
        waited++;
        if (crossings < ordering->best_crossings) {
            ordering->best_crossings = crossings;
            memcpy(ordering->best, sheet->layer_nodes, size);
            waited = 0;
        }
    }
    memcpy(sheet->layer_nodes, ordering->best, size);
}

/* Whether boxes beside each other stand mostly against their order in the input. */
static bool sheet_is_turned(const struct sheet *sheet)
{
    int64_t turned = 0;

    for (uint32_t layer = 0; layer < sheet->layer_count; layer++) {
        uint32_t before = UINT32_MAX;

        for (uint32_t i = sheet->layer_starts[layer];
             i < sheet->layer_starts[layer + 1]; i++) {
            uint32_t node = sheet->layer_nodes[i];

            if (node >= sheet->item_count) {
                continue;
            }
            if (before != UINT32_MAX) {
                turned += node < before ? 1 : -1;
            }
            before = node;
        }
    }
    return turned > 0;
}

static void sheet_turn(struct sheet *sheet)
{
    for (uint32_t layer = 0; layer < sheet->layer_count; layer++) {
        uint32_t first = sheet->layer_starts[layer];
        uint32_t last = sheet->layer_starts[layer + 1];

        for (; first + 1 < last; first++) {
            uint32_t node = sheet->layer_nodes[first];

            sheet->layer_nodes[first] = sheet->layer_nodes[--last];
            sheet->layer_nodes[last] = node;
        }
    }
}

/* Left and right are alike to all before, but not to a reader. */
static void ordering_face_reader(struct ordering *ordering)
{
    struct sheet *sheet = ordering->sheet;

    if (!sheet_is_turned(sheet)) {
        return;
    }
    sheet_turn(sheet);
    sheet_number(sheet);
    /* Where ports have their places on groups, the mirror's image may have more crossings. */
    if (ordering_count(ordering) > ordering->best_crossings) {
        sheet_turn(sheet);
        sheet_number(sheet);
    }
}

static bool ordering_init(struct ordering *ordering, struct sheet *sheet)
{
    size_t key_count = (size_t)sheet->node_count + sheet->segment_count * 2 + 2;

    *ordering = (struct ordering){
        .sheet = sheet,
        .best = arena_allocate(sheet->arena, sheet->node_count, sizeof(uint32_t)),
        .means = arena_allocate(sheet->arena, sheet->node_count, sizeof(double)),
        .moving = arena_allocate(sheet->arena, sheet->node_count, sizeof(uint32_t)),
        .scratch = arena_allocate(sheet->arena, sheet->node_count, sizeof(uint32_t)),
        .tree = arena_allocate(sheet->arena, key_count, sizeof(uint32_t)),
        .sequence =
            arena_allocate(sheet->arena, sheet->segment_count, sizeof(uint32_t)),
        .fill = arena_allocate(sheet->arena, key_count, sizeof(uint32_t)),
    };
    sheet->layer_nodes =
        arena_allocate(sheet->arena, sheet->node_count, sizeof *sheet->layer_nodes);
    return ordering->best != NULL && ordering->means != NULL &&
           ordering->moving != NULL && ordering->scratch != NULL &&
           ordering->tree != NULL && ordering->sequence != NULL &&
           ordering->fill != NULL && sheet->layer_nodes != NULL;
}

/* Bucket by bucket: walking the nodes of all layers from the left hands out the other ends of
 * their segments from the left. */
static bool lists_sort(struct sheet *sheet, struct sheet_lists *lists, bool is_above)
{
    const struct sheet_lists *others = is_above ? &sheet->below : &sheet->above;
    uint32_t *items = arena_allocate(sheet->arena, sheet->segment_count, sizeof *items);
    uint32_t *fill = arena_allocate(sheet->arena, sheet->node_count, sizeof *fill);

    if (items == NULL || fill == NULL) {
        return false;
    }
    memcpy(fill, lists->starts, sheet->node_count * sizeof *fill);
    for (uint32_t i = 0; i < sheet->node_count; i++) {
        uint32_t node = sheet->layer_nodes[i];

        for (uint32_t k = others->starts[node]; k < others->starts[node + 1]; k++) {
            const struct sheet_segment *segment = &sheet->segments[others->items[k]];

            items[fill[is_above ? segment->lower : segment->upper]++] =
                others->items[k];
        }
    }
    lists->items = items;
    return true;
}

bool sheet_sort_segments(struct sheet *sheet)
{
    struct sheet_lists above = sheet->above;
    struct sheet_lists below = sheet->below;
    bool is_done;

    /* Both are sorted by the other as it was: within a group's border that is by place. */
    is_done = lists_sort(sheet, &above, true) && lists_sort(sheet, &below, false);
    sheet->above = above;
    sheet->below = below;
    return is_done;
}

bool sheet_order(struct sheet *sheet)
{
    struct ordering ordering;

    if (!ordering_init(&ordering, sheet) || !ordering_start(&ordering)) {
        return false;
    }
    for (uint32_t layer = 0; layer < sheet->layer_count; layer++) {
        layer_move_bundle(sheet, layer);
    }
    sheet_number(sheet);
    ordering_improve(&ordering);
    sheet_number(sheet);
    ordering_face_reader(&ordering);
    return sheet_sort_segments(sheet);
}
