/* Places boxes, edges and nested groups on a page: layers from top to bottom, few crossings,
 * edges round the boxes. Knows sizes alone: what a box shows is its caller's matter.
 * docs/internals/layout.md tells how it works.
 *
 *     struct layout layout;
 *
 *     layout_init(&layout);
 *     layout.boxes = boxes;             the caller's arrays, their first fields filled
 *     layout.box_count = box_count;     ... and groups, edges, options
 *     if (layout_compute(&layout, &error)) {
 *         ... boxes[i].x, groups[i].x, layout_route(&layout, &edges[i]), layout.width
 *     }
 *     layout_release(&layout);
 *
 * Lengths are in any one unit; x grows to the right, y downwards, the page begins at (0, 0). Equal
 * input gives equal output. Boxes, groups and edges are taken in their order in the arrays: what
 * stands first comes first on the page where nothing else decides, and what is added at the
 * end moves the rest as little as can be. */
#ifndef MONITORCH_VIEW_LAYOUT_LAYOUT_H
#define MONITORCH_VIEW_LAYOUT_LAYOUT_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAYOUT_NONE UINT32_MAX /* no group */

struct layout_box {
    double width;
    double height;
    uint32_t group; /* the innermost one that it lies in, or LAYOUT_NONE */

    double x; /* result: its left top corner */
    double y;
};

/* A labelled rectangle around its boxes and groups and nothing else. A parent stands before
 * its children in the array. A group may be empty. */
struct layout_group {
    uint32_t parent;     /* or LAYOUT_NONE */
    double title_width;  /* kept free at the left of the top; edges pass it by */
    double title_height; /* 0: no title */
    double padding; /* between the border and what is inside; also left of the title */

    double x; /* result */
    double y;
    double width;
    double height;
};

/* Any two boxes; source == target is a loop. Edges between the same two boxes in the same
 * direction share one route. Long edges from one box share the first part of their routes,
 * and where many long edges lead to one box they share the last part. */
struct layout_edge {
    uint32_t source; /* index of a box */
    uint32_t target;

    size_t first_point; /* result: the route, in layout.points */
    size_t point_count; /* 3 * curves + 1 */
    bool is_back; /* result: closes a cycle, so that its target lies above its source */
};

struct layout_point {
    double x;
    double y;
};

struct layout_options {
    double box_gap;   /* between boxes side by side */
    double layer_gap; /* between layers, at least */
    double
        edge_gap; /* between edges that run beside each other, and between edge and box */
    /* The page's height divided by its width. What is much taller is cut into columns side
     * by side, read like a newspaper's; layers that are much wider are broken into several
     * rows. 0: neither. */
    double proportion;
};

#define LAYOUT_OPTIONS_DEFAULT ((struct layout_options){24.0, 32.0, 10.0, 1.0})

struct layout {
    struct layout_box *boxes; /* borrowed from the caller, results are written there */
    size_t box_count;
    struct layout_group *groups; /* the same */
    size_t group_count;
    struct layout_edge *edges; /* the same */
    size_t edge_count;
    struct layout_options options; /* set to the defaults by layout_init */

    double width; /* result: of the page */
    double height;
    struct layout_point *points; /* result: owned by the arena */
    size_t point_count;
    struct arena arena;
};

void layout_init(struct layout *layout);

/* Frees the points; the caller's arrays stay. */
void layout_release(struct layout *layout);

/* Fails where an index, a size or an option makes no sense (ERROR_USAGE: which one is told)
 * and where memory runs out; the results are then not to be used. May be called again after
 * the caller changed something. */
bool layout_compute(struct layout *layout, struct error *error);

/* The route of an edge as cubic Bézier curves, drawn from source to target: the first
 * point, then two control points and an end for each curve. Straight parts are curves too.
 * It begins at the border of the source's box and ends at that of the target's, runs
 * through no other box and crosses the borders of just those groups that hold one of the
 * two boxes. Where neither a loop nor is_back it leaves the source's bottom and enters the
 * target's top; where is_back it leaves the source's top and enters the target's bottom. */
static inline const struct layout_point *layout_route(const struct layout *layout,
                                                      const struct layout_edge *edge)
{
    return layout->points + edge->first_point;
}

#endif
