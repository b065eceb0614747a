/* Drawing routes: runs of cubic Bézier curves. Private to the layout. */
#ifndef MONITORCH_VIEW_LAYOUT_PATH_H
#define MONITORCH_VIEW_LAYOUT_PATH_H

#include "runtime/view/layout/layout.h"

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

#endif
