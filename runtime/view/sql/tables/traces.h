/* Traces as the tables of SQL use them: readers for the cursors of a query, and data that one
 * pass over a trace collects when it is first needed, which are its calls, edges and training
 * steps. */
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
    uint32_t *targets;   /* owned: the target node of each edge */
    uint32_t *by_source; /* owned; indices of edges, sorted by source */
};

/* The data of a row of `edges`. */
struct sql_edge {
    uint64_t source; /* event numbers */
    uint64_t target;
    enum graph_kind kind;
    bool is_certain;
};
struct sql_edge sql_edges_get(const struct sql_edges *edges, size_t edge);
const char *sql_edge_kind_text(enum graph_kind kind);

/* Finds the edges of a node: indices from `*first` up to `*end` of the graph's edges, or of
 * by_source. */
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
    uint32_t parent; /* as in the trace; 0: none */
    uint32_t depth;
    uint32_t module_number;
    uint32_t function; /* index into the functions of the module's table */
    uint32_t line;     /* line of the call in the parent; 0: not known */
    uint16_t thread;
    uint8_t flags; /* enum log_call_flag */
    uint8_t how;   /* enum log_end_tag; 0: the trace has no end of the call */
    bool is_begun; /* the trace has the start of the call */
    uint64_t time;
    uint64_t end_time;
    uint64_t event_count;
    uint64_t first_event, last_event; /* only if event_count > 0 */
    struct slice path;                /* borrowed from the calls' arena */
    struct slice class_name;          /* borrowed from the calls' arena */
};

struct sql_calls {
    bool is_known;
    struct sql_call *calls; /* owned; in trace order */
    size_t count;
    size_t capacity;
    struct number_map places; /* call number -> index */
    uint32_t *by_parent;      /* owned; indices of calls, sorted by parent */
    struct arena arena;
};

/* The call of that number, or NULL. */
const struct sql_call *sql_calls_find(const struct sql_calls *calls, uint32_t call);

/* Finds the calls made from `parent`: from `*first` up to `*end` of by_parent. */
void sql_calls_find_children(const struct sql_calls *calls,
                             uint32_t parent,
                             size_t *first,
                             size_t *end);

/* A backward, or a call that writes to gradients or parameters, or that changes settings of
 * steps. */
struct sql_step {
    uint32_t step;
    enum log_step_tag tag;
    struct slice name; /* borrowed from the arena, like `file` */
    struct slice file;
    uint32_t line;
    uint16_t thread;
    uint64_t time;
    uint64_t training_step;
    uint64_t next_event;
};

/* A recorded parameter, gradient, tensor of an optimizer or setting. */
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
    struct sql_step *steps; /* owned; in trace order */
    size_t step_count, step_capacity;
    struct sql_parameter *values; /* owned; in trace order */
    size_t value_count, value_capacity;
};
void sql_training_release(struct sql_training *training);

/* A reader with places of one chunk, from the nearest of which a lookup starts. */
struct sql_reader {
    struct log_reader *reader; /* owned */
    struct sql_reader *next;   /* owned; the trace's next reader */
    bool is_busy;
    struct log_place *places; /* owned; ascending, all in one chunk */
    size_t place_count;
    size_t place_capacity;
    bool knows_start; /* the first place is at the start of the chunk */
    uint64_t used;    /* number of the cursor's scan that used it last */
};

struct sql_trace {
    const char *path; /* borrowed */
    struct slice name;
    struct sql_reader *readers;   /* owned; the first one always exists */
    struct sql_calls calls;       /* owned */
    struct sql_edges edges;       /* owned */
    struct sql_training training; /* owned */
    struct source_lines sources;  /* owned; uses the first reader */
    struct buffer reported;       /* owned; the reported damage, one line each */
    /* The module of the last site in question, and the number of sites in the modules before it. */
    uint32_t site_module;
    size_t sites_before;
};

struct sql_traces {
    struct sql_trace *traces; /* owned */
    size_t count;
    atomic_bool is_interrupted; /* tested from time to time by long operations */
    uint64_t rows_read;         /* number of events read by all cursors */
    struct error
        error; /* an error below SQLite, reported instead of SQLite's; kind NONE: none */
};

/* Opens the first reader of each trace. Fails, with nothing to release, if a trace cannot be
 * opened. `strip` is passed to source_lines; the paths are borrowed. */
bool sql_traces_init(struct sql_traces *traces,
                     const char *const *paths,
                     size_t count,
                     source_strip strip,
                     struct error *error);
void sql_traces_release(struct sql_traces *traces);

/* Returns an unused reader, at the start of the trace. NULL, with the traces' error set, if none
 * can be opened. The data of its items lives as long as the traces, except for texts of values. */
struct sql_reader *sql_reader_acquire(struct sql_traces *traces,
                                      struct sql_trace *trace);
void sql_reader_give(struct sql_reader *reader); /* may be NULL */

/* Moves to the event of that number, or to the first one after it, as log_reader_go_to_event
 * does. */
void sql_reader_seek(struct sql_reader *reader, uint64_t number);
/* Whether a stored place is near, so that a seek is short. */
bool sql_reader_is_near(const struct sql_reader *reader, uint64_t number);

/* Read the calls or edges if they are not known yet. Return false with the traces' error set. */
bool sql_trace_need_calls(struct sql_traces *traces, struct sql_trace *trace);
bool sql_trace_need_edges(struct sql_traces *traces, struct sql_trace *trace);

/* An estimate of the trace's number of events. */
uint64_t sql_trace_guess_events(const struct sql_trace *trace);

/* The next damage in the parts that were read, which was not returned before. NULL if there is
 * none. */
const char *sql_trace_next_damage(struct sql_trace *trace);

#endif
