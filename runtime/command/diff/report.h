/* What `monitorch diff` says of two traces: kept by line of the program, so that it does not
 * grow with the traces, and printed at the end. */
#ifndef MONITORCH_COMMAND_DIFF_REPORT_H
#define MONITORCH_COMMAND_DIFF_REPORT_H

#include "runtime/base/buffer.h"
#include "runtime/base/number_map.h"
#include "runtime/command/diff/options.h"
#include "runtime/view/diff/diff.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All differences of one line, name and cause. */
struct diff_report_row {
    uint64_t hash;
    enum diff_class class_;
    enum diff_cause cause;
    unsigned side; /* whose line it is: B's, or of what A alone has A's */
    uint32_t module, line;
    size_t place, place_size; /* in `texts`: `model.py:31` */
    size_t name, name_size;
    size_t words, words_size;
    uint64_t count;
    double max_abs; /* the largest that is known; -1: none */
};

struct diff_report {
    const struct diff_command_options *options; /* borrowed */
    struct log_reader *const *readers;          /* borrowed, while diff goes on */
    struct diff_report_row *rows; /* owned; in the order of their firsts */
    size_t row_count, row_capacity;
    struct number_map row_numbers; /* by their hashes */
    struct buffer texts;           /* owned */
    struct buffer first;           /* owned: the first divergence in words */
    struct buffer json;            /* owned: what is not written yet */
    struct buffer settings;        /* owned: what differs of the runs */
    struct buffer
        changed; /* owned: lines that read differently, as many as are shown */
    struct buffer unknown; /* owned: lines about --map, for standard error */
    uint64_t changed_count;
    struct slice traces[2]; /* borrowed; told in JSON where there are several pairs */
    uint64_t first_event;   /* of B; UINT64_MAX: there is none */
    bool has_color;
    bool has_failed; /* memory ran out, or the text could not be written */
};

void diff_report_init(struct diff_report *report,
                      const struct diff_command_options *options);
void diff_report_release(struct diff_report *report);

/* For diff_options.begun and .found; the context is the report. */
void diff_report_begun(void *context,
                       struct log_reader *const *readers,
                       struct source_lines *const *sources);
void diff_report_changed(void *context,
                         const uint32_t modules[2],
                         const uint32_t lines[2],
                         const struct slice sources[2]);
void diff_report_ended(void *context, struct log_reader *const *readers);
bool diff_report_found(void *context, const struct diff_finding *finding);

/* Appends all that is said; the first divergence, or that they are equal, first. */
void diff_report_add(struct diff_report *report,
                     const struct diff_result *result,
                     struct buffer *text);
/* The one line: `equal: …`, `model.py:31: first divergence: …`, or that the programs have
 * nothing in common. */
void diff_report_add_line(struct diff_report *report,
                          const struct diff_result *result,
                          struct buffer *text);

/* `33 events in both: 26 equal, 2 own differences, 5 inherited`, and a newline. */
void diff_report_add_counts(const struct diff_result *result, struct buffer *text);

/* So many lines that read differently are shown without --all. */
#define CHANGED_LIMIT 10

/* ---- json.c ---- */

void diff_json_add_finding(struct diff_report *report,
                           const struct diff_finding *finding,
                           struct buffer *text);
void diff_json_add_verdict(const struct diff_report *report,
                           const struct diff_result *result,
                           struct buffer *text);

#endif
