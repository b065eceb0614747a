/* What commands say on standard error of a trace itself: what of it could not be read, and why
 * something is missing. */
#ifndef MONITORCH_COMMAND_SHARED_TRACE_REMARKS_H
#define MONITORCH_COMMAND_SHARED_TRACE_REMARKS_H

#include "runtime/base/arguments/exit_code.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every place that could not be read. EXIT_CODE_INPUT_FAILED where there is one, else
 * EXIT_CODE_DONE. */
enum exit_code trace_report_damage(const char *path, const struct log_reader *reader);

/* The same where the reader is gone: the first place, and how many there were. */
enum exit_code
trace_report_first_damage(const char *path, const char *first, size_t count);

/* That the recording has not come to its end, or has stopped before the program did. Of a damaged
 * trace the damage tells the former. `done` says what is done with what is there: "shown". */
void trace_report_remarks(const char *path,
                          const struct log_header *header,
                          bool is_damaged,
                          const char *done);

/* The parts of it. */
void trace_report_unfinished(const char *path, const char *done);
void trace_report_lost(const char *path, uint64_t lost_count);

#endif
