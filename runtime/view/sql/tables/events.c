/* The table `events`: what is asked for is read from the trace row by row. */
#include "runtime/view/sql/tables/events.h"

#include "runtime/base/memory.h"
#include "runtime/view/sql/tables/events_rows.h"
#include "runtime/view/sql/tables/plan.h"
#include "runtime/view/sql/tables/test.h"
#include "runtime/view/walk/open_calls.h"

#include <string.h>

const struct sql_table sql_events_table = {
    "events",
    "visits of a place, one for each value",
    event_columns,
    EVENT_COLUMN_COUNT,
};

/* ---- cursors ---- */

static int events_open(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
    struct sql_virtual_table *table = (struct sql_virtual_table *)base;
    struct events_cursor *cursor = memory_allocate_zeroed(1, sizeof *cursor);

    if (cursor == NULL) {
        return SQLITE_NOMEM;
    }
    cursor->traces = table->traces;
    open_calls_init(&cursor->calls);
    *made = &cursor->base;
    return SQLITE_OK;
}

static int events_close(sqlite3_vtab_cursor *base)
{
    struct events_cursor *cursor = (struct events_cursor *)base;

    events_give_readers(cursor);
    open_calls_release(&cursor->calls);
    buffer_release(&cursor->texts);
    buffer_release(&cursor->scratch);
    memory_free(cursor);
    return SQLITE_OK;
}

static int events_filter(sqlite3_vtab_cursor *base,
                         int plan,
                         const char *constraints,
                         int argument_count,
                         sqlite3_value **arguments)
{
    struct events_cursor *cursor = (struct events_cursor *)base;

    cursor->plan = (unsigned)plan;
    cursor->scan_count++;
    cursor->test_count = 0;
    cursor->texts.size = 0;
    cursor->trace = SIZE_MAX; /* the one before the first */
    cursor->last_trace = cursor->traces->count;
    cursor->reader = NULL;
    for (int i = 0; i < argument_count && i < SQL_PLAN_TEST_MAX; i++) {
        int column;
        unsigned char operator_;

        sql_plan_read(constraints, i, &column, &operator_);
        if (column == EVENT_COLUMN_trace && operator_ == SQLITE_INDEX_CONSTRAINT_EQ) {
            cursor->trace = sql_traces_find(cursor->traces, arguments[i]);
            if (cursor->trace == cursor->traces->count) {
                return SQLITE_OK;
            }
            cursor->last_trace = cursor->trace + 1;
            cursor->trace--;
        } else {
            sql_test_init(&cursor->tests[cursor->test_count++],
                          (enum event_column)column, operator_, arguments[i],
                          &cursor->texts);
            if (cursor->tests[cursor->test_count - 1].is_never) {
                cursor->trace = cursor->traces->count;
                return SQLITE_OK;
            }
        }
    }
    return events_settle(cursor);
}

static int events_next(sqlite3_vtab_cursor *base)
{
    struct events_cursor *cursor = (struct events_cursor *)base;

    /* Behind the last one another chunk may begin, which nobody needs. */
    if (cursor->item.event.number >= cursor->last) {
        cursor->reader = NULL;
    }
    return events_settle(cursor);
}

static int events_is_at_end(sqlite3_vtab_cursor *base)
{
    struct events_cursor *cursor = (struct events_cursor *)base;

    return cursor->trace == cursor->traces->count;
}

/* Texts that definitions hold, not the record. */
static bool is_lasting(enum event_column column)
{
    switch (column) {
    case EVENT_COLUMN_module:
    case EVENT_COLUMN_value:
    case EVENT_COLUMN_differs:
    case EVENT_COLUMN_shape:
    case EVENT_COLUMN_strides:
    case EVENT_COLUMN_hash:
        return false;
    default:
        return true;
    }
}

static int
events_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct events_cursor *cursor = (struct events_cursor *)base;
    const struct sql_trace *trace = &cursor->traces->traces[cursor->trace];
    struct column_value value;
    struct open_call made;
    const struct open_call *call =
        column == EVENT_COLUMN_module ? events_find_call(cursor, &made) : NULL;

    event_column_get((enum event_column)column, &cursor->item.event, call, trace->name,
                     &cursor->scratch, &value);
    sql_result_set(context, &value, is_lasting((enum event_column)column),
                   &cursor->scratch);
    return SQLITE_OK;
}

static int events_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    struct events_cursor *cursor = (struct events_cursor *)base;

    *rowid = (sqlite3_int64)(((uint64_t)cursor->trace << 48) +
                             (cursor->item.event.number & 0xFFFFFFFFFFFF));
    return SQLITE_OK;
}

/* ---- the module ---- */

static int events_connect(sqlite3 *database,
                          void *context,
                          int argument_count,
                          const char *const *arguments,
                          sqlite3_vtab **made,
                          char **message)
{
    (void)argument_count;
    (void)arguments;
    (void)message;
    return sql_table_connect(database, &sql_events_table, context, NULL, made);
}

static const sqlite3_module events_module = {
    .xConnect = events_connect,
    .xBestIndex = sql_plan_events,
    .xDisconnect = sql_table_disconnect,
    .xDestroy = sql_table_disconnect,
    .xOpen = events_open,
    .xClose = events_close,
    .xFilter = events_filter,
    .xNext = events_next,
    .xEof = events_is_at_end,
    .xColumn = events_column,
    .xRowid = events_rowid,
};

int sql_events_register(sqlite3 *database, const char *name, struct sql_traces *traces)
{
    return sqlite3_create_module_v2(database, name, &events_module, traces, NULL);
}
