/* A sheet: one connected piece of one group, laid out by itself in stages. Private to the layout.
 *
 * Nodes stand in layers. A link is what runs from a node to one further down, over any number of
 * layers; it is cut into segments between neighbouring layers, with a lane (a node without
 * size) in each layer that it passes. Links of one net share their lanes. */
#ifndef MONITORCH_VIEW_LAYOUT_SHEET_H
#define MONITORCH_VIEW_LAYOUT_SHEET_H

#include "runtime/base/arena.h"
#include "runtime/view/layout/layout.h"

#include <assert.h>

/* Drawing routes: runs of cubic Bézier curves. Private to the layout. */

/* Points are added at the end; where memory ran out or there are more than `limit` points
 * `has_failed` is set and nothing more added. */
struct layout_path {
    struct layout_point *points; /* owned; may be NULL */
    size_t count;
    size_t capacity;
    size_t limit;
    size_t first;      /* point of the route that is being drawn */
    bool may_lengthen; /* the last curve is an upright line that may grow */
    bool has_failed;
    bool is_full; /* failed for there were too many points */
};

#define LAYOUT_PATH_INIT ((struct layout_path){.points = NULL, .limit = SIZE_MAX})

void path_release(struct layout_path *path);

/* Begins a route. */
void path_begin(struct layout_path *path, double x, double y);

/* Where the route ends so far. */
struct layout_point path_end(const struct layout_path *path);

/* Straight on. Upright lines that follow each other become one. */
void path_line(struct layout_path *path, double x, double y);

/* A curve that begins and ends upright. */
void path_curve(struct layout_path *path, double x, double y);

/* Along corners, which are rounded; the route ends at the first of them already. */
void path_bend(struct layout_path *path,
               const struct layout_point *corners,
               size_t count,
               double radius);

/* Adds points as they are: copies of a route, or of its middle. */
void path_copy(struct layout_path *path,
               const struct layout_point *points,
               size_t count);

enum sheet_kind {
    SHEET_BOX,   /* edges may leave and enter it anywhere along its border */
    SHEET_GROUP, /* edges have their places on its border: the links' offsets */
    SHEET_ENTRY, /* where an edge comes in from outside: stands in the first layer */
    SHEET_EXIT,  /* where one goes out: in the last layer */
    SHEET_LANE,  /* made by sheet_make_layers */
};

struct sheet_node {
    enum sheet_kind kind;
    double width; /* of lanes, entries and exits 0 */
    double height;
    double margin; /* of the width, at either side: kept free for a loop */
    uint32_t
        depth; /* nodes on the longest way to it from a beginning, lanes not counted */
    uint32_t ahead; /* and on the longest way from it to an end */
    uint32_t layer;
    uint32_t position; /* within the layer, from the left */
    double x;          /* of its centre */
    double y;          /* of its top */
    /* Different places on its top and bottom that segments end at, counted from the left,
     * and the number of such places in the same layer to the left of the node. */
    uint32_t top_slot_count;
    uint32_t bottom_slot_count;
    uint32_t top_key;
    uint32_t bottom_key;
};

struct sheet_link {
    uint32_t upper; /* nodes */
    uint32_t lower;
    uint32_t net; /* links of a net have the same upper end; nets are counted from 0 */
    double upper_offset; /* from the node's centre; only of groups */
    double lower_offset;
    uint32_t
        first_segment; /* leaves `upper`; the same as the last one where there is no lane */
    uint32_t last_segment; /* enters `lower` */
    uint32_t first_lane; /* node; the lanes of a link are numbered one after another */
    uint32_t lane_count;
};

struct sheet_segment {
    uint32_t upper; /* nodes in neighbouring layers */
    uint32_t lower;
    double upper_offset;
    double lower_offset;
    uint32_t upper_slot; /* at the bottom of `upper`, from the left */
    uint32_t lower_slot; /* at the top of `lower` */
    uint32_t track; /* where it goes over to the next column: which of the tracks */
    bool may_align; /* its ends may be put one over the other */
};

/* Items by node: those of node i are items[starts[i]] … items[starts[i + 1] - 1]. */
struct sheet_lists {
    uint32_t *starts;
    uint32_t *items;
};

struct sheet_column {
    uint32_t first_layer;
    uint32_t end_layer;
    uint32_t track_count; /* to the next column */
    double shift; /* added to the x of its nodes when columns are set side by side */
    double right; /* of its nodes */
    double bottom;
};

struct sheet {
    const struct layout_options *options; /* borrowed */
    struct arena *arena;                  /* borrowed; holds all below */
    double column_height; /* higher sheets are cut into columns; 0: never */
    double row_width;     /* wider layers are broken; 0: never */

    struct sheet_node *nodes; /* the caller's, then the lanes */
    uint32_t item_count;
    uint32_t node_count;
    struct sheet_link *links; /* sorted by net; without cycles */
    uint32_t link_count;
    uint32_t net_count;

    /* The lanes that the longest links share, where there would be too many; stand at the
     * border. */
    uint32_t bundle_first;
    uint32_t bundle_end;

    struct sheet_segment *segments;
    uint32_t segment_count;
    struct sheet_lists above; /* segments at a node's top, from the left */
    struct sheet_lists below; /* segments at a node's bottom, from the left */
    uint32_t layer_count;
    uint32_t *layer_starts; /* into layer_nodes */
    uint32_t *layer_nodes;
    double *layer_tops;
    double *layer_heights;
    struct sheet_column *columns;
    uint32_t column_count;
    uint32_t *straight_ends; /* by lane: the last one that lies straight below it */

    double width;
    double height;
};

/* The stages, in their order. false where memory ran out. */
bool sheet_make_layers(struct sheet *sheet);
bool sheet_make_segments(struct sheet *sheet);
bool sheet_order(struct sheet *sheet);
bool sheet_place(struct sheet *sheet);

/* Makes `lists` of `count` items, `nodes[i * stride]` being the node of item i; each node's
 * items keep their order. */
bool sheet_lists_make(struct sheet_lists *lists,
                      struct arena *arena,
                      const uint32_t *nodes,
                      size_t stride,
                      size_t count,
                      size_t node_count);

static inline uint32_t sheet_layer_size(const struct sheet *sheet, uint32_t layer)
{
    assert(layer < sheet->layer_count);
    return sheet->layer_starts[layer + 1] - sheet->layer_starts[layer];
}

#endif
