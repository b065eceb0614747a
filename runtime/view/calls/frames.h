/* How a call graph is cut up for the layout, lest a picture be wider than anybody looks at: leaves
 * that follow each other below one node stand in a column; what stands below a node with very many
 * children stands in a yard, in rows, and one arrow leads there. */
#ifndef MONITORCH_VIEW_CALLS_FRAMES_H
#define MONITORCH_VIEW_CALLS_FRAMES_H

#include "runtime/base/arena.h"
#include "runtime/view/calls/graph.h"
#include "runtime/view/layout/layout.h"

/* What the layout finds a place for: a box, a column of boxes, or a yard. */
struct call_frame {
    uint32_t box_count;
    uint32_t yard;  /* that it lies in, or LAYOUT_NONE: the page */
    uint32_t holds; /* the yard that it is, or LAYOUT_NONE */
    double width;   /* with its border; the caller's, as the next */
    double height;
    bool is_column;
};

/* All owned by the arena. */
struct call_frames {
    struct call_frame *frames;
    uint32_t frame_count;
    uint32_t *frame_of;        /* for each node that is drawn */
    bool *has_children;        /* for each node: in the graph */
    struct layout_edge *edges; /* between frames in one yard, or on the page */
    size_t edge_count;
    uint32_t yard_count; /* each has a greater number than the one that it lies in */
};

#endif
