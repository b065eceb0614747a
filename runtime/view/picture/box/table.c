/* The table of a box: its cells, their size and places, and how it is drawn. */
#include "runtime/view/picture/box/table.h"

#include "runtime/array/sample.h"
#include "runtime/view/words/number_text.h"

#include <float.h>
#include <math.h>

/* Values as the texts of a table's cells. */

#define SIGNIFICANT 3 /* digits of the largest number that is shown */
/* Numbers between these two are written without an exponent. */
#define PLAIN_LEAST 1e-3
#define PLAIN_MOST  1e5

struct cell_form {
    double largest;   /* finite magnitude */
    bool is_whole;    /* all finite numbers are integers */
    bool is_fixed;    /* all have the same number of digits after the point */
    int digits_after; /* the point */
};

static double magnitude(const struct dtype_value *value)
{
    switch (value->class) {
    case DTYPE_CLASS_SIGNED:
        return fabs((double)value->integer);
    case DTYPE_CLASS_UNSIGNED:
        return (double)value->natural;
    case DTYPE_CLASS_FLOATING:
        return fabs(value->real);
    case DTYPE_CLASS_COMPLEX:
        /* The magnitude may overflow though both parts are finite. */
        return fmin(hypot(value->real, value->imaginary), DBL_MAX);
    case DTYPE_CLASS_OPAQUE:
        break;
    }
    return 0;
}

static enum table_mark mark_of(const struct dtype_value *value)
{
    if (value->class != DTYPE_CLASS_FLOATING && value->class != DTYPE_CLASS_COMPLEX) {
        return TABLE_NUMBER;
    }
    /* As in the statistics, a complex number with an infinite part is infinite. */
    if (isinf(value->real) || isinf(value->imaginary)) {
        return TABLE_INFINITE;
    }
    return isnan(value->real) || isnan(value->imaginary) ? TABLE_NAN : TABLE_NUMBER;
}

static bool is_whole(const struct dtype_value *value)
{
    return floor(value->real) == value->real &&
           floor(value->imaginary) == value->imaginary;
}

static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};

/* The number of digits after the point that makes SIGNIFICANT digits in all. */
static int digits_after(double largest)
{
    int digits = SIGNIFICANT - 1;

    while (largest < 1) {
        largest *= 10;
        digits++;
    }
    for (; largest >= 10 && digits > 0; digits--) {
        largest /= 10;
    }
    return digits;
}

/* Finds the form that all cells share: as many digits after the point as the largest value
 * needs. */
static struct cell_form
form_find(enum dtype dtype, const char *const *values, size_t count)
{
    struct cell_form form = {.is_whole = true};

    for (size_t i = 0; i < count; i++) {
        struct dtype_value value = dtype_read(dtype, values[i]);

        if (mark_of(&value) != TABLE_NUMBER) {
            continue;
        }
        form.largest = fmax(form.largest, magnitude(&value));
        form.is_whole = form.is_whole && is_whole(&value);
    }
    form.is_whole = form.is_whole && form.largest < PLAIN_MOST * 10;
    form.is_fixed = form.largest >= PLAIN_LEAST && form.largest < PLAIN_MOST;
    if (form.is_fixed) {
        form.digits_after = digits_after(form.largest);
    }
    return form;
}

/* Adds `number` with a fixed number of digits after the point, independent of the locale. */
static void fixed_add(struct buffer *text, double number, int digits_after)
{
    uint64_t scaled = (uint64_t)llround(fabs(number) * powers[digits_after]);
    uint64_t power = (uint64_t)powers[digits_after];

    if (number < 0) {
        buffer_add_byte(text, '-');
    }
    buffer_add_number(text, scaled / power);
    if (digits_after > 0) {
        buffer_add_byte(text, '.');
        for (uint64_t unit = power / 10; unit > 0; unit /= 10) {
            buffer_add_byte(text, (char)('0' + scaled / unit % 10));
        }
    }
}

static void real_add(struct buffer *text, double number, const struct cell_form *form)
{
    if (!isfinite(number)) {
        real_add_short(text, number, SIGNIFICANT);
    } else if (number == 0) {
        buffer_add(text, signbit(number) ? SLICE("-0") : SLICE("0"));
    } else if (form->is_whole) {
        integer_add(text, (int64_t)number);
    } else if (!form->is_fixed) {
        real_add_short(text, number, SIGNIFICANT);
    } else if (fabs(number) * powers[form->digits_after] < 0.5) {
        /* With the fixed digits it would be written as 0. */
        real_add_short(text, number, 1);
    } else {
        fixed_add(text, number, form->digits_after);
    }
}

static void complex_add(struct buffer *text,
                        const struct dtype_value *value,
                        const struct cell_form *form)
{
    real_add(text, value->real, form);
    /* The text of an infinity has its own sign. */
    if (isnan(value->imaginary) ||
        (isfinite(value->imaginary) && !signbit(value->imaginary))) {
        buffer_add_byte(text, '+');
    }
    real_add(text, value->imaginary, form);
    buffer_add_byte(text, 'j');
}

static void value_add(struct buffer *text,
                      enum dtype dtype,
                      const struct dtype_value *value,
                      const struct cell_form *form)
{
    if (dtype == DTYPE_BOOL) {
        buffer_add(text, value->natural != 0 ? SLICE("True") : SLICE("False"));
        return;
    }
    switch (value->class) {
    case DTYPE_CLASS_SIGNED:
        integer_add(text, value->integer);
        return;
    case DTYPE_CLASS_UNSIGNED:
        buffer_add_number(text, value->natural);
        return;
    case DTYPE_CLASS_FLOATING:
        real_add(text, value->real, form);
        return;
    case DTYPE_CLASS_COMPLEX:
        complex_add(text, value, form);
        return;
    case DTYPE_CLASS_OPAQUE:
        return;
    }
}

static bool is_negative(const struct dtype_value *value)
{
    return value->class == DTYPE_CLASS_SIGNED     ? value->integer < 0
           : value->class == DTYPE_CLASS_FLOATING ? value->real < 0
                                                  : false;
}

void cells_fill(struct sheet *sheet,
                enum dtype dtype,
                const char *const *values,
                struct table_cell *cells,
                size_t count)
{
    struct cell_form form = form_find(dtype, values, count);

    for (size_t i = 0; i < count; i++) {
        struct dtype_value value = dtype_read(dtype, values[i]);
        struct table_cell *cell = &cells[i];

        *cell = (struct table_cell){.mark = mark_of(&value)};
        /* A single value would always have the full tint, so it has none. */
        if (cell->mark == TABLE_NUMBER && form.largest > 0 && count > 1) {
            cell->part = magnitude(&value) / form.largest;
            cell->part = is_negative(&value) ? -cell->part : cell->part;
        }
        sheet->scratch.size = 0;
        value_add(&sheet->scratch, dtype, &value, &form);
        cell->text = sheet_keep(sheet);
    }
}

/* ---- Drawing ---- */

#define CELL_SIZE  7.0
#define INDEX_SIZE 5.5
#define BLOCK_SIZE 6.0
/* The gap between two cells whose indices are not neighbours. */
#define INDEX_GAP 2.0

static struct text_style table_style(const struct sheet *sheet,
                                     enum table_style_kind kind)
{
    const struct picture_palette *palette = sheet->palette;

    switch (kind) {
    case TABLE_STYLE_INDEX:
        return (struct text_style){PICTURE_SANS, INDEX_SIZE, palette->faint};
    case TABLE_STYLE_BLOCK:
        return (struct text_style){PICTURE_MONO, BLOCK_SIZE, palette->faint};
    case TABLE_STYLE_CAPTION:
        return (struct text_style){PICTURE_SANS, BLOCK_SIZE, palette->faint};
    case TABLE_STYLE_CELL:
        break;
    }
    return (struct text_style){PICTURE_SANS, CELL_SIZE, palette->text};
}

/* The gap before a cell: wider where indices were left out before it. */
static double table_gap_before(const int64_t *index, uint32_t at)
{
    return at > 0 && index[at] != index[at - 1] + 1 ? INDEX_GAP : 0;
}

/* The tint of a cell. Small values keep the card's colour; the middle of the scale is raised a
 * little, so that the order of values stays visible. Only multiplication is used, so every
 * machine computes the same colour. */
static uint32_t tint(const struct picture_palette *palette, double part)
{
    double size = fabs(part);

    return color_mix(palette->card, part < 0 ? palette->negative : palette->positive,
                     size * (1.3 - 0.3 * size));
}

void table_draw_cell(struct sheet *sheet,
                     const struct table_cell *cell,
                     double x,
                     double y,
                     double width)
{
    const struct picture_palette *palette = sheet->palette;
    struct text_style style = table_style(sheet, TABLE_STYLE_CELL);
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
        /* The border lies inside the cell, so that neighbours do not cover it. */
        item->stroke_width = 1.4;
        item->x += 0.9;
        item->y += 0.9;
        item->width -= 1.8;
        item->height -= 1.8;
        style.color = palette->alarm;
        style.face = PICTURE_SANS_BOLD;
    }
    sheet_text(sheet, style,
               x + width - TABLE_CELL_PADDING - style_width(style, cell->text),
               y + TABLE_CELL_HEIGHT - 3.1, cell->text);
}

static void draw_index(
    struct sheet *sheet, int64_t index, double x, double baseline, bool is_centered)
{
    struct text_style style = table_style(sheet, TABLE_STYLE_INDEX);
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
        x += table_gap_before(index, i);
        draw_index(sheet, index[i], x + table->cell_width / 2,
                   y + TABLE_LABEL_HEIGHT - 2, true);
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
        sheet_text(sheet, table_style(sheet, TABLE_STYLE_BLOCK), x,
                   y + TABLE_BLOCK_LABEL_HEIGHT - 3, block->label);
        y += TABLE_BLOCK_LABEL_HEIGHT;
    }
    if (table->has_column_labels) {
        draw_column_labels(table, sheet, block, x + table->label_width, y);
        y += TABLE_LABEL_HEIGHT;
    }
    for (uint32_t row = 0; row < block->rows; row++) {
        double at = x + table->label_width;

        y += table_gap_before(table->row_index, row);
        if (table->has_row_labels) {
            draw_index(sheet, table->row_index[row], at - 3,
                       y + TABLE_CELL_HEIGHT / 2 + INDEX_SIZE * 0.36, false);
        }
        for (uint32_t column = 0; column < block->columns; column++) {
            at += table_gap_before(columns, column);
            table_draw_cell(sheet, cell++, at, y, table->cell_width);
            at += table->cell_width;
        }
        y += TABLE_CELL_HEIGHT;
    }
}

void table_draw(const struct table *table, struct sheet *sheet, double x, double y)
{
    double caption = y + table->height - 2;

    for (uint32_t i = 0; i < table->block_count; i++) {
        uint32_t across = i % table->blocks_across;
        uint32_t down = i / table->blocks_across;

        draw_block(table, sheet, &table->blocks[i],
                   x + across * (table->block_width + TABLE_BLOCK_GAP),
                   y + down * (table->block_height + table->block_gap));
    }
    sheet_text(sheet, table_style(sheet, TABLE_STYLE_CAPTION), x, caption,
               table->caption);
}

/* A longer vector is cut into pieces, one below the other. */
#define VECTOR_WIDTH_MAX 232.0
#define VECTOR_PIECE     16
/* Wider matrices are shown with fewer columns. */
#define MATRIX_WIDTH_MAX 560.0
/* Slices are placed side by side until the table is this much wider than high. */
#define BLOCKS_PROPORTION 1.3

/* Cells of all slices, row by row. NULL: out of memory. */
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
    struct text_style style = table_style(sheet, TABLE_STYLE_CELL);
    double widest = TABLE_CELL_LEAST;

    for (size_t i = 0; i < count; i++) {
        style.face = cells[i].mark == TABLE_NUMBER ? PICTURE_SANS : PICTURE_SANS_BOLD;
        widest =
            fmax(widest, style_width(style, cells[i].text) + 2 * TABLE_CELL_PADDING);
    }
    return ceil(widest);
}

/* Makes the blocks of a matrix or of its slices. Returns false if memory runs out. */
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
            .label = selection_label(selection, sheet, i),
            .rows = selection->rows,
            .columns = selection->columns,
            .cells = cells + (size_t)i * selection->rows * selection->columns,
        };
    }
    table->blocks = blocks;
    table->block_count = selection->slices;
    table->block_gap = TABLE_BLOCK_GAP;
    table->has_block_labels = selection->grid->dimension_count > 2;
    return true;
}

/* Makes the blocks of a vector: pieces of equal length, one below the other. Returns false if
 * memory runs out. */
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

    longest = longest < VECTOR_PIECE ? longest : VECTOR_PIECE;
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
            .columns = length < count - i * length ? length : count - i * length,
            .first_column = i * length,
            .cells = cells + (size_t)i * length,
        };
    }
    table->blocks = blocks;
    table->block_count = pieces;
    table->block_gap = TABLE_PIECE_GAP;
    table->has_column_labels = table->has_column_labels || pieces > 1;
    return true;
}

/* ---- sizes ---- */

/* The length from the start of the first of `count` cells to the end of the last. */
static double length_of(const int64_t *index, uint32_t count, double each)
{
    double length = each * count;

    for (uint32_t i = 1; i < count; i++) {
        length += table_gap_before(index, i);
    }
    return length;
}

static double widest_index(struct sheet *sheet, const int64_t *index, uint32_t count)
{
    struct text_style style = table_style(sheet, TABLE_STYLE_INDEX);
    double widest = 0;

    for (uint32_t i = 0; i < count; i++) {
        sheet->scratch.size = 0;
        integer_add(&sheet->scratch, index[i]);
        widest = fmax(widest, style_width(style, buffer_slice(&sheet->scratch)));
    }
    sheet->scratch.size = 0;
    return ceil(widest);
}

static void measure_block(struct table *table, struct sheet *sheet)
{
    uint32_t rows = table->blocks[0].rows;

    table->label_width =
        table->has_row_labels ? widest_index(sheet, table->row_index, rows) + 3 : 0;
    table->block_height = length_of(table->row_index, rows, TABLE_CELL_HEIGHT) +
                          (table->has_block_labels ? TABLE_BLOCK_LABEL_HEIGHT : 0) +
                          (table->has_column_labels ? TABLE_LABEL_HEIGHT : 0);
    for (uint32_t i = 0; i < table->block_count; i++) {
        const struct table_block *block = &table->blocks[i];
        double width = length_of(table->column_index + block->first_column,
                                 block->columns, table->cell_width);

        table->block_width = fmax(table->block_width, table->label_width + width);
        table->block_width =
            fmax(table->block_width,
                 style_width(table_style(sheet, TABLE_STYLE_BLOCK), block->label));
    }
}

static void table_measure(struct table *table, struct sheet *sheet)
{
    uint32_t down = table->block_count;

    measure_block(table, sheet);
    table->blocks_across = 1;
    while (table->has_block_labels && table->blocks_across < table->block_count &&
           table->block_width * table->blocks_across <
               BLOCKS_PROPORTION * table->block_height * down) {
        table->blocks_across++;
        down = (table->block_count + table->blocks_across - 1) / table->blocks_across;
    }
    /* Shares the blocks evenly: the number of rows stays, and the last one has fewer free
     * places. */
    table->blocks_across = (table->block_count + down - 1) / down;
    table->width = table->block_width * table->blocks_across +
                   TABLE_BLOCK_GAP * (table->blocks_across - 1);
    table->height = table->block_height * down + table->block_gap * (down - 1) +
                    (table->caption.size > 0 ? TABLE_CAPTION_HEIGHT : 0);
    table->width =
        fmax(table->width,
             style_width(table_style(sheet, TABLE_STYLE_CAPTION), table->caption));
}

/* ---- preparation ---- */

/* Fills in the labels, the blocks and the width of the cells, which must hold the labels too.
 * Returns false if memory runs out. */
static bool table_fill(struct table *table,
                       struct sheet *sheet,
                       const struct selection *selection,
                       const struct table_cell *cells)
{
    bool is_vector = selection->grid->dimension_count == 1;
    size_t count = (size_t)selection->slices * selection->rows * selection->columns;

    table->row_index = selection_indices(selection, sheet, 2, selection->rows);
    table->column_index = selection_indices(selection, sheet, 3, selection->columns);
    if (table->row_index == NULL || table->column_index == NULL) {
        return false;
    }
    table->has_row_labels = selection_leaves_out(selection, 2, selection->rows);
    table->has_column_labels = selection_leaves_out(selection, 3, selection->columns);
    table->cell_width = widest_cell(sheet, cells, count);
    if (table->has_column_labels || is_vector) {
        table->cell_width =
            fmax(table->cell_width,
                 widest_index(sheet, table->column_index, selection->columns) + 3);
    }
    table->caption = selection_caption(selection, sheet);
    return is_vector ? blocks_of_vector(table, sheet, selection, cells)
                     : blocks_of_slices(table, sheet, selection, cells);
}

/* Whether the limits allow a table. A limit of 0 leaves out its kind of table; a matrix limit of
 * 0 leaves out all. */
static bool has_table(const struct flow_node *node, const struct table_limits *limits)
{
    uint32_t dimensions = node->grid.dimension_count;
    uint32_t limit = dimensions == 1   ? limits->vector
                     : dimensions >= 3 ? limits->slices
                                       : limits->matrix;

    return limits->matrix > 0 && limit > 0 && grid_is_whole(node);
}

void table_prepare(struct table *table,
                   struct sheet *sheet,
                   const struct flow_node *node,
                   const struct table_limits *limits)
{
    struct selection selection;
    const struct table_cell *cells;

    *table = (struct table){0};
    if (!has_table(node, limits)) {
        return;
    }
    selection_init(&selection, &node->grid, limits);
    for (;;) {
        *table = (struct table){0};
        cells = cells_new(sheet, &selection, node);
        if (cells == NULL || !table_fill(table, sheet, &selection, cells)) {
            *table = (struct table){0};
            return;
        }
        if (node->grid.dimension_count == 1 || selection.columns <= 2 ||
            table->cell_width * selection.columns <= MATRIX_WIDTH_MAX) {
            break;
        }
        selection.columns = (selection.columns + 1) / 2;
    }
    table_measure(table, sheet);
}
