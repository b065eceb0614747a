/* Counts crossings; numbers the places of nodes and segments. */
#include "runtime/view/layout/order.h"

#include <string.h>

bool crossings_init(struct crossings *crossings, const struct sheet *sheet)
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

void sheet_number_layer(struct sheet *sheet, uint32_t layer)
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

void sheet_number(struct sheet *sheet)
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

/* The keys below of the segments under `layer`, sorted by their keys above: bucket by
 * bucket, those of a bucket from the left. Gives their number. */
static uint32_t crossings_sequence(struct crossings *crossings,
                                   const struct sheet *sheet,
                                   uint32_t layer)
{
    uint32_t *fill = crossings->fill;
    uint32_t key_count = layer_bottom_keys(sheet, layer);
    uint32_t total = 0;

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

/* Crossings between `layer` and the next: pairs of the sequence in the wrong order, counted
 * with a tree of partial sums (Barth, Jünger and Mutzel). */
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
            0; /* earlier ones that end at the same place or left of it */

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

uint64_t crossings_count(struct crossings *crossings, const struct sheet *sheet)
{
    uint64_t total = 0;

    for (uint32_t layer = 0; layer + 1 < sheet->layer_count; layer++) {
        total += crossings_count_layer(crossings, sheet, layer);
    }
    return total;
}

/* Bucket by bucket: walking the nodes of all layers from the left hands out the other ends
 * of their segments from the left. */
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
