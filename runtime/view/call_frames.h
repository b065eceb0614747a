/* Which boxes of a call graph's picture stand by themselves, and which in a column: leaves that
 * follow each other below one node would make a picture wider than anybody looks at. */
#ifndef MONITORCH_VIEW_CALL_FRAMES_H
#define MONITORCH_VIEW_CALL_FRAMES_H

#include "runtime/base/arena.h"
#include "runtime/view/call_graph.h"
#include "runtime/view/layout.h"

/* What the layout finds a place for: a box, or a column of boxes. */
struct call_frame {
    uint32_t box_count;
    double width; /* of the widest box; the caller's, as the next */
    double height;
    bool is_column;
};

/* All owned by the arena. */
struct call_frames {
    struct call_frame *frames;
    uint32_t frame_count;
    uint32_t *frame_of;        /* for each node that is drawn */
    bool *has_children;        /* for each node: in the graph */
    struct layout_edge *edges; /* between frames; one for a column */
    size_t edge_count;
};

/* false: out of memory. */
bool call_frames_find(struct call_frames *frames,
                      const struct call_graph *graph,
                      struct arena *arena);

#endif
