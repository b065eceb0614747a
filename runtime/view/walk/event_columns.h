/* The columns of events as rows of a table, shared by SQL, CSV, JSON lines and Python's columns.
 * event_columns.def lists the columns in their order. */
#ifndef MONITORCH_VIEW_WALK_EVENT_COLUMNS_H
#define MONITORCH_VIEW_WALK_EVENT_COLUMNS_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"
#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>
#include <stdint.h>

enum event_column {
#define EVENT_COLUMN(name, form, what) EVENT_COLUMN_##name,
#include "runtime/view/walk/event_columns.def"
#undef EVENT_COLUMN
    EVENT_COLUMN_COUNT
};

enum column_type {
    COLUMN_INTEGER,
    COLUMN_REAL,
    COLUMN_TEXT,
};

/* The form of a column's values, for readers with types of their own for some of them. */
enum column_form {
    COLUMN_FORM_INTEGER,
    COLUMN_FORM_FLAG,  /* 0 or 1 */
    COLUMN_FORM_TIME,  /* nanoseconds since the start of the recording */
    COLUMN_FORM_REAL,  /* an integer if the dtype is an integer type */
    COLUMN_FORM_VALUE, /* a number or a text */
    COLUMN_FORM_TEXT,
    COLUMN_FORM_NUMBERS, /* integers, as JSON */
    COLUMN_FORM_TEXTS,   /* texts, as JSON */
    COLUMN_FORM_HASH,    /* 64 bits, as 16 hexadecimal digits */
};

struct column_rule {
    const char *name;
    enum column_form form;
    const char *what; /* description in a few words, for a schema */
};

/* The type of most values of the form. */
enum column_type column_form_type(enum column_form form);

extern const struct column_rule event_columns[EVENT_COLUMN_COUNT];

struct column_value {
    bool is_empty; /* NULL or nothing: the column does not apply to this event */
    enum column_type
        type; /* of `value`: REAL or INTEGER for a number, TEXT for a string */
    int64_t integer;
    double real;
    struct slice text; /* borrowed from the event, or from `scratch` */
};

/* Gets a column of an event. `call` has the nn.Module's path; if it is NULL, that column is
 * empty. `trace` is the file's name, for the column `trace`. The call overwrites `scratch`, so
 * it invalidates a text that the previous call stored there. If memory runs out,
 * scratch->has_failed is set. A value above 2^63 - 1 becomes the nearest real number; a float
 * that is NaN stays NaN. */
void event_column_get(enum event_column column,
                      const struct log_event_view *event,
                      const struct open_call *call,
                      struct slice trace,
                      struct buffer *scratch,
                      struct column_value *value);

/* Gets the numbers of a column of the form NUMBERS. Returns false if the column is empty. */
bool event_column_numbers(enum event_column column,
                          const struct log_event_view *event,
                          const int64_t **numbers,
                          uint32_t *count);

#endif
