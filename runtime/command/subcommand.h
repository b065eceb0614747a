/* Subcommands of monitorch. Each has a file of its own. */
#ifndef MONITORCH_COMMAND_SUBCOMMAND_H
#define MONITORCH_COMMAND_SUBCOMMAND_H

#include "runtime/base/arguments/exit_code.h"
#include "runtime/base/arguments/help.h"
#include "runtime/base/error.h"

/* Definitions of each subcommand's file: its --help with its options, and the function that runs
 * it. words[0] is its name. */
#define SUBCOMMAND(name, summary)                                                      \
    extern const struct help name##_help;                                              \
    enum exit_code name##_run(int word_count, char **words);
#define RUNNER(name, summary) SUBCOMMAND(name, summary)
#include "runtime/command/subcommands.def"
#undef SUBCOMMAND
#undef RUNNER

struct subcommand {
    const char *name;
    const char *summary;
    const struct help *help;
    enum exit_code (*run)(int word_count, char **words);
    bool is_runner; /* it handles --help and --version itself */
};

/* Returns all subcommands, in the order of the help. */
const struct subcommand *subcommands_list(int *count);

/* Prints the error, and after wrong usage the command that prints help. `name` is the
 * subcommand's; NULL: none. */
enum exit_code refuse(const char *name, const struct error *error);

/* Prints a line on standard error. Needs no memory. `path` is the file that the message is
 * about; it may be empty. */
void print_message(const char *path, const char *message);

/* Prints to standard output. */
enum exit_code print_text(const char *text);
/* Prints the text to standard output, and releases it. */
enum exit_code print_buffer(struct buffer *text);
enum exit_code print_help(const struct help *help);

#endif
