/* Graphs for the tests of the layout, and a check of what it made of them. */
#ifndef MONITORCH_TESTS_UNIT_LAYOUT_GRAPHS_H
#define MONITORCH_TESTS_UNIT_LAYOUT_GRAPHS_H

#include "runtime/view/layout/layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum graph_kind {
    GRAPH_SPARSE,
    GRAPH_DENSE,
    GRAPH_TREE,
    GRAPH_CHAINS,
    GRAPH_CYCLIC,
    GRAPH_DISCONNECTED,
    GRAPH_NESTED,
    GRAPH_RESIDUAL,
    GRAPH_KIND_COUNT,
};

static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % limit);
}

static inline void
graph_init(struct layout *layout, size_t boxes, size_t groups, size_t edges)
{
    layout_init(layout);
    layout->boxes = calloc(boxes + 1, sizeof *layout->boxes);
    layout->groups = calloc(groups + 1, sizeof *layout->groups);
    layout->edges = calloc(edges + 1, sizeof *layout->edges);
    layout->box_count = boxes;
    layout->group_count = groups;
    for (size_t i = 0; i < boxes; i++) {
        layout->boxes[i] =
            (struct layout_box){.width = 80.0, .height = 30.0, .group = LAYOUT_NONE};
    }
}

static inline void graph_release(struct layout *layout)
{
    free(layout->boxes);
    free(layout->groups);
    free(layout->edges);
    layout_release(layout);
}

static inline void
graph_connect(struct layout *layout, uint32_t source, uint32_t target)
{
    layout->edges[layout->edge_count++] =
        (struct layout_edge){.source = source, .target = target};
}

static inline void
graph_connect_random(struct layout *layout, enum graph_kind kind, uint64_t *state)
{
    uint32_t count = (uint32_t)layout->box_count;
    uint32_t edge_count = kind == GRAPH_DENSE ? count * 4 : count + count / 3;

    for (uint32_t i = 1; i < count && (kind == GRAPH_TREE || kind == GRAPH_CHAINS);
         i++) {
        if (kind == GRAPH_TREE || i % 9 != 0) {
            graph_connect(layout, kind == GRAPH_TREE ? random_below(state, i) : i - 1,
                          i);
        }
    }
    for (uint32_t i = 1; i < count && kind == GRAPH_RESIDUAL; i++) {
        graph_connect(layout, i - 1, i);
        if (i % 7 == 5 && i >= 6) {
            graph_connect(layout, i - 6, i);
        }
    }
    for (uint32_t i = 0; i < edge_count && count > 1 && layout->edge_count == i; i++) {
        uint32_t a = random_below(state, count);
        uint32_t b = random_below(state, count);

        if (kind == GRAPH_DISCONNECTED) {
            b = a / 5 * 5 + b % 5 < count ? a / 5 * 5 + b % 5 : a;
        }
        if (kind != GRAPH_CYCLIC && a > b) {
            uint32_t swap = a;

            a = b;
            b = swap;
        }
        graph_connect(layout, a, b);
    }
}

/* A graph of some kind; the same one for the same seed. */
static inline void
graph_make(struct layout *layout, enum graph_kind kind, uint32_t size, uint64_t seed)
{
    uint64_t state = seed * 7919 + kind;
    uint32_t group_count =
        kind == GRAPH_NESTED || random_below(&state, 3) == 0 ? size / 5 + 1 : 0;

    graph_init(layout, size, group_count, (size_t)size * 5);
    for (uint32_t i = 0; i < group_count; i++) {
        layout->groups[i] = (struct layout_group){
            .parent = i == 0 || random_below(&state, 3) == 0 ? LAYOUT_NONE
                                                             : random_below(&state, i),
            .title_width = random_below(&state, 150),
            .title_height = random_below(&state, 4) == 0 ? 0.0 : 16.0,
            .padding = 6.0 + random_below(&state, 8)};
    }
    for (uint32_t i = 0; i < size; i++) {
        layout->boxes[i].width = 10.0 + random_below(&state, 160);
        layout->boxes[i].height = 10.0 + random_below(&state, 90);
        /* Neighbours mostly lie in the same group, as lines of a call do. */
        if (group_count > 0 && random_below(&state, 5) > 0) {
            layout->boxes[i].group = (i / 4) % group_count;
        }
    }
    graph_connect_random(layout, kind, &state);
    layout->options.proportion = (double)random_below(&state, 3) / 2.0;
}

/* Checking --------------------------------------------------------------------------- */

struct rectangle {
    double left;
    double top;
    double right;
    double bottom;
};

#define ROUNDING 1e-6

static inline struct rectangle rectangle_of_box(const struct layout_box *box)
{
    return (struct rectangle){box->x, box->y, box->x + box->width,
                              box->y + box->height};
}

static inline struct rectangle rectangle_of_group(const struct layout_group *group)
{
    return (struct rectangle){group->x, group->y, group->x + group->width,
                              group->y + group->height};
}

static inline struct rectangle rectangle_of_title(const struct layout_group *group)
{
    double left = group->x + group->padding;

    return (struct rectangle){
        left, group->y, left + (group->title_height > 0.0 ? group->title_width : 0.0),
        group->y + group->title_height};
}

static inline bool rectangle_holds(struct rectangle outer, struct rectangle inner)
{
    return inner.left >= outer.left - ROUNDING &&
           inner.right <= outer.right + ROUNDING && inner.top >= outer.top - ROUNDING &&
           inner.bottom <= outer.bottom + ROUNDING;
}

static inline bool rectangles_overlap(struct rectangle a, struct rectangle b)
{
    return a.left < b.right - ROUNDING && b.left < a.right - ROUNDING &&
           a.top < b.bottom - ROUNDING && b.top < a.bottom - ROUNDING;
}

static inline bool rectangle_has_point(struct rectangle r, double x, double y)
{
    return x > r.left + ROUNDING && x < r.right - ROUNDING && y > r.top + ROUNDING &&
           y < r.bottom - ROUNDING;
}

static inline bool
group_is_in(const struct layout *layout, uint32_t group, uint32_t outer)
{
    while (group != LAYOUT_NONE && group != outer) {
        group = layout->groups[group].parent;
    }
    return group == outer;
}

/* The first thing wrong with the places of boxes and groups, NULL where all is well. */
static inline const char *layout_check_places(const struct layout *layout)
{
    struct rectangle page = {0.0, 0.0, layout->width, layout->height};

    for (uint32_t i = 0; i < layout->box_count; i++) {
        struct rectangle box = rectangle_of_box(&layout->boxes[i]);

        if (!rectangle_holds(page, box)) {
            return "a box lies on the page";
        }
        for (uint32_t k = 0; k < i; k++) {
            if (rectangles_overlap(box, rectangle_of_box(&layout->boxes[k]))) {
                return "boxes do not overlap";
            }
        }
        for (uint32_t k = 0; k < layout->group_count; k++) {
            struct rectangle group = rectangle_of_group(&layout->groups[k]);
            bool is_in = group_is_in(layout, layout->boxes[i].group, k);

            if (is_in ? !rectangle_holds(group, box) : rectangles_overlap(group, box)) {
                return "a group holds its own boxes and no others";
            }
            if (rectangles_overlap(rectangle_of_title(&layout->groups[k]), box)) {
                return "a box leaves a title free";
            }
        }
    }
    for (uint32_t i = 0; i < layout->group_count; i++) {
        struct rectangle group = rectangle_of_group(&layout->groups[i]);

        if (!rectangle_holds(page, group) ||
            !rectangle_holds(group, rectangle_of_title(&layout->groups[i]))) {
            return "a group lies on the page and its title in it";
        }
        for (uint32_t k = 0; k < i; k++) {
            struct rectangle other = rectangle_of_group(&layout->groups[k]);

            if (group_is_in(layout, i, k) ? !rectangle_holds(other, group)
                                          : rectangles_overlap(other, group)) {
                return "groups are nested or apart";
            }
        }
    }
    return NULL;
}

/* Whether a point of a route lies where no route of this edge may. */
static inline const char *layout_check_point(const struct layout *layout,
                                             const struct layout_edge *edge,
                                             double x,
                                             double y)
{
    if (!(x >= -ROUNDING && x <= layout->width + ROUNDING && y >= -ROUNDING &&
          y <= layout->height + ROUNDING)) {
        return "a route lies on the page";
    }
    for (uint32_t i = 0; i < layout->box_count; i++) {
        if (rectangle_has_point(rectangle_of_box(&layout->boxes[i]), x, y)) {
            return i == edge->source || i == edge->target
                       ? "a route stays out of its own boxes"
                       : "a route meets no other box";
        }
    }
    for (uint32_t i = 0; i < layout->group_count; i++) {
        const struct layout_group *group = &layout->groups[i];

        if (rectangle_has_point(rectangle_of_title(group), x, y)) {
            return "a route leaves titles free";
        }
        if (rectangle_has_point(rectangle_of_group(group), x, y) &&
            !group_is_in(layout, layout->boxes[edge->source].group, i) &&
            !group_is_in(layout, layout->boxes[edge->target].group, i)) {
            return "a route meets no other group";
        }
    }
    return NULL;
}

static inline const char *layout_check_ends(const struct layout *layout,
                                            const struct layout_edge *edge)
{
    const struct layout_point *points = layout_route(layout, edge);
    struct layout_point first = points[0];
    struct layout_point last = points[edge->point_count - 1];
    struct rectangle source = rectangle_of_box(&layout->boxes[edge->source]);
    struct rectangle target = rectangle_of_box(&layout->boxes[edge->target]);

    if (edge->source == edge->target) {
        return fabs(first.x - source.right) < ROUNDING &&
                       fabs(last.x - source.right) < ROUNDING
                   ? NULL
                   : "a loop is at the right of its box";
    }
    if (fabs(first.y - (edge->is_back ? source.top : source.bottom)) > ROUNDING ||
        first.x < source.left - ROUNDING || first.x > source.right + ROUNDING) {
        return "a route begins at its source's border";
    }
    if (fabs(last.y - (edge->is_back ? target.bottom : target.top)) > ROUNDING ||
        last.x < target.left - ROUNDING || last.x > target.right + ROUNDING) {
        return "a route ends at its target's border";
    }
    return NULL;
}

static inline double curve_at(double a, double b, double c, double d, double t)
{
    double u = 1.0 - t;

    return u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d;
}

static inline const char *layout_check_curve(const struct layout *layout,
                                             const struct layout_edge *edge,
                                             const struct layout_point *p)
{
    double length = fabs(p[3].x - p[0].x) + fabs(p[3].y - p[0].y);
    int steps = length > 4000.0 ? 1000 : 4 + (int)(length / 4.0);

    for (int step = 0; step <= steps; step++) {
        double t = (double)step / steps;
        const char *wrong = layout_check_point(
            layout, edge, curve_at(p[0].x, p[1].x, p[2].x, p[3].x, t),
            curve_at(p[0].y, p[1].y, p[2].y, p[3].y, t));

        if (wrong != NULL) {
            return wrong;
        }
    }
    return NULL;
}

static inline const char *layout_check_routes(const struct layout *layout)
{
    for (size_t i = 0; i < layout->edge_count; i++) {
        const struct layout_edge *edge = &layout->edges[i];
        const struct layout_point *points = layout_route(layout, edge);
        const char *wrong = NULL;

        if (edge->point_count < 4 || edge->point_count % 3 != 1) {
            return "a route is made of curves";
        }
        wrong = layout_check_ends(layout, edge);
        for (size_t k = 0; wrong == NULL && k + 3 < edge->point_count; k += 3) {
            wrong = layout_check_curve(layout, edge, points + k);
        }
        if (wrong != NULL) {
            return wrong;
        }
    }
    return NULL;
}

#endif
