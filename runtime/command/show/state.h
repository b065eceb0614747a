/* What the files of `monitorch show` share. */
#ifndef MONITORCH_COMMAND_SHOW_STATE_H
#define MONITORCH_COMMAND_SHOW_STATE_H

#include "runtime/base/arguments/exit_code.h"
#include "runtime/base/buffer.h"
#include "runtime/base/number_map.h"
#include "runtime/command/show/options.h"
#include "runtime/trace/reader.h"
#include "runtime/view/list/canonical.h"
#include "runtime/view/list/json_log.h"
#include "runtime/view/list/tree_log.h"
#include "runtime/view/tracklog/tracklog.h"
#include "runtime/view/walk/open_calls.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stdint.h>

/* The showing of one trace. */
struct show {
    const struct show_options *options; /* borrowed */
    const char *path;                   /* borrowed */
    struct log_reader *reader;          /* owned */
    struct source_lines sources;        /* owned */
    struct open_calls calls;            /* owned */
    struct tree_log tree;               /* owned */
    struct track_log *tracked;          /* owned; with --style tree, else NULL */
    bool has_tracked_calls;             /* those alone are told by it */
    struct buffer lines;                /* owned; what the tree log made of one item */
    uint16_t tree_thread;               /* whose lines of it stand last */
    bool has_tree_thread;
    struct json_log json;
    struct canonical canonical;            /* owned */
    const struct canonical_thread *thread; /* the one that is shown; NULL: all are */
    bool is_heading_due;            /* its heading is written before its first event */
    bool prints_notes;              /* and nothing else */
    struct buffer text;             /* owned; what is not written yet */
    struct number_map wanted_calls; /* owned; with --backward: call -> whether it is */
    bool is_selective;              /* calls are shown with their first event that is */
    bool is_counting;               /* events are counted, nothing is shown */
    bool has_failed;   /* memory ran out, or the text could not be written */
    uint64_t first;    /* of the events that match, the first to be shown */
    uint64_t matched;  /* events that matched so far */
    uint64_t seen;     /* events so far */
    uint64_t alarming; /* shown ones with NaN or Inf */
};

/* ---- show.c ---- */

void show_add_thread_heading(struct show *show);

/* ---- tree.c ---- */

/* With --style tree: begins the tree log, at the beginning of the trace. */
void show_tree_begin(struct show *show);
/* Tells what the item gives rise to. */
void show_tree_add(struct show *show, const struct log_item *item);

/* ---- rest.c ---- */

/* Tells on standard error what is wrong with the trace, or that nothing was there to show. */
enum exit_code show_report_rest(struct show *show);
/* For a person at a terminal, behind the last event. */
void show_add_footer(const struct show *show);

#endif
