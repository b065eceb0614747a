/* Rows: places the finished pieces of a level. */
#include "runtime/view/layout/plan.h"

#include <math.h>

/* Rows are wider by this factor than the page's proportion requires, because the last row is
 * seldom full. */
#define ROW_SLACK   1.1
#define STACK_SLACK 1.15

/* The greatest width of a row of pieces that have no ports. */
static double level_row_width(const struct level *level)
{
    const struct layout_options *options = &level->plan->layout->options;
    double proportion = options->proportion > 0.0 ? options->proportion : 1.0;
    double area = 0.0;
    double widest = 0.0;

    for (uint32_t i = 0; i < level->piece_count; i++) {
        const struct piece *piece = &level->pieces[i];

        if (!piece->has_ports) {
            area += (piece->width + options->box_gap) *
                    (piece->height + options->layer_gap);
            widest = fmax(widest, piece->width);
        }
    }
    return fmax(widest, sqrt(area / proportion) * ROW_SLACK);
}

/* The place of the next piece. A row consists of stacks, which are no higher than the row. */
struct stacking {
    double row_top;
    double row_height;
    double x; /* of the stack that is being filled */
    double width;
    double bottom; /* lower end of the stack's contents */
};

static void stacking_put(struct stacking *stacking,
                         struct piece *piece,
                         const struct layout_options *options,
                         double row_width)
{
    double below = stacking->bottom + options->layer_gap;

    /* The last stack may grow wider, even a little too wide, because nothing is right of it yet. */
    if (stacking->width > 0.0 &&
        stacking->x + piece->width <=
            fmax(stacking->x + stacking->width, row_width * STACK_SLACK) &&
        below + piece->height <= stacking->row_top + stacking->row_height) {
        piece->x = stacking->x;
        piece->y = below;
        stacking->bottom = below + piece->height;
        stacking->width = fmax(stacking->width, piece->width);
        return;
    }
    if (stacking->width > 0.0) {
        stacking->x += stacking->width + options->box_gap;
    }
    if (stacking->x > 0.0 && stacking->x + piece->width > row_width) {
        stacking->row_top += stacking->row_height + options->layer_gap;
        stacking->row_height = 0.0;
        stacking->x = 0.0;
    }
    piece->x = stacking->x;
    piece->y = stacking->row_top;
    stacking->width = piece->width;
    stacking->bottom = piece->y + piece->height;
    stacking->row_height = fmax(stacking->row_height, piece->height);
}

void level_set_pieces(struct level *level)
{
    const struct layout_options *options = &level->plan->layout->options;
    double row_width = level_row_width(level);
    struct stacking stacking = {0};
    double with_ports = 0.0; /* widths of the pieces with ports and of the others */
    double without = 0.0;

    for (uint32_t i = 0; i < level->piece_count; i++) {
        struct piece *piece = &level->pieces[i];

        if (piece->has_ports) {
            piece->x = with_ports;
            with_ports += piece->width + options->box_gap;
        } else {
            stacking_put(&stacking, piece, options, row_width);
            without = fmax(without, piece->x + piece->width + options->box_gap);
        }
    }
    for (uint32_t i = 0; i < level->piece_count; i++) {
        struct piece *piece = &level->pieces[i];

        if (piece->has_ports != level->pieces[0].has_ports) {
            piece->x += piece->has_ports ? without : with_ports;
        }
        level->height = fmax(level->height, piece->y + piece->height);
        level->width = fmax(level->width, piece->x + piece->width);
    }
}
