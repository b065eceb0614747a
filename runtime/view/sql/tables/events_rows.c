/* How a cursor of the table `events` goes from row to row, and from trace to trace. */
#include "runtime/view/sql/tables/events_rows.h"

#include "runtime/base/memory.h"
#include "runtime/view/sql/tables/events.h"
#include "runtime/view/sql/tables/plan.h"
#include "runtime/view/sql/tables/test.h"
#include "runtime/view/walk/open_calls.h"

/* How many rows are passed over between two looks at whether to go on. */
#define STEP 4096

void events_give_readers(struct events_cursor *cursor)
{
    for (int i = 0; i < EVENTS_READER_MAX; i++) {
        sql_reader_give(cursor->readers[i]);
        cursor->readers[i] = NULL;
    }
    cursor->reader = NULL;
}
static int fail(struct events_cursor *cursor)
{
    return sql_table_fail((struct sql_virtual_table *)cursor->base.pVtab);
}

/* ---- readers ---- */

/* The reader that is nearest to the event, or the one that was used longest ago: a cursor that
 * looks up events by turns here and there would load their chunks again and again. */
static struct sql_reader *choose_reader(struct events_cursor *cursor)
{
    struct sql_trace *trace = &cursor->traces->traces[cursor->trace];
    struct sql_reader **oldest = &cursor->readers[0];

    if (cursor->readers_trace != cursor->trace) {
        events_give_readers(cursor);
        cursor->readers_trace = cursor->trace;
    }
    for (int i = 0; i < EVENTS_READER_MAX; i++) {
        struct sql_reader **reader = &cursor->readers[i];
        bool is_needed = i == 0 || ((cursor->plan & SQL_PLAN_ONE_ROW) != 0 &&
                                    cursor->scan_count > 2);

        if (*reader == NULL && !is_needed) {
            break;
        }
        if (*reader == NULL) {
            *reader = sql_reader_acquire(cursor->traces, trace);
            return *reader;
        }
        if ((cursor->plan & SQL_PLAN_ONE_ROW) == 0 ||
            sql_reader_is_near(*reader, cursor->first)) {
            return *reader;
        }
        oldest = (*reader)->used < (*oldest)->used ? reader : oldest;
    }
    return *oldest;
}

static bool begin_reading(struct events_cursor *cursor)
{
    cursor->reader = choose_reader(cursor);
    if (cursor->reader == NULL) {
        return false;
    }
    cursor->reader->used = cursor->scan_count;
    cursor->is_following = false;
    if (cursor->first > 0) {
        sql_reader_seek(cursor->reader, cursor->first);
    } else {
        log_reader_rewind(cursor->reader->reader);
        cursor->is_following = (cursor->plan & SQL_PLAN_MODULE) != 0;
    }
    open_calls_release(&cursor->calls);
    open_calls_init(&cursor->calls);
    return true;
}

/* ---- rows ---- */

const struct open_call *events_find_call(struct events_cursor *cursor,
                                         struct open_call *made)
{
    struct sql_trace *trace = &cursor->traces->traces[cursor->trace];
    const struct sql_call *call;

    if (cursor->is_following) {
        return cursor->call;
    }
    if ((cursor->plan & SQL_PLAN_MODULE) == 0) {
        return NULL;
    }
    call = sql_calls_find(&trace->calls, cursor->item.event.call);
    *made = (struct open_call){.path = call == NULL ? SLICE("") : call->path};
    return made;
}

static bool is_passed_over(struct events_cursor *cursor)
{
    const struct log_event_view *event = &cursor->item.event;
    struct slice name = cursor->traces->traces[cursor->trace].name;

    for (int i = 0; i < cursor->test_count; i++) {
        const struct sql_test *test = &cursor->tests[i];
        struct column_value value;
        struct open_call made;
        const struct open_call *call = test->column == EVENT_COLUMN_module
                                           ? events_find_call(cursor, &made)
                                           : NULL;

        event_column_get(test->column, event, call, name, &cursor->scratch, &value);
        if (!cursor->scratch.has_failed &&
            sql_test_fails(test, &value, &cursor->texts)) {
            return true;
        }
    }
    return false;
}

/* Keeps open_calls up to date. false where memory ran out. */
static bool follow(struct events_cursor *cursor)
{
    bool is_new;

    switch (cursor->item.kind) {
    case LOG_CALL:
        return open_calls_begin(&cursor->calls, &cursor->item.call, &is_new) != NULL;
    case LOG_EVENT:
        cursor->call =
            open_calls_of_event(&cursor->calls, &cursor->item.event, &is_new);
        return cursor->call != NULL;
    case LOG_END:
        open_calls_end(&cursor->calls,
                       open_calls_find(&cursor->calls, cursor->item.end.call));
        return true;
    default:
        return true;
    }
}

/* The trace's next event that may fit; `*is_found` tells whether there is one. */
static int read_row(struct events_cursor *cursor, bool *is_found)
{
    struct log_reader *reader = cursor->reader->reader;

    *is_found = false;
    for (unsigned i = 1; log_reader_next(reader, &cursor->item); i++) {
        if (i % STEP == 0 && atomic_load(&cursor->traces->is_interrupted)) {
            return SQLITE_INTERRUPT;
        }
        if (cursor->is_following && !follow(cursor)) {
            return SQLITE_NOMEM;
        }
        if (cursor->item.kind != LOG_EVENT) {
            continue;
        }
        if (cursor->item.event.number > cursor->last) {
            break;
        }
        if (cursor->item.event.number >= cursor->first && !is_passed_over(cursor)) {
            *is_found = true;
            cursor->traces->rows_read++;
            break;
        }
    }
    return SQLITE_OK;
}

/* A call's events lie between its first and its last one. Worth to be found where calls are
 * known already, or where a query asks for one call after the other. */
static bool narrow_to_call(struct events_cursor *cursor)
{
    struct sql_trace *trace = &cursor->traces->traces[cursor->trace];

    for (int i = 0; i < cursor->test_count; i++) {
        const struct sql_test *test = &cursor->tests[i];
        const struct sql_call *call = NULL;

        if (test->column != EVENT_COLUMN_call || test->is_idle ||
            test->operator_ != SQLITE_INDEX_CONSTRAINT_EQ ||
            test->type != COLUMN_INTEGER) {
            continue;
        }
        if (!trace->calls.is_known && cursor->scan_count > 1 &&
            !sql_trace_need_calls(cursor->traces, trace)) {
            return false;
        }
        if (!trace->calls.is_known) {
            continue;
        }
        if (test->integer >= 0 && test->integer <= UINT32_MAX) {
            call = sql_calls_find(&trace->calls, (uint32_t)test->integer);
        }
        if (call == NULL || call->event_count == 0) {
            cursor->first = UINT64_MAX;
            cursor->last = 0;
            return true;
        }
        cursor->first =
            call->first_event > cursor->first ? call->first_event : cursor->first;
        cursor->last =
            call->last_event < cursor->last ? call->last_event : cursor->last;
    }
    return true;
}

/* The numbers that the tests leave, as far as they tell. */
static void narrow_to_numbers(struct events_cursor *cursor)
{
    cursor->first = 0;
    cursor->last = UINT64_MAX;
    for (int i = 0; i < cursor->test_count; i++) {
        const struct sql_test *test = &cursor->tests[i];
        uint64_t number = test->integer < 0 ? 0 : (uint64_t)test->integer;
        bool is_equality = test->operator_ == SQLITE_INDEX_CONSTRAINT_EQ;

        if (test->column != EVENT_COLUMN_seq || test->is_idle ||
            test->type != COLUMN_INTEGER) {
            continue;
        }
        if ((is_equality || test->operator_ == SQLITE_INDEX_CONSTRAINT_GT ||
             test->operator_ == SQLITE_INDEX_CONSTRAINT_GE) &&
            number > cursor->first) {
            cursor->first = number;
        }
        if ((is_equality || test->operator_ == SQLITE_INDEX_CONSTRAINT_LT ||
             test->operator_ == SQLITE_INDEX_CONSTRAINT_LE) &&
            number < cursor->last) {
            cursor->last = number;
        }
    }
}

/* Goes to the next trace that is wanted, and in it to where reading begins. */
static int begin_trace(struct events_cursor *cursor)
{
    narrow_to_numbers(cursor);
    if (!narrow_to_call(cursor)) {
        return fail(cursor);
    }
    if (cursor->first > cursor->last) {
        cursor->reader = NULL;
        return SQLITE_OK;
    }
    if ((cursor->plan & SQL_PLAN_MODULE) != 0 && cursor->first > 0 &&
        !sql_trace_need_calls(cursor->traces, &cursor->traces->traces[cursor->trace])) {
        return fail(cursor);
    }
    return begin_reading(cursor) ? SQLITE_OK : fail(cursor);
}

int events_settle(struct events_cursor *cursor)
{
    bool is_found = false;
    int code = SQLITE_OK;

    for (;;) {
        if (cursor->reader != NULL) {
            code = read_row(cursor, &is_found);
        }
        if (code != SQLITE_OK || is_found) {
            return code;
        }
        if (cursor->trace + 1 >= cursor->last_trace) {
            cursor->trace = cursor->traces->count;
            return SQLITE_OK;
        }
        cursor->trace++;
        code = begin_trace(cursor);
        if (code != SQLITE_OK) {
            return code;
        }
    }
}
