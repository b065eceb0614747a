/* What the files of the tree log share. */
#ifndef MONITORCH_VIEW_TRACKLOG_STATE_H
#define MONITORCH_VIEW_TRACKLOG_STATE_H

#include "runtime/base/buffer.h"
#include "runtime/base/number_map.h"
#include "runtime/trace/reader.h"
#include "runtime/view/tracklog/labels.h"
#include "runtime/view/tracklog/tracklog.h"
#include "runtime/view/tracklog/wish.h"
#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call as the tree log knows it: what is wanted of it, and how much of it was written. */

/* What the names of a call were when they were written last, as far as that decides what is said of
 * their next value. */

#define TRACK_DTYPE_SIZE 24

struct track_name {
    int64_t length;
    uint64_t text; /* a hash; of strings */
    enum value_kind kind;
    bool is_numpy;
    uint8_t dtype_size;
    char dtype[TRACK_DTYPE_SIZE]; /* its text, cut; of tensors */
};

struct track_names {
    struct track_name *items; /* owned; may be NULL */
    size_t capacity;
    size_t count;
    struct number_map places; /* in `items`, by the names' hashes */
};

/* What `before` holds then; false where nothing is known of the name. The event's value
 * is remembered: of a few thousand names, what is beyond is not. */
bool track_names_add(struct track_names *names,
                     const struct log_event_view *event,
                     struct track_name *before);

enum track_state {
    TRACK_IGNORED, /* nobody wants to know of it */
    TRACK_DUE,     /* its first line comes with the next item about it */
    TRACK_WAITING, /* its lines are kept until it is sure that it is wanted */
    TRACK_SHOWN,
};

/* Of open_call.extra. */
struct track_call {
    enum track_state state;
    bool is_conditional; /* only wanted where something happens in it */
    struct track_wish wish;
    char *wish_text;            /* owned; may be NULL */
    struct track_labels labels; /* borrowed: the log's, and from wish_text */
    uint32_t level;             /* how far its lines are indented */
    uint32_t
        number;     /* of a generator or coroutine, among those of its thread; else 0 */
    uint32_t depth; /* calls made within it are written too, so many levels deep */
    struct track_names names;
    struct buffer waiting; /* lines of a WAITING call */
    uint64_t left_out;     /* lines that were too many for `waiting` */
    uint32_t line;         /* whose text was written last; 0: none */
    uint32_t line_site;    /* by which site; SITE_NONE: before it was visited */
    uint32_t line_visit;
};

/* What is known of the call; NULL where memory ran out when it began. */
static inline struct track_call *track_call_of(const struct open_call *call)
{
    return call->extra;
}

/* The nearest call that this one was made in and that is written, or is TRACK_WAITING where
 * `with_waiting`; NULL: none. */
struct open_call *track_call_above(const struct open_call *call, bool with_waiting);

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
