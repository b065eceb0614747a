/* The state that the parts of diff_traces share: the steps (diff.c), the verdict on a pair of events and
 * what one run alone did (judge/), and the words (report/). Private to view/diff. */
#ifndef MONITORCH_VIEW_DIFF_WORK_H
#define MONITORCH_VIEW_DIFF_WORK_H

#include "runtime/array/sample.h"
#include "runtime/base/buffer.h"
#include "runtime/view/diff/align/align.h"
#include "runtime/view/diff/diff.h"
#include "runtime/view/diff/graft.h"
#include "runtime/view/diff/judge/edits.h"
#include "runtime/view/diff/judge/facts.h"
#include "runtime/view/diff/judge/updates.h"
#include "runtime/view/diff/judge/verdicts.h"
#include "runtime/view/diff/values/compare.h"
#include "runtime/view/diff/values/floor.h"
#include "runtime/view/diff/values/values.h"

#define DIFF_TEXT_MAX 4096

/* Where something is: 0 is no line. */
struct diff_place {
    uint32_t module;
    uint32_t line;
};

/* An event that outlives its step: what the reader would overwrite is copied. */
struct diff_kept {
    struct log_item item;
    char sample[SAMPLE_MAX * 16];
    char text[DIFF_TEXT_MAX];
};

/* The first item that one run alone came to. */
struct diff_point {
    bool is_there;
    struct log_item item; /* without sample, text and arrays */
    struct diff_place
        place; /* of a call: where it was made; of an arm: its statement */
    uint32_t call;
    uint64_t pair;      /* of the call: see diff_align_pair */
    uint64_t count;     /* of events from there on */
    uint64_t turns;     /* of these, of the same site */
    struct buffer path; /* owned: the calls on the way */
};

/* What lies between two items that both runs came to. */
struct diff_gap {
    bool is_open;
    struct diff_point points[2];
    bool is_inherited;         /* what decided about it differs */
    bool is_ignored;           /* it does, but does not count: a clock */
    bool has_values, has_lost; /* of the values in it: one does not come back */
};

/* The traces are read up to three times: until something is odd, then for the facts of all events, then
 * to report them. Where no pair differs and both runs took one way, there are no facts: lines that one
 * program has alone changed nothing then. */
enum diff_pass { DIFF_PASS_SCAN, DIFF_PASS_COLLECT, DIFF_PASS_REPORT };

/* What the values of a graph were used for. */
struct diff_uses {
    uint32_t
        *first; /* owned: by node, its first in the next two; NULL: not found yet */
    uint32_t *targets; /* owned: the nodes that were made from it … */
    uint32_t *edges;   /* … and by which edges; owned */
};

/* The largest dimension of a call's values so far: the sums in it are no longer. */
struct diff_extent {
    uint32_t call;
    int64_t largest;
};
#define DIFF_EXTENT_COUNT 64

/* A pair of events that waits for its whole values. */
struct diff_pending {
    bool is_there;
    struct diff_comparison comparison;
    const struct open_call *calls[2];
};

struct diff_work {
    const struct diff_options *options;
    struct diff_result *result;
    struct error *error;
    const char *paths[2];
    struct log_reader *readers[2];
    struct source_lines sources[2];
    struct source_lines *all_sources[2]; /* borrowed: the two above */
    struct diff_align *align;
    struct diff_compare compare;
    struct diff_floor floor;
    struct diff_rounding rounding;
    struct diff_extent extents[DIFF_EXTENT_COUNT]; /* by the calls' numbers */
    struct graft_runs grafts;                      /* of B */
    struct diff_values values;
    struct diff_gap gap;
    struct diff_writes *writes; /* owned */
    struct diff_pending pending;
    struct diff_kept kept[2];
    enum diff_pass pass;
    bool has_odd;   /* SCAN: something may differ, and is to be judged */
    bool is_judged; /* the verdicts are found */
    bool has_alone; /* SCAN: one run alone has events that changed nothing so far */
    struct diff_facts facts[2];
    struct diff_edits edits;
    struct diff_updates updates;
    struct diff_update_counts update_counts; /* of the report */
    size_t next_update;                      /* REPORT: the pair that is next */
    bool has_updates;            /* both traces have some: they were compared */
    bool updates_differ;         /* REPORT: one was reported … */
    uint32_t updates_step;       /* … of that step of B */
    struct diff_uses uses;       /* of B's values */
    struct buffer update_detail; /* owned: for a finding */
    uint8_t *visits[2];          /* owned: by site, what fix.c knows of it */
    struct buffer name, words, text, path; /* owned: for a finding */
    uint64_t parts[2]; /* of one side alone, since both were at one place */
    bool has_failed;   /* memory ran out */
    bool has_first;
    bool is_stopped;
};

/* ---- view/diff/judge/update_report.c ---- */

/* Compares the gradients and steps of both traces, if both have some. The facts are collected. */
bool diff_updates_judge(struct diff_work *work);
/* Reports what differs of them before B's event of that number. */
void diff_updates_report(struct diff_work *work, uint64_t event);

/* ---- view/diff/judge/judge.c ---- */

void diff_match_events(struct diff_work *work, const struct diff_step *step);
/* Notes what reports of later events need of this one: writes, sites that ran, turns of loops. */
void diff_follow(struct diff_work *work, unsigned side, const struct diff_step *step);
/* Whole values have come to their end. */
void diff_settle_pending(struct diff_work *work);
/* A fact of one event; its partner, state and verdict are not known. */
void diff_fact_fill(struct diff_work *work,
                    unsigned side,
                    const struct log_event_view *event,
                    const struct open_call *call,
                    struct diff_fact *fact,
                    struct diff_details *details);

/* ---- view/diff/judge/fix.c ---- */

/* The event's site was reached. */
void diff_fix_visit(struct diff_work *work,
                    unsigned side,
                    const struct log_event_view *event);

/* Names the line that one program has alone and that wrote what the pair was made from; false: there is
 * none. */
bool diff_fix_code(struct diff_work *work,
                   const struct diff_fact *facts[2],
                   struct diff_finding *finding);

/* Moves an own difference to the line that was edited, where it shows elsewhere: adds to work->words, and
 * sets the finding's places. */
void diff_fix_find(struct diff_work *work, struct diff_finding *finding);

/* Adds to work->words the other edited lines that may be the cause. */
void diff_fix_add_others(struct diff_work *work, const struct diff_finding *finding);

/* The line of A that has a site of that line of B; 0: there is none. */
uint32_t diff_fix_other_line(const struct diff_work *work, struct diff_place place);

struct diff_writes *diff_writes_new(void); /* NULL: out of memory */
void diff_writes_free(struct diff_writes *writes);

/* A line that one run alone wrote with into the memory of a value that differs. */
struct diff_blame {
    unsigned side; /* that wrote */
    struct diff_place
        places[2];     /* of that line, and of its counterpart; line 0: none */
    struct slice name; /* that it wrote to; borrowed until the next step */
};

struct diff_place diff_place_of(const struct log_item *item,
                                const struct open_call *call);

/* The event's place in the program of the other side; line 0: it has none. */
struct diff_place diff_other_place(const struct diff_work *work,
                                   unsigned side,
                                   const struct log_event_view *event);

/* Of a site of the trace; line 0: there is none of that number. */
struct diff_place
diff_site_place(const struct diff_work *work, unsigned side, uint32_t site);

/* `model.py:31` */
void diff_place_add(const struct diff_work *work,
                    unsigned side,
                    struct diff_place place,
                    struct buffer *text);

/* The line's source; "" where it is not in the trace. */
struct slice
diff_place_source(struct diff_work *work, unsigned side, struct diff_place place);

/* `train.py > GPT.forward > blocks.3 Block.forward, turn 3 of line 40`. */
void diff_path_add(struct diff_work *work,
                   unsigned side,
                   const struct open_call *call,
                   uint32_t line,
                   struct buffer *text);

/* `q`, `out[0]`, `return`. */
void diff_name_add(const struct log_event_view *event, struct buffer *text);

/* ---- view/diff/report/first.c ---- */

/* Tells `options->found`. Whether it is the first divergence is found here; its text is made
 * unless it is there. */
void diff_add_finding(struct diff_work *work, struct diff_finding *finding);

/* Makes the text of what would be the first divergence, in work->text. */
void diff_first_make(struct diff_work *work, const struct diff_finding *finding);

/* ---- view/diff/judge/gap.c ---- */

/* Both runs are at one place again, or at their ends (NULL). */
void diff_gap_close(struct diff_work *work, const struct diff_step *step);
void diff_gap_release(struct diff_gap *gap);
/* Whether the recording of that side ends before its run did. */
bool diff_is_cut(const struct diff_work *work, unsigned side);

void diff_report_changed_sites(struct diff_work *work);

/* An item that one trace alone has. */
void diff_match_odd(struct diff_work *work, const struct diff_step *step);

/* What the other trace may have had and has dropped is no difference. */
void diff_match_before(struct diff_work *work, const struct diff_step *step);

#endif
