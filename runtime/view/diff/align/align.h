/* Alignment of two traces: it matches each item of one with its counterpart in the other. Items
 * are matched by their site (the two site tables are aligned first), by the functions and
 * nn.Modules of the calls around them, and by their visit; not by their position. Memory does not
 * grow with the traces.
 *
 *     struct diff_align *align = diff_align_new(&options, &error);
 *
 *     while (diff_align_next(align, &step)) { … }
 *     diff_align_free(align);
 *
 * Threads are read one after the other. docs/internals/diff.md has the algorithm. */
#ifndef MONITORCH_VIEW_DIFF_ALIGN_ALIGN_H
#define MONITORCH_VIEW_DIFF_ALIGN_ALIGN_H

#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"
#include "runtime/view/walk/open_calls.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIFF_SITE_NONE UINT32_MAX

/* A name in A and its counterpart in B: a file, a function (qualified, or its last parts), a
 * variable or attribute, an nn.Module's path. Borrowed. */
struct diff_rename {
    struct slice old_name;
    struct slice new_name;
};

struct diff_align_options {
    struct log_reader *readers[2];     /* borrowed; A and B; at their beginnings */
    struct source_lines *sources[2];   /* borrowed; lines help to match sites */
    const struct diff_rename *renames; /* borrowed */
    size_t rename_count;
    size_t window; /* most items to look ahead; 0: the default */
};

/* Reason why an item has no counterpart. */
enum diff_odd {
    DIFF_ODD_NONE,
    DIFF_ODD_CODE,     /* the other program has no such site, function or file */
    DIFF_ODD_FLOW,     /* it has, but did not reach it this time */
    DIFF_ODD_PART,     /* the other's value has no such item: [2] of a list of two */
    DIFF_ODD_LEFT_OUT, /* one recording leaves out visits of its site from here on */
    DIFF_ODD_BEFORE,   /* a ring dropped the events before its first one */
};

/* An item of both traces, or of one alone, of kind LOG_CALL, LOG_EVENT, LOG_DATA or LOG_END.
 * Pieces of whole values (LOG_DATA) follow the step of their event, one per step, since they may
 * be cut differently. A step is valid until the next one. Its calls are valid one step longer,
 * for users that wait for whole values. */
struct diff_step {
    const struct log_item *items[2]; /* A, B; NULL on the side that has none */
    const struct open_call
        *calls[2]; /* of the items; LOG_END: the ended calls; may be NULL */
    enum diff_odd odd;
    bool is_moved; /* the order differs; no pieces of values follow */
};

/* Numbers of functions and sites of both programs that were matched. */
struct diff_likeness {
    uint64_t site_counts[2];
    uint64_t sites_in_both;
    uint64_t function_counts[2]; /* those with sites */
    uint64_t functions_in_both;
    uint64_t file_counts[2];
    uint64_t files_in_both;
};

struct diff_align;

/* Aligns the programs. NULL: out of memory. */
struct diff_align *diff_align_new(const struct diff_align_options *options,
                                  struct error *error);
void diff_align_free(struct diff_align *align); /* may be NULL */

/* Returns false at the end and if memory ran out: see diff_align_has_failed. */
bool diff_align_next(struct diff_align *align, struct diff_step *step);
bool diff_align_has_failed(const struct diff_align *align);
/* Whether the side has gradients, or steps that write to parameters. They are not aligned. */
bool diff_align_has_updates(const struct diff_align *align, unsigned side);

void diff_align_likeness(const struct diff_align *align,
                         struct diff_likeness *likeness);

/* Returns the other side's counterpart of a site of `side` (numbers of the traces).
 * DIFF_SITE_NONE: there is none. */
uint32_t diff_align_site(const struct diff_align *align, unsigned side, uint32_t site);

/* Returns the other side's counterpart of a module. DIFF_SITE_NONE: there is none. */
uint32_t
diff_align_module(const struct diff_align *align, unsigned side, uint32_t module);
/* Returns the counterpart of a line in the other module: the line with the same text, without
 * comments and blanks around it, at that place of the sequence of lines. 0: there is none. */
uint32_t diff_align_line(const struct diff_align *align,
                         unsigned side,
                         uint32_t module,
                         uint32_t line);

/* Whether the call of either side has a counterpart. */
bool diff_align_is_paired(const struct open_call *call);
/* Returns a number that a call and its counterpart share. 0: it has no counterpart. */
uint64_t diff_align_pair(const struct open_call *call);

/* Records the turn of the call's loop that the event starts. */
void diff_align_note_turn(const struct diff_align *align,
                          unsigned side,
                          const struct open_call *call,
                          const struct log_event_view *event);
/* Returns the turn that was recorded last, from 1. `site` is an index in the table of the call's
 * module. 0: none was recorded. */
uint32_t diff_align_turn(const struct diff_align *align,
                         unsigned side,
                         const struct open_call *call,
                         uint32_t site);

/* Whether a class of A, by its last part, is a class of B under another name: methods of the two
 * were matched. */
bool diff_align_is_class(const struct diff_align *align,
                         struct slice a,
                         struct slice b);

#endif
