/* The box of a node in a call graph's picture. */
#ifndef MONITORCH_VIEW_CALLS_BOX_H
#define MONITORCH_VIEW_CALLS_BOX_H

#include "runtime/view/calls/graph.h"
#include "runtime/view/picture/box/box.h"

struct call_box {
    double width;
    double height;
    /* The caller's: where it stands in its column, and whether it has children in the graph. */
    double y;
    bool has_children;
    struct slice name;
    struct pills times; /* "× 6"; none where it was met once */
    struct slice calls; /* "0–5 · 12 calls"; "" */
    struct slice shape; /* "" */
};

/* Finds out what the box says, and its size. */
void call_box_prepare(struct call_box *box,
                      struct sheet *sheet,
                      const struct call_graph *graph,
                      uint32_t node);
void call_box_draw(const struct call_box *box,
                   struct sheet *sheet,
                   const struct call_graph *graph,
                   uint32_t node,
                   double x,
                   double y);

#endif
