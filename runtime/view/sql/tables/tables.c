/* The virtual tables of SQL over traces: what they share. */
#include "runtime/view/sql/tables/tables.h"

#include "runtime/base/memory.h"
#include "runtime/view/sql/tables/events.h"
#include "runtime/view/sql/tables/rows.h"

#include <stdio.h>
#include <string.h>

const struct sql_table *const sql_tables[SQL_TABLE_COUNT] = {
    &sql_events_table,
    &sql_sites_rows.table,
    &sql_calls_rows.table,
    &sql_edges_rows.table,
};

#define NAME_SIZE 40

/* SQLite makes a table when it is first named: better now than when rules are set, which would
 * refuse how it does that. */
static int visit(sqlite3 *database, const char *name)
{
    char query[80];
    sqlite3_stmt *statement = NULL;
    int code;

    snprintf(query, sizeof query, "select 1 from %s", name);
    code = sqlite3_prepare_v2(database, query, -1, &statement, NULL);
    sqlite3_finalize(statement);
    return code;
}

int sql_tables_register(sqlite3 *database,
                        struct sql_traces *traces,
                        const char *prefix)
{
    const struct sql_rows *const rows[] = {&sql_sites_rows, &sql_calls_rows,
                                           &sql_edges_rows};
    char name[NAME_SIZE];
    int code;

    snprintf(name, sizeof name, "%s%s", prefix, sql_events_table.name);
    code = sql_events_register(database, name, traces);
    code = code == SQLITE_OK ? visit(database, name) : code;
    for (size_t i = 0; code == SQLITE_OK && i < sizeof rows / sizeof *rows; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, rows[i]->table.name);
        code = sql_rows_register(database, name, rows[i], traces);
        code = code == SQLITE_OK ? visit(database, name) : code;
    }
    return code;
}

const char *sql_column_type(const struct column_rule *column)
{
    switch (column_form_type(column->form)) {
    case COLUMN_INTEGER:
        return "INTEGER";
    case COLUMN_TEXT:
        return "TEXT";
    default: /* what min, max and the like hold depends on the dtype */
        return "";
    }
}

void sql_table_declare(const struct sql_table *table,
                       struct slice name,
                       struct buffer *text)
{
    buffer_add(text, SLICE("create table "));
    buffer_add(text, name);
    for (int i = 0; i < table->column_count; i++) {
        const struct column_rule *column = &table->columns[i];
        const char *type = sql_column_type(column);

        buffer_add(text, i == 0 ? SLICE("(\"") : SLICE(", \""));
        buffer_add(text, slice_of(column->name));
        buffer_add(text, type[0] == '\0' ? SLICE("\"") : SLICE("\" "));
        buffer_add(text, slice_of(type));
    }
    buffer_add_byte(text, ')');
}

int sql_table_connect(sqlite3 *database,
                      const struct sql_table *table,
                      struct sql_traces *traces,
                      const void *rows,
                      sqlite3_vtab **made)
{
    struct sql_virtual_table *found;
    struct buffer text = BUFFER_INIT;
    int code = SQLITE_NOMEM;

    sql_table_declare(table, slice_of(table->name), &text);
    buffer_add_byte(&text, '\0');
    if (!text.has_failed) {
        code = sqlite3_declare_vtab(database, text.bytes);
    }
    buffer_release(&text);
    if (code != SQLITE_OK) {
        return code;
    }
    found = memory_allocate_zeroed(1, sizeof *found);
    if (found == NULL) {
        return SQLITE_NOMEM;
    }
    found->traces = traces;
    found->rows = rows;
    *made = &found->base;
    return SQLITE_OK;
}

int sql_table_disconnect(sqlite3_vtab *table)
{
    memory_free(table);
    return SQLITE_OK;
}

int sql_table_fail(struct sql_virtual_table *table)
{
    const struct error *error = &table->traces->error;

    switch (error->kind) {
    case ERROR_NONE:
        return SQLITE_INTERRUPT;
    case ERROR_MEMORY:
        return SQLITE_NOMEM;
    default:
        sqlite3_free(table->base.zErrMsg);
        table->base.zErrMsg = sqlite3_mprintf("%s", error->text);
        return SQLITE_IOERR;
    }
}

void sql_result_set(sqlite3_context *context,
                    const struct column_value *value,
                    bool is_lasting,
                    const struct buffer *scratch)
{
    if (scratch->has_failed) {
        sqlite3_result_error_nomem(context);
    } else if (value->is_empty) {
        sqlite3_result_null(context);
    } else if (value->type == COLUMN_INTEGER) {
        sqlite3_result_int64(context, value->integer);
    } else if (value->type == COLUMN_REAL) {
        sqlite3_result_double(context, value->real);
    } else {
        /* NULL for a pointer would be SQL's NULL. */
        sqlite3_result_text64(
            context, value->text.size == 0 ? "" : value->text.bytes, value->text.size,
            is_lasting || value->text.size == 0 ? SQLITE_STATIC : SQLITE_TRANSIENT,
            SQLITE_UTF8);
    }
}

/* A list is tried value by value, a whole scan for each: better that SQLite looks at the rows.
 * Older ones do not tell it from a single value. */
static bool is_single(sqlite3_index_info *info, int constraint)
{
#if SQLITE_VERSION_NUMBER >= 3038000
    return !sqlite3_vtab_in(info, constraint, -1);
#else
    (void)info;
    (void)constraint;
    return false;
#endif
}

bool sql_is_equality(sqlite3_index_info *info, int constraint)
{
    unsigned char kind = info->aConstraint[constraint].op;

    return info->aConstraint[constraint].usable != 0 &&
           (kind == SQLITE_INDEX_CONSTRAINT_EQ || kind == SQLITE_INDEX_CONSTRAINT_IS) &&
           strcmp(sqlite3_vtab_collation(info, constraint), "BINARY") == 0 &&
           is_single(info, constraint);
}

size_t sql_traces_find(const struct sql_traces *traces, sqlite3_value *name)
{
    struct slice wanted;

    if (sqlite3_value_type(name) != SQLITE_TEXT) {
        return traces->count;
    }
    wanted.bytes = (const char *)sqlite3_value_text(name);
    wanted.size = (size_t)sqlite3_value_bytes(name);
    for (size_t i = 0; i < traces->count; i++) {
        if (wanted.bytes != NULL && slice_equal(traces->traces[i].name, wanted)) {
            return i;
        }
    }
    return traces->count;
}
