/* Routes: runs of cubic Bézier curves. */
#include "runtime/view/layout/sheet.h"

#include "runtime/base/memory.h"

#include <math.h>
#include <string.h>

void path_release(struct layout_path *path)
{
    memory_free(path->points);
    *path = LAYOUT_PATH_INIT;
}

static bool path_reserve(struct layout_path *path, size_t more)
{
    void *points = path->points;

    path->is_full |= more > path->limit - path->count;
    if (path->is_full || path->has_failed ||
        !memory_grow(&points, &path->capacity, path->count + more,
                     sizeof *path->points)) {
        path->has_failed = true;
        return false;
    }
    path->points = points;
    return true;
}

static void path_add(struct layout_path *path, double x, double y)
{
    if (path_reserve(path, 1)) {
        path->points[path->count++] = (struct layout_point){x, y};
    }
}

void path_copy(struct layout_path *path,
               const struct layout_point *points,
               size_t count)
{
    if (count > 0 && path_reserve(path, count)) {
        memcpy(path->points + path->count, points, count * sizeof *points);
        path->count += count;
        path->may_lengthen = false;
    }
}

void path_begin(struct layout_path *path, double x, double y)
{
    path->first = path->count;
    path->may_lengthen = false;
    path_add(path, x, y);
}

struct layout_point path_end(const struct layout_path *path)
{
    return path->has_failed ? (struct layout_point){0.0, 0.0}
                            : path->points[path->count - 1];
}

static void path_add_curve(struct layout_path *path,
                           struct layout_point first_control,
                           struct layout_point second_control,
                           struct layout_point end)
{
    path_add(path, first_control.x, first_control.y);
    path_add(path, second_control.x, second_control.y);
    path_add(path, end.x, end.y);
    path->may_lengthen = false;
}

static struct layout_point
between(struct layout_point from, struct layout_point to, double part)
{
    return (struct layout_point){from.x + (to.x - from.x) * part,
                                 from.y + (to.y - from.y) * part};
}

void path_line(struct layout_path *path, double x, double y)
{
    struct layout_point start = path_end(path);
    struct layout_point end = {x, y};

    if (path->has_failed || (start.x == x && start.y == y)) {
        return;
    }
    if (path->may_lengthen && start.x == x) {
        path->count -= 3;
        start = path_end(path);
    }
    path_add_curve(path, between(start, end, 1.0 / 3.0), between(start, end, 2.0 / 3.0),
                   end);
    path->may_lengthen = start.x == x;
}

void path_curve(struct layout_path *path, double x, double y)
{
    struct layout_point start = path_end(path);
    double middle = (start.y + y) / 2.0;

    if (start.x == x) {
        path_line(path, x, y);
        return;
    }
    path_add_curve(path, (struct layout_point){start.x, middle},
                   (struct layout_point){x, middle}, (struct layout_point){x, y});
}

/* The part of the line from a corner to the previous (or next) one that is rounded off. */
static double
rounded_part(struct layout_point from, struct layout_point to, double radius)
{
    double length = hypot(to.x - from.x, to.y - from.y);

    return length <= 0.0 ? 0.0 : fmin(0.5, radius / length);
}

void path_bend(struct layout_path *path,
               const struct layout_point *corners,
               size_t count,
               double radius)
{
    for (size_t i = 1; i + 1 < count; i++) {
        struct layout_point corner = corners[i];
        double before = rounded_part(corner, corners[i - 1], radius);
        double after = rounded_part(corner, corners[i + 1], radius);
        struct layout_point begin = between(corner, corners[i - 1], before);
        struct layout_point end = between(corner, corners[i + 1], after);

        path_line(path, begin.x, begin.y);
        path_add_curve(path, between(begin, corner, 0.55), between(end, corner, 0.55),
                       end);
    }
    path_line(path, corners[count - 1].x, corners[count - 1].y);
}
