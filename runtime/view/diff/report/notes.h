/* What diff finds, kept for a page or a picture of it: rows for people, and a mark for each event
 * of B.
 *
 *     struct diff_options options = {.begun = diff_notes_begun, .found = diff_notes_found,
 *                                    .context = &notes, …};
 *
 * All marks are kept, so memory grows with the events that differ; of rows and words, so many as
 * somebody may read. */
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
    DIFF_LIST_OWN, /* with the ways that were taken */
    DIFF_LIST_INHERITED,
    DIFF_LIST_ONLY_A,
    DIFF_LIST_ONLY_B,
    DIFF_LIST_COUNT
};

/* All differences of one line and name; the texts are the first one's. */
struct diff_row {
    struct slice path;       /* the file, as the trace has it; B's where there is one */
    uint32_t line;           /* 0: not known */
    struct slice other_path; /* A's, where it is another place; "" */
    uint32_t other_line;
    struct slice code; /* the line's text */
    struct slice name;
    struct slice words;
    struct slice call; /* `train → Model.forward  #4` */
    uint64_t count;
    uint64_t event;        /* B's, the first one's; DIFF_EVENT_NONE */
    bool is_first;         /* the first divergence is among them */
    uint32_t module, side; /* of the path */
};

struct diff_rows {
    struct diff_row *rows; /* owned */
    size_t capacity;
    uint32_t count;
    uint64_t shown;          /* differences that the rows count */
    uint64_t total;          /* differences, with those that there is no room for */
    struct number_map index; /* what a row is, as a hash -> its place */
};

struct diff_notes {
    struct diff_rows lists[DIFF_LIST_COUNT];
    struct slice
        headline; /* `FILE:LINE: first divergence: NAME: …`; "" where nothing is */
    struct slice text; /* all that is said of it: the headline and lines behind it */
    struct slice first_words; /* what differs there; "" */
    uint64_t first_event;     /* B's event of the first divergence; DIFF_EVENT_NONE */
    bool has_scalars;         /* an own difference is of a value that is no array */
    struct number_map marks;  /* B's event -> its mark, and the number of its words */
    struct number_map others; /* B's event that differs -> A's */
    struct text_table words;  /* those of marks */
    struct log_reader *readers[2];   /* borrowed, while diff goes on; else NULL */
    struct source_lines *sources[2]; /* borrowed, while diff goes on; else NULL */
    struct buffer scratch;           /* owned */
    struct arena arena;
};

/* false: out of memory. To be released in either case. */
bool diff_notes_init(struct diff_notes *notes);
void diff_notes_release(struct diff_notes *notes);

/* diff_options.begun and .found; the context is the notes. */
void diff_notes_begun(void *context,
                      struct log_reader *const *readers,
                      struct source_lines *const *sources);
/* false: out of memory. */
bool diff_notes_found(void *context, const struct diff_finding *finding);

/* flow_options.mark and .remark for B's graph; the context is the notes. What was not told is
 * equal. */
enum flow_mark diff_notes_mark(void *context, uint64_t event);
struct slice diff_notes_remark(void *context, uint64_t event);
/* A's event that B's was compared with and differs from; DIFF_EVENT_NONE. */
uint64_t diff_notes_other(void *context, uint64_t event);

#endif
