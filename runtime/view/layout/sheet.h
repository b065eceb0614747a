/* A sheet: one connected piece of a group, laid out separately in stages. Private to the layout.
 *
 * Nodes are placed in layers. A link joins a node with one further down, over any number of
 * layers. It is cut into segments between neighbouring layers, with a lane (a node without size)
 * in each layer that it passes. Links of one net share their lanes. */
#ifndef MONITORCH_VIEW_LAYOUT_SHEET_H
#define MONITORCH_VIEW_LAYOUT_SHEET_H

#include "runtime/base/arena.h"
#include "runtime/view/layout/layout.h"

#include <assert.h>

/* Routes: runs of cubic Bézier curves. Private to the layout. */

/* Points are added at the end. If memory runs out or there are more than `limit` points,
 * has_failed is set and no more are added. */
struct layout_path {
    struct layout_point *points; /* owned; may be NULL */
    size_t count;
    size_t capacity;
    size_t limit;
    size_t first;      /* first point of the present route */
    bool may_lengthen; /* the last curve is a vertical line that may be extended */
    bool has_failed;
    bool is_full; /* failed because of too many points */
};

#define LAYOUT_PATH_INIT ((struct layout_path){.points = NULL, .limit = SIZE_MAX})

void path_release(struct layout_path *path);

/* Starts a route. */
void path_begin(struct layout_path *path, double x, double y);

/* The present end of the route. */
struct layout_point path_end(const struct layout_path *path);

/* Adds a straight line. Consecutive vertical lines become one. */
void path_line(struct layout_path *path, double x, double y);

/* Adds a curve with vertical ends. */
void path_curve(struct layout_path *path, double x, double y);

/* Adds lines along corners, which are rounded. The route must end at the first of them. */
void path_bend(struct layout_path *path,
               const struct layout_point *corners,
               size_t count,
               double radius);

/* Adds points unchanged: copies of a route or of its middle. */
void path_copy(struct layout_path *path,
               const struct layout_point *points,
               size_t count);

enum sheet_kind {
    SHEET_BOX,   /* edges may leave and enter it anywhere along its border */
    SHEET_GROUP, /* edges end at fixed places on its border: the links' offsets */
    SHEET_ENTRY, /* place at which an edge enters the group; in the first layer */
    SHEET_EXIT,  /* place at which an edge leaves it; in the last layer */
    SHEET_LANE,  /* made by sheet_make_layers */
};

struct sheet_node {
    enum sheet_kind kind;
    double width; /* 0 for lanes, entries and exits */
    double height;
    double margin;  /* part of the width at either side that is kept free for a loop */
    uint32_t depth; /* nodes on the longest way from a start node, without lanes */
    uint32_t ahead; /* nodes on the longest way to an end node */
    uint32_t layer;
    uint32_t position; /* within the layer, from the left */
    double x;          /* of its centre */
    double y;          /* of its top */
    /* The number of different places on its top and bottom at which segments end, counted from
     * the left, and the number of such places left of the node in its layer. */
    uint32_t top_slot_count;
    uint32_t bottom_slot_count;
    uint32_t top_key;
    uint32_t bottom_key;
};

struct sheet_link {
    uint32_t upper; /* nodes */
    uint32_t lower;
    uint32_t net; /* links of a net have the same upper end; nets are counted from 0 */
    double upper_offset; /* from the node's centre; only at groups */
    double lower_offset;
    uint32_t
        first_segment; /* leaves `upper`; equal to last_segment if there are no lanes */
    uint32_t last_segment; /* enters `lower` */
    uint32_t first_lane;   /* node; the lanes of a link have consecutive numbers */
    uint32_t lane_count;
};

struct sheet_segment {
    uint32_t upper; /* nodes in neighbouring layers */
    uint32_t lower;
    double upper_offset;
    double lower_offset;
    uint32_t upper_slot; /* at the bottom of `upper`, from the left */
    uint32_t lower_slot; /* at the top of `lower` */
    uint32_t track;      /* number of its track to the next column */
    bool may_align;      /* its ends may be aligned vertically */
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
    double shift;         /* added to the x of its nodes when columns are placed */
    double right;         /* of its nodes */
    double bottom;
};

struct sheet {
    const struct layout_options *options; /* borrowed */
    struct arena *arena;                  /* borrowed; holds everything below */
    double column_height; /* higher sheets are cut into columns; 0: never */
    double row_width;     /* wider layers are broken into rows; 0: never */

    struct sheet_node *nodes; /* the caller's nodes, then the lanes */
    uint32_t item_count;
    uint32_t node_count;
    struct sheet_link *links; /* sorted by net; without cycles */
    uint32_t link_count;
    uint32_t net_count;

    /* The lanes shared by the longest links if there would be too many lanes. They are at the
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
    uint32_t *straight_ends; /* by lane: the last lane straight below it */

    double width;
    double height;
};

/* The stages, in their order. Each returns false if memory runs out. */
bool sheet_make_layers(struct sheet *sheet);
bool sheet_make_segments(struct sheet *sheet);
bool sheet_order(struct sheet *sheet);
bool sheet_place(struct sheet *sheet);

/* Makes `lists` of `count` items; `nodes[i * stride]` is the node of item i. The items of a node
 * keep their order. Returns false if memory runs out. */
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
