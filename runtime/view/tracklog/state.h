/* What the files of the tree log share. */
#ifndef MONITORCH_VIEW_TRACKLOG_STATE_H
#define MONITORCH_VIEW_TRACKLOG_STATE_H

#include "runtime/view/tracklog/call.h"
#include "runtime/view/tracklog/tracklog.h"

struct track_thread {
    uint32_t current; /* the call whose lines stand last; 0: none that goes on */
    uint32_t generator_count; /* that were told */
};

struct track_log {
    struct track_options options;
    struct open_calls calls;
    struct source_lines sources;
    struct track_thread *threads; /* owned; by number */
    size_t thread_capacity;
    /* By number; zeroed where it was not met. Copies: what they point to is borrowed. */
    struct log_module *modules; /* owned */
    size_t module_capacity;
    bool has_failed;
};

/* ---- tracklog.c ---- */

const struct site_function *track_log_function(const struct track_log *log,
                                               const struct open_call *call);

/* ---- event.c ---- */

/* Whether the call is to be told, and was not begun yet. `call` may be NULL. */
bool track_log_is_due(const struct open_call *call);
/* Tells the first line of such a call, or has it wait; before it those of the calls that it was
 * made from, where they are due too. */
void track_log_begin_call(struct track_log *log,
                          struct open_call *call,
                          struct slice callers,
                          struct buffer *text);
/* The last lines of a call that is TOLD. */
void track_log_add_end(struct track_log *log,
                       struct open_call *call,
                       const struct log_item *item,
                       struct buffer *text);

/* Begins a line of a call that is TOLD or WAITING: gives the text that it goes to, and what has
 * to be handed to track_log_end_line. */
struct track_line {
    struct buffer *text;
    size_t start;
};

/* ---- event.c ---- */

/* The lines of an event in a call that is TOLD or WAITING. */
void track_log_add_event(struct track_log *log,
                         const struct log_event_view *event,
                         struct open_call *call,
                         struct buffer *text);

#endif
