/* Remarks on a trace itself, which commands print on standard error. */
#include "runtime/command/shared/trace_remarks.h"

#include "runtime/command/subcommand.h"

#include <stdio.h>

enum exit_code trace_report_damage(const char *path, const struct log_reader *reader)
{
    size_t count = log_reader_damage_count(reader);

    for (size_t i = 0; i < count; i++) {
        print_message(path, log_reader_damage(reader, i));
    }
    return count > 0 ? EXIT_CODE_INPUT_FAILED : EXIT_CODE_DONE;
}

enum exit_code
trace_report_first_damage(const char *path, const char *first, size_t count)
{
    char line[80];

    if (count == 0) {
        return EXIT_CODE_DONE;
    }
    print_message(path, first);
    if (count > 1) {
        snprintf(line, sizeof line,
                 "and %zu more place%s (`monitorch show` lists them)", count - 1,
                 count == 2 ? "" : "s");
        print_message(path, line);
    }
    return EXIT_CODE_INPUT_FAILED;
}

void trace_report_unfinished(const char *path, const char *done)
{
    char line[200];

    snprintf(line, sizeof line,
             "remark: the recording is unfinished: its process was killed, ended by "
             "os._exit, or is still recording; the events so far were %s",
             done);
    print_message(path, line);
}

void trace_report_lost(const char *path, uint64_t lost_count)
{
    char line[200];

    if (lost_count > 0) {
        snprintf(line, sizeof line,
                 "remark: the last %llu events are not in the trace: the recording had "
                 "stopped (a full disk, or the size limit)",
                 (unsigned long long)lost_count);
        print_message(path, line);
    }
}

void trace_report_remarks(const char *path,
                          const struct log_header *header,
                          bool is_damaged,
                          const char *done)
{
    if (header->is_closed != 0) {
        trace_report_lost(path, header->lost_count);
    } else if (!is_damaged) {
        trace_report_unfinished(path, done);
    }
}
