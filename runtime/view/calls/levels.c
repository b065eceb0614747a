/* Levels: the layout of a call graph's page and yards. */
#include "runtime/view/calls/frames.h"

#include "runtime/base/memory.h"

#include <math.h>

#define PADDING 14.0
/* The proportion of the page and of yards, unless the caller chooses one. */
#define PROPORTION 0.6
/* A tree is most readable if each of its levels is one row. A tree larger than this is wrapped. */
#define WIDTH_MOST  1600.0
#define HEIGHT_MOST 2400.0
/* In a layout with more boxes than this, tops are not aligned: nobody would see it. */
#define ALIGNED_MOST 5000

/* ---- boxes and edges of a level ---- */

static bool allocate(struct call_levels *levels, struct arena *arena)
{
    const struct call_frames *frames = levels->frames;

    levels->levels = arena_allocate(arena, levels->count, sizeof *levels->levels);
    levels->box_of = arena_allocate(arena, frames->frame_count, sizeof *levels->box_of);
    levels->boxes = arena_allocate(arena, frames->frame_count, sizeof *levels->boxes);
    levels->edges = arena_allocate(arena, frames->edge_count, sizeof *levels->edges);
    return !arena->has_failed;
}

/* Gives each level a consecutive range of boxes and edges, in the order of the frames. */
static void share_out(struct call_levels *levels)
{
    const struct call_frames *frames = levels->frames;
    size_t box_count = 0;
    size_t edge_count = 0;

    for (uint32_t i = 0; i < levels->count; i++) {
        levels->levels[i] = (struct call_level){.depth = 0};
        layout_init(&levels->levels[i].layout);
    }
    for (uint32_t i = 0; i < frames->frame_count; i++) {
        levels->levels[call_level_of(levels, i)].layout.box_count++;
    }
    for (size_t i = 0; i < frames->edge_count; i++) {
        levels->levels[call_level_of(levels, frames->edges[i].source)]
            .layout.edge_count++;
    }
    for (uint32_t i = 0; i < levels->count; i++) {
        struct call_level *level = &levels->levels[i];

        level->first_box = box_count;
        level->first_edge = edge_count;
        box_count += level->layout.box_count;
        edge_count += level->layout.edge_count;
        level->layout.box_count = 0;
        level->layout.edge_count = 0;
    }
}

static void fill(struct call_levels *levels)
{
    const struct call_frames *frames = levels->frames;

    for (uint32_t i = 0; i < frames->frame_count; i++) {
        struct call_level *level = &levels->levels[call_level_of(levels, i)];

        levels->box_of[i] = (uint32_t)(level->first_box + level->layout.box_count++);
        levels->boxes[levels->box_of[i]] =
            (struct layout_box){.width = frames->frames[i].width,
                                .height = frames->frames[i].height,
                                .group = LAYOUT_NONE};
    }
    for (size_t i = 0; i < frames->edge_count; i++) {
        const struct layout_edge *edge = &frames->edges[i];
        struct call_level *level = &levels->levels[call_level_of(levels, edge->source)];

        levels->edges[level->first_edge + level->layout.edge_count++] =
            (struct layout_edge){
                .source = levels->box_of[edge->source] - (uint32_t)level->first_box,
                .target = levels->box_of[edge->target] - (uint32_t)level->first_box};
    }
}

/* ---- one level ---- */

static bool lay_out_once(struct layout *layout, double proportion, struct error *error)
{
    layout->options = (struct layout_options){
        .box_gap = 14.0,
        .layer_gap = 34.0,
        .edge_gap = 8.0,
        .proportion = proportion,
    };
    return layout_compute(layout, error);
}

static bool
lay_out_level(struct call_levels *levels, struct call_level *level, struct error *error)
{
    struct layout *layout = &level->layout;
    double wanted = levels->proportion > 0 ? levels->proportion : PROPORTION;

    layout->boxes = levels->boxes + level->first_box;
    layout->edges = levels->edges + level->first_edge;
    /* A level of several unconnected pieces, as in a yard, is always wrapped into rows. */
    if (layout->edge_count + 1 < layout->box_count) {
        return lay_out_once(layout, wanted, error);
    }
    if (!lay_out_once(layout, 0, error)) {
        return false;
    }
    return (layout->width < WIDTH_MOST && layout->height < HEIGHT_MOST) ||
           lay_out_once(layout, wanted, error);
}

/* The top of the highest box in the layer of `box`. The centers of a layer's boxes have the same
 * height. */
static double layer_top(const struct layout *layout, const struct layout_box *box)
{
    double middle = box->y + box->height / 2;
    double top = box->y;

    for (size_t i = 0; i < layout->box_count; i++) {
        const struct layout_box *other = &layout->boxes[i];

        if (fabs(other->y + other->height / 2 - middle) < 0.5) {
            top = fmin(top, other->y);
        }
    }
    return top;
}

static bool is_upright(const struct layout_point *curve)
{
    return fabs(curve[0].x - curve[3].x) < 1e-6 &&
           fabs(curve[0].x - curve[1].x) < 1e-6 && fabs(curve[0].x - curve[2].x) < 1e-6;
}

/* Makes the curve a vertical line between two heights. */
static void set_upright(struct layout_point *curve, double start, double end)
{
    curve[0].y = start;
    curve[1].y = start + (end - start) / 3;
    curve[2].y = start + (end - start) * 2 / 3;
    curve[3].y = end;
}

static struct layout_point *last_curve(const struct layout *layout,
                                       const struct layout_edge *edge)
{
    return layout->points + edge->first_point + edge->point_count - 4;
}

/* Sets the moves of boxes to 0 that have an edge which does not end in a vertical line. */
static void keep_bound(const struct layout *layout, double *moves)
{
    for (size_t i = 0; i < layout->edge_count; i++) {
        const struct layout_edge *edge = &layout->edges[i];
        const struct layout_point *last = last_curve(layout, edge);

        if (edge->is_back || edge->point_count < 4 ||
            !is_upright(layout->points + edge->first_point)) {
            moves[edge->source] = 0;
        }
        if (edge->is_back || edge->point_count < 4 || !is_upright(last) ||
            last[3].y - moves[edge->target] < last[0].y) {
            moves[edge->target] = 0;
        }
    }
}

static void move_up(struct layout *layout, const double *moves)
{
    for (size_t i = 0; i < layout->edge_count; i++) {
        struct layout_edge *edge = &layout->edges[i];
        struct layout_point *first = layout->points + edge->first_point;
        struct layout_point *last = last_curve(layout, edge);

        if (moves[edge->source] > 0) {
            set_upright(first, first[0].y - moves[edge->source], first[3].y);
        }
        if (moves[edge->target] > 0) {
            set_upright(last, last[0].y, last[3].y - moves[edge->target]);
            /* An arrow needs a direction, so a last curve without length is dropped. The curve
             * before it ends vertically too. */
            if (last[3].y - last[0].y < 0.01 && edge->point_count > 4) {
                edge->point_count -= 3;
            }
        }
    }
    for (size_t i = 0; i < layout->box_count; i++) {
        layout->boxes[i].y -= moves[i];
    }
}

/* Aligns the tops of the boxes of each layer. The layout aligns their centers, which leaves
 * columns and yards of different heights far from their parents. */
static bool align_tops(struct layout *layout)
{
    double *moves;

    if (layout->box_count > ALIGNED_MOST) {
        return true;
    }
    moves = memory_allocate(layout->box_count, sizeof *moves);
    if (moves == NULL) {
        return false;
    }
    for (size_t i = 0; i < layout->box_count; i++) {
        moves[i] = 0; /* boxes without incoming edges are at the top already */
    }
    for (size_t i = 0; i < layout->edge_count; i++) {
        const struct layout_box *target = &layout->boxes[layout->edges[i].target];

        moves[layout->edges[i].target] = target->y - layer_top(layout, target);
    }
    keep_bound(layout, moves);
    move_up(layout, moves);
    memory_free(moves);
    return true;
}

/* ---- all levels ---- */

/* Lays out all yards and the page, inner yards first, and sets the size of each yard's frame.
 * `holders`: by yard, its frame. */
static bool
lay_out_yards(struct call_levels *levels, const uint32_t *holders, struct error *error)
{
    for (uint32_t i = levels->count - 1; i-- > 0;) {
        struct call_level *level = &levels->levels[i];
        struct call_frame *holder = &levels->frames->frames[holders[i]];
        struct layout_box *box = &levels->boxes[levels->box_of[holders[i]]];

        if (!lay_out_level(levels, level, error)) {
            return false;
        }
        holder->width = level->layout.width + 2 * PADDING;
        holder->height = level->layout.height + 2 * PADDING;
        box->width = holder->width;
        box->height = holder->height;
    }
    return lay_out_level(levels, &levels->levels[levels->count - 1], error);
}

/* Sets the positions of the yards on the page, outer yards first. */
static void place_yards(struct call_levels *levels, const uint32_t *holders)
{
    for (uint32_t i = 0; i + 1 < levels->count; i++) {
        struct layout_point place = call_place_of(levels, holders[i]);
        const struct call_level *around =
            &levels->levels[call_level_of(levels, holders[i])];

        levels->levels[i].x = place.x + PADDING;
        levels->levels[i].y = place.y + PADDING;
        levels->levels[i].depth = around->depth + 1;
    }
}

bool call_levels_lay_out(struct call_levels *levels,
                         struct call_frames *frames,
                         double proportion,
                         struct arena *arena,
                         struct error *error)
{
    uint32_t *holders;

    *levels = (struct call_levels){
        .frames = frames, .count = frames->yard_count + 1, .proportion = proportion};
    holders = arena_allocate(arena, frames->yard_count, sizeof *holders);
    if (!allocate(levels, arena)) {
        levels->count = 0;
        return error_set_memory(error);
    }
    share_out(levels);
    fill(levels);
    for (uint32_t i = 0; i < frames->frame_count; i++) {
        if (frames->frames[i].holds != LAYOUT_NONE) {
            holders[frames->frames[i].holds] = i;
        }
    }
    if (!lay_out_yards(levels, holders, error)) {
        return false;
    }
    for (uint32_t i = 0; i < levels->count; i++) {
        if (!align_tops(&levels->levels[i].layout)) {
            return error_set_memory(error);
        }
    }
    place_yards(levels, holders);
    return true;
}

void call_levels_release(struct call_levels *levels)
{
    for (uint32_t i = 0; i < levels->count; i++) {
        layout_release(&levels->levels[i].layout);
    }
}
