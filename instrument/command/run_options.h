/* The options and the --help of `monitorch run`. The Python package uses them to run, and the
 * command for its completions. */
#ifndef MONITORCH_INSTRUMENT_COMMAND_RUN_OPTIONS_H
#define MONITORCH_INSTRUMENT_COMMAND_RUN_OPTIONS_H

#include "runtime/base/arguments/help.h"

extern const struct help run_help;

#endif
