/* Which module each call of a trace belongs to, by the call's number. */
#ifndef MONITORCH_SAVED_TRACE_CALLS_H
#define MONITORCH_SAVED_TRACE_CALLS_H

#include "runtime/base/arena.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct saved_trace_call;

struct saved_trace_calls {
    struct saved_trace_call *items; /* owned; in the order of their numbers */
    size_t count;
    size_t capacity;
};

void saved_trace_calls_release(struct saved_trace_calls *calls);
/* The path is copied to the arena. false: out of memory. */
bool saved_trace_calls_add(struct saved_trace_calls *calls,
                           uint32_t number,
                           struct slice path,
                           struct arena *arena);
/* "" where there is no such call. */
struct slice saved_trace_calls_path(const struct saved_trace_calls *calls,
                                    uint32_t number);

#endif
