/* `monitorch diff` of tensors that were saved one by one. */
#ifndef MONITORCH_COMMAND_DIFF_SAVED_H
#define MONITORCH_COMMAND_DIFF_SAVED_H

#include "runtime/base/arguments/exit_code.h"
#include "runtime/base/error.h"
#include "runtime/command/diff/options.h"

#include <stdbool.h>

/* Whether one of A and B is a file of saved tensors, or a folder that has one, also in a trace that
 * a saver wrote. */
bool diff_saved_is_wanted(const struct diff_command_options *options);

/* Fails, with the message for the user, where an option is for traces alone. */
bool diff_saved_check(const struct diff_command_options *options, struct error *error);

enum exit_code diff_saved_run(const struct diff_command_options *options);

#endif
