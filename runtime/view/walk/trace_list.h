/* The traces that a word of the command line names: a file; a folder of traces; or a name from
 * which the traces of ranks are derived: run.mtrace for run.rank0.mtrace, run.rank1.mtrace and
 * so on. */
#ifndef MONITORCH_VIEW_WALK_TRACE_LIST_H
#define MONITORCH_VIEW_WALK_TRACE_LIST_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct trace_list {
    struct arena *arena; /* borrowed; holds the texts of the paths */
    const char **paths;  /* owned */
    size_t count, capacity;
};

/* Release the list in any case. The texts of the paths live as long as the arena. */
void trace_list_init(struct trace_list *list, struct arena *arena);
void trace_list_release(struct trace_list *list);

/* Adds the traces that the word names, ordered by rank or by name. A word that names no file,
 * folder or ranks is added unchanged; reading it fails later. Returns false if a folder cannot
 * be read or has no traces; `error` says which. */
bool trace_list_add(struct trace_list *list, const char *word, struct error *error);
/* Adds the other traces of the same run, those of child processes and ranks, from the same
 * folder: run.4711.mtrace and run.rank1.mtrace for run.mtrace. Their headers decide whether they
 * belong to the run. Skips traces that cannot be read. */
bool trace_list_add_beside(struct trace_list *list,
                           const char *path,
                           struct error *error);

/* The number after `.rank` in the file's name. -1: there is none. */
long trace_rank(const char *path);
/* The last part of a path. */
const char *trace_file_name(const char *path);
/* Compares by rank, then by file name: below 0, 0, above 0. */
int trace_order(const char *a, const char *b);

#endif
