/* Virtual tables of SQLite over traces: shared functions, and the tables of row_tables.h. */
#include "runtime/view/sql/tables/tables.h"

#include "runtime/base/memory.h"
#include "runtime/view/sql/tables/row_tables.h"

#include <stdio.h>
#include <string.h>

/* The tables of row_tables.h, as virtual tables of SQLite. */

/* The bits of idxNum: 1 + the index of the key, or 0; and whether a trace's name precedes the
 * key. */
#define KEY_MASK  3
#define HAS_TRACE 4
/* The cost of a lookup, as a number of rows read. */
#define LOOKUP_COST 2.0
#define CHILDREN    4.0 /* rows with the same key, if it is not unique */

struct rows_cursor {
    sqlite3_vtab_cursor base;
    const struct sql_rows *rows; /* borrowed */
    struct sql_traces *traces;   /* borrowed */
    const struct sql_key *key;   /* key of the scan; NULL: all rows */
    bool has_number;             /* a key can equal the number; else no row matches */
    uint64_t number;
    size_t trace, last_trace; /* current trace, and the end of the range */
    size_t position, end;     /* within the trace */
    struct buffer scratch;    /* owned */
};

/* ---- planning ---- */

/* 1 + the index of the key for that column; 0 if it is no key. */
static int key_of(const struct sql_rows *rows, int column)
{
    for (int i = 0; i < rows->key_count; i++) {
        if (rows->keys[i].column == column) {
            return i + 1;
        }
    }
    return 0;
}

static double guess_rows(const struct sql_virtual_table *table)
{
    const struct sql_rows *rows = table->rows;
    double count = 1;

    for (size_t i = 0; i < table->traces->count; i++) {
        count += (double)rows->guess(&table->traces->traces[i]);
    }
    return count;
}

/* Whether the constraint is `=` for a key. A list counts too: SQLite looks up each of its
 * values. */
static bool is_key_equality(const sqlite3_index_info *info, int constraint)
{
    return info->aConstraint[constraint].usable != 0 &&
           info->aConstraint[constraint].op == SQLITE_INDEX_CONSTRAINT_EQ;
}

static int rows_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    struct sql_virtual_table *table = (struct sql_virtual_table *)base;
    const struct sql_rows *rows = table->rows;
    int trace_constraint = -1;
    int key_constraint = -1;
    int key = 0;
    int argument = 0;
    double count = guess_rows(table);

    for (int i = 0; i < info->nConstraint; i++) {
        int found = key_of(rows, info->aConstraint[i].iColumn);

        if (found > 0 && (key == 0 || found < key) && is_key_equality(info, i)) {
            key = found;
            key_constraint = i;
        } else if (info->aConstraint[i].iColumn == 0 && trace_constraint < 0 &&
                   sql_is_equality(info, i)) {
            trace_constraint = i;
        }
    }
    if (trace_constraint >= 0) {
        info->aConstraintUsage[trace_constraint].argvIndex = ++argument;
        count /= (double)table->traces->count;
    }
    if (key > 0) {
        info->aConstraintUsage[key_constraint].argvIndex = ++argument;
        count = rows->keys[key - 1].is_unique ? 1 : CHILDREN;
        if (rows->keys[key - 1].is_unique &&
            (trace_constraint >= 0 || table->traces->count == 1)) {
            info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
        }
    }
    info->idxNum = key | (trace_constraint >= 0 ? HAS_TRACE : 0);
    info->estimatedRows = (sqlite3_int64)count;
    info->estimatedCost = key > 0 ? count + LOOKUP_COST : count;
    return SQLITE_OK;
}

/* ---- scanning ---- */

static int rows_open(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
    struct sql_virtual_table *table = (struct sql_virtual_table *)base;
    struct rows_cursor *cursor = memory_allocate_zeroed(1, sizeof *cursor);

    if (cursor == NULL) {
        return SQLITE_NOMEM;
    }
    cursor->rows = table->rows;
    cursor->traces = table->traces;
    *made = &cursor->base;
    return SQLITE_OK;
}

static int rows_close(sqlite3_vtab_cursor *base)
{
    struct rows_cursor *cursor = (struct rows_cursor *)base;

    buffer_release(&cursor->scratch);
    memory_free(cursor);
    return SQLITE_OK;
}

/* Moves to the first row at or after the current position, in the following traces too. */
static int settle(struct rows_cursor *cursor)
{
    while (cursor->position >= cursor->end) {
        struct sql_trace *trace;

        if (cursor->trace + 1 >= cursor->last_trace) {
            cursor->trace = cursor->last_trace;
            return SQLITE_OK;
        }
        trace = &cursor->traces->traces[++cursor->trace];
        if (cursor->rows->prepare != NULL &&
            !cursor->rows->prepare(cursor->traces, trace)) {
            return sql_table_fail((struct sql_virtual_table *)cursor->base.pVtab);
        }
        cursor->position = 0;
        cursor->end = 0;
        if (cursor->key == NULL) {
            cursor->end = cursor->rows->count(trace);
        } else if (cursor->has_number) {
            cursor->key->find(trace, cursor->number, &cursor->position, &cursor->end);
        }
    }
    return SQLITE_OK;
}

/* Reads a number as a key. Returns false if no key can equal it. A text that is a number counts
 * as a number, as in SQL. */
static bool read_number(sqlite3_value *value, uint64_t *number)
{
    double real;

    switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER:
        *number = (uint64_t)sqlite3_value_int64(value);
        return sqlite3_value_int64(value) >= 0;
    case SQLITE_FLOAT:
        real = sqlite3_value_double(value);
        *number = real >= 0 && real < 9e15 ? (uint64_t)real : 0;
        return real >= 0 && real < 9e15 && (double)*number == real;
    default:
        return false;
    }
}

static int rows_filter(sqlite3_vtab_cursor *base,
                       int plan,
                       const char *unused,
                       int argument_count,
                       sqlite3_value **arguments)
{
    struct rows_cursor *cursor = (struct rows_cursor *)base;
    int argument = 0;

    (void)unused;
    (void)argument_count;
    cursor->key =
        (plan & KEY_MASK) == 0 ? NULL : &cursor->rows->keys[(plan & KEY_MASK) - 1];
    cursor->trace = SIZE_MAX; /* before the first one */
    cursor->last_trace = cursor->traces->count;
    cursor->position = 0;
    cursor->end = 0;
    if ((plan & HAS_TRACE) != 0) {
        cursor->trace = sql_traces_find(cursor->traces, arguments[argument++]);
        if (cursor->trace == cursor->traces->count) {
            return SQLITE_OK;
        }
        cursor->last_trace = cursor->trace + 1;
        cursor->trace--;
    }
    if (cursor->key != NULL) {
        cursor->has_number = read_number(arguments[argument], &cursor->number);
    }
    return settle(cursor);
}

static int rows_next(sqlite3_vtab_cursor *base)
{
    struct rows_cursor *cursor = (struct rows_cursor *)base;

    cursor->position++;
    return settle(cursor);
}

static int rows_is_at_end(sqlite3_vtab_cursor *base)
{
    struct rows_cursor *cursor = (struct rows_cursor *)base;

    return cursor->trace == cursor->last_trace ||
           cursor->trace == cursor->traces->count;
}

static size_t row_of(const struct rows_cursor *cursor)
{
    if (cursor->key == NULL || cursor->key->row == NULL) {
        return cursor->position;
    }
    return cursor->key->row(&cursor->traces->traces[cursor->trace], cursor->position);
}

static int rows_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct rows_cursor *cursor = (struct rows_cursor *)base;
    struct sql_trace *trace = &cursor->traces->traces[cursor->trace];
    struct column_value value = {.is_empty = true};
    bool is_lasting;

    cursor->scratch.size = 0;
    if (column == 0) {
        sql_value_set_text(&value, trace->name);
    } else {
        cursor->rows->get(trace, row_of(cursor), column, &cursor->scratch, &value);
    }
    is_lasting = value.text.bytes != cursor->scratch.bytes;
    sql_result_set(context, &value, is_lasting, &cursor->scratch);
    return SQLITE_OK;
}

static int rows_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    struct rows_cursor *cursor = (struct rows_cursor *)base;

    *rowid = (sqlite3_int64)(cursor->trace << 40) + (sqlite3_int64)row_of(cursor);
    return SQLITE_OK;
}

/* ---- the module ---- */

struct rows_module {
    const struct sql_rows *rows; /* borrowed */
    struct sql_traces *traces;   /* borrowed */
};

static int rows_connect(sqlite3 *database,
                        void *context,
                        int argument_count,
                        const char *const *arguments,
                        sqlite3_vtab **made,
                        char **message)
{
    const struct rows_module *module = context;

    (void)argument_count;
    (void)arguments;
    (void)message;
    return sql_table_connect(database, &module->rows->table, module->traces,
                             module->rows, made);
}

static const sqlite3_module rows_module = {
    .xConnect = rows_connect,
    .xBestIndex = rows_best_index,
    .xDisconnect = sql_table_disconnect,
    .xDestroy = sql_table_disconnect,
    .xOpen = rows_open,
    .xClose = rows_close,
    .xFilter = rows_filter,
    .xNext = rows_next,
    .xEof = rows_is_at_end,
    .xColumn = rows_column,
    .xRowid = rows_rowid,
};

static int sql_rows_register(sqlite3 *database,
                             const char *name,
                             const struct sql_rows *rows,
                             struct sql_traces *traces)
{
    struct rows_module *module = memory_allocate(1, sizeof *module);

    if (module == NULL) {
        return SQLITE_NOMEM;
    }
    *module = (struct rows_module){.rows = rows, .traces = traces};
    return sqlite3_create_module_v2(database, name, &rows_module, module, memory_free);
}

const struct sql_table *const sql_tables[SQL_TABLE_COUNT] = {
    &sql_events_table,     &sql_sites_rows.table, &sql_calls_rows.table,
    &sql_edges_rows.table, &sql_steps_rows.table, &sql_parameters_rows.table,
};

#define NAME_SIZE 40

/* Lets SQLite create the table now. It would otherwise do so when a query first names the table,
 * and the rules for queries would refuse that. */
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
                                           &sql_edges_rows, &sql_steps_rows,
                                           &sql_parameters_rows};
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
    default: /* the types of min, max and similar columns depend on the dtype */
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
        /* A NULL pointer would be NULL in SQL. */
        sqlite3_result_text64(
            context, value->text.size == 0 ? "" : value->text.bytes, value->text.size,
            is_lasting || value->text.size == 0 ? SQLITE_STATIC : SQLITE_TRANSIENT,
            SQLITE_UTF8);
    }
}

/* Whether the constraint has a single value. For a list, SQLite would start a whole scan for
 * each value, so the rows are left to SQLite. Older versions do not report lists. */
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
