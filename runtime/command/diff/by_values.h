/* `monitorch diff --by-values`: compares two runs whose names may all differ. */
#ifndef MONITORCH_COMMAND_DIFF_BY_VALUES_H
#define MONITORCH_COMMAND_DIFF_BY_VALUES_H

#include "runtime/base/arguments/exit_code.h"
#include "runtime/command/diff/options.h"

/* The result of the comparison by names, if it was made before. */
struct diff_otherwise {
    struct slice report;      /* borrowed */
    enum exit_code exit_code; /* input failed if a trace could not be read in full */
    bool has_nothing;         /* the programs have nearly nothing in common */
};

/* Compares the pair, and prints the report. If the runs have no value in common, prints the
 * report of `otherwise`, which may be NULL. */
enum exit_code diff_by_values(const struct diff_command_options *options,
                              const struct diff_pair *pair,
                              const struct diff_otherwise *otherwise);

#endif
