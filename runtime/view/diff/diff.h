/* What differs between two traces of a program, the first difference first: verdicts on the
 * steps that view/diff/align/align.h gives.
 *
 *     if (diff_traces(path_a, path_b, &options, &result, &error)) { … }
 *
 * Each difference is told to `options.found` as it is met. docs/reference/diff.md tells the rules. */
#ifndef MONITORCH_VIEW_DIFF_DIFF_H
#define MONITORCH_VIEW_DIFF_DIFF_H

#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"
#include "runtime/view/diff/align/align.h"
#include "runtime/view/diff/values/floor.h"
#include "runtime/view/diff/values/tolerance.h"
#include "runtime/view/walk/open_calls.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The worst is told where several are true, in this order. */
enum diff_cause {
    DIFF_CAUSE_NONE,
    DIFF_CAUSE_FLOW, /* another way was taken */
    DIFF_CAUSE_KIND, /* a number here, a tensor there; another type */
    DIFF_CAUSE_DTYPE,
    DIFF_CAUSE_SHAPE,
    DIFF_CAUSE_DEVICE,
    DIFF_CAUSE_STRIDES,
    DIFF_CAUSE_VALUES,
    DIFF_CAUSE_GRAD,     /* requires_grad alone */
    DIFF_CAUSE_CODE,     /* a line that only one program has: no divergence by itself */
    DIFF_CAUSE_GRADIENT, /* a gradient, or that one run alone has it */
    DIFF_CAUSE_STEP,     /* what a step of an optimizer or the like read or wrote */
};

enum diff_class {
    DIFF_EQUAL,
    DIFF_INHERITED, /* something that it was made from differs */
    DIFF_OWN,       /* all that it was made from is equal, as far as it was recorded */
    DIFF_ONLY,      /* the event has no counterpart */
    DIFF_STEP,      /* it differs, and all that is made of it is equal: no difference */
};

/* How far apart two arrays are, of their whole values, or what statistics tell. */
struct diff_distance {
    bool is_exact; /* of whole values; else the rest but max_abs is not known */
    double max_abs, max_rel;
    double cosine;
    uint64_t max_ulp;
    uint64_t count, beyond_count; /* elements; those beyond tolerance */
    uint64_t worst;               /* logical index of the worst element */
    double worst_values[2];
    double floor; /* how far apart equal runs come there; 0: not known */
};

/* Of one event, or of a way that was taken. Told as it is met, with two exceptions: events that
 * only one trace has are told one by one (DIFF_ONLY), and the control flow that led there is
 * told behind the last of them, with the first one of each side; where a line's whole values are in
 * the traces, it is told when they are read. Valid during the call of `found` only. */
struct diff_finding {
    const struct log_item *items[2];  /* A, B: LOG_EVENT, LOG_CALL or LOG_END; NULL on a
                                        side that has none */
    const struct open_call *calls[2]; /* may be NULL */
    enum diff_cause cause;
    enum diff_class class_;
    bool is_first;         /* the first divergence */
    bool has_equal_inputs; /* all that went in is equal in both */
    bool is_item;     /* ONLY: an item that the other's value lacks, and that counts */
    bool is_absorbed; /* OWN: all that was made from it is equal */
    bool is_unsure;   /* INHERITED: by an edge that is not certain; else it is own */
    bool is_update;   /* of a gradient or a step: its items are LOG_GRADIENT */
    struct slice
        name; /* `q`, `self.scale`, `out[0]`, `return`; of control flow `if` … */
    struct slice words;  /* what is different, without place or name */
    struct slice detail; /* of an update: lines that are printed below its values */
    const struct diff_distance *distance; /* NULL where there is none */
    /* The nearest place in B and in A: where an item is missing, where the other program went
     * on. Line 0: there is none. */
    uint32_t modules[2];
    uint32_t lines[2];
    /* Of the first one alone: all that is told of it, the line `FILE:LINE: first divergence:
     * NAME: …` first, each line ended by a newline. */
    struct slice text;
};

struct diff_options {
    struct diff_tolerance tolerance; /* its renames are those of sites, too */
    const struct slice
        *ignored; /* borrowed: globs of names whose values do not count */
    size_t ignored_count;
    bool has_color;         /* in the first one's text */
    source_strip strip;     /* as in source_lines.h; may be NULL */
    const char *noise_path; /* A with noise, for the floor; NULL: there is none */
    bool is_noise_given;    /* whatever recording it is of */
    /* Told of each event that is not equal, and of control flow; false ends the work with an
     * error. May be NULL. */
    bool (*found)(void *context, const struct diff_finding *finding);
    void *context;
    /* Told before anything is found, and while the readers live: `sources` too. May be NULL. */
    void (*begun)(void *context,
                  struct log_reader *const *readers,
                  struct source_lines *const *sources);
    /* Told at the end, of each line that is the other's counterpart and reads differently, A's
     * and B's. May be NULL. */
    void (*changed)(void *context,
                    const uint32_t modules[2],
                    const uint32_t lines[2],
                    const struct slice sources[2]);
    /* Told when both were read, while the readers live. May be NULL. */
    void (*ended)(void *context, struct log_reader *const *readers);
    /* Told now and then, where not NULL; false ends the work with an error. */
    bool (*progress)(void *progress_context, uint64_t events);
    void *progress_context;
};

/* Gradients, parameters and settings of both runs. */
struct diff_update_counts {
    uint64_t equal, own, inherited;
    uint64_t close; /* of the equal ones: within tolerance */
    uint64_t steps; /* differ, and what follows from them is equal */
};

/* The first value that is within tolerance and not equal to the bit, and what rounding alone comes to there. */
struct diff_rounding {
    bool is_there;
    char place[256]; /* `model.py:12: h` */
    enum dtype dtype;
    double
        units; /* how far apart the two are: in units of the dtype, by their usual size */
    double expected; /* the root of the longest sum's length */
    uint64_t length; /* the largest dimension of the call's values so far */
};

/* Rounding alone comes to no more than so many times of what is estimated: to 0.73 times in other kernels,
 * orders of a sum and norms by hand, where an eps of 3e-6 for 1e-6 comes to 3 times. */
#define DIFF_ROUNDING_MULTIPLE 2

struct diff_result {
    uint64_t event_counts[2];
    uint64_t equal, own, inherited; /* pairs of events */
    uint64_t unsure; /* of the inherited ones: by edges that are not certain */
    uint64_t
        layout; /* of the equal ones: in another memory layout, which changed nothing */
    uint64_t
        clocks;     /* numbers that were read from a clock, and what was made of them */
    uint64_t steps; /* values that differ or are in one run alone, and come back */
    uint64_t own_flow; /* of `flow`: where what decided about it was equal */
    uint64_t close;    /* of the equal ones: within tolerance */
    uint64_t flow;     /* where another way was taken */
    uint64_t only[2];  /* in A alone, in B alone: by control flow */
    uint64_t code[2];  /* of lines, functions or files that the other does not have */
    uint64_t left_out[2]; /* of sites of which one recording leaves out visits */
    uint64_t beyond[2];   /* after the other one's recording was cut */
    uint64_t before[2];   /* before the first ones that a ring keeps */
    struct diff_likeness likeness;
    /* Next to nothing of the one is in the other: their events were not compared then. */
    bool is_other_program;
    bool is_mostly_other; /* most that ran in either is of lines that the other lacks */
    bool has_updates;     /* of both runs: gradients and steps were compared */
    bool is_update_alone; /* one run alone has gradients or steps */
    struct diff_update_counts updates;
    bool is_unfinished[2];   /* killed, or still recording */
    uint64_t lost_counts[2]; /* events that a full disk or a limit kept out */
    uint64_t dropped[2];     /* events that a ring has dropped */
    size_t damage_counts[2];
    char damage[2][ERROR_TEXT_SIZE]; /* the first of each; "" */
    struct diff_floor floor;         /* without what it owns */
    struct diff_rounding rounding;   /* for want of a measured floor */
    bool is_grafted;        /* B's values were replaced by those of a reference */
    bool is_graft_of_other; /* which is not A */
};

/* Whether the traces have nothing that could be compared: a ring or a cut has taken it. */
bool diff_result_is_empty(const struct diff_result *result);
/* Whether no difference was found: lines that only one program has are none. */
bool diff_result_is_equal(const struct diff_result *result);

/* Fails where a trace cannot be read or memory runs out; that they differ is no failure. */
bool diff_traces(const char *path_a,
                 const char *path_b,
                 const struct diff_options *options,
                 struct diff_result *result,
                 struct error *error);

#endif
