/* Traces as SQL's tables need them: readers for as many cursors as a query has, and what is
 * found by one pass over a trace when it is first asked for: its calls and its edges. */
#ifndef MONITORCH_VIEW_SQL_TABLES_TRACES_H
#define MONITORCH_VIEW_SQL_TABLES_TRACES_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/base/number_map.h"
#include "runtime/trace/reader.h"
#include "runtime/view/graph/graph.h"
#include "runtime/view/walk/source_lines.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql_edges {
    bool is_known;
    struct graph graph;  /* owned */
    uint32_t *targets;   /* owned: by edge, the node that it leads to */
    uint32_t *by_source; /* owned; indices of edges in the order of their sources */
};

/* An edge as a row has it. */
struct sql_edge {
    uint64_t source; /* numbers of events */
    uint64_t target;
    enum graph_kind kind;
    bool is_certain;
};
struct sql_edge sql_edges_get(const struct sql_edges *edges, size_t edge);
const char *sql_edge_kind_text(enum graph_kind kind);

/* From `*first` up to `*end` of the graph's edges, or of by_source. */
void sql_edges_find_target(const struct sql_edges *edges,
                           uint64_t target,
                           size_t *first,
                           size_t *end);

void sql_edges_find_source(const struct sql_edges *edges,
                           uint64_t source,
                           size_t *first,
                           size_t *end);

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

/* NULL where there is no such call. */
const struct sql_call *sql_calls_find(const struct sql_calls *calls, uint32_t call);

/* The calls made from `parent`: from `*first` up to `*end` of by_parent. */
void sql_calls_find_children(const struct sql_calls *calls,
                             uint32_t parent,
                             size_t *first,
                             size_t *end);

/* A backward, or another call that writes to gradients or parameters, or sets what steps use. */
struct sql_step {
    uint32_t step;
    enum log_step_tag tag;
    struct slice name; /* borrowed from the arena, as file */
    struct slice file;
    uint32_t line;
    uint16_t thread;
    uint64_t time;
    uint64_t training_step;
    uint64_t next_event;
};

/* A parameter, its gradient, a tensor of an optimizer or a setting, as it was recorded. */
struct sql_parameter {
    struct slice name; /* borrowed from the arena */
    const char *what;
    uint32_t step; /* 0: none */
    uint64_t training_step;
    uint64_t event;
    uint32_t module;
    uint32_t line;
    enum value_kind kind;
    int64_t integer;
    double real;
    enum dtype dtype;
    bool has_statistics;
    struct statistics statistics;
};

struct sql_training {
    bool is_known;
    struct arena arena;     /* owned */
    struct sql_step *steps; /* owned; in the order of the trace */
    size_t step_count, step_capacity;
    struct sql_parameter *values; /* owned; the same */
    size_t value_count, value_capacity;
};
void sql_training_release(struct sql_training *training);

/* A reader, and the places in one chunk of it that were met: what is looked up goes on from the
 * nearest one. */
struct sql_reader {
    struct log_reader *reader; /* owned */
    struct sql_reader *next;   /* owned; the trace's next one */
    bool is_busy;
    struct log_place *places; /* owned; ascending, all in one chunk */
    size_t place_count;
    size_t place_capacity;
    bool knows_start; /* the first place is as near to the chunk's start as can be */
    uint64_t used;    /* by a cursor, to tell which one it used last */
};

struct sql_trace {
    const char *path; /* borrowed */
    struct slice name;
    struct sql_reader *readers;   /* owned; the first one is there from the beginning */
    struct sql_calls calls;       /* owned */
    struct sql_edges edges;       /* owned */
    struct sql_training training; /* owned */
    struct source_lines sources;  /* owned; on the first reader */
    struct buffer reported;       /* owned; the damage that was reported, a line each */
    /* The module whose site was asked for last, and how many sites the ones before it have. */
    uint32_t site_module;
    size_t sites_before;
};

struct sql_traces {
    struct sql_trace *traces; /* owned */
    size_t count;
    atomic_bool is_interrupted; /* work that takes long looks at it now and then */
    uint64_t rows_read;         /* of events, by all cursors */
    struct error error; /* what went wrong below SQLite, told in its stead; kind NONE */
};

/* Opens the first reader of each. Fails, with nothing to release, where a trace cannot be
 * opened. `strip` as of source_lines; the paths are borrowed. */
bool sql_traces_init(struct sql_traces *traces,
                     const char *const *paths,
                     size_t count,
                     source_strip strip,
                     struct error *error);
void sql_traces_release(struct sql_traces *traces);

/* A reader at its beginning that nobody uses; NULL, with the traces' error set, where none can
 * be opened. What its items point to, but for texts of values, lives as long as the traces. */
struct sql_reader *sql_reader_acquire(struct sql_traces *traces,
                                      struct sql_trace *trace);
void sql_reader_give(struct sql_reader *reader); /* may be NULL */

/* Goes to the event of that number, or the first one after it, as log_reader_go_to_event does. */
void sql_reader_seek(struct sql_reader *reader, uint64_t number);
/* Whether a seek there is a short walk from a place that is known. */
bool sql_reader_is_near(const struct sql_reader *reader, uint64_t number);

/* Finds them where that was not done before. false with the traces' error set. */
bool sql_trace_need_calls(struct sql_traces *traces, struct sql_trace *trace);
bool sql_trace_need_edges(struct sql_traces *traces, struct sql_trace *trace);

/* How many events the trace has, nearly. */
uint64_t sql_trace_guess_events(const struct sql_trace *trace);

/* The next damage that was not told yet, of what was read so far; NULL where there is none. */
const char *sql_trace_next_damage(struct sql_trace *trace);

#endif
