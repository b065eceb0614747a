/* Report of `monitorch diff` on two traces. It is kept by line of the program, so it does not
 * grow with the traces, and is printed at the end. */
#ifndef MONITORCH_COMMAND_DIFF_REPORT_H
#define MONITORCH_COMMAND_DIFF_REPORT_H

#include "runtime/base/buffer.h"
#include "runtime/command/diff/options.h"
#include "runtime/command/diff/rows.h"
#include "runtime/view/diff/diff.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diff_report {
    const struct diff_command_options *options; /* borrowed */
    struct log_reader *const *readers;          /* borrowed during diff */
    struct report_rows rows;
    struct buffer first;    /* owned: the first divergence in words */
    struct buffer json;     /* owned: text that is not written yet */
    struct buffer settings; /* owned: settings that differ between the runs */
    struct buffer changed;  /* owned: changed lines, as many as are shown */
    struct buffer unknown;  /* owned: remarks about --map, for standard error */
    uint64_t changed_count;
    struct slice traces[2]; /* borrowed; written to JSON if there are several pairs */
    uint64_t first_event;   /* B's, or A's if B has none; UINT64_MAX: none */
    bool has_color;
    bool has_failed; /* memory ran out, or the text could not be written */
};

void diff_report_init(struct diff_report *report,
                      const struct diff_command_options *options);
void diff_report_release(struct diff_report *report);

/* Callbacks for diff_options. The context is the report. */
void diff_report_begun(void *context,
                       struct log_reader *const *readers,
                       struct source_lines *const *sources);
void diff_report_changed(void *context,
                         const uint32_t modules[2],
                         const uint32_t lines[2],
                         const struct slice sources[2]);
void diff_report_ended(void *context, struct log_reader *const *readers);
bool diff_report_found(void *context, const struct diff_finding *finding);

/* Appends the whole report. It starts with the first divergence, or says that the traces are
 * equal. */
void diff_report_add(struct diff_report *report,
                     const struct diff_result *result,
                     struct buffer *text);
/* Adds the first line: `equal: …`, `model.py:31: first divergence: …`, or that the programs have
 * nothing in common. */
void diff_report_add_line(struct diff_report *report,
                          const struct diff_result *result,
                          struct buffer *text);

/* Adds `33 events in both: 26 equal, 2 own differences, 5 inherited`, and a newline. */
void diff_report_add_counts(const struct diff_result *result, struct buffer *text);

/* Without --all, at most this many lines whose texts differ are shown. */
#define CHANGED_LIMIT 10

/* ---- json.c ---- */

void diff_json_add_finding(struct diff_report *report,
                           const struct diff_finding *finding,
                           struct buffer *text);
void diff_json_add_verdict(const struct diff_report *report,
                           const struct diff_result *result,
                           struct buffer *text);

#endif
