/* What the command line of `monitorch check` asks for. */
#ifndef MONITORCH_COMMAND_CHECK_OPTIONS_H
#define MONITORCH_COMMAND_CHECK_OPTIONS_H

#include "runtime/base/error.h"
#include "runtime/base/file/output.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/view/check/report.h"

#include <stdbool.h>
#include <stddef.h>

struct check_options {
    struct check_rules rules; /* owned */
    enum check_format format;
    const char *output; /* borrowed from the command line: a page's; NULL: none */
    bool is_quiet;
    enum color color;
    struct trace_words traces; /* owned */
};

/* Fails, with the message for the user, where the words make no sense. To be released in any
 * case. */
bool check_options_read(struct check_options *options,
                        int word_count,
                        char **words,
                        struct error *error);
void check_options_release(struct check_options *options);

#endif
