/* Two traces side by side: which item of the one is which of the other. Items are known by their
 * site, as the two site tables are aligned with each other beforehand, by the functions and
 * nn.Modules on the way to their call, and by their visit; not by their position. Memory does
 * not grow with the traces.
 *
 *     struct diff_align *align = diff_align_new(&options, &error);
 *
 *     while (diff_align_next(align, &step)) { … }
 *     diff_align_free(align);
 *
 * Of several threads, one after the other is gone through. docs/internals/diff.md has the algorithm. */
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

/* What is called so in A is called so in B: a file, a function (qualified, or its last parts), a
 * variable or attribute, an nn.Module's path. Borrowed. */
struct diff_rename {
    struct slice old_name;
    struct slice new_name;
};

struct diff_align_options {
    struct log_reader *readers[2];   /* borrowed; A and B; read from their beginnings */
    struct source_lines *sources[2]; /* borrowed; lines help to find the same site */
    const struct diff_rename *renames; /* borrowed */
    size_t rename_count;
    size_t
        window; /* so many items at most are looked ahead at; 0: as many as is good */
};

/* Why an item has no counterpart. */
enum diff_odd {
    DIFF_ODD_NONE,
    DIFF_ODD_CODE, /* the other program has no such site, function or file */
    DIFF_ODD_FLOW, /* it has, but did not come there this time */
    DIFF_ODD_PART, /* its value has no such part: [2] of a list of two */
    DIFF_ODD_LEFT_OUT, /* one of the recordings leaves out visits of its site from here on */
    DIFF_ODD_BEFORE, /* a ring has dropped what came before its first events */
};

/* One item of both traces, or of one alone. Of kinds LOG_CALL, LOG_EVENT, LOG_DATA, LOG_END;
 * pieces of whole values (LOG_DATA) follow the step of their event, each for itself: pieces may
 * be cut differently. Valid until the next step; calls until the one after it, so that who waits
 * for whole values still has them. */
struct diff_step {
    const struct log_item *items[2]; /* A, B; NULL on the side that has none */
    const struct open_call
        *calls[2]; /* of the items; LOG_END: the calls that ended; may be
                                         NULL where unknown */
    enum diff_odd odd;
    bool is_moved; /* they stand in another order; no pieces of values follow */
};

/* How many functions and sites of the programs were found in each other. */
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

/* false at the end, and where memory ran out: see diff_align_has_failed. */
bool diff_align_next(struct diff_align *align, struct diff_step *step);
bool diff_align_has_failed(const struct diff_align *align);
/* Whether gradients, or steps that write to parameters, were read of that side: they are not aligned. */
bool diff_align_has_updates(const struct diff_align *align, unsigned side);

void diff_align_likeness(const struct diff_align *align,
                         struct diff_likeness *likeness);

/* The other side's site for a site of `side` (numbers of the traces), or DIFF_SITE_NONE. */
uint32_t diff_align_site(const struct diff_align *align, unsigned side, uint32_t site);

/* The other side's module that a module of `side` is; DIFF_SITE_NONE: there is none. */
uint32_t
diff_align_module(const struct diff_align *align, unsigned side, uint32_t module);
/* The line of that module with the same text, comments and blanks around it left out, at that place of the
 * sequence of lines; 0: there is none. */
uint32_t diff_align_line(const struct diff_align *align,
                         unsigned side,
                         uint32_t module,
                         uint32_t line);

/* Whether a call of either side was found to be one of the other. */
bool diff_align_is_paired(const struct open_call *call);
/* The same number for a call and the one of the other side that it is; 0: it is none of the other side. */
uint64_t diff_align_pair(const struct open_call *call);

/* Notes the turn of a loop of the call, of which the event is. */
void diff_align_note_turn(const struct diff_align *align,
                          unsigned side,
                          const struct open_call *call,
                          const struct log_event_view *event);
/* The turn that was noted last, from 1; `site` is of the table of the call's module. 0: none was. */
uint32_t diff_align_turn(const struct diff_align *align,
                         unsigned side,
                         const struct open_call *call,
                         uint32_t site);

/* Whether a class of A, by its last part, is one of B under another name: the two have methods
 * that were found to be the same. */
bool diff_align_is_class(const struct diff_align *align,
                         struct slice a,
                         struct slice b);

#endif
