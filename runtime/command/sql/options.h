/* What the command line of `monitorch sql` asks for. */
#ifndef MONITORCH_COMMAND_SQL_OPTIONS_H
#define MONITORCH_COMMAND_SQL_OPTIONS_H

#include "runtime/base/error.h"
#include "runtime/base/file/output.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/view/sql/print.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql_options {
    const char *query;      /* borrowed from the command line; may be NULL */
    const char *query_file; /* the same; "-": standard input; may be NULL */
    bool has_format;
    enum sql_format format;
    bool has_no_header;
    uint64_t max_rows; /* UINT64_MAX: all */
    bool is_schema;
    bool is_quiet;
    enum color color;
    struct trace_words traces; /* owned */
};

/* Fails, with the message for the user, where the words make no sense. To be released in any
 * case. */
bool sql_options_read(struct sql_options *options,
                      int word_count,
                      char **words,
                      struct error *error);
void sql_options_release(struct sql_options *options);

#endif
