/* Which traces a word on the command line stands for: a file; a folder of traces; or the name that
 * ranks' traces were given, run.mtrace for run.rank0.mtrace, run.rank1.mtrace and so on. */
#ifndef MONITORCH_VIEW_WALK_TRACE_LIST_H
#define MONITORCH_VIEW_WALK_TRACE_LIST_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct trace_list {
    struct arena *arena; /* borrowed; the paths' texts are of it */
    const char **paths;  /* owned */
    size_t count, capacity;
};

/* To be released in any case; the paths' texts live as long as the arena. */
void trace_list_init(struct trace_list *list, struct arena *arena);
void trace_list_release(struct trace_list *list);

/* Adds what the word stands for, in the order of ranks, or of names. A word that is no file, no
 * folder and no name of ranks is added as it is: it is told when it is read. Fails where a folder
 * cannot be read or holds no traces. */
bool trace_list_add(struct trace_list *list, const char *word, struct error *error);
/* Adds the other traces of the run that the trace is of, those of child processes and of ranks, which lie
 * beside it: run.4711.mtrace and run.rank1.mtrace of run.mtrace. Their headers say whether they belong
 * to it. A trace that cannot be read is left out. */
bool trace_list_add_beside(struct trace_list *list,
                           const char *path,
                           struct error *error);

/* The number behind `.rank` in the file's name; -1 where there is none. */
long trace_rank(const char *path);
/* A path's last part. */
const char *trace_file_name(const char *path);
/* By ranks, then by files' names: below 0, 0, above 0. */
int trace_order(const char *a, const char *b);

#endif
