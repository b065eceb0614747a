/* The state that the parts of diff_traces share: the steps (diff.c), the verdict on a pair of events and
 * what one run alone did (judge/), and the words (report/). Private to view/diff. */
#ifndef MONITORCH_VIEW_DIFF_WORK_H
#define MONITORCH_VIEW_DIFF_WORK_H

#include "runtime/array/sample.h"
#include "runtime/base/buffer.h"
#include "runtime/view/diff/align/align.h"
#include "runtime/view/diff/diff.h"
#include "runtime/view/diff/judge/scope.h"
#include "runtime/view/diff/values/compare.h"
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
    uint64_t count;     /* of events from there on */
    uint64_t turns;     /* of these, of the same site */
    struct buffer path; /* owned: the calls on the way */
};

/* What lies between two items that both runs came to. */
struct diff_gap {
    bool is_open;
    struct diff_point points[2];
    bool is_inherited; /* what decided about it differs */
    bool is_ignored;   /* it does, but does not count: a clock */
};

/* Another layout of equal values, which is a difference when something follows of it. */
#define DIFF_SUSPECTS_MAX 64
struct diff_suspect {
    struct log_item items[2];        /* without sample and text */
    uint64_t storages[2];            /* addresses; 0: not known */
    struct buffer name, words, text; /* owned */
    bool is_in_place; /* B's is an object that was there before, A's is a new one */
    bool is_reported;
};

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
    struct diff_values values;
    struct diff_scope scope;
    struct diff_gap gap;
    struct diff_writes *writes; /* owned */
    struct diff_pending pending;
    struct diff_kept kept[2];
    struct diff_suspect *suspects; /* owned: DIFF_SUSPECTS_MAX of them; may be NULL */
    uint32_t suspect_count;
    struct buffer name, words, text, path; /* owned: for a finding */
    uint64_t parts[2]; /* of one side alone, since both were at one place */
    bool has_found;    /* something was odd: names are looked after from now on */
    bool has_first;
    bool is_stopped;
};

/* ---- view/diff/judge/judge.c ---- */

void diff_match_events(struct diff_work *work, const struct diff_step *step);
/* Whole values have come to their end. */
void diff_settle_pending(struct diff_work *work);
/* The call's caller gets something that differs. */
void diff_return_differs(struct diff_work *work,
                         unsigned side,
                         const struct open_call *call);

/* ---- view/diff/judge/writes.c ---- */

struct diff_writes *diff_writes_new(void); /* NULL: out of memory */
void diff_writes_free(struct diff_writes *writes);
void diff_writes_note(struct diff_work *work,
                      unsigned side,
                      const struct log_event_view *event);

/* A line that one run alone wrote with into the memory of a value that differs. */
struct diff_blame {
    unsigned side; /* that wrote */
    struct diff_place
        places[2];     /* of that line, and of its counterpart; line 0: none */
    struct slice name; /* that it wrote to; borrowed until the next step */
};

/* ---- view/diff/judge/taints.c ---- */

/* What went into an event. */
struct diff_inputs {
    bool differ;
    const struct diff_taint *code; /* a line of one program alone wrote them; or NULL */
    const struct diff_taint *layout; /* they lie in another layout; or NULL */
    bool has_clock;                  /* a clock's */
};

/* Adds what one of the names is known for; NULL: nothing. */
void diff_inputs_add(struct diff_inputs *inputs, const struct diff_taint *taint);

/* Of an event of B, whose call and frame these are. */
struct diff_inputs diff_inputs_find(struct diff_work *work,
                                    struct diff_frame *frame,
                                    const struct log_event_view *event,
                                    const struct open_call *call);

/* ---- view/diff/report/place.c ---- */

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

/* ---- view/diff/judge/suspect.c ---- */

void diff_suspects_release(struct diff_work *work);

/* ---- view/diff/report/reads.c ---- */

/* ---- view/diff/judge/gap.c ---- */

/* Both runs are at one place again, or at their ends (NULL). */
void diff_gap_close(struct diff_work *work, const struct diff_step *step);
void diff_gap_release(struct diff_gap *gap);
/* Whether the recording of that side ends before its run did. */
bool diff_is_cut(const struct diff_work *work, unsigned side);

/* ---- view/diff/judge/arms.c ---- */

/* ---- view/diff/judge/texts.c ---- */

/* ---- view/diff/judge/changed.c ---- */

void diff_report_changed_sites(struct diff_work *work);

/* ---- view/diff/judge/odd.c ---- */

/* An item that one trace alone has. */
void diff_match_odd(struct diff_work *work, const struct diff_step *step);

/* What the other trace may have had and has dropped is no difference. */
void diff_match_before(struct diff_work *work, const struct diff_step *step);

#endif
