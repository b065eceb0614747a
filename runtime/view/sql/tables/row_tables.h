/* Tables whose rows can be counted and found by a key: sites, calls, edges, steps, parameters.
 * They are used by SQL and Arrow, and do not depend on SQLite. */
#ifndef MONITORCH_VIEW_SQL_TABLES_ROW_TABLES_H
#define MONITORCH_VIEW_SQL_TABLES_ROW_TABLES_H

#include "runtime/base/buffer.h"
#include "runtime/view/sql/tables/traces.h"
#include "runtime/view/walk/event_columns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql_table {
    const char *name;
    const char *what;
    const struct column_rule *columns;
    int column_count;
};

/* A column by which rows are found without a scan. */
struct sql_key {
    int column;
    bool is_unique;
    /* Finds the rows with that key: positions from `*first` up to `*end`, in the key's own
     * order. */
    void (*find)(const struct sql_trace *trace,
                 uint64_t number,
                 size_t *first,
                 size_t *end);
    /* The row at a position of that order. NULL if positions are rows. */
    size_t (*row)(const struct sql_trace *trace, size_t position);
};

#define SQL_KEY_MAX 2

struct sql_rows {
    struct sql_table table;
    struct sql_key keys[SQL_KEY_MAX];
    int key_count;
    /* An estimate for the planner, before the rows are known. */
    uint64_t (*guess)(const struct sql_trace *trace);
    /* Reads the rows. Returns false with the traces' error set. May be NULL. */
    bool (*prepare)(struct sql_traces *traces, struct sql_trace *trace);
    size_t (*count)(const struct sql_trace *trace);
    /* Gets a column of a row. It is not called for column 0, the trace's name. A text is in
     * `scratch`, or lives as long as the traces. */
    void (*get)(struct sql_trace *trace,
                size_t row,
                int column,
                struct buffer *scratch,
                struct column_value *value);
};

extern const struct sql_rows sql_sites_rows;
extern const struct sql_rows sql_calls_rows;
extern const struct sql_rows sql_edges_rows;
extern const struct sql_rows sql_steps_rows;
extern const struct sql_rows sql_parameters_rows;

/* Sets the value to a number. A number above 2^63 - 1 becomes the nearest double. */
static inline void sql_value_set_number(struct column_value *value, uint64_t number)
{
    if (number <= INT64_MAX) {
        *value =
            (struct column_value){.type = COLUMN_INTEGER, .integer = (int64_t)number};
    } else {
        *value = (struct column_value){.type = COLUMN_REAL, .real = (double)number};
    }
}

static inline void sql_value_set_text(struct column_value *value, struct slice text)
{
    *value = (struct column_value){.type = COLUMN_TEXT, .text = text};
}

#endif
