/* The x of each node, after Brandes and Köpf. Nodes are joined into vertical blocks in four ways
 * (to the neighbours above or below, preferring the left or the right). Each way is compacted,
 * and each node gets the mean of the middle two of its four places. Long edges are straight,
 * because their lanes are joined first. Chains of boxes are straight, because a box is joined
 * with another box rather than with a lane. */
#include "runtime/view/layout/sheet.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* ---- the segments that may join nodes: none that crosses a better one ---- */

static int segment_rank(const struct sheet *sheet, const struct sheet_segment *segment)
{
    const struct sheet_node *upper = &sheet->nodes[segment->upper];
    const struct sheet_node *lower = &sheet->nodes[segment->lower];

    if (upper->kind == SHEET_LANE || lower->kind == SHEET_LANE) {
        return upper->kind == lower->kind ? 3 : 0;
    }
    return upper->ahead == lower->ahead + 1 && upper->depth + 1 == lower->depth ? 2 : 1;
}

static int
best_rank(const struct sheet *sheet, const struct sheet_lists *lists, uint32_t node)
{
    int best = 0;

    for (uint32_t k = lists->starts[node]; k < lists->starts[node + 1]; k++) {
        int rank = segment_rank(sheet, &sheet->segments[lists->items[k]]);

        best = rank > best ? rank : best;
    }
    return best;
}

/* Chooses the segments that have the best rank at both of their ends. */
static bool sheet_choose_segments(struct sheet *sheet)
{
    int *below_ranks =
        arena_allocate(sheet->arena, sheet->node_count, sizeof *below_ranks);
    int *above_ranks =
        arena_allocate(sheet->arena, sheet->node_count, sizeof *above_ranks);

    if (below_ranks == NULL || above_ranks == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < sheet->node_count; i++) {
        below_ranks[i] = best_rank(sheet, &sheet->below, i);
        above_ranks[i] = best_rank(sheet, &sheet->above, i);
    }
    for (uint32_t i = 0; i < sheet->segment_count; i++) {
        struct sheet_segment *segment = &sheet->segments[i];
        int rank = segment_rank(sheet, segment);

        segment->may_align =
            rank == below_ranks[segment->upper] && rank == above_ranks[segment->lower];
    }
    return true;
}

/* The lane above a lane, or UINT32_MAX. */
static uint32_t lane_above(const struct sheet *sheet, uint32_t node)
{
    assert(node < sheet->node_count);
    if (sheet->nodes[node].kind != SHEET_LANE) {
        return UINT32_MAX;
    }
    for (uint32_t k = sheet->above.starts[node]; k < sheet->above.starts[node + 1];
         k++) {
        uint32_t upper = sheet->segments[sheet->above.items[k]].upper;

        if (sheet->nodes[upper].kind == SHEET_LANE) {
            return upper;
        }
    }
    return UINT32_MAX;
}

static void
node_drop_crossing(struct sheet *sheet, uint32_t node, uint32_t from, uint32_t to)
{
    for (uint32_t k = sheet->above.starts[node]; k < sheet->above.starts[node + 1];
         k++) {
        struct sheet_segment *segment = &sheet->segments[sheet->above.items[k]];
        uint32_t position = sheet->nodes[segment->upper].position;
        bool is_lane = sheet->nodes[node].kind == SHEET_LANE &&
                       sheet->nodes[segment->upper].kind == SHEET_LANE;

        if (!is_lane && (position < from || position > to)) {
            segment->may_align = false;
        }
    }
}

/* Drops segments that cross a segment between two lanes, because they would bend it. */
static void sheet_drop_crossings(struct sheet *sheet, uint32_t layer)
{
    assert(layer < sheet->layer_count);

    uint32_t first = sheet->layer_starts[layer];
    uint32_t end = sheet->layer_starts[layer + 1];
    uint32_t next = first;
    uint32_t from = 0;

    for (uint32_t i = first; i < end; i++) {
        uint32_t lane = lane_above(sheet, sheet->layer_nodes[i]);
        uint32_t to;

        if (lane == UINT32_MAX && i + 1 < end) {
            continue;
        }
        to = lane == UINT32_MAX ? UINT32_MAX : sheet->nodes[lane].position;
        for (; next <= i; next++) {
            node_drop_crossing(sheet, sheet->layer_nodes[next], from, to);
        }
        from = to;
    }
}

/* Joining nodes into blocks ---------------------------------------------------------- */

#define WAY_COUNT 4

struct placing {
    struct sheet *sheet;
    bool goes_up;    /* this way joins nodes with those below them */
    bool from_right; /* and prefers those at the right */
    /* Blocks: one node of each is its root; `next` is a ring through the block. */
    uint32_t *roots;
    uint32_t *next;
    double *shifts; /* of a node's centre, relative to its root's centre */
    double *places; /* of roots first, in the end of all nodes */
    uint32_t *waiting;
    uint32_t *order; /* roots, each after its neighbours at the near side */
    uint32_t order_count;
};

/* The least distance between the centres of two neighbours in a layer. */
static double sheet_separation(const struct sheet *sheet,
                               const struct sheet_node *left,
                               const struct sheet_node *right)
{
    bool is_wide = left->width > 0.0 && right->width > 0.0;
    double gap = is_wide ? sheet->options->box_gap : sheet->options->edge_gap;

    return (left->width + right->width) / 2.0 + gap;
}

/* Segments that may decide the places of their ends ---------------------------------- */

/* Lanes are joined with lanes. Boxes are joined with boxes, preferably along the longest ways
 * through the sheet, so that the main line stays straight where a branch leaves it. */

/* Finds the middle one or two of the segments along which a node may be joined. Returns their
 * number. */
static uint32_t
middle_segments(const struct placing *placing, uint32_t node, uint32_t middle[2])
{
    const struct sheet *sheet = placing->sheet;
    const struct sheet_lists *lists = placing->goes_up ? &sheet->below : &sheet->above;
    uint32_t count = 0;
    uint32_t seen = 0;
    uint32_t found = 0;

    for (uint32_t k = lists->starts[node]; k < lists->starts[node + 1]; k++) {
        count += sheet->segments[lists->items[k]].may_align;
    }
    for (uint32_t k = lists->starts[node]; k < lists->starts[node + 1] && count > 0;
         k++) {
        if (!sheet->segments[lists->items[k]].may_align) {
            continue;
        }
        if (seen == (count - 1) / 2 || seen == count / 2) {
            middle[found++] = lists->items[k];
        }
        seen++;
    }
    if (found == 2 && placing->from_right) {
        uint32_t left = middle[0];

        middle[0] = middle[1];
        middle[1] = left;
    }
    return found;
}

/* Joins the node with the other end of the segment, unless that crosses an earlier join of the
 * layer. `limit` is the place at which the last one ended. */
static void
node_string(struct placing *placing, uint32_t node, uint32_t segment_id, int64_t *limit)
{
    assert(segment_id < placing->sheet->segment_count);

    const struct sheet_segment *segment = &placing->sheet->segments[segment_id];
    uint32_t other = placing->goes_up ? segment->lower : segment->upper;
    double shift = segment->upper_offset - segment->lower_offset;
    int64_t position = placing->sheet->nodes[other].position;

    if (placing->next[node] != node ||
        (placing->from_right ? position >= *limit : position <= *limit)) {
        return;
    }
    placing->next[other] = node;
    placing->roots[node] = placing->roots[other];
    placing->next[node] = placing->roots[node];
    placing->shifts[node] =
        placing->shifts[other] + (placing->goes_up ? -shift : shift);
    *limit = position;
}

static void layer_string(struct placing *placing, uint32_t layer)
{
    const struct sheet *sheet = placing->sheet;
    uint32_t first = sheet->layer_starts[layer];
    uint32_t size = sheet_layer_size(sheet, layer);
    int64_t limit = placing->from_right ? INT64_MAX : -1;

    assert(layer < sheet->layer_count);
    for (uint32_t i = 0; i < size; i++) {
        uint32_t node =
            sheet->layer_nodes[first + (placing->from_right ? size - 1 - i : i)];
        uint32_t middle[2];
        uint32_t count = middle_segments(placing, node, middle);

        for (uint32_t k = 0; k < count; k++) {
            node_string(placing, node, middle[k], &limit);
        }
    }
}

static void placing_string(struct placing *placing)
{
    const struct sheet *sheet = placing->sheet;

    for (uint32_t i = 0; i < sheet->node_count; i++) {
        placing->roots[i] = i;
        placing->next[i] = i;
        placing->shifts[i] = 0.0;
    }
    for (uint32_t i = 1; i < sheet->layer_count; i++) {
        layer_string(placing, placing->goes_up ? sheet->layer_count - 1 - i : i);
    }
}

/* Compacting the blocks -------------------------------------------------------------- */

/* The neighbour of a node, or UINT32_MAX if it is the last. The blocks are pressed to the near
 * side; is_far selects the other side. */
static uint32_t node_beside(const struct placing *placing, uint32_t node, bool is_far)
{
    const struct sheet *sheet = placing->sheet;
    const struct sheet_node *me = &sheet->nodes[node];
    bool is_right = is_far != placing->from_right;

    assert(node < sheet->node_count);
    if (is_right ? me->position + 1 == sheet_layer_size(sheet, me->layer)
                 : me->position == 0) {
        return UINT32_MAX;
    }
    return sheet->layer_nodes[sheet->layer_starts[me->layer] + me->position +
                              (is_right ? 1 : UINT32_MAX)];
}

/* The least distance between the roots of two neighbours, towards the far side. */
static double roots_distance(const struct placing *placing, uint32_t near, uint32_t far)
{
    const struct sheet *sheet = placing->sheet;
    double distance = sheet_separation(sheet, &sheet->nodes[near], &sheet->nodes[far]);
    double shift = placing->shifts[near] - placing->shifts[far];

    assert(near < sheet->node_count);
    assert(far < sheet->node_count);
    return distance + (placing->from_right ? -shift : shift);
}

/* Orders the blocks topologically from the near side to the far side. */
static void placing_order_blocks(struct placing *placing)
{
    const struct sheet *sheet = placing->sheet;

    memset(placing->waiting, 0, sheet->node_count * sizeof *placing->waiting);
    placing->order_count = 0;
    for (uint32_t i = 0; i < sheet->node_count; i++) {
        placing->waiting[placing->roots[i]] +=
            node_beside(placing, i, false) != UINT32_MAX;
    }
    for (uint32_t i = 0; i < sheet->node_count; i++) {
        if (placing->roots[i] == i && placing->waiting[i] == 0) {
            placing->order[placing->order_count++] = i;
        }
    }
    for (uint32_t i = 0; i < placing->order_count; i++) {
        uint32_t node = placing->order[i];

        do {
            uint32_t far = node_beside(placing, node, true);

            if (far != UINT32_MAX && --placing->waiting[placing->roots[far]] == 0) {
                placing->order[placing->order_count++] = placing->roots[far];
            }
            node = placing->next[node];
        } while (node != placing->order[i]);
    }
}

/* Moves each block as near as possible. Distances grow towards the far side. */
static void placing_press(struct placing *placing)
{
    memset(placing->places, 0, placing->sheet->node_count * sizeof *placing->places);
    for (uint32_t i = 0; i < placing->order_count; i++) {
        uint32_t root = placing->order[i];
        uint32_t node = root;

        do {
            uint32_t far = node_beside(placing, node, true);

            if (far != UINT32_MAX) {
                double *place = &placing->places[placing->roots[far]];
                double least =
                    placing->places[root] + roots_distance(placing, node, far);

                *place = least > *place ? least : *place;
            }
            node = placing->next[node];
        } while (node != root);
    }
}

/* Moves each block back towards its neighbours at the far side, so that no gap remains in the
 * middle. */
static void placing_relax(struct placing *placing)
{
    for (uint32_t i = placing->order_count; i-- > 0;) {
        uint32_t root = placing->order[i];
        uint32_t node = root;
        double most = DBL_MAX;

        do {
            uint32_t far = node_beside(placing, node, true);

            if (far != UINT32_MAX) {
                double place = placing->places[placing->roots[far]] -
                               roots_distance(placing, node, far);

                most = place < most ? place : most;
            }
            node = placing->next[node];
        } while (node != root);
        if (most < DBL_MAX && most > placing->places[root]) {
            placing->places[root] = most;
        }
    }
}

/* Computes one of the four ways: x of all nodes, in `places`. */
static void placing_run(struct placing *placing)
{
    placing_string(placing);
    placing_order_blocks(placing);
    placing_press(placing);
    placing_relax(placing);
    /* Roots are converted last: the other nodes need their old places. */
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < placing->sheet->node_count; i++) {
            double place = placing->places[placing->roots[i]];

            if (pass == 0 && placing->roots[i] != i) {
                placing->places[i] =
                    (placing->from_right ? -place : place) + placing->shifts[i];
            } else if (pass == 1 && placing->roots[i] == i && placing->from_right) {
                placing->places[i] = -place;
            }
        }
    }
}

/* Combining the four ways ------------------------------------------------------------ */

struct extent {
    double left;
    double right;
};

static struct extent places_extent(const struct sheet *sheet, const double *places)
{
    struct extent extent = {DBL_MAX, -DBL_MAX};

    for (uint32_t i = 0; i < sheet->node_count; i++) {
        double half = sheet->nodes[i].width / 2.0;

        extent.left = places[i] - half < extent.left ? places[i] - half : extent.left;
        extent.right =
            places[i] + half > extent.right ? places[i] + half : extent.right;
    }
    return extent;
}

/* Aligns each way with the narrowest one: at the left border if it was pressed to the left, else
 * at the right one. */
static void ways_align(const struct sheet *sheet, double *ways[WAY_COUNT])
{
    struct extent extents[WAY_COUNT];
    int narrowest = 0;

    for (int way = 0; way < WAY_COUNT; way++) {
        extents[way] = places_extent(sheet, ways[way]);
        if (extents[way].right - extents[way].left <
            extents[narrowest].right - extents[narrowest].left) {
            narrowest = way;
        }
    }
    for (int way = 0; way < WAY_COUNT; way++) {
        double shift = way % 2 == 0 ? extents[narrowest].left - extents[way].left
                                    : extents[narrowest].right - extents[way].right;

        for (uint32_t i = 0; i < sheet->node_count; i++) {
            ways[way][i] += shift;
        }
    }
}

static double middle_mean(double a, double b, double c, double d)
{
    double low_ab = a < b ? a : b;
    double high_ab = a < b ? b : a;
    double low_cd = c < d ? c : d;
    double high_cd = c < d ? d : c;
    double low = low_ab > low_cd ? low_ab : low_cd;
    double high = high_ab < high_cd ? high_ab : high_cd;

    return (low + high) / 2.0;
}

/* Corrects rounding, so that no two nodes are too close, and moves the sheet's left border to 0. */
static void sheet_settle(struct sheet *sheet)
{
    double left = DBL_MAX;
    double right = 0.0;

    for (uint32_t layer = 0; layer < sheet->layer_count; layer++) {
        for (uint32_t i = sheet->layer_starts[layer];
             i < sheet->layer_starts[layer + 1]; i++) {
            struct sheet_node *node = &sheet->nodes[sheet->layer_nodes[i]];

            if (node->position > 0) {
                const struct sheet_node *before =
                    &sheet->nodes[sheet->layer_nodes[i - 1]];
                double least = before->x + sheet_separation(sheet, before, node);

                node->x = node->x < least ? least : node->x;
            }
            left =
                node->x - node->width / 2.0 < left ? node->x - node->width / 2.0 : left;
        }
    }
    for (uint32_t i = 0; i < sheet->node_count; i++) {
        struct sheet_node *node = &sheet->nodes[i];

        node->x -= left;
        right =
            node->x + node->width / 2.0 > right ? node->x + node->width / 2.0 : right;
    }
    sheet->width = right;
}

/* Whether the nodes of each layer have enough distance and are inside the sheet. For asserts. */
static __attribute__((unused)) bool places_are_sound(const struct sheet *sheet)
{
    const double rounding = 1e-6 * (1.0 + sheet->width);

    for (uint32_t layer = 0; layer < sheet->layer_count; layer++) {
        for (uint32_t i = 0; i < sheet_layer_size(sheet, layer); i++) {
            const uint32_t *place = &sheet->layer_nodes[sheet->layer_starts[layer] + i];
            const struct sheet_node *node = &sheet->nodes[*place];
            double half = node->width / 2.0;

            /* Written so that NaN fails too. */
            if (!(node->x - half >= -rounding &&
                  node->x + half <= sheet->width + rounding)) {
                return false;
            }
            if (i > 0 && node->x - sheet->nodes[place[-1]].x <
                             sheet_separation(sheet, &sheet->nodes[place[-1]], node) -
                                 rounding) {
                return false;
            }
        }
    }
    return true;
}

static bool placing_init(struct placing *placing, struct sheet *sheet)
{
    *placing = (struct placing){
        .sheet = sheet,
        .roots = arena_allocate(sheet->arena, sheet->node_count, sizeof(uint32_t)),
        .next = arena_allocate(sheet->arena, sheet->node_count, sizeof(uint32_t)),
        .shifts = arena_allocate(sheet->arena, sheet->node_count, sizeof(double)),
        .waiting = arena_allocate(sheet->arena, sheet->node_count, sizeof(uint32_t)),
        .order = arena_allocate(sheet->arena, sheet->node_count, sizeof(uint32_t)),
    };
    return placing->roots != NULL && placing->next != NULL && placing->shifts != NULL &&
           placing->waiting != NULL && placing->order != NULL;
}

bool sheet_place(struct sheet *sheet)
{
    struct placing placing;
    double *ways[WAY_COUNT];

    if (!placing_init(&placing, sheet) || !sheet_choose_segments(sheet)) {
        return false;
    }
    for (uint32_t layer = 1; layer < sheet->layer_count; layer++) {
        sheet_drop_crossings(sheet, layer);
    }
    for (int way = 0; way < WAY_COUNT; way++) {
        ways[way] = arena_allocate(sheet->arena, sheet->node_count, sizeof(double));
        if (ways[way] == NULL) {
            return false;
        }
        placing.goes_up = way >= 2;
        placing.from_right = way % 2 == 1;
        placing.places = ways[way];
        placing_run(&placing);
    }
    ways_align(sheet, ways);
    for (uint32_t i = 0; i < sheet->node_count; i++) {
        sheet->nodes[i].x = middle_mean(ways[0][i], ways[1][i], ways[2][i], ways[3][i]);
    }
    sheet_settle(sheet);
    assert(places_are_sound(sheet));
    return true;
}
