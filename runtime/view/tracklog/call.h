/* A call as the tree log knows it: what is wanted of it, and how much of it was told. */
#ifndef MONITORCH_VIEW_TRACKLOG_CALL_H
#define MONITORCH_VIEW_TRACKLOG_CALL_H

#include "runtime/base/buffer.h"
#include "runtime/trace/reader.h"
#include "runtime/view/tracklog/labels.h"
#include "runtime/view/tracklog/names.h"
#include "runtime/view/tracklog/wish.h"
#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>
#include <stdint.h>

enum track_state {
    TRACK_IGNORED, /* nobody wants to know of it */
    TRACK_DUE,     /* its first line comes with the next item about it */
    TRACK_WAITING, /* its lines are kept until it is sure that it is wanted */
    TRACK_SHOWN,
};

/* Stands in open_call.extra. */
struct track_call {
    enum track_state state;
    bool is_conditional; /* only wanted where something is met in it */
    struct track_wish wish;
    char *wish_text;            /* owned; may be NULL */
    struct track_labels labels; /* borrowed: the log's, and from wish_text */
    uint32_t level;             /* how far its lines are indented */
    uint32_t
        number;     /* of a generator or coroutine, among those of its thread; else 0 */
    uint32_t depth; /* calls made within it are told as well, so many levels deep */
    struct track_names names;
    struct buffer waiting; /* lines of a WAITING call */
    uint64_t left_out;     /* lines that were too many for `waiting` */
    uint32_t line;         /* whose text was told last; 0: none */
    uint32_t line_site;    /* by which site; SITE_NONE: before it was visited */
    uint32_t line_visit;
};

/* What is known of the call; NULL where memory ran out when it began. */
static inline struct track_call *track_call_of(const struct open_call *call)
{
    return call->extra;
}

/* NULL: out of memory. */
struct track_call *track_call_add(struct open_call *call);

/* Takes the wish in; `labels` are those that it may change. False where memory ran out. */
bool track_call_want(struct track_call *tracked,
                     struct slice wish,
                     const struct track_labels *labels);

/* The nearest call that this one was made in and that is told, or is TRACK_WAITING where
 * `with_waiting`; NULL: none. */
struct open_call *track_call_above(const struct open_call *call, bool with_waiting);

/* Nothing more is told of it: frees all but its state and level. */
void track_call_forget(struct open_call *call);

#endif
