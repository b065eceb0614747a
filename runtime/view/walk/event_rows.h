/* The rows of a trace: the events that match a filter, one after the other, each with its call. */
#ifndef MONITORCH_VIEW_WALK_EVENT_ROWS_H
#define MONITORCH_VIEW_WALK_EVENT_ROWS_H

#include "runtime/trace/reader.h"
#include "runtime/view/walk/event_filter.h"
#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>
#include <stddef.h>

struct event_rows {
    struct log_reader *reader;         /* borrowed */
    const struct event_filter *filter; /* borrowed */
    struct open_calls calls;           /* owned */
    struct log_item item;              /* the present row: a LOG_EVENT */
    struct open_call *call;            /* its call; borrowed from `calls` */
    /* Called now and then; if it returns false, the rows end. May be NULL. */
    bool (*go_on)(void *context);
    void *context;
    size_t item_count;
    bool has_failed; /* memory ran out */
    bool is_stopped; /* go_on() returned false */
};

/* `reader` must be at its start. */
void event_rows_init(struct event_rows *rows,
                     struct log_reader *reader,
                     const struct event_filter *filter);
void event_rows_release(struct event_rows *rows);

/* Moves to the next row. Returns false at the end, on failure and when stopped. */
bool event_rows_next(struct event_rows *rows);

/* Whether the reader had enough memory. It reports a lack of memory as damage; the trace was not
 * fully read then. */
bool event_rows_has_memory(const struct log_reader *reader);

#endif
