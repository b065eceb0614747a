/* Traces as a file of SQLite, for what asks such files: tables events, sites, calls, edges, steps and parameters, as
 * `monitorch sql` has them, with indices. */
#ifndef MONITORCH_VIEW_SQL_EXPORT_H
#define MONITORCH_VIEW_SQL_EXPORT_H

#include "runtime/base/error.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql_export_options {
    bool
        has_edges; /* the table edges too: it is made in memory that grows with the trace */
    bool is_forced; /* a file of that name that is none of ours is replaced too */
    /* Told now and then, where not NULL; false ends the work with an error. */
    bool (*progress)(void *context, uint64_t events);
    /* Each damage that was met, where not NULL. */
    void (*damage)(void *context, const char *trace, const char *message);
    void *context;
};

struct sql_export_result {
    uint64_t event_count;
    size_t damage_count;
};

/* Writes the file beside its name, and renames it when all is in it: on failure an old one is
 * as it was. Refuses, with ERROR_USAGE, to replace what this did not write. A damaged trace is
 * no failure: what can be read is in the file. */
bool export_sqlite(const char *const *traces,
                   size_t trace_count,
                   source_strip strip,
                   const struct sql_export_options *options,
                   const char *path,
                   struct sql_export_result *result,
                   struct error *error);

#endif
