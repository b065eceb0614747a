/* One export of some traces, in all formats that are asked for, in one reading. */
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

/* Where an export goes: a file, which is there when it is whole, or standard output. */

struct export_output {
    const char *path; /* borrowed; "-": standard output; NULL: this is not asked for */
    bool is_open;
    struct buffer text;      /* owned; what is not written yet */
    struct file_draft draft; /* of a file */
};

/* An error without a kind has been reported already. Each that fails closes the output, and leaves
 * the file that was there as it was. */
bool export_output_open(struct export_output *output, struct error *error);
/* Writes what was added to `text`, where it is much. */
bool export_output_flush(struct export_output *output, struct error *error);

/* What the command line of `monitorch export` asks for. */

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

struct export_job {
    const struct export_options *options; /* borrowed */
    /* Owned; of the formats before ANNOTATE. */
    struct export_output outputs[EXPORT_ANNOTATE];
    struct annotation annotation; /* owned */
    struct progress progress;
    uint32_t *processes; /* owned: the numbers of the traces' processes so far */
    size_t trace_count;  /* those that could be opened */
    uint64_t start;      /* of the earliest trace, nanoseconds since 1970 */
    bool is_one_run;     /* then times count from there */
    uint64_t seen;       /* events */
    uint64_t matched;
    bool is_empty;   /* no source could be annotated */
    bool has_failed; /* something could not be written; it was told */
};

/* The text of a format that is asked for, else NULL. */
struct buffer *export_job_text(struct export_job *job, enum export_format format);

/* Tells the error, where it was not told yet, and ends the job. */
void export_job_fail(struct export_job *job, const struct error *error);

/* Reads a trace and adds it to the texts, which are written as they grow. */
enum exit_code export_trace(struct export_job *job, const char *path);

/* Annotated sources, written into a folder or to standard output. */

/* Writes each file that something was seen of; `folder` is "-" for standard output. `count` is how
 * many were written, `missing` how many have no source in the traces. An error without a kind has
 * been reported already. */
bool export_annotated(const struct annotation *annotation,
                      const char *folder,
                      size_t *count,
                      size_t *missing,
                      struct error *error);

#endif
