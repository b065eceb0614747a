/* What the layout makes of its input before anything has a place: which edges go back, and how each
 * edge is cut into links where it crosses the borders of groups. Private to the layout.
 *
 * Levels: level 0 is the page, level i + 1 is the inside of group i. Each level is laid out by
 * itself, the inner ones first; in the level around it a group is a box. A port is a place on a
 * group's border where edges pass. Boxes, groups and ports are things, numbered in this order. */
#ifndef MONITORCH_VIEW_LAYOUT_PLAN_H
#define MONITORCH_VIEW_LAYOUT_PLAN_H

#include "runtime/view/layout/sheet.h"

/* A loop at a box is as wide as so many gaps between edges. */
#define LOOP_GAPS 2.0

struct plan_port {
    uint32_t group;
    bool is_entry; /* at the top; otherwise at the bottom */
    uint32_t link; /* the one that ends at it */
    double x;      /* from the group's left */
};

/* Runs within one level, downwards. */
struct plan_link {
    uint32_t level;
    uint32_t
        upper; /* things; a port of a group inside the level means a place on its border */
    uint32_t lower;
    uint32_t net;
    size_t first_point; /* in the plan's path */
    size_t point_count;
};

struct layout_plan {
    struct layout *layout;    /* borrowed */
    struct arena arena;       /* holds the arrays below */
    struct arena level_arena; /* scratch of the level that is being laid out */
    struct arena sheet_arena; /* and of the sheet */
    struct layout_path path;  /* the links' routes */
    struct layout_point
        *places;     /* by thing: left top corner, from its level's origin */
    uint32_t *local; /* by thing: its number within its level */
    bool *has_loop;  /* by box */

    uint32_t *depths; /* by level */
    struct plan_port *ports;
    uint32_t port_count;
    struct plan_link *links;
    uint32_t link_count;
    /* The links of an edge, from the upper end to the lower one: so many from such a start. */
    uint32_t *edge_link_starts;
    uint32_t *edge_link_counts;
    uint32_t *edge_links;
    struct sheet_lists
        level_things;        /* boxes and groups in the order of their first boxes */
    uint32_t *sorted_things; /* what the items of level_things are numbers in */
    struct sheet_lists level_ports;
    struct sheet_lists level_links;

    double column_height; /* see struct sheet */
    double row_width;
};

/* Lays out one level: places of its things, routes of its links, ports and size of its
 * group. */
bool layout_plan_lay_out_level(struct layout_plan *plan,
                               uint32_t level,
                               struct layout_point *size);

static inline uint32_t group_level(uint32_t group)
{
    return group == LAYOUT_NONE ? 0 : group + 1;
}

static inline uint32_t layout_plan_thing_count(const struct layout_plan *plan)
{
    return (uint32_t)(plan->layout->box_count + plan->layout->group_count) +
           plan->port_count;
}

static inline uint32_t layout_plan_group_thing(const struct layout_plan *plan,
                                               uint32_t group)
{
    return (uint32_t)plan->layout->box_count + group;
}

static inline uint32_t layout_plan_port_thing(const struct layout_plan *plan,
                                              uint32_t port)
{
    return (uint32_t)(plan->layout->box_count + plan->layout->group_count) + port;
}

static inline bool layout_plan_is_group(const struct layout_plan *plan, uint32_t thing)
{
    return thing >= plan->layout->box_count && thing < layout_plan_port_thing(plan, 0);
}

/* The port that a thing is, NULL where it is none. */
static inline struct plan_port *layout_plan_port(const struct layout_plan *plan,
                                                 uint32_t thing)
{
    return thing < layout_plan_port_thing(plan, 0)
               ? NULL
               : &plan->ports[thing - layout_plan_port_thing(plan, 0)];
}

/* One level while it is laid out: what is in a box, or on the page. Shared by level.c
 * and rows.c alone. */

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

/* Gives each piece, which is laid out, its place. Pieces with ports are in one row, so that nothing is above or below them; the others
 * stand beside them, row by row, low ones below each other beside a high one. On the left is
 * what the first piece is of. */
void level_set_pieces(struct level *level);

#endif
