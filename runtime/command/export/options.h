/* What the command line of `monitorch export` asks for. */
#ifndef MONITORCH_COMMAND_EXPORT_OPTIONS_H
#define MONITORCH_COMMAND_EXPORT_OPTIONS_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/view/walk/event_columns.h"
#include "runtime/view/walk/event_filter.h"

#include <stdbool.h>
#include <stddef.h>

enum export_format {
    EXPORT_CSV,
    EXPORT_JSONL,
    EXPORT_PERFETTO,
    EXPORT_ANNOTATE,
    EXPORT_SQLITE,
    EXPORT_FORMAT_COUNT
};

struct export_options {
    struct event_filter filter; /* owned */
    /* Where to: a file's name, of ANNOTATE a folder's; "-": standard output; NULL: nowhere.
     * Borrowed. */
    const char *paths[EXPORT_FORMAT_COUNT];
    enum event_column columns[EVENT_COLUMN_COUNT]; /* of CSV */
    size_t column_count;
    bool has_edges; /* of SQLITE: the table edges too */
    bool is_forced; /* of SQLITE: a file that is no such database is replaced too */
    bool is_quiet;
    bool is_json;              /* what was written is printed */
    struct trace_words traces; /* owned */
    struct arena arena;        /* of words that were put together */
};

/* Fails, with the message for the user, where the words make no sense. To be released in any
 * case. */
bool export_options_read(struct export_options *options,
                         int word_count,
                         char **words,
                         struct error *error);
void export_options_release(struct export_options *options);

#endif
