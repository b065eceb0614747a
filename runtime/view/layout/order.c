/* The order of the nodes in each layer, chosen for few crossings: sweeps over the layers put
 * each node at the mean place of its neighbours, then neighbours are swapped. The best order
 * found is kept, so more rounds never make it worse. A graph without crossings keeps its first
 * order. */
#include "runtime/view/layout/sheet.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Scratch memory for counting, in the sheet's arena. */
struct crossings {
    uint32_t *tree;     /* Fenwick tree: partial sums of the counts of keys */
    uint32_t *sequence; /* keys of one layer's segments */
    uint32_t *fill;
};

/* Key of a segment's end: its place among all places along the bottom of the layer above
 * (key_above) or along the top of the layer below (key_below). */
static inline uint32_t sheet_key_above(const struct sheet *sheet, uint32_t segment)
{
    assert(segment < sheet->segment_count);

    const struct sheet_segment *s = &sheet->segments[segment];

    return sheet->nodes[s->upper].bottom_key + s->upper_slot;
}

static inline uint32_t sheet_key_below(const struct sheet *sheet, uint32_t segment)
{
    assert(segment < sheet->segment_count);

    const struct sheet_segment *s = &sheet->segments[segment];

    return sheet->nodes[s->lower].top_key + s->lower_slot;
}

static inline bool sheet_is_bundled(const struct sheet *sheet, uint32_t node)
{
    return node >= sheet->bundle_first && node < sheet->bundle_end;
}

static void sheet_number_layer(struct sheet *sheet, uint32_t layer);

/* ---- The first order: the order in which a walk over the sheet visits the nodes ---- */

/* The next node of a walk: the other end of a segment. */
static uint32_t walk_next(const struct sheet *sheet, bool goes_up, uint32_t item)
{
    return goes_up ? sheet->segments[sheet->above.items[item]].upper
                   : sheet->segments[sheet->below.items[item]].lower;
}

static bool is_lane(const struct sheet *sheet, uint32_t node)
{
    assert(node < sheet->node_count);
    return sheet->nodes[node].kind == SHEET_LANE;
}

/* Pushes the next nodes of a walk on the stack, the first to be visited last. Lanes are put
 * between the other nodes, so that a long edge has branches on both sides. Returns the new
 * depth. */
static uint32_t walk_stack(const struct sheet *sheet,
                           bool goes_up,
                           uint32_t node,
                           uint32_t *stack,
                           uint32_t depth)
{
    const struct sheet_lists *lists = goes_up ? &sheet->above : &sheet->below;
    uint32_t begin = lists->starts[node];
    uint32_t end = lists->starts[node + 1];
    uint32_t box_count = 0;
    uint32_t seen = 0;

    for (uint32_t k = begin; k < end; k++) {
        box_count += !is_lane(sheet, walk_next(sheet, goes_up, k));
    }
    /* The right half of the boxes, then the lanes, then the left half. */
    for (int part = 0; part < 3; part++) {
        seen = 0;
        for (uint32_t k = end; k-- > begin;) {
            uint32_t next = walk_next(sheet, goes_up, k);
            int its_part = is_lane(sheet, next) ? 1 : seen++ < box_count / 2 ? 0 : 2;

            if (its_part == part) {
                stack[depth++] = next;
            }
        }
    }
    return depth;
}

/* Moves the bundle to the right, where no other node can bend it: its edges are drawn in as many
 * pieces as it has bends. */
static void layer_move_bundle(struct sheet *sheet, uint32_t layer)
{
    assert(layer < sheet->layer_count);

    uint32_t end = sheet->layer_starts[layer + 1];

    for (uint32_t i = sheet->layer_starts[layer]; i + 1 < end; i++) {
        uint32_t node = sheet->layer_nodes[i];

        if (sheet_is_bundled(sheet, node)) {
            sheet->layer_nodes[i] = sheet->layer_nodes[i + 1];
            sheet->layer_nodes[i + 1] = node;
        }
    }
}

/* Puts the nodes into their layers in the order of a walk down from the first layer (or up from
 * the last), so that connected nodes start close together. Allocates the layers at the first
 * call. Returns false if memory runs out. */
static bool sheet_begin_order(struct sheet *sheet, bool goes_up)
{
    struct sheet_lists by_layer;
    uint32_t *fill = arena_allocate(sheet->arena, sheet->layer_count, sizeof *fill);
    uint32_t *stack = arena_allocate(
        sheet->arena, (size_t)sheet->node_count + sheet->segment_count, sizeof *stack);
    bool *is_found = arena_allocate(sheet->arena, sheet->node_count, sizeof *is_found);

    if (sheet->layer_nodes == NULL) {
        sheet->layer_nodes =
            arena_allocate(sheet->arena, sheet->node_count, sizeof *sheet->layer_nodes);
    }
    if (sheet->layer_nodes == NULL || fill == NULL || stack == NULL ||
        is_found == NULL ||
        !sheet_lists_make(&by_layer, sheet->arena, &sheet->nodes->layer,
                          sizeof *sheet->nodes / sizeof(uint32_t), sheet->node_count,
                          sheet->layer_count)) {
        return false;
    }
    sheet->layer_starts = by_layer.starts;
    memcpy(fill, by_layer.starts, sheet->layer_count * sizeof *fill);
    memset(is_found, 0, sheet->node_count * sizeof *is_found);
    for (uint32_t i = 0; i < sheet->node_count; i++) {
        uint32_t depth = 0;

        stack[depth++] = by_layer.items[goes_up ? sheet->node_count - 1 - i : i];
        while (depth > 0) {
            uint32_t node = stack[--depth];

            if (is_found[node]) {
                continue;
            }
            is_found[node] = true;
            sheet->layer_nodes[fill[sheet->nodes[node].layer]++] = node;
            depth = walk_stack(sheet, goes_up, node, stack, depth);
        }
    }
    for (uint32_t layer = 0; layer < sheet->layer_count; layer++) {
        layer_move_bundle(sheet, layer);
        sheet_number_layer(sheet, layer);
    }
    return true;
}

/* ---- Counting crossings; numbering the places of nodes and segments ---- */

static bool crossings_init(struct crossings *crossings, const struct sheet *sheet)
{
    size_t key_count = (size_t)sheet->node_count + sheet->segment_count * 2 + 2;

    *crossings = (struct crossings){
        .tree = arena_allocate(sheet->arena, key_count, sizeof(uint32_t)),
        .sequence =
            arena_allocate(sheet->arena, sheet->segment_count, sizeof(uint32_t)),
        .fill = arena_allocate(sheet->arena, key_count, sizeof(uint32_t)),
    };
    return crossings->tree != NULL && crossings->sequence != NULL &&
           crossings->fill != NULL;
}

/* Updates positions and keys of a layer after its nodes were reordered. */
static void sheet_number_layer(struct sheet *sheet, uint32_t layer)
{
    assert(layer < sheet->layer_count);

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
        sheet_number_layer(sheet, layer);
    }
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

/* Lists key_below of the segments under `layer`, sorted by key_above with a counting sort;
 * segments of one key stay in order from the left. Returns their number. */
static uint32_t crossings_sequence(struct crossings *crossings,
                                   const struct sheet *sheet,
                                   uint32_t layer)
{
    uint32_t *fill = crossings->fill;
    uint32_t key_count = layer_bottom_keys(sheet, layer);
    uint32_t total = 0;

    assert(layer < sheet->layer_count);
    memset(fill, 0, key_count * sizeof *fill);
    for (uint32_t i = sheet->layer_starts[layer]; i < sheet->layer_starts[layer + 1];
         i++) {
        uint32_t node = sheet->layer_nodes[i];

        for (uint32_t k = sheet->below.starts[node]; k < sheet->below.starts[node + 1];
             k++) {
            fill[sheet_key_above(sheet, sheet->below.items[k])]++;
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

            crossings->sequence[fill[sheet_key_above(sheet, segment)]++] =
                sheet_key_below(sheet, segment);
        }
    }
    return total;
}

/* Counts the crossings between `layer` and the next one: pairs of the sequence in the wrong
 * order, counted with a tree of partial sums (Barth, Jünger and Mutzel). Costs n log n for n
 * segments. */
static uint64_t crossings_count_layer(struct crossings *crossings,
                                      const struct sheet *sheet,
                                      uint32_t layer)
{
    uint32_t count = crossings_sequence(crossings, sheet, layer);
    uint32_t key_count = layer_top_keys(sheet, layer + 1);
    uint32_t *tree = crossings->tree;
    uint64_t total = 0;

    memset(tree, 0, (key_count + 1) * sizeof *tree);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t not_right =
            0; /* earlier segments that end at or left of the same place */

        for (uint32_t k = crossings->sequence[i] + 1; k > 0; k -= k & -k) {
            not_right += tree[k];
        }
        total += i - not_right;
        for (uint32_t k = crossings->sequence[i] + 1; k <= key_count; k += k & -k) {
            tree[k]++;
        }
    }
    return total;
}

/* The number of crossings in the present order. */
static uint64_t crossings_count(struct crossings *crossings, const struct sheet *sheet)
{
    uint64_t total = 0;

    for (uint32_t layer = 0; layer + 1 < sheet->layer_count; layer++) {
        total += crossings_count_layer(crossings, sheet, layer);
    }
    return total;
}

/* Sorts with buckets: visits the nodes of all layers from the left, and appends each of their
 * segments to the list of its other end. Returns false if memory runs out. */
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

/* Sorts the segments of each node by the place of their other end, after nodes were reordered. */
static bool sheet_sort_segments(struct sheet *sheet)
{
    struct sheet_lists above = sheet->above;
    struct sheet_lists below = sheet->below;
    bool is_done;

    /* Each list is sorted by the old order of the other one: at a group's border that is the
     * order of the places. */
    is_done = lists_sort(sheet, &above, true) && lists_sort(sheet, &below, false);
    sheet->above = above;
    sheet->below = below;
    return is_done;
}

/* Swaps are tried if at most this many pairs of edges must be compared. */
#define SWAP_WORK_LIMIT 256
#define ROUND_LIMIT     48
/* Number of rounds without gain after which the search ends. */
#define PATIENCE 24
/* Limit of the segments visited in all rounds together. */
#define WORK_LIMIT 1500000
/* Limit of the passes of swaps. */
#define PASS_LIMIT 6

struct ordering {
    struct sheet *sheet;
    uint32_t *best; /* the best order found, a copy of layer_nodes */
    uint64_t best_crossings;
    double *means;     /* by node */
    uint32_t *moving;  /* nodes of one layer */
    uint32_t *scratch; /* of the same length */
    struct crossings crossings;
};

/* Sorts nodes by their means. Equal ones keep their order, or reverse it if `turns_ties` is set. */
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
                bool uses_left =
                    right >= end ||
                    (left < middle && means[from[left]] <= means[from[right]]);

                to[i] = uses_left ? from[left++] : from[right++];
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
 * neighbours keep their places. */
static void
layer_order(struct ordering *ordering, uint32_t layer, bool is_above, bool turns_ties)
{
    struct sheet *sheet = ordering->sheet;
    const struct sheet_lists *lists = is_above ? &sheet->above : &sheet->below;
    uint32_t first = sheet->layer_starts[layer];
    uint32_t end = sheet->layer_starts[layer + 1];
    uint32_t count = 0;

    assert(layer < sheet->layer_count);
    for (uint32_t i = first; i < end; i++) {
        uint32_t node = sheet->layer_nodes[i];
        uint32_t degree = lists->starts[node + 1] - lists->starts[node];
        double sum = 0.0;

        for (uint32_t k = lists->starts[node]; k < lists->starts[node + 1]; k++) {
            sum += is_above ? sheet_key_above(sheet, lists->items[k])
                            : sheet_key_below(sheet, lists->items[k]);
        }
        if (degree > 0) {
            ordering->means[node] =
                sheet_is_bundled(sheet, node) ? DBL_MAX : sum / degree;
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
    sheet_number_layer(sheet, layer);
}

/* The number of crossings removed by putting `right` before `left`, on one side of them. */
static int64_t pair_gain(const struct sheet *sheet,
                         const struct sheet_lists *lists,
                         bool is_above,
                         uint32_t left,
                         uint32_t right)
{
    int64_t gain = 0;

    for (uint32_t i = lists->starts[left]; i < lists->starts[left + 1]; i++) {
        uint32_t a = is_above ? sheet_key_above(sheet, lists->items[i])
                              : sheet_key_below(sheet, lists->items[i]);

        for (uint32_t k = lists->starts[right]; k < lists->starts[right + 1]; k++) {
            uint32_t b = is_above ? sheet_key_above(sheet, lists->items[k])
                                  : sheet_key_below(sheet, lists->items[k]);

            gain += (a > b) - (a < b);
        }
    }
    return gain;
}

static uint32_t degree_of(const struct sheet_lists *lists, uint32_t node)
{
    return lists->starts[node + 1] - lists->starts[node];
}

/* Finds the number of crossings removed by swapping two neighbours of a layer. Returns false if
 * that takes too long to compute, or if the bundle is one of them. */
static bool
swap_gain(const struct sheet *sheet, uint32_t left, uint32_t right, int64_t *gain)
{
    uint64_t work =
        (uint64_t)degree_of(&sheet->above, left) * degree_of(&sheet->above, right) +
        (uint64_t)degree_of(&sheet->below, left) * degree_of(&sheet->below, right);

    if (work > SWAP_WORK_LIMIT || sheet_is_bundled(sheet, right)) {
        return false;
    }
    *gain = pair_gain(sheet, &sheet->above, true, left, right) +
            pair_gain(sheet, &sheet->below, false, left, right);
    return true;
}

enum swap_rule {
    SWAP_BETTER, /* if it removes crossings */
    SWAP_EQUAL,  /* if it adds none: a better order may be next to an equal one */
    SWAP_INPUT,  /* if it adds none and restores the input's order of boxes */
};

/* Swaps neighbours in a layer. Returns whether any were swapped. */
static bool layer_swap(struct sheet *sheet, uint32_t layer, enum swap_rule rule)
{
    assert(layer < sheet->layer_count);

    uint32_t first = sheet->layer_starts[layer];
    bool has_changed = false;

    for (uint32_t i = first; i + 1 < sheet->layer_starts[layer + 1]; i++) {
        uint32_t left = sheet->layer_nodes[i];
        uint32_t right = sheet->layer_nodes[i + 1];
        int64_t gain;

        if (rule == SWAP_INPUT && (left >= sheet->item_count || right > left)) {
            continue;
        }
        if (!swap_gain(sheet, left, right, &gain) ||
            gain < (rule == SWAP_BETTER ? 1 : 0)) {
            continue;
        }
        sheet->layer_nodes[i] = right;
        sheet->layer_nodes[i + 1] = left;
        has_changed = true;
    }
    if (has_changed) {
        sheet_number_layer(sheet, layer);
    }
    return has_changed;
}

static void ordering_swap(struct ordering *ordering, enum swap_rule first_rule)
{
    uint32_t pass_limit = 1 + WORK_LIMIT / 10 / (ordering->sheet->segment_count + 1);
    bool has_changed = true;

    for (uint32_t pass = 0; has_changed && pass < PASS_LIMIT && pass < pass_limit;
         pass++) {
        has_changed = false;
        for (uint32_t layer = 0; layer < ordering->sheet->layer_count; layer++) {
            has_changed |= layer_swap(ordering->sheet, layer,
                                      pass == 0 ? first_rule : SWAP_BETTER);
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

/* Keeps the present order if it is the best so far. Returns whether it is. */
static bool ordering_keep(struct ordering *ordering)
{
    const struct sheet *sheet = ordering->sheet;
    uint64_t crossings = crossings_count(&ordering->crossings, ordering->sheet);

    if (crossings >= ordering->best_crossings) {
        return false;
    }
    ordering->best_crossings = crossings;
    memcpy(ordering->best, sheet->layer_nodes, sheet->node_count * sizeof(uint32_t));
    return true;
}

/* Searches for a better order than the present one, and keeps the best. */
static void ordering_improve(struct ordering *ordering)
{
    uint32_t round_limit = WORK_LIMIT / (ordering->sheet->segment_count + 1) + 2;
    uint32_t waited = 0;

    ordering_keep(ordering);
    for (uint32_t round = 0; round < round_limit && round < ROUND_LIMIT &&
                             waited < PATIENCE && ordering->best_crossings > 0;
         round++) {
        ordering_sweep(ordering, round);
        ordering_swap(ordering, round % 2 == 1 ? SWAP_EQUAL : SWAP_BETTER);
        waited = ordering_keep(ordering) ? 0 : waited + 1;
    }
}

/* Whether most neighbouring boxes are in the opposite order to the input. */
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

/* Mirrors the sheet if most boxes are against the order of the input, then swaps equal
 * neighbours into that order. The steps before do not distinguish left and right. */
static void ordering_face_reader(struct ordering *ordering)
{
    struct sheet *sheet = ordering->sheet;

    if (sheet_is_turned(sheet)) {
        sheet_turn(sheet);
        sheet_number(sheet);
        /* Because ports have fixed places on groups, the mirrored sheet may have more crossings. */
        if (crossings_count(&ordering->crossings, sheet) > ordering->best_crossings) {
            sheet_turn(sheet);
            sheet_number(sheet);
        }
    }
    for (uint32_t layer = 0; layer < sheet->layer_count; layer++) {
        for (int pass = 0; pass < PASS_LIMIT && layer_swap(sheet, layer, SWAP_INPUT);
             pass++) {}
    }
}

static bool ordering_init(struct ordering *ordering, struct sheet *sheet)
{
    *ordering = (struct ordering){
        .sheet = sheet,
        .best_crossings = UINT64_MAX,
        .best = arena_allocate(sheet->arena, sheet->node_count, sizeof(uint32_t)),
        .means = arena_allocate(sheet->arena, sheet->node_count, sizeof(double)),
        .moving = arena_allocate(sheet->arena, sheet->node_count, sizeof(uint32_t)),
        .scratch = arena_allocate(sheet->arena, sheet->node_count, sizeof(uint32_t)),
    };
    return ordering->best != NULL && ordering->means != NULL &&
           ordering->moving != NULL && ordering->scratch != NULL &&
           crossings_init(&ordering->crossings, sheet);
}

/* Whether each node has its own place in its layer. For asserts. */
static __attribute__((unused)) bool order_is_sound(const struct sheet *sheet)
{
    if (sheet->layer_starts[sheet->layer_count] != sheet->node_count) {
        return false;
    }
    for (uint32_t layer = 0; layer < sheet->layer_count; layer++) {
        for (uint32_t i = 0; i < sheet_layer_size(sheet, layer); i++) {
            uint32_t node = sheet->layer_nodes[sheet->layer_starts[layer] + i];

            if (node >= sheet->node_count || sheet->nodes[node].layer != layer ||
                sheet->nodes[node].position != i) {
                return false;
            }
        }
    }
    return true;
}

bool sheet_order(struct sheet *sheet)
{
    struct ordering ordering;

    if (!ordering_init(&ordering, sheet)) {
        return false;
    }
    /* A second first order often ends better. It is skipped if the first one left no crossings. */
    for (int start = 0; start < 2 && ordering.best_crossings > 0; start++) {
        if (!sheet_begin_order(sheet, start == 1)) {
            return false;
        }
        ordering_improve(&ordering);
    }
    memcpy(sheet->layer_nodes, ordering.best, sheet->node_count * sizeof(uint32_t));
    sheet_number(sheet);
    ordering_face_reader(&ordering);
    assert(order_is_sound(sheet));
    return sheet_sort_segments(sheet);
}
