/* Export job: writes some traces in all requested formats, in one reading. */
#ifndef MONITORCH_COMMAND_EXPORT_JOB_H
#define MONITORCH_COMMAND_EXPORT_JOB_H

#include "runtime/base/arena.h"
#include "runtime/base/arguments/exit_code.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/file/draft.h"
#include "runtime/command/shared/progress.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/view/list/annotation.h"
#include "runtime/view/walk/event_columns.h"
#include "runtime/view/walk/event_filter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- output of an export: a file, which appears when it is complete, or standard output ---- */

struct export_output {
    const char *path; /* borrowed; "-": standard output; NULL: not requested */
    bool is_open;
    struct buffer text;      /* owned; text that is not written yet */
    struct file_draft draft; /* of a file */
};

/* Returns false if it failed. An error without a kind has been reported already. A failure
 * closes the output, and leaves an existing file unchanged. */
bool export_output_open(struct export_output *output, struct error *error);
/* Writes the bytes of `text` if there are many. Fails as export_output_open. */
bool export_output_flush(struct export_output *output, struct error *error);

/* ---- options of `monitorch export` ---- */

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
    /* Destinations: a file, for ANNOTATE a folder; "-": standard output; NULL: not requested.
     * Borrowed. */
    const char *paths[EXPORT_FORMAT_COUNT];
    enum event_column columns[EVENT_COLUMN_COUNT]; /* of CSV */
    size_t column_count;
    bool has_edges; /* of SQLITE: the table edges too */
    bool is_forced; /* of SQLITE: replace also a file that is not such a database */
    bool is_quiet;
    bool is_json;              /* print the list of written files */
    struct trace_words traces; /* owned */
    struct arena arena;        /* of words that were composed */
};

struct export_job {
    const struct export_options *options; /* borrowed */
    /* Owned; one for each format before ANNOTATE. */
    struct export_output outputs[EXPORT_ANNOTATE];
    struct annotation annotation; /* owned */
    struct progress progress;
    uint32_t *processes; /* owned: process numbers of the traces so far */
    size_t trace_count;  /* traces that could be opened */
    uint64_t start;      /* of the earliest trace, in nanoseconds since 1970 */
    bool is_one_run;     /* times count from `start` */
    uint64_t seen;       /* number of events */
    uint64_t matched;
    bool is_empty;   /* no source could be annotated */
    bool has_failed; /* an output could not be written; it was reported */
};

/* Returns the text of a requested format, else NULL. */
struct buffer *export_job_text(struct export_job *job, enum export_format format);

/* Reports the error, unless it was reported already, and ends the job. */
void export_job_fail(struct export_job *job, const struct error *error);

/* Reads a trace and adds it to the texts, which are written as they grow. */
enum exit_code export_trace(struct export_job *job, const char *path);

/* ---- annotate.c ---- */

/* Writes each file with recorded values; `folder` is "-" for standard output. `count` becomes
 * the number of written files, `missing` the number of those without a source in the traces.
 * Returns false if it failed; an error without a kind has been reported already. */
bool export_annotated(const struct annotation *annotation,
                      const char *folder,
                      size_t *count,
                      size_t *missing,
                      struct error *error);

#endif
