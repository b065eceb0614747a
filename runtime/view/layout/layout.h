/* The layout of boxes, edges and nested groups on a page: layers from top to bottom, few
 * crossings, edges around the boxes. It knows only sizes; the caller draws the boxes.
 * docs/internals/layout.md explains how it works.
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
 * All lengths have the same unit, which the caller chooses; x grows to the right, y downwards, the
 * page starts at (0, 0). Equal input gives equal output. Where nothing else decides, boxes, groups
 * and edges are placed in the order of their arrays. Elements added at the end of the arrays move
 * the others as little as possible. */
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
    uint32_t group; /* the innermost group around it, or LAYOUT_NONE */

    double x; /* result: upper left corner */
    double y;
};

/* A labelled rectangle around its own boxes and groups only. A parent comes before its children
 * in the array. A group may be empty. */
struct layout_group {
    uint32_t parent;     /* or LAYOUT_NONE */
    double title_width;  /* free space at the upper left; edges avoid it */
    double title_height; /* 0: no title */
    double padding; /* between the border and the contents; also left of the title */

    double x; /* result */
    double y;
    double width;
    double height;
};

/* An edge joins any two boxes; source == target is a loop. Edges between the same two boxes in
 * the same direction share one route. Long edges from one box share the first part of their
 * routes. If many long edges lead to one box, they share the last part. */
struct layout_edge {
    uint32_t source; /* index of a box */
    uint32_t target;

    size_t first_point; /* result: the route, in layout.points */
    size_t point_count; /* 3 * curves + 1 */
    bool is_back;       /* result: closes a cycle, so its target is above its source */
};

struct layout_point {
    double x;
    double y;
};

struct layout_options {
    double box_gap;   /* between boxes in a row */
    double layer_gap; /* between layers, at least */
    double edge_gap;  /* between parallel edges, and between edge and box */
    /* The page's height divided by its width. A much higher page is cut into columns side by
     * side, to be read like a newspaper; much wider layers are broken into several rows. 0:
     * neither. */
    double proportion;
};

#define LAYOUT_OPTIONS_DEFAULT ((struct layout_options){24.0, 32.0, 10.0, 1.0})

struct layout {
    struct layout_box
        *boxes; /* borrowed from the caller; results are written to them */
    size_t box_count;
    struct layout_group *groups; /* as `boxes` */
    size_t group_count;
    struct layout_edge *edges; /* as `boxes` */
    size_t edge_count;
    struct layout_options options; /* layout_init sets the defaults */

    double width; /* result: width of the page */
    double height;
    struct layout_point *points; /* result: owned by the arena */
    size_t point_count;
    struct arena arena;
};

void layout_init(struct layout *layout);

/* Frees the points. The caller keeps its arrays. */
void layout_release(struct layout *layout);

/* Computes the layout. Returns false if an index, a size or an option is invalid (ERROR_USAGE;
 * `error` names it) or if memory runs out; the results are invalid then. May be called again
 * after the caller has changed its input. */
bool layout_compute(struct layout *layout, struct error *error);

/* The route of an edge as cubic Bézier curves from source to target: the first point, then two
 * control points and an end point for each curve. Straight parts are curves too. The route
 * starts at the border of the source's box and ends at that of the target's. It runs through no
 * other box, and crosses only the borders of groups that contain one of the two boxes. It leaves
 * the source's bottom and enters the target's top; with is_back it leaves the source's top and
 * enters the target's bottom. A loop uses one side of its box. */
static inline const struct layout_point *layout_route(const struct layout *layout,
                                                      const struct layout_edge *edge)
{
    return layout->points + edge->first_point;
}

#endif
