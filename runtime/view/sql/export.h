/* Export of traces to an SQLite file for other programs. It has the tables of `monitorch sql`,
 * which are events, sites, calls, edges, steps and parameters, and indices for them. */
#ifndef MONITORCH_VIEW_SQL_EXPORT_H
#define MONITORCH_VIEW_SQL_EXPORT_H

#include "runtime/base/error.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql_export_options {
    bool
        has_edges; /* also writes the table edges, which needs memory in proportion to the trace */
    bool
        is_forced; /* also replaces an existing file that this exporter did not write */
    /* Called from time to time, with the number of events so far; may be NULL. Returns false to
     * stop with an error. */
    bool (*progress)(void *context, uint64_t events);
    /* Called for each damage of a trace; may be NULL. */
    void (*damage)(void *context, const char *trace, const char *message);
    void *context;
};

struct sql_export_result {
    uint64_t event_count;
    size_t damage_count;
};

/* Writes a temporary file and renames it when it is complete, so an old file is unchanged after
 * a failure. Refuses, with ERROR_USAGE, to replace a file that it did not write. A damaged trace
 * is no failure: its readable part is written. */
bool export_sqlite(const char *const *traces,
                   size_t trace_count,
                   source_strip strip,
                   const struct sql_export_options *options,
                   const char *path,
                   struct sql_export_result *result,
                   struct error *error);

#endif
