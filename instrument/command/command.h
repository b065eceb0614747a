/* The command monitorch-instrument, used by its own program and by `monitorch instrument`. */
#ifndef MONITORCH_INSTRUMENT_COMMAND_COMMAND_H
#define MONITORCH_INSTRUMENT_COMMAND_COMMAND_H

#include "runtime/base/arguments/exit_code.h"

/* Runs the command with the words of the command line; words[0] is skipped. `name` is the
 * command's name in messages. */
enum exit_code instrument_command_run(const char *name, int word_count, char **words);

#endif
