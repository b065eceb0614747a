/* The program monitorch-instrument. */
#include "instrument/command/command.h"

int main(int word_count, char **words)
{
    return instrument_command_run("monitorch-instrument", word_count, words);
}
