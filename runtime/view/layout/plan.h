/* The plan: what the layout derives from its input before it places anything. It has the back
 * edges, and cuts each edge into links where it crosses the borders of groups. Private to the
 * layout.
 *
 * Levels: level 0 is the page, level i + 1 is the inside of group i. Each level is laid out
 * separately, the inner ones first; in the level around it, a group is a box. A port is a place
 * on a group's border through which edges pass. Boxes, groups and ports are things, numbered in
 * this order. */
#ifndef MONITORCH_VIEW_LAYOUT_PLAN_H
#define MONITORCH_VIEW_LAYOUT_PLAN_H

#include "runtime/view/layout/sheet.h"

/* The width of a loop at a box, in gaps between edges. */
#define LOOP_GAPS 2.0

struct plan_port {
    uint32_t group;
    bool is_entry; /* at the top; otherwise at the bottom */
    uint32_t link; /* the link that ends at it */
    double x;      /* relative to the group's left border */
};

/* A part of an edge within one level. It runs downwards. */
struct plan_link {
    uint32_t level;
    uint32_t
        upper; /* both are things; a port of an inner group is a place on its border */
    uint32_t lower;
    uint32_t net;
    size_t first_point; /* in the plan's path */
    size_t point_count;
};

struct layout_plan {
    struct layout *layout;    /* borrowed */
    struct arena arena;       /* holds the arrays below */
    struct arena level_arena; /* scratch memory of the present level */
    struct arena sheet_arena; /* scratch memory of the present sheet */
    struct layout_path path;  /* the links' routes */
    struct layout_point
        *places;     /* by thing: upper left corner, relative to its level's origin */
    uint32_t *local; /* by thing: its number within its level */
    bool *has_loop;  /* by box */

    uint32_t *depths; /* by level */
    struct plan_port *ports;
    uint32_t port_count;
    struct plan_link *links;
    uint32_t link_count;
    /* The links of an edge, from the upper end to the lower one: edge_links[start] and the next
     * `count`. */
    uint32_t *edge_link_starts;
    uint32_t *edge_link_counts;
    uint32_t *edge_links;
    struct sheet_lists
        level_things;        /* boxes and groups, in the order of their first boxes */
    uint32_t *sorted_things; /* the items of level_things are indices into this */
    struct sheet_lists level_ports;
    struct sheet_lists level_links;

    double column_height; /* see struct sheet */
    double row_width;
};

/* Lays out one level: places of its things, routes of its links, ports and size of its group.
 * Returns false if memory runs out. */
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

/* The port of a thing. NULL: the thing is no port. */
static inline struct plan_port *layout_plan_port(const struct layout_plan *plan,
                                                 uint32_t thing)
{
    return thing < layout_plan_port_thing(plan, 0)
               ? NULL
               : &plan->ports[thing - layout_plan_port_thing(plan, 0)];
}

/* The state of one level while it is laid out: the inside of a group, or the page. Shared only
 * by level.c and rows.c. */

struct piece {
    double x;
    double y;
    double width;
    double height;
    bool has_ports; /* its edges lead to the border: nothing may be above or below */
};

struct level {
    struct layout_plan *plan;
    uint32_t number;
    const struct layout_group *group; /* NULL: the page */
    uint32_t *things;                 /* of the level, its own ports last */
    uint32_t thing_count;
    uint32_t *links;
    uint32_t link_count;
    struct piece *pieces;
    uint32_t piece_count;
    struct sheet_lists piece_things; /* indices into `things` */
    struct sheet_lists piece_links;  /* indices into `links` */
    uint32_t *numbers;               /* by index in `things`: the node in its sheet */
    double width;
    double height;
};

/* Places the pieces, which must be laid out. Pieces with ports share one row, so that nothing is
 * above or below them. The others are beside them in rows; low pieces are stacked beside a high
 * one. The kind of the first piece is on the left. */
void level_set_pieces(struct level *level);

#endif
