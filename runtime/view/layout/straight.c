/* Which of the edges between two layers nodes may be strung along: none that cross a better one. */
#include "runtime/view/layout/sheet.h"

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

bool sheet_choose_segments(struct sheet *sheet)
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

void sheet_drop_crossings(struct sheet *sheet, uint32_t layer)
{
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

/* Stringing nodes into blocks -------------------------------------------------------- */
