/* What `monitorch diff -o` writes: what differs as a picture or a page. */
#ifndef MONITORCH_COMMAND_DIFF_OUTPUT_H
#define MONITORCH_COMMAND_DIFF_OUTPUT_H

#include "runtime/command/diff/pairs.h"
#include "runtime/command/diff/report.h"
#include "runtime/view/diff/report/notes.h"

/* Listens to diff beside the report. */
struct diff_output {
    struct diff_report *report; /* borrowed */
    struct diff_notes notes;
    bool has_failed; /* memory ran out */
};

/* To be released. */
void diff_output_init(struct diff_output *output, struct diff_report *report);
void diff_output_release(struct diff_output *output);

/* Has diff tell the output, and the report through it. */
void diff_output_listen(struct diff_output *output, struct diff_options *options);

/* Writes options->output. */
bool diff_output_write(struct diff_output *output,
                       const struct diff_command_options *options,
                       const struct diff_pair *pair,
                       const struct diff_result *result,
                       struct error *error);

#endif
