/* Draws a table of values. */
#include "runtime/view/picture/box/table.h"
#include "runtime/view/words/number_text.h"

#include <math.h>

#define CELL_SIZE  7.0
#define INDEX_SIZE 5.5
#define BLOCK_SIZE 6.0
/* Between two cells whose indices are not neighbours. */
#define INDEX_GAP 2.0

struct text_style table_style(const struct sheet *sheet, enum table_style_kind kind)
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

double table_gap_before(const int64_t *index, uint32_t at)
{
    return at > 0 && index[at] != index[at - 1] + 1 ? INDEX_GAP : 0;
}

/* Small values keep the card's colour; the middle of the scale is lifted a little, so that
 * the order of values is seen. Products alone: every machine gives the same colour. */
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
        /* The border is inside the cell, so that none beside it hides it. */
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
