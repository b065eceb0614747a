/* Places boxes, edges and nested groups: tries columns, writes the results. */
#include "runtime/view/layout/layout.h"

#include "runtime/view/layout/check.h"
#include "runtime/view/layout/plan.h"

#include <math.h>
#include <string.h>

/* Pages this much higher or wider than wanted are left as they are. */
#define SHAPE_TOLERANCE 1.6
#define TRY_COUNT       4
/* Routes may have this many points, and so many more for each box and edge, once columns
 * are cut. */
#define POINT_LIMIT ((size_t)1 << 20)
#define POINT_SHARE ((size_t)64)

void layout_init(struct layout *layout)
{
    *layout = (struct layout){.options = LAYOUT_OPTIONS_DEFAULT};
    arena_init(&layout->arena);
}

void layout_release(struct layout *layout)
{
    arena_release(&layout->arena);
    layout->points = NULL;
    layout->point_count = 0;
}

/* The shape of the page -------------------------------------------------------------- */

/* Lays out all levels from the inside out; the page's size goes into the layout. */
static bool layout_plan_run(struct layout_plan *plan)
{
    struct layout *layout = plan->layout;
    struct layout_point size;

    plan->path.count = 0;
    for (uint32_t level = (uint32_t)layout->group_count; level > 0; level--) {
        if (!layout_plan_lay_out_level(plan, level, &size)) {
            return false;
        }
        layout->groups[level - 1].width = size.x;
        layout->groups[level - 1].height = size.y;
    }
    if (!layout_plan_lay_out_level(plan, 0, &size)) {
        return false;
    }
    layout->width = size.x;
    layout->height = size.y;
    return true;
}

/* How far the page is from the wanted shape: 0 is just so, above 0 too high, below too
 * wide. */
static double layout_plan_shape(const struct layout_plan *plan)
{
    const struct layout *layout = plan->layout;

    if (layout->width <= 0.0 || layout->height <= 0.0) {
        return 0.0;
    }
    return log(layout->height / layout->width / layout->options.proportion);
}

/* Rounded to steps, so that a little more on the page does not move every cut. */
static double rounded_length(double length)
{
    return exp2(round(log2(length) * 4.0) / 4.0);
}

/* Lays out the page with columns of this height or rows of this width. Where edges would be
 * cut so often that drawing them takes more than all else, `is_good` is false. */
static bool
layout_plan_try(struct layout_plan *plan, double *limit, double length, bool *is_good)
{
    const struct layout *layout = plan->layout;
    bool is_done;

    *limit = length;
    plan->path.limit =
        POINT_LIMIT + POINT_SHARE * (layout->box_count + layout->edge_count);
    is_done = layout_plan_run(plan);
    *is_good = is_done;
    if (plan->path.is_full) {
        plan->path.is_full = false;
        plan->path.has_failed = false;
        is_done = true;
    }
    plan->path.limit = SIZE_MAX;
    return is_done;
}

/* The height of the smallest page of the wanted shape that holds all. */
static double layout_plan_page_height(const struct layout_plan *plan)
{
    const struct layout *layout = plan->layout;

    return fmax(layout->height, layout->width * layout->options.proportion);
}

/* Tries columns (or rows) of several lengths: two that follow from the area that the try
 * before took, then a shorter and a longer one. The best is laid out last. */
static bool layout_plan_try_lengths(struct layout_plan *plan, double *limit)
{
    const struct layout *layout = plan->layout;
    double proportion = layout->options.proportion;
    double share = limit == &plan->column_height ? proportion : 1.0 / proportion;
    double best_height = layout_plan_page_height(plan);
    double best_length = 0.0;
    double length = 0.0;
    bool is_good = true;

    for (int attempt = 0; attempt < TRY_COUNT && is_good; attempt++) {
        double wanted = attempt < 2    ? sqrt(layout->width * layout->height * share)
                        : attempt == 2 ? length * exp2(-0.25)
                                       : length * exp2(0.25);

        wanted = rounded_length(wanted);
        if (attempt < 2) {
            length = wanted;
        }
        if (wanted == *limit) {
            continue;
        }
        if (!layout_plan_try(plan, limit, wanted, &is_good)) {
            return false;
        }
        if (is_good && layout_plan_page_height(plan) < best_height) {
            best_height = layout_plan_page_height(plan);
            best_length = wanted;
        }
    }
    if (*limit != best_length) {
        *limit = best_length;
        return layout_plan_run(plan);
    }
    return true;
}

/* Lays out the page; where its shape is far from the wanted one, in columns or rows. */
static bool layout_plan_find_shape(struct layout_plan *plan)
{
    if (!layout_plan_run(plan)) {
        return false;
    }
    if (plan->layout->options.proportion <= 0.0 ||
        fabs(layout_plan_shape(plan)) < log(SHAPE_TOLERANCE)) {
        return true;
    }
    return layout_plan_try_lengths(
        plan, layout_plan_shape(plan) > 0.0 ? &plan->column_height : &plan->row_width);
}

/* Results ---------------------------------------------------------------------------- */

static void layout_plan_write_places(const struct layout_plan *plan)
{
    struct layout *layout = plan->layout;

    for (uint32_t i = 0; i < layout->group_count; i++) {
        struct layout_group *group = &layout->groups[i];
        struct layout_point place = plan->places[layout_plan_group_thing(plan, i)];

        group->x = place.x;
        group->y = place.y;
        if (group->parent != LAYOUT_NONE) {
            group->x += layout->groups[group->parent].x;
            group->y += layout->groups[group->parent].y;
        }
    }
    for (uint32_t i = 0; i < layout->box_count; i++) {
        struct layout_box *box = &layout->boxes[i];

        box->x = plan->places[i].x;
        box->y = plan->places[i].y;
        if (box->group != LAYOUT_NONE) {
            box->x += layout->groups[box->group].x;
            box->y += layout->groups[box->group].y;
        }
    }
}

static void layout_plan_move_links(const struct layout_plan *plan)
{
    const struct layout *layout = plan->layout;

    for (uint32_t i = 0; i < plan->link_count; i++) {
        const struct plan_link *link = &plan->links[i];

        for (size_t k = 0; link->level > 0 && k < link->point_count; k++) {
            struct layout_point *point = &plan->path.points[link->first_point + k];

            point->x += layout->groups[link->level - 1].x;
            point->y += layout->groups[link->level - 1].y;
        }
    }
}

static void path_turn(struct layout_path *path)
{
    size_t last = path->count;

    for (size_t first = path->first; !path->has_failed && first + 1 < last; first++) {
        struct layout_point point = path->points[first];

        path->points[first] = path->points[--last];
        path->points[last] = point;
    }
}

/* Out of the right side and in again. */
static void
path_loop(struct layout_path *path, const struct layout_box *box, double width)
{
    double right = box->x + box->width;
    double out = right + width * 4.0 / 3.0 * 0.9;
    const struct layout_point points[] = {{right, box->y + box->height * 0.3},
                                          {out, box->y + box->height * 0.1},
                                          {out, box->y + box->height * 0.9},
                                          {right, box->y + box->height * 0.7}};

    path_begin(path, points[0].x, points[0].y);
    path_copy(path, points + 1, 3);
}

/* From the end of one link to the start of the next: along a group's border and, where the
 * next link lies in it, past its title. */
static void layout_plan_pass_border(const struct layout_plan *plan,
                                    const struct plan_link *next,
                                    struct layout_point start,
                                    struct layout_path *path)
{
    struct layout_point end = path_end(path);
    const struct plan_port *port = layout_plan_port(plan, next->upper);

    if (port != NULL && port->is_entry && group_level(port->group) == next->level) {
        const struct layout_group *group = &plan->layout->groups[port->group];

        path_line(path, end.x, group->y + group->title_height);
        path_curve(path, start.x,
                   group->y + group->title_height +
                       fmax(group->padding, plan->layout->options.layer_gap / 2.0));
    }
    path_line(path, path_end(path).x, start.y);
}

/* Puts the links of an edge together. */
static void layout_plan_draw_edge(const struct layout_plan *plan,
                                  uint32_t index,
                                  struct layout_path *path)
{
    const struct layout_edge *edge = &plan->layout->edges[index];
    const uint32_t *links = plan->edge_links + plan->edge_link_starts[index];

    if (edge->source == edge->target) {
        path_loop(path, &plan->layout->boxes[edge->source],
                  plan->layout->options.edge_gap * LOOP_GAPS);
        return;
    }
    for (uint32_t i = 0; i < plan->edge_link_counts[index]; i++) {
        const struct plan_link *link = &plan->links[links[i]];
        const struct layout_point *points = plan->path.points + link->first_point;

        if (i == 0) {
            path_begin(path, points[0].x, points[0].y);
        } else {
            layout_plan_pass_border(plan, link, points[0], path);
        }
        path_copy(path, points + 1, link->point_count - 1);
    }
    if (edge->is_back) {
        path_turn(path);
    }
}

static bool layout_plan_write_routes(const struct layout_plan *plan)
{
    struct layout *layout = plan->layout;
    struct layout_path path = LAYOUT_PATH_INIT;
    struct layout_point *points = NULL;

    for (uint32_t i = 0; i < layout->edge_count && !path.has_failed; i++) {
        layout->edges[i].first_point = path.count;
        layout_plan_draw_edge(plan, i, &path);
        layout->edges[i].point_count = path.count - layout->edges[i].first_point;
    }
    if (!path.has_failed) {
        points = arena_allocate(&layout->arena, path.count, sizeof *points);
    }
    if (points != NULL) {
        if (path.count > 0) {
            memcpy(points, path.points, path.count * sizeof *points);
        }
        layout->points = points;
        layout->point_count = path.count;
    }
    path_release(&path);
    return points != NULL;
}

bool layout_compute(struct layout *layout, struct error *error)
{
    struct layout_plan plan;
    bool is_done;

    layout_release(layout);
    if (!layout_check(layout, error)) {
        return false;
    }
    layout_plan_init(&plan, layout);
    is_done = layout_plan_make(&plan) && layout_plan_find_shape(&plan);
    if (is_done) {
        layout_plan_write_places(&plan);
        layout_plan_move_links(&plan);
        is_done = layout_plan_write_routes(&plan);
    }
    layout_plan_release(&plan);
    if (!is_done) {
        error_set_memory(error);
    }
    return is_done;
}
