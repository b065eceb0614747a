/* Statistics in records, and late statistics: those that a device computes while their event is
 * written already. The event reserves space for them, and its flags say that there are none yet.
 * Both are filled in at the record's place, as long as its chunk is open. */
#ifndef MONITORCH_TRACE_LATE_H
#define MONITORCH_TRACE_LATE_H

#include "runtime/array/statistics/statistics.h"
#include "runtime/trace/format.h"

#include <stdbool.h>

/* The space that an event of a tensor reserves after struct log_tensor. */
#define LOG_LATE_SIZE (sizeof(struct log_statistics) + sizeof(struct log_nonfinite))

/* Statistics in the form of records; the hash is 0. */
struct log_statistics log_statistics_of(const struct statistics *statistics);
struct log_nonfinite log_nonfinite_of(const struct statistics *statistics);

/* Fills in the statistics of a committed event that reserves space for them and has no flag of
 * statistics, hash, counts or sample. If the process is killed, a reader finds either all of
 * them or none. */
void log_late_fill(struct log_event *event, const struct statistics *statistics);

/* Reads the counts of such an event. Returns false if they were not filled in. */
bool log_late_read(const struct log_event *event, struct log_nonfinite *counts);

#endif
