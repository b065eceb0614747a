/* The --help of a command: prose around its table of options. Completions of shells are made from
 * the same table. */
#ifndef MONITORCH_BASE_ARGUMENTS_HELP_H
#define MONITORCH_BASE_ARGUMENTS_HELP_H

#include "runtime/base/arguments/arguments.h"
#include "runtime/base/buffer.h"

/* No line of a help text is longer. */
#define HELP_WIDTH 80

struct help {
    const char *usage;   /* after `usage: `; its further lines are indented by 7 */
    const char *purpose; /* paragraphs, laid out by the author */
    /* Long names of the options most used, with blanks between; printed before all others. */
    const char *common;
    const struct argument_rule *rules; /* the headings and options, in order */
    int rule_count;
    const char *details; /* the text below the options: examples, exit codes */
};

/* Adds the whole text of --help. */
void help_write(const struct help *help, struct buffer *text);

#endif
