/* Virtual tables of SQLite over traces: events, and the tables of row_tables.h. */
#ifndef MONITORCH_VIEW_SQL_TABLES_TABLES_H
#define MONITORCH_VIEW_SQL_TABLES_TABLES_H

#include "runtime/base/buffer.h"
#include "runtime/view/sql/tables/row_tables.h"
#include "runtime/view/sql/tables/traces.h"
#include "runtime/view/walk/event_columns.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#define SQL_TABLE_COUNT 6
/* events, sites, calls, edges, steps, parameters. */
extern const struct sql_table *const sql_tables[SQL_TABLE_COUNT];

extern const struct sql_table sql_events_table;

/* Registers the tables at a connection, with the prefix before each name. The traces are
 * borrowed, and must outlive the connection. Returns SQLite's code. */
int sql_tables_register(sqlite3 *database,
                        struct sql_traces *traces,
                        const char *prefix);

/* ---- shared by the tables ---- */

struct sql_virtual_table {
    sqlite3_vtab base;
    struct sql_traces *traces; /* borrowed */
    const void *rows;          /* a struct sql_rows; NULL for events */
};

/* The declared type of a column; "" if its values have several types. */
const char *sql_column_type(const struct column_rule *column);

/* Declares the table's columns to SQLite, and creates the table. */
int sql_table_connect(sqlite3 *database,
                      const struct sql_table *table,
                      struct sql_traces *traces,
                      const void *rows,
                      sqlite3_vtab **made);
int sql_table_disconnect(sqlite3_vtab *table);

/* Appends `create table NAME(…)`. */
void sql_table_declare(const struct sql_table *table,
                       struct slice name,
                       struct buffer *text);

/* Copies the traces' error to the table's message. Returns SQLite's code for it. */
int sql_table_fail(struct sql_virtual_table *table);

/* Sets the result of a query's column. `is_lasting`: a text lives as long as the traces, and is
 * not copied. */
void sql_result_set(sqlite3_context *context,
                    const struct column_value *value,
                    bool is_lasting,
                    const struct buffer *scratch);

/* Whether a constraint asks for a single value by `=` or IS, with texts compared byte by byte. */
bool sql_is_equality(sqlite3_index_info *info, int constraint);

/* The index of the trace of that name; traces->count if there is none. */
size_t sql_traces_find(const struct sql_traces *traces, sqlite3_value *name);

/* The table `events`, which is read from the trace while a query runs, and not kept. */

int sql_events_register(sqlite3 *database, const char *name, struct sql_traces *traces);

#endif
