/* The table of values in a box. */
#include "runtime/view/picture_table.h"

#include "runtime/trace/sample.h"
#include "runtime/view/number_text.h"
#include "runtime/view/text_width.h"

#include <math.h>

#define CELL_SIZE          7.0
#define CELL_PADDING       3.0
#define CELL_LEAST         17.0
#define LABEL_SIZE         5.5
#define LABEL_HEIGHT       7.5
#define CAPTION_SIZE       6.0
#define CAPTION_HEIGHT     9.0
#define BLOCK_LABEL_HEIGHT 9.0
#define BLOCK_GAP          8.0
/* Between two cells whose indices are not neighbours. */
#define INDEX_GAP 2.0
/* A longer vector is cut into pieces below each other, as wide as possible. */
#define VECTOR_WIDTH_MAX 232.0
#define VECTOR_PIECE     16
/* Wider matrices are shown with fewer columns. */
#define MATRIX_WIDTH_MAX 560.0
/* Where slices are small, others follow beside them: a table wider than high. */
#define BLOCKS_PROPORTION 1.7
/* With more slices each is smaller. */
#define FEW_SLICES       4
#define MANY_SLICES_SIDE 4

static struct text_style cell_style(const struct sheet *sheet)
{
    return (struct text_style){PICTURE_SANS, CELL_SIZE, sheet->palette->text};
}

static struct text_style label_style(const struct sheet *sheet)
{
    return (struct text_style){PICTURE_SANS, LABEL_SIZE, sheet->palette->faint};
}

static struct text_style block_label_style(const struct sheet *sheet)
{
    return (struct text_style){PICTURE_MONO, CAPTION_SIZE, sheet->palette->faint};
}

static struct text_style caption_style(const struct sheet *sheet)
{
    return (struct text_style){PICTURE_SANS, CAPTION_SIZE, sheet->palette->faint};
}

/* ---- which values ---- */

/* What of a sample's grid is shown: positions in its last four dimensions. */
struct selection {
    const struct sample_grid *grid;
    uint32_t counts[4]; /* in the grid: of two leading dimensions, rows, columns */
    int dimensions[4];  /* of the array; -1 where it has none */
    uint32_t slices;
    uint32_t rows;
    uint32_t columns;
};

/* The `index`-th of `wanted` positions out of `count`, the first and the last among them. */
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

static bool grid_is_whole(const struct flow_node *node)
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

static void selection_init(struct selection *selection,
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

/* The sample's position of one value that is shown. */
static size_t selection_find(const struct selection *selection,
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

/* The array's index in one of the four dimensions, of the position in the grid. */
static int64_t
selection_index(const struct selection *selection, int which, uint32_t position)
{
    int dimension = selection->dimensions[which];

    return dimension < 0
               ? 0
               : sample_grid_index(selection->grid, (uint32_t)dimension, position);
}

static int64_t *indices_new(struct sheet *sheet,
                            const struct selection *selection,
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

static bool has_left_out(const struct selection *selection, int which, uint32_t shown)
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
    if (!has_left_out(selection, which, shown)) {
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

static struct slice caption_of(struct sheet *sheet, const struct selection *selection)
{
    struct buffer *text = &sheet->scratch;
    bool is_vector = selection->grid->dimension_count == 1;

    text->size = 0;
    caption_part(text, selection, 2, selection->rows, SLICE(" rows"));
    caption_part(text, selection, 3, selection->columns,
                 is_vector ? SLICE(" values") : SLICE(" columns"));
    caption_slices(text, selection);
    if (selection->grid->dimension_count > 4) {
        buffer_add(text, text->size > 0 ? SLICE("; the middle of the first ")
                                        : SLICE("the middle of the first "));
        buffer_add_number(text, selection->grid->dimension_count - 4);
        buffer_add(text, selection->grid->dimension_count == 5 ? SLICE(" dimension")
                                                               : SLICE(" dimensions"));
    }
    return sheet_keep(sheet);
}

/* ---- blocks ---- */

static struct slice
slice_label(struct sheet *sheet, const struct selection *selection, uint32_t slice)
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

/* Cells of all slices, row by row; NULL where memory ran out. */
static struct table_cell *cells_new(struct sheet *sheet,
                                    const struct selection *selection,
                                    const struct flow_node *node)
{
    struct arena *arena = &sheet->picture->arena;
    size_t count = (size_t)selection->slices * selection->rows * selection->columns;
    struct table_cell *cells = arena_allocate(arena, count, sizeof *cells);
    const char **values = arena_allocate(arena, count, sizeof *values);
    size_t size = dtype_size(node->dtype);
    size_t next = 0;

    if (cells == NULL || values == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < selection->slices; i++) {
        for (uint32_t row = 0; row < selection->rows; row++) {
            for (uint32_t column = 0; column < selection->columns; column++) {
                values[next++] = (const char *)node->sample +
                                 selection_find(selection, i, row, column) * size;
            }
        }
    }
    cells_fill(sheet, node->dtype, values, cells, count);
    return cells;
}

static double
widest_cell(struct sheet *sheet, const struct table_cell *cells, size_t count)
{
    struct text_style style = cell_style(sheet);
    double widest = CELL_LEAST;

    for (size_t i = 0; i < count; i++) {
        style.face = cells[i].mark == TABLE_NUMBER ? PICTURE_SANS : PICTURE_SANS_BOLD;
        widest = fmax(widest, style_width(style, cells[i].text) + 2 * CELL_PADDING);
    }
    return ceil(widest);
}

/* A matrix or its slices. */
static bool blocks_of_slices(struct table *table,
                             struct sheet *sheet,
                             const struct selection *selection,
                             const struct table_cell *cells)
{
    struct table_block *blocks =
        arena_allocate(&sheet->picture->arena, selection->slices, sizeof *blocks);

    if (blocks == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < selection->slices; i++) {
        blocks[i] = (struct table_block){
            .label = slice_label(sheet, selection, i),
            .rows = selection->rows,
            .columns = selection->columns,
            .cells = cells + (size_t)i * selection->rows * selection->columns,
        };
    }
    table->blocks = blocks;
    table->block_count = selection->slices;
    table->has_block_labels = selection->grid->dimension_count > 2;
    return true;
}

/* A vector: pieces of equal length below each other. */
static bool blocks_of_vector(struct table *table,
                             struct sheet *sheet,
                             const struct selection *selection,
                             const struct table_cell *cells)
{
    uint32_t count = selection->columns;
    uint32_t longest = (uint32_t)fmax(1, VECTOR_WIDTH_MAX / table->cell_width);
    uint32_t pieces;
    uint32_t length;
    struct table_block *blocks;

    longest = smaller(longest, VECTOR_PIECE);
    pieces = (count + longest - 1) / longest;
    length = (count + pieces - 1) / pieces;
    pieces = (count + length - 1) / length;
    blocks = arena_allocate(&sheet->picture->arena, pieces, sizeof *blocks);
    if (blocks == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < pieces; i++) {
        blocks[i] = (struct table_block){
            .label = SLICE(""),
            .rows = 1,
            .columns = smaller(length, count - i * length),
            .first_column = i * length,
            .cells = cells + (size_t)i * length,
        };
    }
    table->blocks = blocks;
    table->block_count = pieces;
    table->has_column_labels = table->has_column_labels || pieces > 1;
    return true;
}

/* ---- sizes ---- */

static double gap_before(const int64_t *index, uint32_t at)
{
    return at > 0 && index[at] != index[at - 1] + 1 ? INDEX_GAP : 0;
}

static double
length_of(const int64_t *index, uint32_t first, uint32_t count, double each)
{
    double length = each * count;

    for (uint32_t i = 1; i < count; i++) {
        length += gap_before(index + first, i);
    }
    return length;
}

static double
widest_index(struct text_style style, const int64_t *index, uint32_t count)
{
    double widest = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct buffer text = BUFFER_INIT;

        integer_add(&text, index[i]);
        widest = fmax(widest, style_width(style, buffer_slice(&text)));
        buffer_release(&text);
    }
    return widest;
}

static void table_measure(struct table *table, struct sheet *sheet, bool is_vector)
{
    const struct table_block *first = &table->blocks[0];
    uint32_t down;

    table->label_width =
        table->has_row_labels
            ? widest_index(label_style(sheet), table->row_index, first->rows) + 3
            : 0;
    table->block_width = 0;
    for (uint32_t i = 0; i < (is_vector ? table->block_count : 1); i++) {
        const struct table_block *block = &table->blocks[i];

        table->block_width = fmax(
            table->block_width,
            table->label_width + length_of(table->column_index, block->first_column,
                                           block->columns, table->cell_width));
    }
    table->block_height =
        length_of(table->row_index, 0, first->rows, TABLE_CELL_HEIGHT) +
        (table->has_block_labels ? BLOCK_LABEL_HEIGHT : 0) +
        (table->has_column_labels ? LABEL_HEIGHT : 0);
    for (uint32_t i = 0; table->has_block_labels && i < table->block_count; i++) {
        table->block_width =
            fmax(table->block_width,
                 style_width(block_label_style(sheet), table->blocks[i].label));
    }
    table->blocks_across = 1;
    while (!is_vector && table->blocks_across < table->block_count) {
        down = (table->block_count + table->blocks_across - 1) / table->blocks_across;
        if (table->block_width * table->blocks_across >=
            BLOCKS_PROPORTION * table->block_height * down * 0.75) {
            break;
        }
        table->blocks_across++;
    }
    down = (table->block_count + table->blocks_across - 1) / table->blocks_across;
    table->width = table->block_width * table->blocks_across +
                   BLOCK_GAP * (table->blocks_across - 1);
    table->height = table->block_height * down +
                    (is_vector ? 2.0 : BLOCK_GAP) * (down - 1) +
                    (table->caption.size > 0 ? CAPTION_HEIGHT : 0);
    table->width =
        fmax(table->width, style_width(caption_style(sheet), table->caption));
}

void table_prepare(struct table *table,
                   struct sheet *sheet,
                   const struct flow_node *node,
                   const struct table_limits *limits)
{
    struct selection selection;
    const struct table_cell *cells;
    bool is_vector = node->grid.dimension_count == 1;
    size_t count;

    *table = (struct table){0};
    if (limits->vector == 0 || !grid_is_whole(node)) {
        return;
    }
    selection_init(&selection, &node->grid, limits);
    cells = cells_new(sheet, &selection, node);
    while (cells != NULL) {
        count = (size_t)selection.slices * selection.rows * selection.columns;
        table->cell_width = widest_cell(sheet, cells, count);
        if (is_vector || selection.columns <= 2 ||
            table->cell_width * selection.columns <= MATRIX_WIDTH_MAX) {
            break;
        }
        selection.columns = (selection.columns + 1) / 2;
        cells = cells_new(sheet, &selection, node);
    }
    table->row_index = indices_new(sheet, &selection, 2, selection.rows);
    table->column_index = indices_new(sheet, &selection, 3, selection.columns);
    if (cells == NULL || table->row_index == NULL || table->column_index == NULL) {
        *table = (struct table){0};
        return;
    }
    table->has_row_labels = has_left_out(&selection, 2, selection.rows);
    table->has_column_labels = has_left_out(&selection, 3, selection.columns);
    table->caption = caption_of(sheet, &selection);
    if (is_vector ? !blocks_of_vector(table, sheet, &selection, cells)
                  : !blocks_of_slices(table, sheet, &selection, cells)) {
        *table = (struct table){0};
        return;
    }
    table_measure(table, sheet, is_vector);
}

/* ---- drawing ---- */

/* Small values keep the card's colour; the middle of the scale is lifted a little, so that
 * the order of values is seen. */
static uint32_t tint(const struct picture_palette *palette, double part)
{
    double strength = pow(fabs(part), 0.8);

    return color_mix(palette->card, part < 0 ? palette->negative : palette->positive,
                     strength);
}

void table_draw_cell(struct sheet *sheet,
                     const struct table_cell *cell,
                     double x,
                     double y,
                     double width)
{
    const struct picture_palette *palette = sheet->palette;
    struct text_style style = cell_style(sheet);
    struct picture_item *item = sheet_rectangle(sheet, x, y, width, TABLE_CELL_HEIGHT);

    item->stroke = palette->cell_border;
    item->stroke_width = 0.4;
    item->fill = tint(palette, cell->part);
    if (cell->mark == TABLE_NAN) {
        item->fill = palette->alarm;
        item->stroke = palette->alarm;
        style.color = palette->on_alarm;
        style.face = PICTURE_SANS_BOLD;
    } else if (cell->mark == TABLE_INFINITE) {
        item->fill = palette->card;
        item->stroke = palette->alarm;
        /* The border is inside the cell, so that none beside it hides it. */
        item->stroke_width = 1.4;
        item->x += 0.9;
        item->y += 0.9;
        item->width -= 1.8;
        item->height -= 1.8;
        style.color = palette->alarm;
        style.face = PICTURE_SANS_BOLD;
    }
    sheet_text(sheet, style, x + width - CELL_PADDING - style_width(style, cell->text),
               y + TABLE_CELL_HEIGHT - 3.1, cell->text);
}

static void draw_index(
    struct sheet *sheet, int64_t index, double x, double baseline, bool is_centered)
{
    struct text_style style = label_style(sheet);
    struct slice text;
    double width;

    sheet->scratch.size = 0;
    integer_add(&sheet->scratch, index);
    text = sheet_keep(sheet);
    width = style_width(style, text);
    sheet_text(sheet, style, is_centered ? x - width / 2 : x - width, baseline, text);
}

static void draw_column_labels(const struct table *table,
                               struct sheet *sheet,
                               const struct table_block *block,
                               double x,
                               double y)
{
    const int64_t *index = table->column_index + block->first_column;

    for (uint32_t i = 0; i < block->columns; i++) {
        x += gap_before(index, i);
        draw_index(sheet, index[i], x + table->cell_width / 2, y + LABEL_HEIGHT - 2,
                   true);
        x += table->cell_width;
    }
}

static void draw_block(const struct table *table,
                       struct sheet *sheet,
                       const struct table_block *block,
                       double x,
                       double y)
{
    const struct table_cell *cell = block->cells;
    const int64_t *columns = table->column_index + block->first_column;

    if (table->has_block_labels) {
        sheet_text(sheet, block_label_style(sheet), x, y + BLOCK_LABEL_HEIGHT - 3,
                   block->label);
        y += BLOCK_LABEL_HEIGHT;
    }
    if (table->has_column_labels) {
        draw_column_labels(table, sheet, block, x + table->label_width, y);
        y += LABEL_HEIGHT;
    }
    for (uint32_t row = 0; row < block->rows; row++) {
        double at = x + table->label_width;

        y += gap_before(table->row_index, row);
        if (table->has_row_labels) {
            draw_index(sheet, table->row_index[row], at - 3,
                       y + TABLE_CELL_HEIGHT / 2 + LABEL_SIZE * 0.36, false);
        }
        for (uint32_t column = 0; column < block->columns; column++) {
            at += gap_before(columns, column);
            table_draw_cell(sheet, cell++, at, y, table->cell_width);
            at += table->cell_width;
        }
        y += TABLE_CELL_HEIGHT;
    }
}

void table_draw(const struct table *table, struct sheet *sheet, double x, double y)
{
    double gap = table->blocks[0].label.size > 0 ? BLOCK_GAP : 2.0;
    double caption = y + table->height - 2;

    for (uint32_t i = 0; i < table->block_count; i++) {
        uint32_t across = i % table->blocks_across;
        uint32_t down = i / table->blocks_across;

        draw_block(table, sheet, &table->blocks[i],
                   x + across * (table->block_width + BLOCK_GAP),
                   y + down * (table->block_height + gap));
    }
    sheet_text(sheet, caption_style(sheet), x, caption, table->caption);
}
