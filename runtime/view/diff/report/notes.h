/* Notes: findings of diff, kept for a page or a picture of it: rows for people, and a mark for
 * each event of B.
 *
 *     struct diff_options options = {.begun = diff_notes_begun, .found = diff_notes_found,
 *                                    .context = &notes, …};
 *
 * All marks are kept, so memory grows with the events that differ. The numbers of rows and words
 * are limited to what a person may read. */
#ifndef MONITORCH_VIEW_DIFF_REPORT_NOTES_H
#define MONITORCH_VIEW_DIFF_REPORT_NOTES_H

#include "runtime/base/arena.h"
#include "runtime/base/text_table.h"
#include "runtime/view/diff/diff.h"
#include "runtime/view/flow/flow.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIFF_EVENT_NONE UINT64_MAX

enum diff_list {
    DIFF_LIST_OWN, /* with differences of control flow */
    DIFF_LIST_INHERITED,
    DIFF_LIST_ONLY_A,
    DIFF_LIST_ONLY_B,
    DIFF_LIST_COUNT
};

/* All differences of one line and name. The texts are those of the first one. */
struct diff_row {
    struct slice path;       /* the file's path in the trace; B's if it has one */
    uint32_t line;           /* 0: not known */
    struct slice other_path; /* A's, if its place is another; "" */
    uint32_t other_line;
    struct slice code; /* source of the line */
    struct slice name;
    struct slice words;
    struct slice call; /* `train → Model.forward  #4` */
    uint64_t count;
    uint64_t event;        /* first event of B; DIFF_EVENT_NONE */
    bool is_first;         /* it has the first divergence */
    uint32_t module, side; /* of the path */
};

struct diff_rows {
    struct diff_row *rows; /* owned */
    size_t capacity;
    uint32_t count;
    uint64_t shown;          /* differences that the rows contain */
    uint64_t total;          /* all differences, with those that no row has room for */
    struct number_map index; /* hash of line and name -> index of the row */
};

struct diff_notes {
    struct diff_rows lists[DIFF_LIST_COUNT];
    struct slice headline; /* `FILE:LINE: first divergence: NAME: …`; "": none */
    struct slice text;     /* the whole report: the headline and the lines after it */
    struct slice first_words; /* the first divergence's words; "" */
    uint64_t first_event;     /* B's event of the first divergence; DIFF_EVENT_NONE */
    bool has_scalars;         /* an own difference is of a value other than an array */
    struct number_map marks;  /* B's event -> its mark, and the number of its words */
    struct number_map others; /* B's event that differs -> A's */
    struct text_table words;  /* words of the marks */
    struct log_reader *readers[2];   /* borrowed during diff; else NULL */
    struct source_lines *sources[2]; /* borrowed during diff; else NULL */
    struct buffer scratch;           /* owned */
    struct arena arena;
};

/* Returns false if memory ran out. To be released in either case. */
bool diff_notes_init(struct diff_notes *notes);
void diff_notes_release(struct diff_notes *notes);

/* Callbacks for diff_options.begun and .found. The context is the notes. */
void diff_notes_begun(void *context,
                      struct log_reader *const *readers,
                      struct source_lines *const *sources);
/* Returns false if memory ran out. */
bool diff_notes_found(void *context, const struct diff_finding *finding);

/* Callbacks for flow_options.mark and .remark of B's graph. The context is the notes. Events
 * without a finding are equal. */
enum flow_mark diff_notes_mark(void *context, uint64_t event);
struct slice diff_notes_remark(void *context, uint64_t event);
/* Returns A's event that differs from B's event and was compared with it. DIFF_EVENT_NONE: there
 * is none. */
uint64_t diff_notes_other(void *context, uint64_t event);

#endif
