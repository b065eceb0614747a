/* A line on standard error that tells how far long work is, where a person looks on. */
#ifndef MONITORCH_COMMAND_SHARED_PROGRESS_H
#define MONITORCH_COMMAND_SHARED_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool is_wanted;
    bool is_shown;
    double start;   /* seconds */
    double printed; /* when the line was last written */
};

/* Told only where standard error is a terminal. */
void progress_init(struct progress *progress, bool is_quiet);

/* `format` takes one number, unsigned long long. Nothing is written in the first second, and
 * little after it: so it may be called often. */
void progress_report(struct progress *progress, const char *format, uint64_t count);
/* The same for what is about to take long and cannot tell how far it is: written at once. */
void progress_announce(struct progress *progress, const char *format, uint64_t count);
/* Whether the work has taken so long that lines are told. */
bool progress_is_long(const struct progress *progress);
/* Before anything else is written, and at the end. */
void progress_clear(struct progress *progress);

#endif
