/* Which of a sample's values a table shows, and what it leaves out, in words. */
#ifndef MONITORCH_VIEW_PICTURE_BOX_SELECTION_H
#define MONITORCH_VIEW_PICTURE_BOX_SELECTION_H

#include "runtime/view/picture/box/table.h"
#include "runtime/view/picture/sheet.h"

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
