/* The calls of a trace that are open at the place where it is read: who made them, how deep
 * they are. A call is forgotten when it has ended and no open call was made from it, so memory
 * does not grow with the trace. */
#ifndef MONITORCH_VIEW_WALK_OPEN_CALLS_H
#define MONITORCH_VIEW_WALK_OPEN_CALLS_H

#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct open_call {
    uint32_t call;            /* its number in the trace */
    uint32_t shown_number;    /* the one that views print */
    uint32_t depth;           /* 0: it was made from no recorded call */
    struct open_call *parent; /* borrowed: lives as long as its children; may be NULL */
    struct slice path;        /* borrowed from this block */
    struct slice class_name;  /* borrowed from this block */
    uint64_t time;
    uint32_t parent_number; /* as the trace has it; 0: none */
    uint32_t module_number;
    uint32_t function; /* index into the functions of the module's table */
    uint32_t line;     /* where in the parent it was made; 0: not known */
    uint32_t child_count;
    uint16_t thread;
    bool is_ended;
    bool is_begun;     /* its beginning is in the trace */
    bool is_joined;    /* recording met it in its middle */
    bool is_generator; /* may be left and entered again */
    bool is_wanted;    /* for a filter: what is known of the call alone fits */
    bool is_within;    /* for a filter: it is, or was made within, a certain call */
    bool is_shown;     /* for a view: it was printed */
    struct open_call *shown_next; /* for a view, while it prints a chain of calls */
    void *extra; /* for a view: one block of memory, freed with the call; may be NULL */
    struct open_call *next; /* borrowed: the next one in the same bucket */
};

struct open_calls {
    struct open_call **buckets; /* owned, and what is in them */
    size_t bucket_count;        /* 0, or a power of two */
    size_t count;
    struct open_call *last; /* borrowed: the one found last; may be NULL */
};

void open_calls_init(struct open_calls *calls);
void open_calls_release(struct open_calls *calls);

/* Takes notice of a LOG_CALL, and gives the call. One that is known already stays as it is.
 * `is_new` tells which. NULL: out of memory. */
struct open_call *open_calls_begin(struct open_calls *calls,
                                   const struct log_call_view *view,
                                   bool *is_new);

/* The call of an event. One whose beginning is not in the trace is made up from what the event
 * tells. */
struct open_call *open_calls_of_event(struct open_calls *calls,
                                      const struct log_event_view *event,
                                      bool *is_new);

/* NULL where the call is not known. */
struct open_call *open_calls_find(struct open_calls *calls, uint32_t call);

/* The call, which may be NULL, has ended: it may be gone after this. */
void open_calls_end(struct open_calls *calls, struct open_call *call);

const struct site_function *open_call_function(const struct open_call *call,
                                               const struct log_reader *reader);

#endif
