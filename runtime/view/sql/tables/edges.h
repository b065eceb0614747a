/* Which event's value went into which other one's, as a flow graph finds it. */
#ifndef MONITORCH_VIEW_SQL_TABLES_EDGES_H
#define MONITORCH_VIEW_SQL_TABLES_EDGES_H

#include "runtime/base/error.h"
#include "runtime/trace/reader.h"
#include "runtime/view/flow/flow.h"
#include "runtime/view/walk/source_lines.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql_edge {
    uint64_t source; /* numbers of events */
    uint64_t target;
    enum flow_edge_kind kind;
};

struct sql_edges {
    bool is_known;
    struct sql_edge *edges; /* owned; ordered by target, then source */
    size_t count;
    uint32_t *by_source; /* owned; indices of edges in the order of their sources */
};

void sql_edges_release(struct sql_edges *edges);

/* Reads the whole stream. Fails as sql_calls_read does. */
bool sql_edges_read(struct sql_edges *edges,
                    struct log_reader *reader,
                    struct source_lines *sources,
                    atomic_bool *is_interrupted,
                    struct error *error);

const char *sql_edge_kind_text(enum flow_edge_kind kind);

/* From `*first` up to `*end` of edges, or of by_source. */
void sql_edges_find_target(const struct sql_edges *edges,
                           uint64_t target,
                           size_t *first,
                           size_t *end);
void sql_edges_find_source(const struct sql_edges *edges,
                           uint64_t source,
                           size_t *first,
                           size_t *end);

#endif
