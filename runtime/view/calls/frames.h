/* How a call graph is cut up for the layout, lest a picture be wider than anybody looks at: leaves
 * that follow each other below one node stand in a column; what stands below a node with very many
 * children stands in a yard, in rows, and one arrow leads there. */
#ifndef MONITORCH_VIEW_CALLS_FRAMES_H
#define MONITORCH_VIEW_CALLS_FRAMES_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
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

/* Finds places for the frames of a call graph: the page and each yard are laid out by themselves,
 * the inner ones first; around it a yard is one box. */

/* A yard, or the page. */
struct call_level {
    struct layout layout; /* owned; its boxes and edges are borrowed from the levels' */
    size_t first_box;
    size_t first_edge;
    double x; /* of its layout on the page */
    double y;
    unsigned depth; /* how many yards it lies in */
};

struct call_levels {
    struct call_frames *frames; /* borrowed */
    struct call_level *levels;  /* by the yards' numbers; the page is the last */
    uint32_t count;
    uint32_t *box_of; /* for each frame; owned by the arena, as all below */
    struct layout_box *boxes;
    struct layout_edge *edges;
    double proportion;
};

/* `proportion`: of the page, height by width; 0: rows are as wide as they are, within reason. Sizes of
 * the frames that are yards are filled in. To be released in any case, before the arena. */
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
