/* Running queries for `monitorch sql`: the session, its output and its messages. */
#ifndef MONITORCH_COMMAND_SQL_RUN_H
#define MONITORCH_COMMAND_SQL_RUN_H

#include "runtime/base/arguments/exit_code.h"
#include "runtime/command/sql/options.h"
#include "runtime/view/sql/session.h"

struct sql_run {
    const struct sql_options *options; /* borrowed */
    struct sql_session *session;       /* borrowed */
    struct sql_print print;
    bool is_prompt;
    bool has_failed; /* the output could not be written */
};

void sql_run_init(struct sql_run *run,
                  const struct sql_options *options,
                  struct sql_session *session);

/* Prints what the text's queries give, and what is wrong with them. */
enum exit_code sql_run_text(struct sql_run *run, struct slice text);

/* Tells the damage that was met since it was told last. true where there is some. */
bool sql_run_report_damage(struct sql_run *run);

#endif
