/* The subcommands of monitorch: each has a file of its own. */
#ifndef MONITORCH_COMMAND_SUBCOMMAND_H
#define MONITORCH_COMMAND_SUBCOMMAND_H

#include "runtime/base/arguments/exit_code.h"
#include "runtime/base/arguments/help.h"
#include "runtime/base/error.h"

/* What each subcommand's own file defines: its --help with its options, and the function that
 * runs it. words[0] is its name. */
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
    bool is_runner; /* it answers --help and --version by itself */
};

/* All of them, in the order of the help. */
const struct subcommand *subcommands_list(int *count);

/* Prints the message, and the command that prints help if the usage was wrong. `name` is the
 * subcommand's; NULL: of no subcommand. */
enum exit_code refuse(const char *name, const struct error *error);

/* A line on standard error, also where there is no memory left. `path` is the file that the message
 * is about; it may be empty. */
void print_message(const char *path, const char *message);

/* Prints to standard output. */
enum exit_code print_text(const char *text);
/* Releases the text, too. */
enum exit_code print_buffer(struct buffer *text);
enum exit_code print_help(const struct help *help);

#endif
