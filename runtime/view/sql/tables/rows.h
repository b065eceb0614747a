/* The tables of row_tables.h as virtual tables of SQLite. */
#ifndef MONITORCH_VIEW_SQL_TABLES_ROWS_H
#define MONITORCH_VIEW_SQL_TABLES_ROWS_H

#include "runtime/view/sql/tables/row_tables.h"
#include "runtime/view/sql/tables/tables.h"

int sql_rows_register(sqlite3 *database,
                      const char *name,
                      const struct sql_rows *rows,
                      struct sql_traces *traces);

#endif
