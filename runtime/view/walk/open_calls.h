/* The open calls at the place at which a trace is read: their callers and depths. A call is
 * freed when it has ended and no open call was made from it, so memory does not grow with the
 * trace. */
#ifndef MONITORCH_VIEW_WALK_OPEN_CALLS_H
#define MONITORCH_VIEW_WALK_OPEN_CALLS_H

#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct open_call {
    uint32_t call;            /* number in the trace */
    uint32_t shown_number;    /* number that views print */
    uint32_t depth;           /* 0: no recorded call made it */
    struct open_call *parent; /* borrowed: lives as long as its children; may be NULL */
    struct slice path;        /* points into this block */
    struct slice class_name;  /* points into this block */
    uint64_t time;
    uint32_t parent_number; /* as in the trace; 0: none */
    uint32_t module_number;
    uint32_t function; /* index into the functions of the module's table */
    uint32_t line;     /* line of the parent that made the call; 0: unknown */
    uint32_t child_count;
    uint16_t thread;
    bool is_ended;
    bool is_begun;     /* its start is in the trace */
    bool is_joined;    /* recording started in the middle of it */
    bool is_generator; /* may be left and entered again */
    bool is_wanted;    /* for a filter: the properties of the call match */
    bool is_within;    /* for a filter: it is a certain call, or was made within it */
    bool is_shown;     /* for a view: it was printed */
    struct open_call *shown_next; /* for a view, while it prints a chain of calls */
    void *extra; /* for a view: one block of memory, freed with the call; may be NULL */
    struct open_call *next; /* borrowed: next in the same bucket */
};

struct open_calls {
    struct open_call **buckets; /* owned, with the calls in them */
    size_t bucket_count;        /* 0, or a power of two */
    size_t count;
    struct open_call *last; /* borrowed: found by the last search; may be NULL */
};

void open_calls_init(struct open_calls *calls);
void open_calls_release(struct open_calls *calls);

/* Adds the call of a LOG_CALL, and returns it. A known call stays unchanged. Sets `*is_new` to
 * whether the call was added. NULL: out of memory. */
struct open_call *open_calls_begin(struct open_calls *calls,
                                   const struct log_call_view *view,
                                   bool *is_new);

/* Returns the call of an event. If its start is not in the trace, the call is made from the
 * event's fields. NULL: out of memory. */
struct open_call *open_calls_of_event(struct open_calls *calls,
                                      const struct log_event_view *event,
                                      bool *is_new);

/* NULL: the call is not known. */
struct open_call *open_calls_find(struct open_calls *calls, uint32_t call);

/* Ends a call, which may be NULL. It may be freed by this. */
void open_calls_end(struct open_calls *calls, struct open_call *call);

const struct site_function *open_call_function(const struct open_call *call,
                                               const struct log_reader *reader);

#endif
