/* A trace as JSON, an object a line: docs/reference/show.md tells the fields. */
#ifndef MONITORCH_VIEW_LIST_JSON_LOG_H
#define MONITORCH_VIEW_LIST_JSON_LOG_H

#include "runtime/base/buffer.h"
#include "runtime/trace/reader.h"
#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>

struct json_log {
    const struct log_reader *reader; /* borrowed */
    struct slice trace; /* borrowed: the file's name where there are several, or "" */
    bool has_sample;
    /* Canonical: what may differ between runs is left out, and these are told instead. */
    bool is_canonical;
    uint64_t sequence;        /* the event's number */
    size_t thread;            /* the thread's number, and its name */
    struct slice thread_name; /* borrowed */
};

/* The object of the call and of those that it was made from, where they were not told yet. */
void json_log_add_call(const struct json_log *log,
                       struct open_call *call,
                       struct buffer *text);
void json_log_add_event(const struct json_log *log,
                        const struct log_event_view *event,
                        struct open_call *call,
                        struct buffer *text);
/* The fields that tell the event's value, from `value_kind` on: for an object of another kind. */
void json_log_add_value(const struct json_log *log,
                        const struct log_event_view *event,
                        struct buffer *text);
void json_log_add_end(const struct json_log *log,
                      const struct log_item *item,
                      const struct open_call *call,
                      struct buffer *text);
/* A backward, and a gradient of it; the number of the gradient's event is `sequence`. */
void json_log_add_step(const struct json_log *log,
                       const struct log_step_view *step,
                       struct buffer *text);
void json_log_add_gradient(const struct json_log *log,
                           const struct log_event_view *gradient,
                           struct buffer *text);
void json_log_add_note(const struct json_log *log,
                       const struct log_item *item,
                       struct buffer *text);
/* Where nothing of a trace is listed: `message` says why. */
void json_log_add_nothing(const struct json_log *log,
                          struct slice message,
                          struct buffer *text);

/* Fields of a value in a line of JSON. */

/* How many elements are NaN, infinite, zero. */
void json_counts_add(struct buffer *text, const struct statistics *statistics);

#endif
