/* Standard output and standard error: colour, the progress line, the summary. */
#ifndef MONITORCH_INSTRUMENT_COMMAND_CONSOLE_H
#define MONITORCH_INSTRUMENT_COMMAND_CONSOLE_H

#include "instrument/command/job.h"
#include "instrument/command/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct console {
    const struct options *options; /* borrowed */
    bool has_out_color;
    bool has_message_color;
    bool has_progress; /* standard error is a terminal and there are many files */
    bool is_line_shown;
    uint64_t shown_at; /* nanoseconds */
    size_t item_count;
    size_t done_count;
    /* The sums of the outcomes. */
    enum exit_code exit_code;
    size_t written_count;
    size_t failed_count;
    size_t function_count;
    size_t selected_count;
    size_t skipped_count;
};

void console_init(struct console *console,
                  const struct options *options,
                  size_t item_count);

/* Prints what came of the next item, and adds it up. */
void console_add(struct console *console,
                 const struct item *item,
                 const struct outcome *outcome);

/* Takes the progress line away and prints the summary where there is one. */
void console_finish(struct console *console);

#endif
