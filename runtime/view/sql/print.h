/* Printing of rows as text: a table for people, or a format for programs. */
#ifndef MONITORCH_VIEW_SQL_PRINT_H
#define MONITORCH_VIEW_SQL_PRINT_H

#include "runtime/base/slice.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sql_format {
    SQL_TABLE, /* aligned, or one line for each value if that would be too wide */
    SQL_TABS,  /* one line for each row, tabs between values, line ends escaped */
    SQL_CSV,   /* RFC 4180 */
    SQL_JSON,  /* one object for each line */
};

struct sql_print {
    enum sql_format format;
    bool has_header;
    bool has_color;
    bool is_terminal;  /* replaces control characters in every format */
    size_t width;      /* for SQL_TABLE, in columns; 0: no limit */
    uint64_t max_rows; /* UINT64_MAX: all */
    /* Called with each piece of the output. Returns false to end the query without an error. */
    bool (*write)(void *context, struct slice text);
    void *context;
};

/* Runs the statement to its end, or until max_rows are printed. Adds to `*row_count`, and sets
 * `*has_more` if there are more rows. Returns SQLite's code: SQLITE_DONE for success. */
int sql_print_rows(sqlite3_stmt *statement,
                   const struct sql_print *print,
                   uint64_t *row_count,
                   bool *has_more);

#endif
