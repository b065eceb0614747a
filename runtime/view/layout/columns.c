/* Gives each layer its y, and cuts what is too high into columns side by side. An edge that
 * goes over to the next column runs below its column, up beside it and in above the next
 * one, each on a track of its own; the tracks are nested so that they do not cross. */
#include "runtime/view/layout/sheet.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A column is cut where few edges run, but not above this part of its height. */
#define EARLIEST_CUT 0.6
/* A sheet is cut where it is higher than a column by this factor. */
#define CUT_FROM 1.2
/* What is left behind a cut is at least this part of what is before it: a single box would not
 * be worth the way round that its edges go. */
#define LEAST_REST 0.35
/* Flat edges get more room: this part of their width, up to so many gaps. */
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

/* The space between a layer and the next. */
static double layer_gap(const struct sheet *sheet, uint32_t layer)
{
    double gap = sheet->options->layer_gap;
    double widest = 0.0;
    bool is_border = false;

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

/* How many places at the bottom of the layer edges go down from: the tracks that a cut
 * needs. */
static uint32_t layer_track_count(const struct sheet *sheet, uint32_t layer)
{
    uint32_t count = 0;

    for (uint32_t i = sheet->layer_starts[layer]; i < sheet->layer_starts[layer + 1];
         i++) {
        uint32_t node = sheet->layer_nodes[i];

        if (sheet->below.starts[node + 1] > sheet->below.starts[node]) {
            count += sheet->nodes[node].bottom_slot_count;
        }
    }
    return count;
}

/* Entries and exits stay with what they lead to. */
static bool layer_may_end_column(const struct sheet *sheet, uint32_t layer)
{
    return layer + 1 < sheet->layer_count && sheet->layer_heights[layer] > 0.0 &&
           sheet->layer_heights[layer + 1] > 0.0;
}

/* The layer after the column that begins with `first`. */
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

/* Setting columns side by side ------------------------------------------------------- */

/* Numbers the tracks to the next column, from the left of the layer's bottom. */
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

/* Moves a column to its place; its first layer's top comes to `top`. */
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
    uint32_t tracks = 0; /* of the column before, which come in at the top */

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

bool sheet_stack(struct sheet *sheet)
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
