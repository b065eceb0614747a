/* The table `events`: a query's constraints become a plan, and rows are read from the trace one
 * by one. */

#include "runtime/view/sql/tables/tables.h"

#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"
#include "runtime/view/walk/event_columns.h"
#include "runtime/view/walk/open_calls.h"

#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct sql_test {
    enum event_column column;
    unsigned char operator_; /* SQLITE_INDEX_CONSTRAINT_… */
    bool is_idle;            /* the constraint cannot exclude any row */
    bool is_never;           /* the constraint excludes all rows */
    enum column_type type;   /* of the right operand */
    int64_t integer;
    double real;
    size_t text_start, text_size; /* in the cursor's `texts` */
};

/* The number of constraints that a scan tests itself. SQLite tests the others. */
#define SQL_PLAN_TEST_MAX 15

/* The bits of idxNum. */
enum sql_plan {
    SQL_PLAN_MODULE = 1,  /* the column `module` is used */
    SQL_PLAN_ONE_ROW = 2, /* seq is given by `=` */
};

/* The number of readers of a cursor that looks up single events. */
#define EVENTS_READER_MAX 4

struct events_cursor {
    sqlite3_vtab_cursor base;
    struct sql_traces *traces; /* borrowed */
    unsigned plan;             /* enum sql_plan */
    struct sql_test tests[SQL_PLAN_TEST_MAX];
    int test_count;
    struct buffer texts;       /* owned; texts of the tests */
    uint64_t first, last;      /* numbers of the events in question */
    uint64_t scan_count;       /* number of scans */
    size_t trace;              /* current trace; traces->count: at the end */
    size_t last_trace;         /* end of the range of traces */
    struct sql_reader *reader; /* of the current trace; one of `readers` */
    struct sql_reader *readers[EVENTS_READER_MAX]; /* acquired; may be NULL */
    size_t readers_trace;                          /* the trace of `readers` */
    struct log_item item;
    bool is_following;       /* open_calls holds all calls up to here */
    struct open_calls calls; /* owned */
    struct open_call *call;  /* of the row, if is_following */
    struct buffer scratch;   /* owned */
};

/* A constraint of a query on a column of `events`, tested before SQLite gets the row. */

/* Integers below this limit are exact as doubles. */
#define EXACT_LIMIT (INT64_C(1) << 53)

/* Whether the scan can test a constraint with this operator. */
static bool sql_test_is_possible(unsigned char operator_)
{
    switch (operator_) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_LE:
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_GE:
    case SQLITE_INDEX_CONSTRAINT_NE:
    case SQLITE_INDEX_CONSTRAINT_ISNULL:
    case SQLITE_INDEX_CONSTRAINT_ISNOTNULL:
        return true;
    default:
        return false;
    }
}

/* Sets up the test. `value` is the right operand; its text is appended to `texts`. */
static void sql_test_init(struct sql_test *test,
                          enum event_column column,
                          unsigned char operator_,
                          sqlite3_value *value,
                          struct buffer *texts)
{
    *test = (struct sql_test){.column = column, .operator_ = operator_};
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        test->type = COLUMN_INTEGER;
        test->integer = sqlite3_value_int64(value);
        break;
    case SQLITE_FLOAT:
        test->type = COLUMN_REAL;
        test->real = sqlite3_value_double(value);
        if (fabs(test->real) < (double)EXACT_LIMIT && floor(test->real) == test->real) {
            test->type = COLUMN_INTEGER;
            test->integer = (int64_t)test->real;
        }
        break;
    case SQLITE_TEXT:
        test->type = COLUMN_TEXT;
        test->text_start = texts->size;
        buffer_add(texts, slice_of((const char *)sqlite3_value_text(value)));
        test->text_size = texts->size - test->text_start;
        /* Texts with a NUL, or after memory ran out, cannot be tested. */
        test->is_idle =
            texts->has_failed || (size_t)sqlite3_value_bytes(value) != test->text_size;
        break;
    default:
        /* A comparison with NULL is never true. */
        test->is_never = sqlite3_value_type(value) == SQLITE_NULL &&
                         operator_ != SQLITE_INDEX_CONSTRAINT_ISNULL &&
                         operator_ != SQLITE_INDEX_CONSTRAINT_ISNOTNULL;
        test->is_idle = !test->is_never;
    }
}

static bool order_fails(unsigned char operator_, int order)
{
    switch (operator_) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return order != 0;
    case SQLITE_INDEX_CONSTRAINT_NE:
        return order == 0;
    case SQLITE_INDEX_CONSTRAINT_GT:
        return order <= 0;
    case SQLITE_INDEX_CONSTRAINT_GE:
        return order < 0;
    case SQLITE_INDEX_CONSTRAINT_LT:
        return order >= 0;
    default:
        return order > 0;
    }
}

static bool is_exact(enum column_type type, int64_t integer)
{
    return type == COLUMN_REAL || (integer > -EXACT_LIMIT && integer < EXACT_LIMIT);
}

static bool number_fails(const struct sql_test *test, const struct column_value *value)
{
    double left;
    double right;

    if (value->type == COLUMN_INTEGER && test->type == COLUMN_INTEGER) {
        return order_fails(test->operator_, value->integer < test->integer
                                                ? -1
                                                : value->integer > test->integer);
    }
    if (!is_exact(value->type, value->integer) ||
        !is_exact(test->type, test->integer)) {
        return false;
    }
    left = value->type == COLUMN_REAL ? value->real : (double)value->integer;
    right = test->type == COLUMN_REAL ? test->real : (double)test->integer;
    return order_fails(test->operator_, left < right ? -1 : left > right);
}

/* Whether the value certainly fails the test. */
static bool sql_test_fails(const struct sql_test *test,
                           const struct column_value *value,
                           const struct buffer *texts)
{
    bool is_null =
        value->is_empty || (value->type == COLUMN_REAL && isnan(value->real));

    if (test->operator_ == SQLITE_INDEX_CONSTRAINT_ISNULL) {
        return !is_null;
    }
    if (test->is_never) {
        return true;
    }
    if (is_null || test->operator_ == SQLITE_INDEX_CONSTRAINT_ISNOTNULL) {
        return is_null;
    }
    if (test->is_idle || (value->type == COLUMN_TEXT) != (test->type == COLUMN_TEXT)) {
        return false;
    }
    if (value->type != COLUMN_TEXT) {
        return number_fails(test, value);
    }
    return test->operator_ == SQLITE_INDEX_CONSTRAINT_EQ &&
           !slice_equal(value->text, slice_part(buffer_slice(texts), test->text_start,
                                                test->text_start + test->text_size));
}

/* The way of a cursor of the table `events` from row to row, and from trace to trace. */

/* The number of items between two tests of is_interrupted. */
#define STEP 4096

/* Returns the cursor's readers to the traces. */
static void events_give_readers(struct events_cursor *cursor)
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

/* The reader that is nearest to the event, or the one that was used longest ago. With a single
 * reader, a cursor that looks up events at several places in turn would load their chunks again
 * and again. */
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

/* The call of the row's event, or NULL. `made` is the memory for it. */
static const struct open_call *events_find_call(struct events_cursor *cursor,
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

/* Updates the open calls with the current item. Returns false if memory runs out. */
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

/* Reads the trace's next event that may match. Sets `*is_found` to whether there is one. */
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

/* Narrows the range of events to those of a call, which are between its first and its last
 * event. The calls are read for this if they are known already, or if a query asks for several
 * calls in turn. */
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

/* Narrows the range of events to the bounds that tests of seq give. */
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

/* Starts to read the current trace, at the first event of its range. */
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

/* Moves to the next matching row, in the following traces too. Returns SQLite's code. */
static int events_settle(struct events_cursor *cursor)
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

/* The planning of a scan of `events`: the constraints that it tests itself, and its cost. */

/* The cost of a seek, as a number of rows read. */
#define SEEK_COST 30.0

/* The constraints that the scan tests, in their order: a letter for the column, and one for the
 * operator. `explain query plan` shows this text. */
struct plan_text {
    char bytes[2 * SQL_PLAN_TEST_MAX + 1];
    int count;
};

#define FIRST_LETTER '0'

static const struct {
    unsigned char operator_;
    char letter;
} operators[] = {
    {SQLITE_INDEX_CONSTRAINT_EQ, '='},     {SQLITE_INDEX_CONSTRAINT_GT, '>'},
    {SQLITE_INDEX_CONSTRAINT_LT, '<'},     {SQLITE_INDEX_CONSTRAINT_GE, ')'},
    {SQLITE_INDEX_CONSTRAINT_LE, '('},     {SQLITE_INDEX_CONSTRAINT_NE, '!'},
    {SQLITE_INDEX_CONSTRAINT_ISNULL, '0'}, {SQLITE_INDEX_CONSTRAINT_ISNOTNULL, '1'},
};

static void plan_add(struct plan_text *text, int column, unsigned char operator_)
{
    size_t i = 0;

    while (operators[i].operator_ != operator_) {
        i++;
    }
    text->bytes[2 * text->count] = (char)(FIRST_LETTER + column);
    text->bytes[2 * text->count + 1] = operators[i].letter;
    text->count++;
}

/* Reads the constraint at `index` of the text in idxStr. */
static void
sql_plan_read(const char *text, int index, int *column, unsigned char *operator_)
{
    size_t i = 0;

    while (operators[i].letter != text[2 * index + 1]) {
        i++;
    }
    *column = text[2 * index] - FIRST_LETTER;
    *operator_ = operators[i].operator_;
}

static double guess_events(const struct sql_traces *traces)
{
    double count = 0;

    for (size_t i = 0; i < traces->count; i++) {
        count += (double)sql_trace_guess_events(&traces->traces[i]);
    }
    return count;
}

/* The estimated cost and rows of a scan with its constraints. */
struct estimate {
    double cost;
    double rows;
    bool has_seq;   /* by `=` */
    bool has_trace; /* by `=` */
};

static void estimate_add(struct estimate *estimate,
                         int column,
                         unsigned char operator_,
                         size_t traces)
{
    bool is_equality = operator_ == SQLITE_INDEX_CONSTRAINT_EQ;
    bool is_range = operator_ == SQLITE_INDEX_CONSTRAINT_GT ||
                    operator_ == SQLITE_INDEX_CONSTRAINT_GE ||
                    operator_ == SQLITE_INDEX_CONSTRAINT_LT ||
                    operator_ == SQLITE_INDEX_CONSTRAINT_LE;

    if (column == EVENT_COLUMN_seq && is_equality) {
        estimate->has_seq = true;
    } else if (column == EVENT_COLUMN_seq && is_range) {
        estimate->cost /= 2;
        estimate->rows /= 2;
    } else if (column == EVENT_COLUMN_trace && is_equality) {
        estimate->has_trace = true;
        estimate->cost /= (double)traces;
        estimate->rows /= (double)traces;
    } else if (column == EVENT_COLUMN_call && is_equality) {
        estimate->cost /= 20;
        estimate->rows /= 50;
    } else {
        estimate->rows /= is_equality ? 8 : 2;
    }
}

/* Whether the scan tests the constraint itself. For a list, SQLite starts one scan for each
 * value, which is cheap only for seq. */
static bool is_wanted(sqlite3_index_info *info, int i)
{
    const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];

    if (constraint->usable == 0 || constraint->iColumn < 0 ||
        !sql_test_is_possible(constraint->op)) {
        return false;
    }
    return constraint->op != SQLITE_INDEX_CONSTRAINT_EQ ||
           constraint->iColumn == EVENT_COLUMN_seq || sql_is_equality(info, i);
}

static bool is_module_used(const sqlite3_index_info *info)
{
    return (info->colUsed & (UINT64_C(1) << EVENT_COLUMN_module)) != 0;
}

static bool is_natural_order(const sqlite3_index_info *info, size_t trace_count)
{
    return trace_count == 1 && info->nOrderBy == 1 &&
           info->aOrderBy[0].iColumn == EVENT_COLUMN_seq && info->aOrderBy[0].desc == 0;
}

/* The method xBestIndex. */
static int sql_plan_events(sqlite3_vtab *base, sqlite3_index_info *info)
{
    struct sql_virtual_table *table = (struct sql_virtual_table *)base;
    size_t trace_count = table->traces->count;
    struct plan_text text = {.count = 0};
    struct estimate estimate;

    estimate.rows = guess_events(table->traces);
    estimate.cost = estimate.rows;
    estimate.has_seq = estimate.has_trace = false;
    for (int i = 0; i < info->nConstraint && text.count < SQL_PLAN_TEST_MAX; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];

        if (is_wanted(info, i)) {
            plan_add(&text, constraint->iColumn, constraint->op);
            info->aConstraintUsage[i].argvIndex = text.count;
            estimate_add(&estimate, constraint->iColumn, constraint->op, trace_count);
        }
    }
    if (estimate.has_seq) {
        estimate.rows = 1;
        estimate.cost = SEEK_COST;
        if (trace_count == 1 || estimate.has_trace) {
            info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
        }
    }
    info->idxStr = sqlite3_mprintf("%s", text.bytes);
    info->needToFreeIdxStr = 1;
    info->idxNum = (is_module_used(info) ? SQL_PLAN_MODULE : 0) |
                   (estimate.has_seq ? SQL_PLAN_ONE_ROW : 0);
    info->orderByConsumed = is_natural_order(info, trace_count);
    info->estimatedCost = estimate.cost < 1 ? 1 : estimate.cost;
    info->estimatedRows = estimate.rows < 1 ? 1 : (sqlite3_int64)estimate.rows;
    return info->idxStr == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

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
    cursor->trace = SIZE_MAX; /* before the first one */
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

    /* The next event after the last one may be in another chunk, which is not needed. */
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

/* Whether the column's texts live as long as the traces: texts of definitions, not of records. */
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
