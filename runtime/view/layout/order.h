/* What ordering is made of: numbers of places, counting crossings, orders to begin with.
 * Private to the layout. */
#ifndef MONITORCH_VIEW_LAYOUT_ORDER_H
#define MONITORCH_VIEW_LAYOUT_ORDER_H

#include "runtime/view/layout/sheet.h"

/* Room for counting; lies in the sheet's arena. */
struct crossings {
    uint32_t *tree;     /* counts of keys, as sums over ranges */
    uint32_t *sequence; /* keys of one layer's segments */
    uint32_t *fill;
};

bool crossings_init(struct crossings *crossings, const struct sheet *sheet);

/* Crossings of segments in the present order. */
uint64_t crossings_count(struct crossings *crossings, const struct sheet *sheet);

/* Writes positions and keys of a layer (of all layers) after its nodes changed places. */
void sheet_number_layer(struct sheet *sheet, uint32_t layer);
void sheet_number(struct sheet *sheet);

/* Puts nodes into their layers as a walk down from the first ones (or up from the last)
 * meets them, so that what belongs together begins together. Makes the layers where they
 * are not made yet. false where memory ran out. */
bool sheet_begin_order(struct sheet *sheet, bool goes_up);

/* The place among all places along the bottom of the layer above that a segment ends at,
 * and along the top of the layer below. */
static inline uint32_t sheet_key_above(const struct sheet *sheet, uint32_t segment)
{
    const struct sheet_segment *s = &sheet->segments[segment];

    return sheet->nodes[s->upper].bottom_key + s->upper_slot;
}

static inline uint32_t sheet_key_below(const struct sheet *sheet, uint32_t segment)
{
    const struct sheet_segment *s = &sheet->segments[segment];

    return sheet->nodes[s->lower].top_key + s->lower_slot;
}

static inline bool sheet_is_bundled(const struct sheet *sheet, uint32_t node)
{
    return node >= sheet->bundle_first && node < sheet->bundle_end;
}

#endif
