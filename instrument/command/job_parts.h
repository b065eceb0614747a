/* What the files on the work on one file share. */
#ifndef MONITORCH_INSTRUMENT_COMMAND_JOB_PARTS_H
#define MONITORCH_INSTRUMENT_COMMAND_JOB_PARTS_H

#include "instrument/command/job.h"

/* The item at hand, with everything that the work on it needs. */
struct job {
    struct worker *worker;   /* borrowed */
    const struct item *item; /* borrowed */
    const char *name;        /* of the source, in messages and tables */
    struct outcome *outcome; /* borrowed */
    struct error error;
};

/* ---- job.c ---- */

/* The exit code is that one, or what was worse before. */
void job_raise_code(struct job *job, enum exit_code code);
void job_add_notes(struct job *job, const struct note *notes, size_t count);
/* A check that did not hold: told even where quiet is wanted, it is the answer. */
void job_fail_check(struct job *job,
                    const char *path,
                    const char *what,
                    const char *source);
void job_count_functions(struct job *job);

/* Read the source into worker.source, and another file into worker.other; fail with job.error. */
bool job_read(struct job *job, size_t limit);
bool job_read_other(struct job *job, const char *path);
/* Takes the text to where the item's output belongs. To standard output it moves: the buffer
 * is then an empty one. */
bool job_write(struct job *job, struct buffer *text, bool is_changed);

/* ---- job_traced.c ---- */

/* The table that a traced file carries. It is read from the text in UTF-8, because another
 * encoding may have ASCII bytes inside its characters. */
bool job_read_table(struct job *job,
                    struct slice bytes,
                    const char *path,
                    struct site_table *table,
                    bool *has_table);

/* The modes --check and --update. */
bool job_check(struct job *job);
bool job_update(struct job *job);

#endif
