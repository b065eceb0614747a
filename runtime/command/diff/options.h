/* What the command line of `monitorch diff` asks for. */
#ifndef MONITORCH_COMMAND_DIFF_OPTIONS_H
#define MONITORCH_COMMAND_DIFF_OPTIONS_H

#include "runtime/base/error.h"
#include "runtime/base/file/output.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/view/diff/align/align.h"
#include "runtime/view/diff/report/picture.h"
#include "runtime/view/diff/values/tolerance.h"

#include <stdbool.h>
#include <stddef.h>

struct diff_command_options {
    struct diff_tolerance tolerance; /* its renames: */
    struct diff_rename *renames;     /* owned; texts borrowed from the command line */
    struct slice *ignored;           /* owned; texts borrowed from the command line */
    size_t ignored_count;
    bool is_ranks; /* each trace with the first */
    bool is_by_values;
    bool is_map;          /* printed instead of the verdict */
    const char *map_file; /* borrowed from the command line; NULL: none */
    bool is_all;          /* lists are not cut */
    bool has_inherited;
    bool is_json;
    bool is_quiet;
    enum color color;
    const char *output; /* borrowed from the command line; NULL: nothing is drawn */
    struct diff_picture_options picture;
    bool has_theme;
    struct trace_words traces; /* owned */
};

/* Fails, with the message for the user, where the words make no sense. To be released in any
 * case. */
bool diff_options_read(struct diff_command_options *options,
                       int word_count,
                       char **words,
                       struct error *error);
void diff_options_release(struct diff_command_options *options);

#endif
