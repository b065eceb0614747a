/* A constraint of a query on a column of `events`, tried before SQLite sees the row: rows that
 * surely do not fit are passed over. SQLite looks at the others again. */
#ifndef MONITORCH_VIEW_SQL_TABLES_TEST_H
#define MONITORCH_VIEW_SQL_TABLES_TEST_H

#include "runtime/base/buffer.h"
#include "runtime/view/walk/event_columns.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct sql_test {
    enum event_column column;
    unsigned char operator_; /* SQLITE_INDEX_CONSTRAINT_… */
    bool is_idle;            /* nothing can be said of any row */
    bool is_never;           /* no row fits */
    enum column_type type;   /* of the other side */
    int64_t integer;
    double real;
    size_t text_start, text_size; /* in the texts of the tests */
};

/* Whether a constraint with this operator can be tried at all. */
bool sql_test_is_possible(unsigned char operator_);

/* `value` is the other side; its text is added to `texts`. */
void sql_test_init(struct sql_test *test,
                   enum event_column column,
                   unsigned char operator_,
                   sqlite3_value *value,
                   struct buffer *texts);

/* Whether a row with this value surely does not fit. */
bool sql_test_fails(const struct sql_test *test,
                    const struct column_value *value,
                    const struct buffer *texts);

#endif
