/* The layer of each node: first as high as possible, then moved so that edges are short. */
#include "runtime/view/layout/sheet.h"

#include <assert.h>
#include <string.h>

/* More rounds gain little. */
#define TIGHTEN_ROUNDS 3

struct layering {
    struct sheet *sheet;
    struct sheet_lists in;  /* links by lower node */
    struct sheet_lists out; /* links by upper node */
    uint32_t *order;        /* nodes, each after all nodes above it */
    bool *floats;           /* see layers_find_floating */
};

bool sheet_lists_make(struct sheet_lists *lists,
                      struct arena *arena,
                      const uint32_t *nodes,
                      size_t stride,
                      size_t count,
                      size_t node_count)
{
    uint32_t *starts = arena_allocate(arena, node_count + 2, sizeof *starts);
    uint32_t *items = arena_allocate(arena, count, sizeof *items);

    if (starts == NULL || items == NULL) {
        return false;
    }
    /* Counts are stored two places later, so that filling leaves each start in its own place. */
    memset(starts, 0, (node_count + 2) * sizeof *starts);
    for (size_t i = 0; i < count; i++) {
        starts[nodes[i * stride] + 2]++;
    }
    for (size_t i = 2; i < node_count + 2; i++) {
        starts[i] += starts[i - 1];
    }
    for (size_t i = 0; i < count; i++) {
        items[starts[nodes[i * stride] + 1]++] = (uint32_t)i;
    }
    *lists = (struct sheet_lists){starts, items};
    return true;
}

static bool layering_init(struct layering *layering, struct sheet *sheet)
{
    const size_t stride = sizeof(struct sheet_link) / sizeof(uint32_t);
    const struct sheet_link *links = sheet->links;

    _Static_assert(sizeof(struct sheet_link) % sizeof(uint32_t) == 0, "a whole stride");
    layering->sheet = sheet;
    layering->order = arena_allocate(sheet->arena, sheet->item_count, sizeof(uint32_t));
    layering->floats = arena_allocate(sheet->arena, sheet->item_count, sizeof(bool));
    return layering->order != NULL && layering->floats != NULL &&
           sheet_lists_make(&layering->in, sheet->arena, &links->lower, stride,
                            sheet->link_count, sheet->item_count) &&
           sheet_lists_make(&layering->out, sheet->arena, &links->upper, stride,
                            sheet->link_count, sheet->item_count);
}

/* Puts each node into the layer given by the longest way from a start node. Also fills `order`. */
static bool layers_longest_path(struct layering *layering)
{
    struct sheet *sheet = layering->sheet;
    uint32_t *waiting =
        arena_allocate(sheet->arena, sheet->item_count, sizeof *waiting);
    uint32_t done = 0;
    uint32_t known = 0;
    uint32_t first_layer = 0;

    if (waiting == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < sheet->item_count; i++) {
        first_layer |= sheet->nodes[i].kind == SHEET_ENTRY;
    }
    for (uint32_t i = 0; i < sheet->item_count; i++) {
        struct sheet_node *node = &sheet->nodes[i];

        node->layer = node->kind == SHEET_ENTRY ? 0 : first_layer;
        waiting[i] = layering->in.starts[i + 1] - layering->in.starts[i];
        if (waiting[i] == 0) {
            layering->order[known++] = i;
        }
    }
    for (; done < known; done++) {
        uint32_t upper = layering->order[done];

        for (uint32_t k = layering->out.starts[upper];
             k < layering->out.starts[upper + 1]; k++) {
            uint32_t lower = sheet->links[layering->out.items[k]].lower;

            if (sheet->nodes[lower].layer <= sheet->nodes[upper].layer) {
                sheet->nodes[lower].layer = sheet->nodes[upper].layer + 1;
            }
            if (sheet->nodes[lower].depth <= sheet->nodes[upper].depth) {
                sheet->nodes[lower].depth = sheet->nodes[upper].depth + 1;
            }
            if (--waiting[lower] == 0) {
                layering->order[known++] = lower;
            }
        }
    }
    return true;
}

static void layers_peek(struct layering *layering)
{
    struct sheet *sheet = layering->sheet;

    for (uint32_t i = sheet->item_count; i-- > 0;) {
        struct sheet_node *node = &sheet->nodes[layering->order[i]];

        for (uint32_t k = layering->out.starts[layering->order[i]];
             k < layering->out.starts[layering->order[i] + 1]; k++) {
            uint32_t ahead =
                sheet->nodes[sheet->links[layering->out.items[k]].lower].ahead;

            node->ahead = ahead >= node->ahead ? ahead + 1 : node->ahead;
        }
    }
}

/* Finds floating nodes: a node floats if it has no incoming links, or only links from floating
 * nodes that have no other outgoing link. Such a branch is moved down as a whole towards its
 * target. */
static void layers_find_floating(struct layering *layering)
{
    const struct sheet *sheet = layering->sheet;

    for (uint32_t i = 0; i < sheet->item_count; i++) {
        uint32_t node = layering->order[i];
        bool floats = sheet->nodes[node].kind != SHEET_ENTRY;

        for (uint32_t k = layering->in.starts[node];
             floats && k < layering->in.starts[node + 1]; k++) {
            uint32_t upper = sheet->links[layering->in.items[k]].upper;

            floats = layering->floats[upper] &&
                     layering->out.starts[upper + 1] - layering->out.starts[upper] == 1;
        }
        layering->floats[node] = floats;
    }
}

static uint32_t list_size(const struct sheet_lists *lists, uint32_t node)
{
    return lists->starts[node + 1] - lists->starts[node];
}

/* Moves the node down to the layer above its highest target. */
static void node_lower(struct layering *layering, uint32_t node)
{
    struct sheet *sheet = layering->sheet;
    uint32_t highest = UINT32_MAX;

    for (uint32_t k = layering->out.starts[node]; k < layering->out.starts[node + 1];
         k++) {
        uint32_t layer = sheet->nodes[sheet->links[layering->out.items[k]].lower].layer;

        highest = layer < highest ? layer : highest;
    }
    sheet->nodes[node].layer = highest - 1;
}

/* Moves the node up to the layer below its lowest source. */
static void node_raise(struct layering *layering, uint32_t node)
{
    struct sheet *sheet = layering->sheet;
    uint32_t lowest = 0;

    for (uint32_t k = layering->in.starts[node]; k < layering->in.starts[node + 1];
         k++) {
        uint32_t layer = sheet->nodes[sheet->links[layering->in.items[k]].upper].layer;

        lowest = layer > lowest ? layer : lowest;
    }
    sheet->nodes[node].layer = lowest + 1;
}

/* Shortens edges in total. A node is moved down if it has at least as many outgoing links as
 * incoming ones, which lets the nodes above it follow. Then it is moved up if it has at least as
 * many incoming links as outgoing ones. */
static void layers_tighten(struct layering *layering)
{
    const struct sheet *sheet = layering->sheet;

    layers_find_floating(layering);
    for (int round = 0; round < TIGHTEN_ROUNDS; round++) {
        for (uint32_t i = sheet->item_count; i-- > 0;) {
            uint32_t node = layering->order[i];
            uint32_t out_count = list_size(&layering->out, node);

            if (sheet->nodes[node].kind != SHEET_ENTRY && out_count > 0 &&
                (layering->floats[node] ||
                 out_count >= list_size(&layering->in, node))) {
                node_lower(layering, node);
            }
        }
        for (uint32_t i = 0; i < sheet->item_count; i++) {
            uint32_t node = layering->order[i];

            if (!layering->floats[node] && list_size(&layering->in, node) > 0 &&
                list_size(&layering->in, node) >= list_size(&layering->out, node)) {
                node_raise(layering, node);
            }
        }
    }
}

static void layers_count(struct sheet *sheet)
{
    sheet->layer_count = 1;
    for (uint32_t i = 0; i < sheet->item_count; i++) {
        if (sheet->nodes[i].layer >= sheet->layer_count) {
            sheet->layer_count = sheet->nodes[i].layer + 1;
        }
    }
}

/* Moves the exits into a layer of their own, below all others. */
static void layers_move_exits(struct sheet *sheet)
{
    uint32_t last = 0;
    bool has_exit = false;

    for (uint32_t i = 0; i < sheet->item_count; i++) {
        if (sheet->nodes[i].kind == SHEET_EXIT) {
            has_exit = true;
        } else if (sheet->nodes[i].layer > last) {
            last = sheet->nodes[i].layer;
        }
    }
    for (uint32_t i = 0; has_exit && i < sheet->item_count; i++) {
        if (sheet->nodes[i].kind == SHEET_EXIT) {
            sheet->nodes[i].layer = last + 1;
        }
    }
    layers_count(sheet);
}

/* Sorts nodes by layer; nodes of one layer keep their order. */
static bool layers_sort(struct layering *layering)
{
    const struct sheet *sheet = layering->sheet;
    struct sheet_lists lists;

    if (!sheet_lists_make(&lists, sheet->arena, &sheet->nodes->layer,
                          sizeof(struct sheet_node) / sizeof(uint32_t),
                          sheet->item_count, sheet->layer_count)) {
        return false;
    }
    layering->order = lists.items;
    return true;
}

/* Breaks layers that are wider than `row_width` into several rows. The first node that does not
 * fit closes a row, so each node is visited once. */
static bool layers_break_rows(struct layering *layering)
{
    struct sheet *sheet = layering->sheet;
    uint32_t row_limit = sheet->layer_count + sheet->item_count + 1;
    double *used = arena_allocate(sheet->arena, row_limit, sizeof *used);
    uint32_t *next_open = arena_allocate(sheet->arena, row_limit, sizeof *next_open);

    if (used == NULL || next_open == NULL || !layers_sort(layering)) {
        return false;
    }
    for (uint32_t row = 0; row < row_limit; row++) {
        used[row] = 0.0;
        next_open[row] = row;
    }
    for (uint32_t i = 0; i < sheet->item_count; i++) {
        uint32_t index = layering->order[i];
        struct sheet_node *node = &sheet->nodes[index];
        double width = node->width + sheet->options->box_gap;
        uint32_t row = node->kind == SHEET_ENTRY ? 0 : node->layer;

        for (uint32_t k = layering->in.starts[index];
             k < layering->in.starts[index + 1]; k++) {
            uint32_t above =
                sheet->nodes[sheet->links[layering->in.items[k]].upper].layer;

            row = above >= row ? above + 1 : row;
        }
        while (node->width > 0.0 && used[row] > 0.0 &&
               used[row] + width > sheet->row_width) {
            /* Path halving towards the next open row keeps later searches short. */
            next_open[row] =
                next_open[row] == row ? row + 1 : next_open[next_open[row]];
            row = next_open[row];
        }
        if (node->width > 0.0) {
            used[row] += width;
        }
        node->layer = row;
    }
    return true;
}

/* Removes empty layers. */
static bool layers_close_gaps(struct sheet *sheet)
{
    uint32_t *new_layers =
        arena_allocate(sheet->arena, sheet->layer_count, sizeof *new_layers);
    uint32_t count = 0;

    if (new_layers == NULL) {
        return false;
    }
    memset(new_layers, 0, sheet->layer_count * sizeof *new_layers);
    for (uint32_t i = 0; i < sheet->item_count; i++) {
        new_layers[sheet->nodes[i].layer] = 1;
    }
    for (uint32_t layer = 0; layer < sheet->layer_count; layer++) {
        bool is_used = new_layers[layer] != 0;

        new_layers[layer] = count;
        count += is_used;
    }
    for (uint32_t i = 0; i < sheet->item_count; i++) {
        sheet->nodes[i].layer = new_layers[sheet->nodes[i].layer];
    }
    sheet->layer_count = count;
    return true;
}

/* Whether each link runs downwards. For asserts. */
static __attribute__((unused)) bool layers_are_sound(const struct sheet *sheet)
{
    for (uint32_t i = 0; i < sheet->item_count; i++) {
        if (sheet->nodes[i].layer >= sheet->layer_count) {
            return false;
        }
    }
    for (uint32_t i = 0; i < sheet->link_count; i++) {
        const struct sheet_link *link = &sheet->links[i];

        if (sheet->nodes[link->upper].layer >= sheet->nodes[link->lower].layer ||
            link->net >= sheet->net_count) {
            return false;
        }
    }
    return true;
}

bool sheet_make_layers(struct sheet *sheet)
{
    struct layering layering;

    if (!layering_init(&layering, sheet) || !layers_longest_path(&layering)) {
        return false;
    }
    layers_peek(&layering);
    layers_tighten(&layering);
    layers_count(sheet);
    if (sheet->row_width > 0.0 && !layers_break_rows(&layering)) {
        return false;
    }
    layers_move_exits(sheet);
    if (!layers_close_gaps(sheet)) {
        return false;
    }
    assert(layers_are_sound(sheet));
    return true;
}
