/* What the command monitorch-instrument does, for its own program and for `monitorch instrument`. */
#ifndef MONITORCH_INSTRUMENT_COMMAND_COMMAND_H
#define MONITORCH_INSTRUMENT_COMMAND_COMMAND_H

#include "runtime/base/arguments/exit_code.h"

/* Does what the words ask for; words[0] is skipped. `name` is what the user typed, for messages. */
enum exit_code instrument_command_run(const char *name, int word_count, char **words);

#endif
