/* Report of `monitorch diff` on two folders of saved tensors. */
#ifndef MONITORCH_COMMAND_DIFF_SAVED_REPORT_H
#define MONITORCH_COMMAND_DIFF_SAVED_REPORT_H

#include "runtime/base/arguments/exit_code.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/command/diff/options.h"
#include "runtime/command/diff/rows.h"
#include "runtime/view/diff/saved/saved.h"

#include <stdbool.h>
#include <stddef.h>

enum diff_saved_list {
    DIFF_SAVED_A_ALONE,
    DIFF_SAVED_B_ALONE,
    DIFF_SAVED_DIFFERENT,
};

struct diff_saved_report {
    const struct diff_command_options *options; /* borrowed */
    struct report_rows rows;
    struct buffer first;  /* owned: the first divergence in words */
    struct buffer json;   /* owned: text that is not written yet */
    struct buffer unread; /* owned: lines for standard error */
    bool has_color;
    bool has_failed; /* memory ran out, or the text could not be written */
};

/* ---- json.c ---- */

void diff_saved_json_add(struct buffer *text,
                         const struct diff_saved_finding *finding,
                         struct slice first);
void diff_saved_json_add_verdict(struct buffer *text,
                                 const struct diff_saved_result *result,
                                 const size_t damage_counts[2]);

/* ---- saved.c ---- */

/* Whether A or B is a file of saved tensors or a folder that has one, also in a trace that a
 * saver wrote. */
bool diff_saved_is_wanted(const struct diff_command_options *options);

/* Returns false if an option is only for traces; `error` has the message for the user. */
bool diff_saved_check(const struct diff_command_options *options, struct error *error);

enum exit_code diff_saved_run(const struct diff_command_options *options);

#endif
