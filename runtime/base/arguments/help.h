/* The --help of a command: prose around its table of options. Shell completions are generated
 * from the same table. */
#ifndef MONITORCH_BASE_ARGUMENTS_HELP_H
#define MONITORCH_BASE_ARGUMENTS_HELP_H

#include "runtime/base/arguments/arguments.h"
#include "runtime/base/buffer.h"

/* The longest line of a help text. */
#define HELP_WIDTH 80

struct help {
    const char *usage;   /* the text after `usage: `; further lines are indented by 7 */
    const char *purpose; /* paragraphs, with line breaks */
    /* Long names of the most used options, separated by spaces. These are printed first. */
    const char *common;
    const struct argument_rule *rules; /* the headings and options, in order */
    int rule_count;
    const char *details; /* the text below the options: examples, exit codes */
};

void help_write(const struct help *help, struct buffer *text);

#endif
