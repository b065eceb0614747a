/* The rows of a statement as a table for people. */
#ifndef MONITORCH_VIEW_SQL_LAYOUT_H
#define MONITORCH_VIEW_SQL_LAYOUT_H

#include "runtime/base/buffer.h"
#include "runtime/view/sql/print.h"

#include <sqlite3.h>

/* A table: the first rows are kept until its widths are known. */
struct sql_layout {
    const struct sql_print *print; /* borrowed */
    int column_count;
    size_t *widths;     /* owned */
    bool *is_number;    /* owned; the column is aligned to the right */
    bool is_decided;    /* widths are known, nothing is kept any more */
    bool is_list;       /* too wide: a line for each value */
    struct buffer kept; /* owned; texts of cells, one after the other */
    size_t *ends;       /* owned; where each ends in it; the header first */
    size_t end_count;
    size_t end_capacity;
    uint64_t row_count; /* printed so far */
};

bool sql_layout_init(struct sql_layout *layout,
                     const struct sql_print *print,
                     sqlite3_stmt *statement);
void sql_layout_release(struct sql_layout *layout);
/* false where memory ran out. */
bool sql_layout_add_row(struct sql_layout *layout,
                        sqlite3_stmt *statement,
                        struct buffer *text);
void sql_layout_end(struct sql_layout *layout, struct buffer *text);

#endif
