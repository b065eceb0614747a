/* The table of values in a box: which values, as what text, in what tint, how large. */
#ifndef MONITORCH_VIEW_PICTURE_BOX_TABLE_H
#define MONITORCH_VIEW_PICTURE_BOX_TABLE_H

#include "runtime/view/picture/sheet.h"

enum table_mark {
    TABLE_NUMBER,
    TABLE_NAN,
    TABLE_INFINITE, /* of either sign */
};

struct table_cell {
    struct slice text;
    double part; /* -1 to 1: of the largest magnitude that is shown; complex: 0 to 1 */
    enum table_mark mark;
};

/* One matrix, a slice of a larger array, or a piece of a long vector. */
struct table_block {
    struct slice label; /* `[3]`, `[0,5]`; "" */
    uint32_t rows;
    uint32_t columns;
    uint32_t first_column; /* in the table's column_index: pieces of a vector differ */
    const struct table_cell *cells; /* row by row */
};

struct table {
    uint32_t block_count; /* 0: no table */
    uint32_t blocks_across;
    const struct table_block *blocks;
    const int64_t *row_index;
    const int64_t *column_index;
    bool has_row_labels;
    bool has_column_labels;
    bool has_block_labels;
    struct slice caption; /* what was left out, in words; "" */
    double cell_width;
    double label_width; /* of the row labels */
    double block_width;
    double block_height;
    double block_gap; /* between blocks below each other */
    double width;
    double height; /* of all, the caption too */
};

/* 0: no table of these; matrix 0: no table of any value. */
struct table_limits {
    uint32_t vector;
    uint32_t matrix;
    uint32_t slices;
};

/* All zero where the node has no sample, or one that is not whole, or limits leave it out. */
void table_prepare(struct table *table,
                   struct sheet *sheet,
                   const struct flow_node *node,
                   const struct table_limits *limits);

void table_draw(const struct table *table, struct sheet *sheet, double x, double y);

/* One cell, for the legend too. */
void table_draw_cell(struct sheet *sheet,
                     const struct table_cell *cell,
                     double x,
                     double y,
                     double width);

#define TABLE_CELL_HEIGHT        11.0
#define TABLE_CELL_PADDING       3.0
#define TABLE_CELL_LEAST         17.0
#define TABLE_LABEL_HEIGHT       7.5 /* of the columns' indices */
#define TABLE_BLOCK_LABEL_HEIGHT 9.0
#define TABLE_CAPTION_HEIGHT     9.0
#define TABLE_BLOCK_GAP          8.0
#define TABLE_PIECE_GAP          2.0 /* of a vector */

enum table_style_kind {
    TABLE_STYLE_CELL,
    TABLE_STYLE_INDEX,
    TABLE_STYLE_BLOCK,
    TABLE_STYLE_CAPTION,
};

/* ---- the texts of cells ---- */

/* Values of one dtype as cells: texts of one form, so that points stand below each other. */
void cells_fill(struct sheet *sheet,
                enum dtype dtype,
                const char *const *values,
                struct table_cell *cells,
                size_t count);

#endif
