/* The prompt of `monitorch sql`. */
#ifndef MONITORCH_COMMAND_SQL_PROMPT_H
#define MONITORCH_COMMAND_SQL_PROMPT_H

#include "runtime/base/arguments/exit_code.h"
#include "runtime/command/sql/options.h"
#include "runtime/command/sql/run.h"

/* Reads queries from standard input, a terminal, until its end or `.quit`. */
enum exit_code sql_prompt(struct sql_run *run);

#endif
