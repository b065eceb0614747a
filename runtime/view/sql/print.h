/* Rows as text: a table for people, or one of the forms that programs read. */
#ifndef MONITORCH_VIEW_SQL_PRINT_H
#define MONITORCH_VIEW_SQL_PRINT_H

#include "runtime/base/slice.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sql_format {
    SQL_TABLE, /* aligned; where it would be too wide, a line for each value */
    SQL_TABS, /* a line for each row, tabs between; what would break a line is escaped */
    SQL_CSV,  /* RFC 4180 */
    SQL_JSON, /* an object a line */
};

struct sql_print {
    enum sql_format format;
    bool has_header;
    bool has_color;
    bool is_terminal;  /* what a terminal could obey is replaced, in every form */
    size_t width;      /* of TABLE, in columns; 0: as wide as need be */
    uint64_t max_rows; /* UINT64_MAX: all */
    /* Where the text goes, in pieces; false ends the query without an error of its own. */
    bool (*write)(void *context, struct slice text);
    void *context;
};

/* Steps the statement to its end, or as far as rows are wanted: adds to `*row_count`, and sets
 * `*has_more` where there are more. Gives SQLite's code: SQLITE_DONE where all went well. */
int sql_print_rows(sqlite3_stmt *statement,
                   const struct sql_print *print,
                   uint64_t *row_count,
                   bool *has_more);

#endif
