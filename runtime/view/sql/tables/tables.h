/* The virtual tables of SQL over traces: events, and the tables of row_tables.h. */
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

/* Makes the tables known to a connection, each name behind the prefix. The traces are borrowed,
 * and outlive it. Gives SQLite's code. */
int sql_tables_register(sqlite3 *database,
                        struct sql_traces *traces,
                        const char *prefix);

/* ---- what the tables share ---- */

struct sql_virtual_table {
    sqlite3_vtab base;
    struct sql_traces *traces; /* borrowed */
    const void *rows;          /* of a table of rows: which one; else NULL */
};

/* The type that SQL declares for a column; "" for what may be of several. */
const char *sql_column_type(const struct column_rule *column);

/* Declares the table's columns to SQLite and makes it. */
int sql_table_connect(sqlite3 *database,
                      const struct sql_table *table,
                      struct sql_traces *traces,
                      const void *rows,
                      sqlite3_vtab **made);
int sql_table_disconnect(sqlite3_vtab *table);

/* `create table NAME(…)`. */
void sql_table_declare(const struct sql_table *table,
                       struct slice name,
                       struct buffer *text);

/* The traces' error as SQLite's code, with the message in the table. */
int sql_table_fail(struct sql_virtual_table *table);

/* `is_lasting`: a text that lives as long as the traces; others are copied. */
void sql_result_set(sqlite3_context *context,
                    const struct column_value *value,
                    bool is_lasting,
                    const struct buffer *scratch);

/* Whether a constraint asks for one value by `=` (or IS), not for one of a list. Texts have to be
 * compared byte by byte. */
bool sql_is_equality(sqlite3_index_info *info, int constraint);

/* The trace of that name; traces->count where there is none. */
size_t sql_traces_find(const struct sql_traces *traces, sqlite3_value *name);

/* The table `events`, read while it is asked: nothing of it is kept. */

int sql_events_register(sqlite3 *database, const char *name, struct sql_traces *traces);

#endif
