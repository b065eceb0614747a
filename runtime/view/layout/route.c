/* Draws the route of a link through its lanes. Between layers an edge is a curve that
 * begins and ends upright; beside the boxes of a layer it is an upright line: so it meets
 * no box. */
#include "runtime/view/layout/path.h"
#include "runtime/view/layout/sheet.h"

#include <math.h>

/* Of a box's width, kept free of edges at both ends of its border. */
#define CORNER_SHARE 0.15
/* Between two ends at the same border: room for arrowheads. */
#define END_GAPS 1.4

/* Where edges leave and enter boxes -------------------------------------------------- */

static double
far_end(const struct sheet *sheet, const struct sheet_segment *segment, bool is_bottom)
{
    return is_bottom ? sheet->nodes[segment->lower].x + segment->lower_offset
                     : sheet->nodes[segment->upper].x + segment->upper_offset;
}

/* Puts the ends of the segments at one border of a box where the edges run straight if they
 * can, in their order and not too near to each other. Segments that leave for the next
 * column go from the middle. */
static void box_spread_ends(struct sheet *sheet,
                            const struct sheet_lists *lists,
                            uint32_t index,
                            bool is_bottom,
                            bool is_cut)
{
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
        return; /* all go on one track */
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

bool sheet_spread_ends(struct sheet *sheet)
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
    /* Bottoms first: tops then follow where the edges really come from. */
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

/* The column that `layer` is the last of, NULL where the next layer is in the same one. */
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

/* Long edges are drawn by their bends, not lane by lane. */
bool sheet_find_straight(struct sheet *sheet)
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

/* Over to the next column. Tracks from the left go round those from the right. */
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

/* Down a segment, from where the path ends to `x` at the top of the next layer. */
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

/* Down the lanes from `lane`, at whose top the path ends, to the top of `last`. */
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
        /* All that leaves a lane is on the same track. */
        route_descend(sheet, path,
                      &sheet->segments[sheet->below.items[sheet->below.starts[lane]]],
                      sheet->nodes[lane + 1].x);
        lane++;
    }
}

void sheet_route(const struct sheet *sheet,
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
