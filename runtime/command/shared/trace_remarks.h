/* Remarks on a trace itself, which commands print on standard error: damage, and the reasons why
 * events are missing. */
#ifndef MONITORCH_COMMAND_SHARED_TRACE_REMARKS_H
#define MONITORCH_COMMAND_SHARED_TRACE_REMARKS_H

#include "runtime/base/arguments/exit_code.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reports every damaged place. Returns EXIT_CODE_INPUT_FAILED if there is one, else
 * EXIT_CODE_DONE. */
enum exit_code trace_report_damage(const char *path, const struct log_reader *reader);

/* Reports damage without a reader: the first place, and the number of places. Returns the same
 * codes. */
enum exit_code
trace_report_first_damage(const char *path, const char *first, size_t count);

/* Reports that the recording has not ended, or ended before the program did. The first is not
 * reported for a damaged trace, whose damage shows it. `done` is what the command does with the
 * events: "shown". */
void trace_report_remarks(const char *path,
                          const struct log_header *header,
                          bool is_damaged,
                          const char *done);

/* The two remarks of trace_report_remarks. */
void trace_report_unfinished(const char *path, const char *done);
void trace_report_lost(const char *path, uint64_t lost_count);

#endif
