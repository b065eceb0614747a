/* The state of the tree log, shared by the files of this folder. */
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

/* ---- the state of a call: its wish, and the part that was written ---- */

/* The last values of a call's names, as far as they are needed to describe the next value. */

#define TRACK_DTYPE_SIZE 24

struct track_name {
    int64_t length;
    uint64_t text; /* hash; for strings */
    enum value_kind kind;
    bool is_numpy;
    uint8_t dtype_size;
    char dtype[TRACK_DTYPE_SIZE]; /* for tensors; truncated */
};

struct track_names {
    struct track_name *items; /* owned; may be NULL */
    size_t capacity;
    size_t count;
    struct number_map places; /* name's hash -> index in `items` */
};

/* Stores the event's value, and writes the previous one of the name to `before`. Returns false
 * if the previous value is unknown. Beyond a few thousand names of a call, new names are not
 * stored. */
bool track_names_add(struct track_names *names,
                     const struct log_event_view *event,
                     struct track_name *before);

enum track_state {
    TRACK_IGNORED, /* not to be written */
    TRACK_DUE,     /* its first line is written with its next item */
    TRACK_WAITING, /* its lines are kept until an event meets its condition */
    TRACK_SHOWN,
};

/* The type of open_call.extra. */
struct track_call {
    enum track_state state;
    bool is_conditional; /* written only if an event meets its condition */
    struct track_wish wish;
    char *wish_text;            /* owned; may be NULL */
    struct track_labels labels; /* borrowed: from the log and from wish_text */
    uint32_t level;             /* indent of its lines */
    uint32_t number; /* of a generator or coroutine, within its thread; else 0 */
    uint32_t depth;  /* levels of calls made from it that are written too */
    struct track_names names;
    struct buffer waiting; /* lines of a WAITING call */
    uint64_t left_out;     /* number of lines that did not fit into `waiting` */
    uint32_t line;         /* source line written last; 0: none */
    uint32_t line_site;    /* site that wrote it; SITE_NONE: before it was visited */
    uint32_t line_visit;
};

/* The state of the call. NULL: memory ran out at its start. */
static inline struct track_call *track_call_of(const struct open_call *call)
{
    return call->extra;
}

/* The nearest caller that is SHOWN, or with `with_waiting` also WAITING. NULL: there is none. */
struct open_call *track_call_above(const struct open_call *call, bool with_waiting);

struct track_thread {
    uint32_t current;         /* call of the last lines; 0: none that is still open */
    uint32_t generator_count; /* number of generators written */
};

struct track_log {
    struct track_options options;
    struct open_calls calls;
    struct source_lines sources;
    struct track_thread *threads; /* owned; by number */
    size_t thread_capacity;
    /* By number; zeroed if the module has not occurred. These are copies; their pointers are
     * borrowed. */
    struct log_module *modules; /* owned */
    size_t module_capacity;
    bool has_failed;
};

/* ---- tracklog.c ---- */

const struct site_function *track_log_function(const struct track_log *log,
                                               const struct open_call *call);

/* ---- event.c ---- */

/* Whether the call is to be written and has no lines yet. `call` may be NULL. */
bool track_log_is_due(const struct open_call *call);
/* Writes the first line of such a call, or stores it if the call is WAITING. Callers that are
 * due are written before it. */
void track_log_begin_call(struct track_log *log,
                          struct open_call *call,
                          struct slice callers,
                          struct buffer *text);
/* Writes the last lines of a SHOWN call. */
void track_log_add_end(struct track_log *log,
                       struct open_call *call,
                       const struct log_item *item,
                       struct buffer *text);

/* A line of a SHOWN or WAITING call that is being written: its destination and its start, for
 * track_log_end_line. */
struct track_line {
    struct buffer *text;
    size_t start;
};

/* ---- event.c ---- */

/* Writes the lines of an event in a SHOWN or WAITING call. */
void track_log_add_event(struct track_log *log,
                         const struct log_event_view *event,
                         struct open_call *call,
                         struct buffer *text);

#endif
