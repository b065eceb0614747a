/* The layout of one level: each connected piece is a sheet of its own, and the sheets are set in
 * rows. */

#include "runtime/view/layout/plan.h"

#include "runtime/view/layout/sheet.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Finds the y of each layer, and cuts a sheet that is too high into columns side by side. An
 * edge to the next column runs below its column, up beside it, and enters the next one from
 * above. Each has its own track; the tracks are nested so that they do not cross. */

/* A column is cut where few edges run, but not above this part of its height. */
#define EARLIEST_CUT 0.6
/* A sheet is cut if it is higher than a column by this factor. */
#define CUT_FROM 1.2
/* The rest after a cut is at least this part of the column before it: a single box would not be
 * worth the detour of its edges. */
#define LEAST_REST 0.35
/* Flat edges get more room: this part of their width, up to SLOPE_GAPS gaps. */
#define SLOPE_SHARE 0.12
#define SLOPE_GAPS  1.5

static double end_above(const struct sheet *sheet, const struct sheet_segment *segment)
{
    return sheet->nodes[segment->upper].x + segment->upper_offset;
}

static double end_below(const struct sheet *sheet, const struct sheet_segment *segment)
{
    return sheet->nodes[segment->lower].x + segment->lower_offset;
}

/* The space between a layer and the next one. */
static double layer_gap(const struct sheet *sheet, uint32_t layer)
{
    double gap = sheet->options->layer_gap;
    double widest = 0.0;
    bool is_border = false;

    assert(layer < sheet->layer_count);
    for (uint32_t i = sheet->layer_starts[layer]; i < sheet->layer_starts[layer + 1];
         i++) {
        uint32_t node = sheet->layer_nodes[i];

        is_border |= sheet->nodes[node].kind == SHEET_ENTRY;
        for (uint32_t k = sheet->below.starts[node]; k < sheet->below.starts[node + 1];
             k++) {
            const struct sheet_segment *segment =
                &sheet->segments[sheet->below.items[k]];
            double across = fabs(end_above(sheet, segment) - end_below(sheet, segment));

            is_border |= sheet->nodes[segment->lower].kind == SHEET_EXIT;
            widest = across > widest ? across : widest;
        }
    }
    return fmax(is_border ? gap / 2.0 : gap,
                fmin(widest * SLOPE_SHARE, gap * SLOPE_GAPS));
}

static bool sheet_stack_layers(struct sheet *sheet)
{
    double y = 0.0;

    sheet->layer_tops =
        arena_allocate(sheet->arena, (size_t)sheet->layer_count + 1, sizeof(double));
    sheet->layer_heights =
        arena_allocate(sheet->arena, (size_t)sheet->layer_count + 1, sizeof(double));
    if (sheet->layer_tops == NULL || sheet->layer_heights == NULL) {
        return false;
    }
    for (uint32_t layer = 0; layer < sheet->layer_count; layer++) {
        double height = 0.0;

        for (uint32_t i = sheet->layer_starts[layer];
             i < sheet->layer_starts[layer + 1]; i++) {
            height = fmax(height, sheet->nodes[sheet->layer_nodes[i]].height);
        }
        sheet->layer_tops[layer] = y;
        sheet->layer_heights[layer] = height;
        y += height;
        sheet->height = y;
        y += layer + 1 < sheet->layer_count ? layer_gap(sheet, layer) : 0.0;
    }
    return true;
}

/* Cutting ---------------------------------------------------------------------------- */

/* The number of tracks that a cut after this layer needs: the distinct places at its bottom from
 * which edges lead down. */
static uint32_t layer_track_count(const struct sheet *sheet, uint32_t layer)
{
    uint32_t count = 0;

    assert(layer < sheet->layer_count);
    for (uint32_t i = sheet->layer_starts[layer]; i < sheet->layer_starts[layer + 1];
         i++) {
        uint32_t node = sheet->layer_nodes[i];

        if (sheet->below.starts[node + 1] > sheet->below.starts[node]) {
            count += sheet->nodes[node].bottom_slot_count;
        }
    }
    return count;
}

/* Whether a column may end after this layer. Entries and exits must stay with their neighbours. */
static bool layer_may_end_column(const struct sheet *sheet, uint32_t layer)
{
    assert(layer < sheet->layer_count);
    return layer + 1 < sheet->layer_count && sheet->layer_heights[layer] > 0.0 &&
           sheet->layer_heights[layer + 1] > 0.0;
}

/* The first layer after the column that starts at `first`. */
static uint32_t column_find_end(const struct sheet *sheet, uint32_t first)
{
    double top = sheet->layer_tops[first];
    uint32_t best = UINT32_MAX;
    uint32_t least = UINT32_MAX;

    if (sheet->height - top <= sheet->column_height * CUT_FROM) {
        return sheet->layer_count;
    }
    for (uint32_t layer = first; layer + 1 < sheet->layer_count; layer++) {
        double height = sheet->layer_tops[layer] + sheet->layer_heights[layer] - top;
        uint32_t tracks;

        if (height > sheet->column_height && best != UINT32_MAX) {
            break;
        }
        if (!layer_may_end_column(sheet, layer)) {
            continue;
        }
        if (height < sheet->column_height * EARLIEST_CUT) {
            continue;
        }
        if (sheet->height - sheet->layer_tops[layer + 1] < height * LEAST_REST) {
            break;
        }
        tracks = layer_track_count(sheet, layer);
        if (tracks <= least) {
            least = tracks;
            best = layer;
        }
        if (height > sheet->column_height) {
            break;
        }
    }
    return best == UINT32_MAX ? sheet->layer_count : best + 1;
}

static bool sheet_cut(struct sheet *sheet)
{
    uint32_t first = 0;

    sheet->columns =
        arena_allocate(sheet->arena, sheet->layer_count, sizeof *sheet->columns);
    if (sheet->columns == NULL) {
        return false;
    }
    sheet->column_count = 0;
    while (first < sheet->layer_count) {
        uint32_t end = sheet->column_height > 0.0 ? column_find_end(sheet, first)
                                                  : sheet->layer_count;
        struct sheet_column *column = &sheet->columns[sheet->column_count++];

        *column = (struct sheet_column){.first_layer = first, .end_layer = end};
        if (end < sheet->layer_count) {
            column->track_count = layer_track_count(sheet, end - 1);
        }
        first = end;
    }
    return true;
}

/* Columns side by side --------------------------------------------------------------- */

/* Numbers the tracks to the next column, from left to right at the layer's bottom. */
static void column_number_tracks(struct sheet *sheet, const struct sheet_column *column)
{
    uint32_t layer = column->end_layer - 1;
    uint32_t track = 0;

    for (uint32_t i = sheet->layer_starts[layer]; i < sheet->layer_starts[layer + 1];
         i++) {
        uint32_t node = sheet->layer_nodes[i];

        for (uint32_t k = sheet->below.starts[node]; k < sheet->below.starts[node + 1];
             k++) {
            struct sheet_segment *segment = &sheet->segments[sheet->below.items[k]];

            segment->track = track + segment->upper_slot;
        }
        if (sheet->below.starts[node + 1] > sheet->below.starts[node]) {
            track += sheet->nodes[node].bottom_slot_count;
        }
    }
}

static void
column_measure(struct sheet *sheet, struct sheet_column *column, double left)
{
    double first = DBL_MAX;
    double last = -DBL_MAX;

    for (uint32_t i = sheet->layer_starts[column->first_layer];
         i < sheet->layer_starts[column->end_layer]; i++) {
        const struct sheet_node *node = &sheet->nodes[sheet->layer_nodes[i]];

        first = fmin(first, node->x - node->width / 2.0);
        last = fmax(last, node->x + node->width / 2.0);
    }
    column->shift = sheet->column_count > 1 ? left - first : 0.0;
    column->right = last + column->shift;
    column->bottom = sheet->layer_tops[column->end_layer - 1] +
                     sheet->layer_heights[column->end_layer - 1];
}

/* Moves a column to its place, with the top of its first layer at `top`. */
static void column_move(struct sheet *sheet, struct sheet_column *column, double top)
{
    double down = top - sheet->layer_tops[column->first_layer];

    for (uint32_t layer = column->first_layer; layer < column->end_layer; layer++) {
        sheet->layer_tops[layer] += down;
        for (uint32_t i = sheet->layer_starts[layer];
             i < sheet->layer_starts[layer + 1]; i++) {
            sheet->nodes[sheet->layer_nodes[i]].x += column->shift;
        }
    }
    column->bottom += down;
}

static void sheet_set_columns(struct sheet *sheet)
{
    double gap = sheet->options->edge_gap;
    double left = 0.0;
    uint32_t tracks = 0; /* of the previous column, at the top of this one */

    for (uint32_t i = 0; i < sheet->column_count; i++) {
        struct sheet_column *column = &sheet->columns[i];

        column_measure(sheet, column, left);
        left = column->right + gap * (column->track_count + 1) +
               fmax(gap, sheet->options->box_gap);
    }
    if (sheet->column_count == 1) {
        return;
    }
    sheet->height = 0.0;
    for (uint32_t i = 0; i < sheet->column_count; i++) {
        struct sheet_column *column = &sheet->columns[i];

        column_move(sheet, column, i == 0 ? 0.0 : gap * (tracks + 2));
        tracks = column->track_count;
        sheet->width = fmax(sheet->width, column->right);
        sheet->height =
            fmax(sheet->height, column->bottom + gap * (column->track_count + 2) *
                                                     (column->track_count > 0));
        if (column->track_count > 0) {
            column_number_tracks(sheet, column);
        }
    }
    sheet->width = sheet->columns[sheet->column_count - 1].right;
}

static bool sheet_stack(struct sheet *sheet)
{
    if (!sheet_stack_layers(sheet) || !sheet_cut(sheet)) {
        return false;
    }
    sheet_set_columns(sheet);
    for (uint32_t i = 0; i < sheet->node_count; i++) {
        struct sheet_node *node = &sheet->nodes[i];
        double free_height = sheet->layer_heights[node->layer] - node->height;

        node->y = sheet->layer_tops[node->layer] + free_height / 2.0;
    }
    return true;
}

/* Routes of links through their lanes. Between layers an edge is a curve with vertical ends;
 * beside the boxes of a layer it is a vertical line. So it crosses no box. */

/* Part of a box's width that is kept free of edges at both ends of its border. */
#define CORNER_SHARE 0.15
/* Distance between two ends at one border, in gaps: room for arrowheads. */
#define END_GAPS 1.4

/* Ends of edges at boxes ------------------------------------------------------------- */

static double
far_end(const struct sheet *sheet, const struct sheet_segment *segment, bool is_bottom)
{
    return is_bottom ? sheet->nodes[segment->lower].x + segment->lower_offset
                     : sheet->nodes[segment->upper].x + segment->upper_offset;
}

/* Places the ends of the segments at one border of a box: where the edges would be straight if
 * possible, in their order and not too close together. Segments to the next column start at the
 * middle. */
static void box_spread_ends(struct sheet *sheet,
                            const struct sheet_lists *lists,
                            uint32_t index,
                            bool is_bottom,
                            bool is_cut)
{
    assert(index < sheet->node_count);

    const struct sheet_node *node = &sheet->nodes[index];
    uint32_t first = lists->starts[index];
    uint32_t count = lists->starts[index + 1] - first;
    double corner = fmin(sheet->options->edge_gap, node->width * CORNER_SHARE);
    double most = fmax(0.0, node->width / 2.0 - node->margin - corner);
    double step =
        count > 1 ? fmin(sheet->options->edge_gap * END_GAPS, 2.0 * most / (count - 1))
                  : 0.0;
    double least = -most;

    if (is_cut && is_bottom) {
        return; /* all segments share one track */
    }

    for (uint32_t i = 0; i < count; i++) {
        struct sheet_segment *segment = &sheet->segments[lists->items[first + i]];
        double *offset = is_bottom ? &segment->upper_offset : &segment->lower_offset;
        double wanted = is_cut ? 0.0 : far_end(sheet, segment, is_bottom) - node->x;

        wanted = fmax(-most, fmin(most, wanted));
        *offset = fmax(wanted, least);
        least = *offset + step;
    }
    for (uint32_t i = count; i-- > 0;) {
        struct sheet_segment *segment = &sheet->segments[lists->items[first + i]];
        double *offset = is_bottom ? &segment->upper_offset : &segment->lower_offset;

        *offset = fmin(*offset, most - step * (count - 1 - i));
    }
}

static bool sheet_spread_ends(struct sheet *sheet)
{
    bool *ends_column = arena_allocate(sheet->arena, sheet->layer_count, sizeof(bool));

    if (ends_column == NULL) {
        return false;
    }
    for (uint32_t layer = 0; layer < sheet->layer_count; layer++) {
        ends_column[layer] = false;
    }
    for (uint32_t i = 0; i + 1 < sheet->column_count; i++) {
        ends_column[sheet->columns[i].end_layer - 1] = true;
    }
    /* Bottoms are first: tops then align with the ends that the edges have there. */
    for (uint32_t i = 0; i < sheet->item_count; i++) {
        if (sheet->nodes[i].kind == SHEET_BOX) {
            box_spread_ends(sheet, &sheet->below, i, true,
                            ends_column[sheet->nodes[i].layer]);
        }
    }
    for (uint32_t i = 0; i < sheet->item_count; i++) {
        uint32_t layer = sheet->nodes[i].layer;

        if (sheet->nodes[i].kind == SHEET_BOX) {
            box_spread_ends(sheet, &sheet->above, i, false,
                            layer > 0 && ends_column[layer - 1]);
        }
    }
    return true;
}

/* Drawing ---------------------------------------------------------------------------- */

/* The column whose last layer is `layer`. NULL: the next layer is in the same column. */
static const struct sheet_column *column_ended_by(const struct sheet *sheet,
                                                  uint32_t layer)
{
    uint32_t low = 0;
    uint32_t high = sheet->column_count;

    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;

        if (sheet->columns[middle].first_layer <= layer) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low + 1 < sheet->column_count && sheet->columns[low].end_layer == layer + 1
               ? &sheet->columns[low]
               : NULL;
}

/* Finds straight runs of lanes, so that long edges are drawn bend by bend, not lane by lane. */
static bool sheet_find_straight(struct sheet *sheet)
{
    sheet->straight_ends = arena_allocate(
        sheet->arena, sheet->node_count - sheet->item_count, sizeof(uint32_t));
    if (sheet->straight_ends == NULL) {
        return false;
    }
    for (uint32_t lane = sheet->node_count; lane-- > sheet->item_count;) {
        const struct sheet_node *node = &sheet->nodes[lane];
        bool is_straight = lane + 1 < sheet->node_count &&
                           node[1].layer == node->layer + 1 && node[1].x == node->x &&
                           column_ended_by(sheet, node->layer) == NULL;

        sheet->straight_ends[lane - sheet->item_count] =
            is_straight ? sheet->straight_ends[lane + 1 - sheet->item_count] : lane;
    }
    return true;
}

/* Draws the way to the next column. Tracks from the left run outside those from the right. */
static void route_change_column(const struct sheet *sheet,
                                struct layout_path *path,
                                const struct sheet_column *column,
                                uint32_t track,
                                double x)
{
    double gap = sheet->options->edge_gap;
    double turn = gap * (column->track_count - track);
    double bottom = column->bottom + turn + gap / 2.0;
    double beside = column->right + turn;
    double end = sheet->layer_tops[column->end_layer];
    double top = end - gap * (track + 1.5);
    struct layout_point start = path_end(path);
    const struct layout_point corners[] = {
        start, {start.x, bottom}, {beside, bottom}, {beside, top}, {x, top}, {x, end}};

    path_bend(path, corners, sizeof corners / sizeof *corners, gap * 0.8);
}

/* Draws a segment, from the end of the path to `x` at the top of the next layer. */
static void route_descend(const struct sheet *sheet,
                          struct layout_path *path,
                          const struct sheet_segment *segment,
                          double x)
{
    uint32_t layer = sheet->nodes[segment->upper].layer;
    const struct sheet_column *column = column_ended_by(sheet, layer);

    path_line(path, path_end(path).x,
              sheet->layer_tops[layer] + sheet->layer_heights[layer]);
    if (column == NULL) {
        path_curve(path, x, sheet->layer_tops[layer + 1]);
    } else {
        route_change_column(sheet, path, column, segment->track, x);
    }
}

/* Draws the lanes from `lane`, at whose top the path ends, to the top of `last`. */
static void route_follow_lanes(const struct sheet *sheet,
                               struct layout_path *path,
                               uint32_t lane,
                               uint32_t last)
{
    while (lane < last) {
        uint32_t straight_end = sheet->straight_ends[lane - sheet->item_count];

        if (straight_end > lane) {
            lane = straight_end < last ? straight_end : last;
            path_line(path, sheet->nodes[lane].x,
                      sheet->layer_tops[sheet->nodes[lane].layer]);
            continue;
        }
        /* All segments that leave a lane are on the same track. */
        route_descend(sheet, path,
                      &sheet->segments[sheet->below.items[sheet->below.starts[lane]]],
                      sheet->nodes[lane + 1].x);
        lane++;
    }
}

static void sheet_route(const struct sheet *sheet,
                        const struct sheet_link *link,
                        struct layout_path *path)
{
    const struct sheet_segment *first = &sheet->segments[link->first_segment];
    const struct sheet_segment *last = &sheet->segments[link->last_segment];
    const struct sheet_node *upper = &sheet->nodes[link->upper];
    const struct sheet_node *lower = &sheet->nodes[link->lower];

    path_begin(path, upper->x + first->upper_offset, upper->y + upper->height);
    if (link->lane_count > 0) {
        route_descend(sheet, path, first, sheet->nodes[link->first_lane].x);
        route_follow_lanes(sheet, path, link->first_lane,
                           link->first_lane + link->lane_count - 1);
    }
    route_descend(sheet, path, last, lower->x + last->lower_offset);
    path_line(path, path_end(path).x, lower->y);
}

static bool level_init(struct level *level, struct layout_plan *plan, uint32_t number)
{
    const uint32_t *things = plan->level_things.starts;
    const uint32_t *ports = plan->level_ports.starts;
    const uint32_t *links = plan->level_links.starts;
    uint32_t item_count = things[number + 1] - things[number];

    *level = (struct level){.plan = plan, .number = number};
    level->group = number == 0 ? NULL : &plan->layout->groups[number - 1];
    level->thing_count = item_count + ports[number + 1] - ports[number];
    level->links = plan->level_links.items + links[number];
    level->link_count = links[number + 1] - links[number];
    level->things =
        arena_allocate(&plan->level_arena, level->thing_count, sizeof *level->things);
    level->numbers =
        arena_allocate(&plan->level_arena, level->thing_count, sizeof *level->numbers);
    if (level->things == NULL || level->numbers == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < level->thing_count; i++) {
        uint32_t thing =
            i < item_count
                ? plan->sorted_things[plan->level_things.items[things[number] + i]]
                : layout_plan_port_thing(
                      plan, plan->level_ports.items[ports[number] + i - item_count]);

        level->things[i] = thing;
        plan->local[thing] = i;
    }
    return true;
}

/* The number in this level of the thing at the end of a link. A port of an inner group counts as
 * that group. */
static uint32_t level_local(const struct level *level, uint32_t thing)
{
    const struct layout_plan *plan = level->plan;
    const struct plan_port *port = layout_plan_port(plan, thing);

    if (port != NULL && group_level(port->group) != level->number) {
        thing = layout_plan_group_thing(plan, port->group);
    }
    return plan->local[thing];
}

/* Pieces ----------------------------------------------------------------------------- */

static uint32_t find_first(uint32_t *firsts, uint32_t i)
{
    while (firsts[i] != i) {
        firsts[i] = firsts[firsts[i]];
        i = firsts[i];
    }
    return i;
}

/* Joins linked things into pieces. The first thing of each piece identifies the piece. */
static void level_join(const struct level *level, uint32_t *firsts)
{
    for (uint32_t i = 0; i < level->thing_count; i++) {
        firsts[i] = i;
    }
    for (uint32_t i = 0; i < level->link_count; i++) {
        const struct plan_link *link = &level->plan->links[level->links[i]];
        uint32_t a = find_first(firsts, level_local(level, link->upper));
        uint32_t b = find_first(firsts, level_local(level, link->lower));

        if (a < b) {
            firsts[b] = a;
        } else {
            firsts[a] = b;
        }
    }
}

static bool level_split(struct level *level)
{
    struct arena *arena = &level->plan->level_arena;
    uint32_t *firsts = arena_allocate(arena, level->thing_count, sizeof *firsts);
    uint32_t *pieces = arena_allocate(arena, level->thing_count, sizeof *pieces);
    uint32_t *link_pieces =
        arena_allocate(arena, level->link_count, sizeof *link_pieces);

    if (firsts == NULL || pieces == NULL || link_pieces == NULL) {
        return false;
    }
    level_join(level, firsts);
    for (uint32_t i = 0; i < level->thing_count; i++) {
        uint32_t first = find_first(firsts, i);

        pieces[i] = first == i ? level->piece_count++ : pieces[first];
    }
    for (uint32_t i = 0; i < level->link_count; i++) {
        const struct plan_link *link = &level->plan->links[level->links[i]];

        link_pieces[i] = pieces[level_local(level, link->upper)];
    }
    level->pieces = arena_allocate(arena, level->piece_count, sizeof *level->pieces);
    return level->pieces != NULL &&
           sheet_lists_make(&level->piece_things, arena, pieces, 1, level->thing_count,
                            level->piece_count) &&
           sheet_lists_make(&level->piece_links, arena, link_pieces, 1,
                            level->link_count, level->piece_count);
}

/* Sheets ----------------------------------------------------------------------------- */

static struct sheet_node level_box_node(const struct layout_plan *plan, uint32_t box)
{
    const struct layout *layout = plan->layout;
    double margin = plan->has_loop[box] ? layout->options.edge_gap * LOOP_GAPS : 0.0;

    return (struct sheet_node){.kind = SHEET_BOX,
                               .width = layout->boxes[box].width + 2.0 * margin,
                               .margin = margin,
                               .height = layout->boxes[box].height};
}

static struct sheet_node level_node(const struct level *level, uint32_t thing)
{
    const struct layout_plan *plan = level->plan;
    const struct layout *layout = plan->layout;
    const struct plan_port *port = layout_plan_port(plan, thing);

    if (port != NULL) {
        return (struct sheet_node){.kind = port->is_entry ? SHEET_ENTRY : SHEET_EXIT};
    }
    if (layout_plan_is_group(plan, thing)) {
        const struct layout_group *group = &layout->groups[thing - layout->box_count];

        return (struct sheet_node){
            .kind = SHEET_GROUP, .width = group->width, .height = group->height};
    }
    return level_box_node(plan, thing);
}

/* The place on a thing at which a link ends, relative to its middle. */
static double level_offset(const struct level *level, uint32_t thing)
{
    const struct layout_plan *plan = level->plan;
    const struct plan_port *port = layout_plan_port(plan, thing);

    if (port == NULL || group_level(port->group) == level->number) {
        return 0.0;
    }
    return port->x - plan->layout->groups[port->group].width / 2.0;
}

static bool sheet_fill(struct sheet *sheet, struct level *level, uint32_t piece)
{
    assert(piece < level->piece_count);

    struct layout_plan *plan = level->plan;
    const uint32_t *things =
        level->piece_things.items + level->piece_things.starts[piece];
    const uint32_t *links = level->piece_links.items + level->piece_links.starts[piece];
    uint32_t last_net = 0;

    sheet->item_count =
        level->piece_things.starts[piece + 1] - level->piece_things.starts[piece];
    sheet->link_count =
        level->piece_links.starts[piece + 1] - level->piece_links.starts[piece];
    sheet->nodes =
        arena_allocate(sheet->arena, sheet->item_count, sizeof *sheet->nodes);
    sheet->links =
        arena_allocate(sheet->arena, sheet->link_count, sizeof *sheet->links);
    if (sheet->nodes == NULL || sheet->links == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < sheet->item_count; i++) {
        uint32_t thing = level->things[things[i]];

        sheet->nodes[i] = level_node(level, thing);
        level->pieces[piece].has_ports |= layout_plan_port(plan, thing) != NULL;
        level->numbers[things[i]] = i;
    }
    for (uint32_t i = 0; i < sheet->link_count; i++) {
        const struct plan_link *link = &plan->links[level->links[links[i]]];

        sheet->net_count += link->net != last_net;
        last_net = link->net;
        sheet->links[i] = (struct sheet_link){
            .upper = level->numbers[level_local(level, link->upper)],
            .lower = level->numbers[level_local(level, link->lower)],
            .net = sheet->net_count - 1,
            .upper_offset = level_offset(level, link->upper),
            .lower_offset = level_offset(level, link->lower)};
    }
    return true;
}

/* Copies places and routes from a finished sheet. */
static void level_keep(struct level *level, uint32_t piece, const struct sheet *sheet)
{
    assert(piece < level->piece_count);

    struct layout_plan *plan = level->plan;
    const uint32_t *things =
        level->piece_things.items + level->piece_things.starts[piece];
    const uint32_t *links = level->piece_links.items + level->piece_links.starts[piece];

    for (uint32_t i = 0; i < sheet->item_count; i++) {
        const struct sheet_node *node = &sheet->nodes[i];

        plan->places[level->things[things[i]]] =
            (struct layout_point){node->x - node->width / 2.0 + node->margin, node->y};
    }
    for (uint32_t i = 0; i < sheet->link_count; i++) {
        struct plan_link *link = &plan->links[level->links[links[i]]];

        link->first_point = plan->path.count;
        sheet_route(sheet, &sheet->links[i], &plan->path);
        link->point_count = plan->path.count - link->first_point;
    }
    level->pieces[piece].width = sheet->width;
    level->pieces[piece].height = sheet->height;
}

static bool level_lay_out_piece(struct level *level, uint32_t piece)
{
    struct layout_plan *plan = level->plan;
    struct sheet sheet = {.options = &plan->layout->options,
                          .arena = &plan->sheet_arena,
                          .column_height = plan->column_height,
                          .row_width = plan->row_width};

    assert(piece < level->piece_count);
    arena_reset(&plan->sheet_arena);
    level->pieces[piece] = (struct piece){0};
    if (!sheet_fill(&sheet, level, piece) || !sheet_make_layers(&sheet) ||
        !sheet_make_segments(&sheet) || !sheet_order(&sheet) || !sheet_place(&sheet) ||
        !sheet_stack(&sheet) || !sheet_find_straight(&sheet) ||
        !sheet_spread_ends(&sheet)) {
        return false;
    }
    level_keep(level, piece, &sheet);
    return !plan->path.has_failed;
}

/* Pieces side by side ---------------------------------------------------------------- */

static void level_move(struct level *level, double right, double down)
{
    struct layout_plan *plan = level->plan;

    for (uint32_t piece = 0; piece < level->piece_count; piece++) {
        double x = level->pieces[piece].x + right;
        double y = level->pieces[piece].y + down;
        const struct sheet_lists *lists = &level->piece_things;

        for (uint32_t i = lists->starts[piece]; i < lists->starts[piece + 1]; i++) {
            struct layout_point *place = &plan->places[level->things[lists->items[i]]];

            place->x += x;
            place->y += y;
        }
        lists = &level->piece_links;
        for (uint32_t i = lists->starts[piece]; i < lists->starts[piece + 1]; i++) {
            const struct plan_link *link = &plan->links[level->links[lists->items[i]]];

            for (size_t k = 0; k < link->point_count; k++) {
                plan->path.points[link->first_point + k].x += x;
                plan->path.points[link->first_point + k].y += y;
            }
        }
    }
}

/* The group around it ---------------------------------------------------------------- */

static int port_compare(const void *left, const void *right)
{
    const struct plan_port *a = *(struct plan_port *const *)left;
    const struct plan_port *b = *(struct plan_port *const *)right;

    if (a->x != b->x) {
        return a->x < b->x ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

/* Writes the group's entries to `entries`, from left to right, and returns their number. */
static uint32_t level_sort_entries(const struct level *level,
                                   struct plan_port **entries)
{
    const struct layout_plan *plan = level->plan;
    uint32_t count = 0;

    for (uint32_t i = 0; i < level->thing_count; i++) {
        struct plan_port *port = layout_plan_port(plan, level->things[i]);

        if (port != NULL) {
            port->x = plan->places[level->things[i]].x;
        }
        if (port != NULL && port->is_entry) {
            entries[count++] = port;
        }
    }
    qsort(entries, count, sizeof *entries, port_compare);
    return count;
}

/* Moves the group's entries to the right of its title, and returns the x of the last one. Their
 * edges return to their old x between title and pieces. */
static double
level_clear_title(struct level *level, struct plan_port **entries, uint32_t entry_count)
{
    const struct layout_group *group = level->group;
    double gap = level->plan->layout->options.edge_gap;
    double least =
        group->title_height > 0.0 ? group->padding + group->title_width + gap : 0.0;

    for (uint32_t i = 0; i < entry_count; i++) {
        entries[i]->x = fmax(entries[i]->x, least);
        least = entries[i]->x + gap;
    }
    return entry_count > 0 ? entries[entry_count - 1]->x : 0.0;
}

static bool level_has_entry(const struct level *level)
{
    for (uint32_t i = 0; i < level->thing_count; i++) {
        const struct plan_port *port = layout_plan_port(level->plan, level->things[i]);

        if (port != NULL && port->is_entry) {
            return true;
        }
    }
    return false;
}

/* Computes the group's size, and moves the pieces and the ports to their places in it. Returns
 * false if memory runs out. */
static bool level_frame(struct level *level, struct layout_point *size)
{
    const struct layout_group *group = level->group;
    double title_width = group->title_height > 0.0 ? group->title_width : 0.0;
    double inside = fmax(level->width, title_width);
    double top = group->padding;
    double right;
    struct plan_port **entries =
        arena_allocate(&level->plan->level_arena, level->thing_count, sizeof *entries);

    if (entries == NULL) {
        return false;
    }
    if (level_has_entry(level)) {
        top = fmax(top, level->plan->layout->options.layer_gap / 2.0);
    }
    top += group->title_height;
    level_move(level, group->padding + (inside - level->width) / 2.0, top);
    right = level_clear_title(level, entries, level_sort_entries(level, entries));
    *size = (struct layout_point){.x = fmax(inside + group->padding, right) +
                                       group->padding,
                                  .y = top + level->height + group->padding};
    return true;
}

bool layout_plan_lay_out_level(struct layout_plan *plan,
                               uint32_t number,
                               struct layout_point *size)
{
    struct level level;

    arena_reset(&plan->level_arena);
    if (!level_init(&level, plan, number) || !level_split(&level)) {
        return false;
    }
    for (uint32_t piece = 0; piece < level.piece_count; piece++) {
        if (!level_lay_out_piece(&level, piece)) {
            return false;
        }
    }
    level_set_pieces(&level);
    if (level.group != NULL) {
        return level_frame(&level, size);
    }
    level_move(&level, 0.0, 0.0);
    *size = (struct layout_point){level.width, level.height};
    return true;
}
