/* Frames: the parts of a call graph that the layout places. They keep the picture from becoming
 * too wide. Consecutive leaves below one node form a column. The children of a node with very
 * many children form a yard, where they are placed in rows, and a single arrow leads to the
 * yard. */
#ifndef MONITORCH_VIEW_CALLS_FRAMES_H
#define MONITORCH_VIEW_CALLS_FRAMES_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/view/calls/graph.h"
#include "runtime/view/layout/layout.h"

/* A part that the layout places: a box, a column of boxes, or a yard. */
struct call_frame {
    uint32_t box_count;
    uint32_t yard;  /* the yard that it is inside; LAYOUT_NONE: the page */
    uint32_t holds; /* the yard that it is itself; LAYOUT_NONE: none */
    double width;   /* with its border; the caller sets width and height */
    double height;
    bool is_column;
};

/* The frames of a graph. The arena owns everything. */
struct call_frames {
    struct call_frame *frames;
    uint32_t frame_count;
    uint32_t *frame_of;        /* by node, if it is drawn */
    bool *has_children;        /* by node */
    struct layout_edge *edges; /* between frames of one yard, or of the page */
    size_t edge_count;
    uint32_t yard_count; /* outer yards have smaller numbers */
};

/* The layout of a call graph's frames. The page and each yard are laid out separately, inner
 * yards first. In the layout around it a yard is one box. */

/* A yard, or the page. */
struct call_level {
    struct layout layout; /* owned; its boxes and edges are borrowed from the levels */
    size_t first_box;
    size_t first_edge;
    double x; /* position of its layout on the page */
    double y;
    unsigned depth; /* number of yards around it */
};

struct call_levels {
    struct call_frames *frames; /* borrowed */
    struct call_level *levels;  /* by number of the yard; the page is the last */
    uint32_t count;
    uint32_t *box_of; /* by frame; owned by the arena, as all below */
    struct layout_box *boxes;
    struct layout_edge *edges;
    double proportion;
};

/* Lays out the page and all yards, and sets the sizes of the frames that are yards.
 * `proportion`: height of the page by its width; 0: as wide as the content needs, within limits.
 * Has to be released in any case, before the arena. */
bool call_levels_lay_out(struct call_levels *levels,
                         struct call_frames *frames,
                         double proportion,
                         struct arena *arena,
                         struct error *error);
void call_levels_release(struct call_levels *levels);

static inline uint32_t call_level_of(const struct call_levels *levels, uint32_t frame)
{
    uint32_t yard = levels->frames->frames[frame].yard;

    return yard == LAYOUT_NONE ? levels->count - 1 : yard;
}

/* The frame's left top corner on the page. */
static inline struct layout_point call_place_of(const struct call_levels *levels,
                                                uint32_t frame)
{
    const struct call_level *level = &levels->levels[call_level_of(levels, frame)];
    const struct layout_box *box = &levels->boxes[levels->box_of[frame]];

    return (struct layout_point){level->x + box->x, level->y + box->y};
}

#endif
