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
#define EVENT_COLUMN(name, type, what) EVENT_COLUMN_##name,
#include "runtime/view/walk/event_columns.def"
#undef EVENT_COLUMN
    EVENT_COLUMN_COUNT
};

enum column_type {
    COLUMN_INTEGER,
    COLUMN_REAL,
    COLUMN_TEXT,
};

struct column_rule {
    const char *name;
    enum column_type type;
    const char *what; /* in a few words, for a schema */
};
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

#endif
