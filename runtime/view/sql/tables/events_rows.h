/* Where a cursor of the table `events` stands, and how it goes on. */
#ifndef MONITORCH_VIEW_SQL_TABLES_EVENTS_ROWS_H
#define MONITORCH_VIEW_SQL_TABLES_EVENTS_ROWS_H

#include "runtime/view/sql/tables/plan.h"
#include "runtime/view/sql/tables/tables.h"
#include "runtime/view/sql/tables/test.h"
#include "runtime/view/walk/open_calls.h"

/* Readers of a cursor that looks up events here and there. */
#define EVENTS_READER_MAX 4

struct events_cursor {
    sqlite3_vtab_cursor base;
    struct sql_traces *traces; /* borrowed */
    unsigned plan;             /* enum sql_plan */
    struct sql_test tests[SQL_PLAN_TEST_MAX];
    int test_count;
    struct buffer texts;       /* owned; the tests' */
    uint64_t first, last;      /* the numbers that are wanted */
    uint64_t scan_count;       /* how often it was filtered */
    size_t trace;              /* the present one; traces->count: at the end */
    size_t last_trace;         /* the first one that is not wanted any more */
    struct sql_reader *reader; /* of the present trace; one of `readers` */
    struct sql_reader *readers[EVENTS_READER_MAX]; /* taken; may be NULL */
    size_t readers_trace;                          /* whose they are */
    struct log_item item;
    bool is_following;       /* open_calls knows of all calls so far */
    struct open_calls calls; /* owned */
    struct open_call *call;  /* of the row, where is_following */
    struct buffer scratch;   /* owned */
};

/* Gives back the readers that it took. */
void events_give_readers(struct events_cursor *cursor);

/* The call of the row's event, or NULL. */
const struct open_call *events_find_call(struct events_cursor *cursor,
                                         struct open_call *made);

/* Goes to the first wanted row from where it stands, in the next traces too: a code of SQLite. */
int events_settle(struct events_cursor *cursor);

#endif
