/* The selection of a sample's values that a table shows. */
#include "runtime/view/picture/box/table.h"

#include "runtime/array/sample.h"
#include "runtime/view/words/number_text.h"

/* Above FEW_SLICES slices, each has at most MANY_SLICES_SIDE rows and columns. */
#define FEW_SLICES       4
#define MANY_SLICES_SIDE 4

/* The `index`-th of `wanted` positions that are spread evenly over `count`, including the first
 * and the last. */
static uint32_t spread(uint32_t index, uint32_t wanted, uint32_t count)
{
    return wanted <= 1 ? 0
                       : (uint32_t)(((uint64_t)index * (count - 1) * 2 + wanted - 1) /
                                    ((uint64_t)(wanted - 1) * 2));
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

bool grid_is_whole(const struct flow_node *node)
{
    const struct sample_grid *grid = &node->grid;
    uint64_t count = 1;

    if (node->sample == NULL || grid->count == 0 || dtype_size(node->dtype) == 0 ||
        dtype_class(node->dtype) == DTYPE_CLASS_OPAQUE ||
        grid->dimension_count > ARRAY_DIMENSION_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < grid->dimension_count; i++) {
        if (grid->counts[i] == 0 || grid->shape == NULL ||
            __builtin_mul_overflow(count, grid->counts[i], &count)) {
            return false;
        }
    }
    return count == grid->count;
}

void selection_init(struct selection *selection,
                    const struct sample_grid *grid,
                    const struct table_limits *limits)
{
    int count = (int)grid->dimension_count;
    uint32_t side = limits->matrix;

    *selection = (struct selection){.grid = grid};
    for (int i = 0; i < 4; i++) {
        int dimension = count - 4 + i;

        selection->dimensions[i] = dimension >= 0 ? dimension : -1;
        selection->counts[i] = dimension >= 0 ? grid->counts[dimension] : 1;
    }
    selection->slices = smaller(selection->counts[0] * selection->counts[1],
                                limits->slices < 1 ? 1 : limits->slices);
    if (selection->slices > FEW_SLICES) {
        side = smaller(side, MANY_SLICES_SIDE);
    }
    side = count == 1 ? limits->vector : side;
    side = side < 1 ? 1 : side;
    selection->rows = smaller(selection->counts[2], side);
    selection->columns = smaller(selection->counts[3], side);
}

size_t selection_find(const struct selection *selection,
                      uint32_t slice,
                      uint32_t row,
                      uint32_t column)
{
    size_t leading =
        spread(slice, selection->slices, selection->counts[0] * selection->counts[1]);

    row = spread(row, selection->rows, selection->counts[2]);
    column = spread(column, selection->columns, selection->counts[3]);
    return (leading * selection->counts[2] + row) * selection->counts[3] + column;
}

/* The array's index, in one of the four dimensions, of a position in the grid. */
static int64_t
selection_index(const struct selection *selection, int which, uint32_t position)
{
    int dimension = selection->dimensions[which];

    return dimension < 0
               ? 0
               : sample_grid_index(selection->grid, (uint32_t)dimension, position);
}

int64_t *selection_indices(const struct selection *selection,
                           struct sheet *sheet,
                           int which,
                           uint32_t wanted)
{
    int64_t *indices = arena_allocate(&sheet->picture->arena, wanted, sizeof *indices);

    for (uint32_t i = 0; indices != NULL && i < wanted; i++) {
        indices[i] = selection_index(selection, which,
                                     spread(i, wanted, selection->counts[which]));
    }
    return indices;
}

bool selection_leaves_out(const struct selection *selection, int which, uint32_t shown)
{
    int dimension = selection->dimensions[which];

    return dimension >= 0 && selection->grid->shape[dimension] != (int64_t)shown;
}

/* ---- the caption ---- */

static void caption_part(struct buffer *text,
                         const struct selection *selection,
                         int which,
                         uint32_t shown,
                         struct slice noun)
{
    if (!selection_leaves_out(selection, which, shown)) {
        return;
    }
    if (text->size > 0) {
        buffer_add(text, SLICE(", "));
    }
    buffer_add_number(text, shown);
    buffer_add(text, SLICE(" of "));
    integer_add(text, selection->grid->shape[selection->dimensions[which]]);
    buffer_add(text, noun);
}

static void caption_slices(struct buffer *text, const struct selection *selection)
{
    const struct sample_grid *grid = selection->grid;
    int64_t all = 1;

    for (int i = 0; i < 2; i++) {
        if (selection->dimensions[i] >= 0 &&
            __builtin_mul_overflow(all, grid->shape[selection->dimensions[i]], &all)) {
            return;
        }
    }
    if (all == (int64_t)selection->slices) {
        return;
    }
    if (text->size > 0) {
        buffer_add(text, SLICE(", "));
    }
    buffer_add_number(text, selection->slices);
    buffer_add(text, SLICE(" of "));
    integer_add(text, all);
    buffer_add(text, SLICE(" slices"));
}

struct slice selection_caption(const struct selection *selection, struct sheet *sheet)
{
    struct buffer *text = &sheet->scratch;
    bool is_vector = selection->grid->dimension_count == 1;

    text->size = 0;
    caption_part(text, selection, 2, selection->rows, SLICE(" rows"));
    caption_part(text, selection, 3, selection->columns,
                 is_vector ? SLICE(" values") : SLICE(" columns"));
    caption_slices(text, selection);
    if (selection->grid->dimension_count > 4) {
        buffer_add(text, text->size > 0 ? SLICE("; ") : SLICE(""));
        buffer_add(text, SLICE("the middle of the first "));
        if (selection->grid->dimension_count > 5) {
            buffer_add_number(text, selection->grid->dimension_count - 4);
            buffer_add(text, SLICE(" dimensions"));
        } else {
            buffer_add(text, SLICE("dimension"));
        }
    }
    return sheet_keep(sheet);
}

struct slice
selection_label(const struct selection *selection, struct sheet *sheet, uint32_t slice)
{
    struct buffer *text = &sheet->scratch;
    uint32_t all = selection->counts[0] * selection->counts[1];
    uint32_t at = spread(slice, selection->slices, all);
    uint32_t leading = selection->grid->dimension_count;

    text->size = 0;
    if (leading < 3) {
        return SLICE("");
    }
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i + 2 < leading; i++) {
        uint32_t position = i + 3 == leading   ? at % selection->counts[1]
                            : i + 4 == leading ? at / selection->counts[1]
                                               : 0;

        if (i > 0) {
            buffer_add_byte(text, ',');
        }
        integer_add(text, sample_grid_index(selection->grid, i, position));
    }
    buffer_add_byte(text, ']');
    return sheet_keep(sheet);
}
