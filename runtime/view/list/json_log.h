/* A trace as JSON, one object for each line. docs/reference/show.md has the fields. */
#ifndef MONITORCH_VIEW_LIST_JSON_LOG_H
#define MONITORCH_VIEW_LIST_JSON_LOG_H

#include "runtime/base/buffer.h"
#include "runtime/trace/reader.h"
#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>

struct json_log {
    const struct log_reader *reader; /* borrowed */
    struct slice trace; /* borrowed: the file's name if there are several, or "" */
    bool has_sample;
    /* Canonical: data that differs between runs is left out, and the fields below replace it. */
    bool is_canonical;
    uint64_t sequence;        /* number of the event */
    size_t thread;            /* number of the thread, followed by its name */
    struct slice thread_name; /* borrowed */
};

/* Appends the objects of the call and of the calls around it that were not written before. */
void json_log_add_call(const struct json_log *log,
                       struct open_call *call,
                       struct buffer *text);
void json_log_add_event(const struct json_log *log,
                        const struct log_event_view *event,
                        struct open_call *call,
                        struct buffer *text);
/* Appends the fields of the event's value, from `value_kind` on. Also used for objects of other
 * kinds. */
void json_log_add_value(const struct json_log *log,
                        const struct log_event_view *event,
                        struct buffer *text);
void json_log_add_end(const struct json_log *log,
                      const struct log_item *item,
                      const struct open_call *call,
                      struct buffer *text);
/* Append a backward, and a gradient of it. The number of the gradient's event is `sequence`. */
void json_log_add_step(const struct json_log *log,
                       const struct log_step_view *step,
                       struct buffer *text);
void json_log_add_gradient(const struct json_log *log,
                           const struct log_event_view *gradient,
                           struct buffer *text);
void json_log_add_note(const struct json_log *log,
                       const struct log_item *item,
                       struct buffer *text);
/* Appends an object for a trace of which nothing is listed. `message` is the reason. */
void json_log_add_nothing(const struct json_log *log,
                          struct slice message,
                          struct buffer *text);

/* Fields of a value in a line of JSON. */

/* Appends the numbers of elements that are NaN, infinite and zero. */
void json_counts_add(struct buffer *text, const struct statistics *statistics);

#endif
