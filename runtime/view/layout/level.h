/* One level while it is laid out: what stands in a box, or on the page. Shared by level.c
 * and rows.c alone. */
#ifndef MONITORCH_VIEW_LAYOUT_LEVEL_H
#define MONITORCH_VIEW_LAYOUT_LEVEL_H

#include "runtime/view/layout/plan.h"

struct piece {
    double x;
    double y;
    double width;
    double height;
    bool
        has_ports; /* edges lead to the border: above and below it all must stay free */
};

struct level {
    struct layout_plan *plan;
    uint32_t number;
    const struct layout_group *group; /* NULL: the page */
    uint32_t *things;                 /* those of the level, its own ports last */
    uint32_t thing_count;
    uint32_t *links;
    uint32_t link_count;
    struct piece *pieces;
    uint32_t piece_count;
    struct sheet_lists piece_things; /* numbers in `things` */
    struct sheet_lists piece_links;  /* numbers in `links` */
    uint32_t *numbers;               /* by number in `things`: the node in its sheet */
    double width;
    double height;
};

/* Gives each piece, which is laid out, its place. Pieces with ports stand in one row, so that nothing is above or below them; the others
 * stand beside them, row by row, low ones below each other beside a high one. On the left is
 * what the first piece is of. */
void level_set_pieces(struct level *level);

#endif
