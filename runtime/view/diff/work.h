/* State that the parts of diff_traces share: the steps (diff.c), the verdict on a pair of events
 * and on events that one run alone has (judge/), and the words (report/). Private to view/diff. */
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

/* Place in a program. Line 0: none. */
struct diff_place {
    uint32_t module;
    uint32_t line;
};

/* Copy of an event that outlives its step. */
struct diff_kept {
    struct log_item item;
    char sample[SAMPLE_MAX * 16];
    char text[DIFF_TEXT_MAX];
};

/* First item that only one run reached. */
struct diff_point {
    bool is_there;
    struct log_item item; /* without sample, text and arrays */
    struct diff_place
        place; /* of a call: its caller's line; of an arm: its statement */
    uint32_t call;
    uint64_t pair;      /* of the call: see diff_align_pair */
    uint64_t count;     /* events from there on */
    uint64_t turns;     /* of these, of the same site */
    struct buffer path; /* owned: the stack of calls */
};

/* Items between two items that both runs reached. */
struct diff_gap {
    bool is_open;
    struct diff_point points[2];
    bool is_inherited; /* an input of its condition differs */
    bool is_ignored;   /* it differs, but does not count: a clock */
    bool has_values,
        has_lost; /* whether it has values, and one whose difference has an effect */
};

/* Passes over the traces, at most three: a scan until something may differ, a pass that collects
 * the facts of all events, and one that reports. If no pair differs and both runs took the same
 * branches, there are no facts: lines that only one program has had no effect then. */
enum diff_pass { DIFF_PASS_SCAN, DIFF_PASS_COLLECT, DIFF_PASS_REPORT };

/* Uses of a graph's values. */
struct diff_uses {
    uint32_t
        *first; /* owned: by node, its first in the next two; NULL: not found yet */
    uint32_t *targets; /* owned: the nodes that were made from it … */
    uint32_t *edges;   /* … and by which edges; owned */
};

/* Largest dimension of a call's values so far: an upper bound of the length of its sums. */
struct diff_extent {
    uint32_t call;
    int64_t largest;
};
#define DIFF_EXTENT_COUNT 64

/* Pair of events whose whole values are still being read. */
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
    struct diff_extent extents[DIFF_EXTENT_COUNT]; /* indexed by the calls' numbers */
    struct graft_runs grafts;                      /* of B */
    struct diff_values values;
    struct diff_gap gap;
    struct diff_writes *writes; /* owned */
    struct diff_pending pending;
    struct diff_kept kept[2];
    enum diff_pass pass;
    bool has_odd;   /* SCAN: something may differ; verdicts are needed */
    bool is_judged; /* verdicts were found */
    bool has_alone; /* SCAN: only one run has some events, without effect so far */
    struct diff_facts facts[2];
    struct diff_edits edits;
    struct diff_updates updates;
    struct diff_update_counts update_counts; /* of the report */
    size_t next_update;                      /* REPORT: the next pair */
    bool has_updates;            /* both traces have updates: they were compared */
    bool updates_differ;         /* REPORT: a difference was reported … */
    uint32_t updates_step;       /* … in that step of B */
    struct diff_uses uses;       /* of B's values */
    struct buffer update_detail; /* owned: for a finding */
    uint8_t *visits[2];          /* owned: by site, flags of fix.c */
    struct buffer name, words, text, path; /* owned: for a finding */
    uint64_t parts[2]; /* events of one side alone since the last pair */
    bool has_failed;   /* memory ran out */
    bool has_first;
    bool is_stopped;
};

/* ---- view/diff/judge/update_report.c ---- */

/* Compares the gradients and steps of both traces, if both have some. The facts must be
 * collected already. Returns false if memory ran out or a trace could not be read. */
bool diff_updates_judge(struct diff_work *work);
/* Reports the differences of gradients and steps up to B's event of that number. */
void diff_updates_report(struct diff_work *work, uint64_t event);

/* ---- view/diff/judge/judge.c ---- */

void diff_match_events(struct diff_work *work, const struct diff_step *step);
/* Records data that reports of later events need: writes, sites that ran, turns of loops. */
void diff_follow(struct diff_work *work, unsigned side, const struct diff_step *step);
/* Settles the pending pair after the last piece of its whole values. */
void diff_settle_pending(struct diff_work *work);
/* Fills the fact of one event, except its partner, state and verdict. */
void diff_fact_fill(struct diff_work *work,
                    unsigned side,
                    const struct log_event_view *event,
                    const struct open_call *call,
                    struct diff_fact *fact,
                    struct diff_details *details);

/* ---- view/diff/judge/fix.c ---- */

/* Records that the event's site was reached. */
void diff_fix_visit(struct diff_work *work,
                    unsigned side,
                    const struct log_event_view *event);

/* Names the line that only one program has and that wrote an input of the pair. Returns false if
 * there is none. */
bool diff_fix_code(struct diff_work *work,
                   const struct diff_fact *facts[2],
                   struct diff_finding *finding);

/* Moves an own difference to the edited line that caused it, if that is another line: adds to
 * work->words, and sets the finding's places. */
void diff_fix_find(struct diff_work *work, struct diff_finding *finding);

/* Adds to work->words the other edited lines that may be the cause. */
void diff_fix_add_others(struct diff_work *work, const struct diff_finding *finding);

/* Returns the line of A that has the counterpart of a site at that line of B. 0: there is none. */
uint32_t diff_fix_other_line(const struct diff_work *work, struct diff_place place);

struct diff_writes *diff_writes_new(void); /* NULL: out of memory */
void diff_writes_free(struct diff_writes *writes);

/* A line by which only one run wrote into the memory of a value that differs. */
struct diff_blame {
    unsigned side; /* the side that wrote */
    struct diff_place
        places[2];     /* of that line, and of its counterpart; line 0: none */
    struct slice name; /* the name that it wrote to; borrowed until the next step */
};

struct diff_place diff_place_of(const struct log_item *item,
                                const struct open_call *call);

/* Returns the event's place in the program of the other side. Line 0: it has none. */
struct diff_place diff_other_place(const struct diff_work *work,
                                   unsigned side,
                                   const struct log_event_view *event);

/* Returns the place of a site of the trace. Line 0: there is no site of that number. */
struct diff_place
diff_site_place(const struct diff_work *work, unsigned side, uint32_t site);

/* Adds `model.py:31`. */
void diff_place_add(const struct diff_work *work,
                    unsigned side,
                    struct diff_place place,
                    struct buffer *text);

/* Returns the line's source, or "" if it is not in the trace. */
struct slice
diff_place_source(struct diff_work *work, unsigned side, struct diff_place place);

/* Adds `train.py > GPT.forward > blocks.3 Block.forward, turn 3 of line 40`. */
void diff_path_add(struct diff_work *work,
                   unsigned side,
                   const struct open_call *call,
                   uint32_t line,
                   struct buffer *text);

/* Adds `q`, `out[0]` or `return`. */
void diff_name_add(const struct log_event_view *event, struct buffer *text);

/* ---- view/diff/report/first.c ---- */

/* Calls `options->found`. Decides whether the finding is the first divergence, and makes its
 * text unless it has one. */
void diff_add_finding(struct diff_work *work, struct diff_finding *finding);

/* Writes the text of a first divergence into work->text. */
void diff_first_make(struct diff_work *work, const struct diff_finding *finding);

/* ---- view/diff/judge/gap.c ---- */

/* Ends the gap: both runs reached the same place again, or their ends (`step` is NULL). */
void diff_gap_close(struct diff_work *work, const struct diff_step *step);
void diff_gap_release(struct diff_gap *gap);
/* Whether the recording of that side ends before its run did. */
bool diff_is_cut(const struct diff_work *work, unsigned side);

void diff_report_changed_sites(struct diff_work *work);

/* Handles an item that only one trace has. */
void diff_match_odd(struct diff_work *work, const struct diff_step *step);

/* Counts an event that the other trace may have had and dropped. It is no difference. */
void diff_match_before(struct diff_work *work, const struct diff_step *step);

#endif
