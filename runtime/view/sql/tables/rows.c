/* Tables whose rows can be counted and are found by a key, as virtual tables of SQLite. */
#include "runtime/view/sql/tables/rows.h"

#include "runtime/base/memory.h"

/* idxNum: which key is asked for, 1 + its index, or 0; and whether a trace is, before it. */
#define KEY_MASK  3
#define HAS_TRACE 4
/* What a lookup costs, in rows that are read. */
#define LOOKUP_COST 2.0
#define CHILDREN    4.0 /* rows of one key that is not unique */

struct rows_cursor {
    sqlite3_vtab_cursor base;
    const struct sql_rows *rows; /* borrowed */
    struct sql_traces *traces;   /* borrowed */
    const struct sql_key *key;   /* the one of the scan; NULL: all rows */
    bool has_number;             /* of the key; else nothing has it */
    uint64_t number;
    size_t trace, last_trace; /* this one, and the first that is not wanted any more */
    size_t position, end;     /* within the trace */
    struct buffer scratch;    /* owned */
};

/* ---- planning ---- */

/* Which key the constraint is about, 1 + its index; 0: none. */
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

/* A key asked for by a list is found value by value, which is what a list should be. */
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

/* ---- going through ---- */

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

/* Finds the first row at or after the present place, through the traces that are left. */
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

/* A number as a key: false where no key can be equal to it. A text may be, as SQL sees it. */
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
    cursor->trace = SIZE_MAX; /* the one before the first */
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

int sql_rows_register(sqlite3 *database,
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
