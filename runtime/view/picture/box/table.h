/* The table of values in a box: its cells, their texts and tints, and its size. */
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
    double part; /* value / largest magnitude shown, -1 to 1; complex: 0 to 1 */
    enum table_mark mark;
};

/* One matrix, a slice of a larger array, or a piece of a long vector. */
struct table_block {
    struct slice label; /* `[3]`, `[0,5]`; "" */
    uint32_t rows;
    uint32_t columns;
    uint32_t
        first_column; /* in the table's column_index; not 0 for later pieces of a vector */
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
    struct slice caption; /* names what was left out; "" */
    double cell_width;
    double label_width; /* of the row labels */
    double block_width;
    double block_height;
    double block_gap; /* vertical, between blocks */
    double width;
    double height; /* of the whole table with its caption */
};

/* The most values in each direction. 0: no table of this kind; matrix 0: no tables at all. */
struct table_limits {
    uint32_t vector;
    uint32_t matrix;
    uint32_t slices;
};

/* Prepares the table of a node. Leaves it all zero if the node has no sample or an incomplete
 * one, or if the limits exclude it. */
void table_prepare(struct table *table,
                   struct sheet *sheet,
                   const struct flow_node *node,
                   const struct table_limits *limits);

void table_draw(const struct table *table, struct sheet *sheet, double x, double y);

/* Draws one cell; the legend uses it too. */
void table_draw_cell(struct sheet *sheet,
                     const struct table_cell *cell,
                     double x,
                     double y,
                     double width);

#define TABLE_CELL_HEIGHT        11.0
#define TABLE_CELL_PADDING       3.0
#define TABLE_CELL_LEAST         17.0
#define TABLE_LABEL_HEIGHT       7.5 /* height of the column indices */
#define TABLE_BLOCK_LABEL_HEIGHT 9.0
#define TABLE_CAPTION_HEIGHT     9.0
#define TABLE_BLOCK_GAP          8.0
#define TABLE_PIECE_GAP          2.0 /* between the pieces of a vector */

enum table_style_kind {
    TABLE_STYLE_CELL,
    TABLE_STYLE_INDEX,
    TABLE_STYLE_BLOCK,
    TABLE_STYLE_CAPTION,
};

/* ---- the texts of cells ---- */

/* Writes values of one dtype as cells. The texts have one form, so that their points are
 * aligned. */
void cells_fill(struct sheet *sheet,
                enum dtype dtype,
                const char *const *values,
                struct table_cell *cells,
                size_t count);

/* The selection of a sample's values that a table shows, and the words for what it leaves out. */

/* The part of a sample's grid that is shown: positions in its last four dimensions. */
struct selection {
    const struct sample_grid *grid;
    uint32_t counts[4]; /* in the grid: two leading dimensions, rows, columns */
    int dimensions[4];  /* of the array; -1 where it has none */
    uint32_t slices;
    uint32_t rows;
    uint32_t columns;
};

/* Whether the node has a sample that can be shown and has as many values as its grid. */
bool grid_is_whole(const struct flow_node *node);

void selection_init(struct selection *selection,
                    const struct sample_grid *grid,
                    const struct table_limits *limits);

/* The position in the sample of a value that is shown. */
size_t selection_find(const struct selection *selection,
                      uint32_t slice,
                      uint32_t row,
                      uint32_t column);

/* The array's indices that are shown in one of the four dimensions, in the sheet's memory. NULL:
 * out of memory. */
int64_t *selection_indices(const struct selection *selection,
                           struct sheet *sheet,
                           int which,
                           uint32_t wanted);

/* Whether the array has indices in this dimension that are not shown. */
bool selection_leaves_out(const struct selection *selection, int which, uint32_t shown);

/* `8 of 768 rows, 6 of 16 slices`. "" if everything is shown. */
struct slice selection_caption(const struct selection *selection, struct sheet *sheet);

/* `[3]`, `[0,5]`. "" if there are no slices. */
struct slice
selection_label(const struct selection *selection, struct sheet *sheet, uint32_t slice);

#endif
