/* The subcommands of monitorch: each has a file of its own. */
#ifndef MONITORCH_COMMAND_SUBCOMMAND_H
#define MONITORCH_COMMAND_SUBCOMMAND_H

#include "runtime/base/error.h"
#include "runtime/base/exit_code.h"

/* What each subcommand's own file gives: its text of --help, and what runs it. words[0] is its
 * name. */
#define SUBCOMMAND(name, summary)                                                      \
    extern const char name##_help[];                                                   \
    enum exit_code name##_run(int word_count, char **words);
#include "runtime/command/subcommands.def"
#undef SUBCOMMAND

/* Prints the message, and where to find help for a wrong usage. `name` is the subcommand's;
 * NULL: of no subcommand. */
enum exit_code refuse(const char *name, const struct error *error);

/* A line on standard error, also where there is no memory left. `path` is what the message is
 * about; it may be empty. */
void print_message(const char *path, const char *message);

/* Prints to standard output. */
enum exit_code print_text(const char *text);

#endif
