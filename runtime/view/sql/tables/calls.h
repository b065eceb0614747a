/* All calls of a trace, by their numbers. Grows with the calls, not with the events. */
#ifndef MONITORCH_VIEW_SQL_TABLES_CALLS_H
#define MONITORCH_VIEW_SQL_TABLES_CALLS_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/base/number_map.h"
#include "runtime/trace/reader.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql_call {
    uint32_t call;
    uint32_t parent; /* as the trace has it; 0: none */
    uint32_t depth;
    uint32_t module_number;
    uint32_t function; /* index into the functions of the module's table */
    uint32_t line;     /* where in the parent it was made; 0: not known */
    uint16_t thread;
    uint8_t flags; /* enum log_call_flag */
    uint8_t how;   /* enum log_end_tag; 0: its end is not in the trace */
    bool is_begun; /* its beginning is in the trace */
    uint64_t time;
    uint64_t end_time;
    uint64_t event_count;
    uint64_t first_event, last_event; /* where event_count > 0 */
    struct slice path;                /* borrowed from the calls' arena */
    struct slice class_name;          /* the same */
};

struct sql_calls {
    bool is_known;
    struct sql_call *calls; /* owned; in the order in which they were met */
    size_t count;
    size_t capacity;
    struct number_map places; /* indices of calls, by their numbers */
    uint32_t *by_parent; /* owned; indices of calls in the order of their parents */
    struct arena arena;
};

void sql_calls_init(struct sql_calls *calls);
void sql_calls_release(struct sql_calls *calls);

/* Reads the whole stream. Fails where memory runs out, and where `is_interrupted` becomes
 * true: the error's kind is ERROR_NONE then. Nothing is known after a failure. */
bool sql_calls_read(struct sql_calls *calls,
                    struct log_reader *reader,
                    const atomic_bool *is_interrupted,
                    struct error *error);

/* NULL where there is no such call. */
const struct sql_call *sql_calls_find(const struct sql_calls *calls, uint32_t call);

/* The calls made from `parent`: from `*first` up to `*end` of by_parent. */
void sql_calls_find_children(const struct sql_calls *calls,
                             uint32_t parent,
                             size_t *first,
                             size_t *end);

#endif
