/* Orders to begin with: the layers as a walk over the sheet fills them. */
#include "runtime/view/layout/order.h"

#include <string.h>

/* Where a walk goes on to from a node: the other end of one of its segments. */
static uint32_t walk_next(const struct sheet *sheet, bool goes_up, uint32_t item)
{
    return goes_up ? sheet->segments[sheet->above.items[item]].upper
                   : sheet->segments[sheet->below.items[item]].lower;
}

static bool is_lane(const struct sheet *sheet, uint32_t node)
{
    return sheet->nodes[node].kind == SHEET_LANE;
}

/* Puts what a walk goes on to from a node on the stack, those to be visited first last:
 * lanes between the others, so that what branches off a long edge stands on both sides of
 * it. Gives the new depth. */
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
    /* First the right half of the boxes, then the lanes, then the left half. */
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

/* The bundle stands at the right, where nothing else can bend it: what runs in it is drawn
 * in as many pieces as it has bends. */
static void layer_move_bundle(struct sheet *sheet, uint32_t layer)
{
    uint32_t end = sheet->layer_starts[layer + 1];

    for (uint32_t i = sheet->layer_starts[layer]; i + 1 < end; i++) {
        uint32_t node = sheet->layer_nodes[i];

        if (sheet_is_bundled(sheet, node)) {
            sheet->layer_nodes[i] = sheet->layer_nodes[i + 1];
            sheet->layer_nodes[i + 1] = node;
        }
    }
}

bool sheet_begin_order(struct sheet *sheet, bool goes_up)
{
    struct sheet_lists by_layer;
    uint32_t *fill = arena_allocate(sheet->arena, sheet->layer_count, sizeof *fill);
    uint32_t *stack = arena_allocate(
        sheet->arena, (size_t)sheet->node_count + sheet->segment_count, sizeof *stack);
    bool *is_met = arena_allocate(sheet->arena, sheet->node_count, sizeof *is_met);

    if (sheet->layer_nodes == NULL) {
        sheet->layer_nodes =
            arena_allocate(sheet->arena, sheet->node_count, sizeof *sheet->layer_nodes);
    }
    if (sheet->layer_nodes == NULL || fill == NULL || stack == NULL || is_met == NULL ||
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

        stack[depth++] = by_layer.items[goes_up ? sheet->node_count - 1 - i : i];
        while (depth > 0) {
            uint32_t node = stack[--depth];

            if (is_met[node]) {
                continue;
            }
            is_met[node] = true;
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
