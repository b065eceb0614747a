/* The events of a trace as rows of a table: what SQL, CSV, JSON lines and Python's columns have
 * in common. One list says which columns there are, and in which order. */
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

/* The values of a column, for readers that have types of their own for them. */
enum column_form {
    COLUMN_FORM_INTEGER,
    COLUMN_FORM_FLAG,  /* 0 or 1 */
    COLUMN_FORM_TIME,  /* nanoseconds since the start of the recording */
    COLUMN_FORM_REAL,  /* an integer where the dtype is one */
    COLUMN_FORM_VALUE, /* a number or a text */
    COLUMN_FORM_TEXT,
    COLUMN_FORM_NUMBERS, /* integers, as JSON */
    COLUMN_FORM_TEXTS,   /* texts, as JSON */
    COLUMN_FORM_HASH,    /* 64 bits, as 16 hexadecimal digits */
};

struct column_rule {
    const char *name;
    enum column_form form;
    const char *what; /* in a few words, for a schema */
};

/* The type of most values of that form. */
enum column_type column_form_type(enum column_form form);

extern const struct column_rule event_columns[EVENT_COLUMN_COUNT];

struct column_value {
    bool is_empty;         /* NULL, nothing: the column does not apply to this event */
    enum column_type type; /* `value` of a number is one, of a string a text */
    int64_t integer;
    double real;
    struct slice text; /* borrowed from the event, or from `scratch` */
};

/* One column of an event. `call` gives the nn.Module's path; it may be NULL, the column is empty
 * then. `trace` is the file's name for the column of that name. What stood in `scratch` is gone
 * after it, and so is a text of the call before that lay there; where memory runs out, it has
 * failed. A value beyond 2^63 - 1 is the nearest real number; a float that is NaN stays one. */
void event_column_get(enum event_column column,
                      const struct log_event_view *event,
                      const struct open_call *call,
                      struct slice trace,
                      struct buffer *scratch,
                      struct column_value *value);

/* What a column of NUMBERS holds. false: nothing. */
bool event_column_numbers(enum event_column column,
                          const struct log_event_view *event,
                          const int64_t **numbers,
                          uint32_t *count);

#endif
