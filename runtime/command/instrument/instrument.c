/* `monitorch instrument`: the command monitorch-instrument as a subcommand. */
#include "instrument/command/command.h"
#include "runtime/command/subcommand.h"

enum exit_code instrument_run(int word_count, char **words)
{
    return instrument_command_run("monitorch instrument", word_count, words);
}
