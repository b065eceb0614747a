/* Progress line on standard error for work that takes long. Only for terminals. */
#ifndef MONITORCH_COMMAND_SHARED_PROGRESS_H
#define MONITORCH_COMMAND_SHARED_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool is_wanted;
    bool is_shown;
    double start;   /* seconds */
    double printed; /* time of the last line */
};

/* Progress is shown only if standard error is a terminal. */
void progress_init(struct progress *progress, bool is_quiet);

/* Shows progress. `format` has one number, an unsigned long long. May be called often: it writes
 * nothing in the first second, and rarely after it. */
void progress_report(struct progress *progress, const char *format, uint64_t count);
/* Shows a line at once, for work that will take long and cannot report its progress. */
void progress_announce(struct progress *progress, const char *format, uint64_t count);
/* Whether the work has taken so long that lines are shown. */
bool progress_is_long(const struct progress *progress);
/* Removes the line. To be called before other output, and at the end. */
void progress_clear(struct progress *progress);

#endif
