/* `monitorch diff --by-values`: two runs that need not share a name. */
#ifndef MONITORCH_COMMAND_DIFF_BY_VALUES_H
#define MONITORCH_COMMAND_DIFF_BY_VALUES_H

#include "runtime/base/arguments/exit_code.h"
#include "runtime/command/diff/options.h"

/* What the comparison by names found, where that was done before. */
struct diff_otherwise {
    struct slice report; /* borrowed */
    enum exit_code
        exit_code;    /* at least so bad where a trace could not be read in full */
    bool has_nothing; /* the programs have next to nothing in common */
};

/* Compares the pair, and prints the report. Where the runs have no value in common, the report of
 * `otherwise` is printed, which may be NULL. */
enum exit_code diff_by_values(const struct diff_command_options *options,
                              const struct diff_pair *pair,
                              const struct diff_otherwise *otherwise);

#endif
