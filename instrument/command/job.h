/* Jobs: the work on one file, which is to read, instrument (or strip, check, list, update,
 * refuse) and write it. */
#ifndef MONITORCH_INSTRUMENT_COMMAND_JOB_H
#define MONITORCH_INSTRUMENT_COMMAND_JOB_H

#include "instrument/command/options.h"
#include "instrument/command/plan.h"
#include "instrument/instrument.h"
#include "runtime/base/arguments/exit_code.h"
#include "runtime/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* The outcome of one item. */
struct outcome {
    struct buffer out;      /* owned; for standard output */
    struct buffer messages; /* owned; for standard error */
    enum exit_code exit_code;
    bool is_written; /* a file was written */
    size_t function_count;
    size_t selected_count;
    size_t skipped_count;
};

void outcome_init(struct outcome *outcome);
void outcome_release(struct outcome *outcome);

/* The state that a thread keeps from file to file. */
struct worker {
    const struct options *options; /* borrowed */
    bool is_alone;                 /* the plan has a single item */
    bool has_out_color;
    bool has_message_color;
    struct instrumented result; /* owned */
    struct arena arena;         /* owned */
    struct buffer source;       /* owned */
    struct buffer other;        /* owned; a second file, or a result */
    struct buffer words;        /* owned; a selection as text */
};

void worker_init(struct worker *worker, const struct options *options);
void worker_release(struct worker *worker);

/* Does the work on an item. A failure is stored in the outcome: a message, and the exit code. */
void worker_run(struct worker *worker,
                const struct item *item,
                struct outcome *outcome);

#endif
