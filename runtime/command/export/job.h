/* One export of some traces, in all formats that are asked for, in one reading. */
#ifndef MONITORCH_COMMAND_EXPORT_JOB_H
#define MONITORCH_COMMAND_EXPORT_JOB_H

#include "runtime/base/arguments/exit_code.h"
#include "runtime/base/error.h"
#include "runtime/command/export/options.h"
#include "runtime/command/export/output.h"
#include "runtime/command/shared/progress.h"
#include "runtime/view/list/annotation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
