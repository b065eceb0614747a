/* Statistics in records; and those that are ready after their event was written: a device computes them meanwhile. The
 * event leaves room for them, its flags say that there are none yet; both are filled in where the
 * record lies, as long as its chunk is open. */
#ifndef MONITORCH_TRACE_LATE_H
#define MONITORCH_TRACE_LATE_H

#include "runtime/array/statistics/statistics.h"
#include "runtime/trace/format.h"

#include <stdbool.h>

/* What an event of a tensor leaves room for, after struct log_tensor. */
#define LOG_LATE_SIZE (sizeof(struct log_statistics) + sizeof(struct log_nonfinite))

/* Statistics as records have them; the hash is 0. */
struct log_statistics log_statistics_of(const struct statistics *statistics);
struct log_nonfinite log_nonfinite_of(const struct statistics *statistics);

/* `event` has been committed, with that room and with no flag of statistics, hash, counts or
 * sample. Whenever the process ends, a reader finds either all of it or nothing. */
void log_late_fill(struct log_event *event, const struct statistics *statistics);

/* The counts of such an event; false where they were not filled in. */
bool log_late_read(const struct log_event *event, struct log_nonfinite *counts);

#endif
