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

/* Which of a sample's values a table shows, and what it leaves out, in words. */

/* What of a sample's grid is shown: positions in its last four dimensions. */
struct selection {
    const struct sample_grid *grid;
    uint32_t counts[4]; /* in the grid: of two leading dimensions, rows, columns */
    int dimensions[4];  /* of the array; -1 where it has none */
    uint32_t slices;
    uint32_t rows;
    uint32_t columns;
};

/* Whether the node has a sample that can be shown, of as many values as its grid says. */
bool grid_is_whole(const struct flow_node *node);

void selection_init(struct selection *selection,
                    const struct sample_grid *grid,
                    const struct table_limits *limits);

/* The sample's position of one value that is shown. */
size_t selection_find(const struct selection *selection,
                      uint32_t slice,
                      uint32_t row,
                      uint32_t column);

/* The array's indices that are shown in one of the four dimensions; NULL where memory ran out. */
int64_t *selection_indices(const struct selection *selection,
                           struct sheet *sheet,
                           int which,
                           uint32_t wanted);

/* Whether the array has more than what is shown of it in this dimension. */
bool selection_leaves_out(const struct selection *selection, int which, uint32_t shown);

/* `8 of 768 rows, 6 of 16 slices`; "" where all is shown. */
struct slice selection_caption(const struct selection *selection, struct sheet *sheet);

/* `[3]`, `[0,5]`; "" where there are no slices. */
struct slice
selection_label(const struct selection *selection, struct sheet *sheet, uint32_t slice);

#endif
