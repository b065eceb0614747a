/* Differences between two traces of a program: a verdict on each step that
 * view/diff/align/align.h gives.
 *
 *     if (diff_traces(path_a, path_b, &options, &result, &error)) { … }
 *
 * Each difference is passed to `options.found` when it is found. docs/reference/diff.md has the
 * rules. */
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

/* If several are true of a pair, the first one after NONE in this order is reported. */
enum diff_cause {
    DIFF_CAUSE_NONE,
    DIFF_CAUSE_FLOW, /* the runs took different branches */
    DIFF_CAUSE_KIND, /* a number in one run, a tensor in the other; another type */
    DIFF_CAUSE_DTYPE,
    DIFF_CAUSE_SHAPE,
    DIFF_CAUSE_DEVICE,
    DIFF_CAUSE_STRIDES,
    DIFF_CAUSE_VALUES,
    DIFF_CAUSE_GRAD, /* only requires_grad differs */
    DIFF_CAUSE_CODE, /* a line that only one program has: not a divergence by itself */
    DIFF_CAUSE_GRADIENT, /* a gradient differs, or only one run has it */
    DIFF_CAUSE_STEP, /* a value that an optimizer's step or the like read or wrote */
};

enum diff_class {
    DIFF_EQUAL,
    DIFF_INHERITED, /* an input differs */
    DIFF_OWN,       /* all recorded inputs are equal */
    DIFF_ONLY,      /* the event has no counterpart */
    DIFF_STEP, /* it differs, but all values made from it are equal: no difference */
};

/* The distance of two arrays: of their whole values, or estimated from statistics. */
struct diff_distance {
    bool is_exact; /* of whole values; else only max_abs is known */
    double max_abs, max_rel;
    double cosine;
    uint64_t max_ulp;
    uint64_t count, beyond_count; /* elements; those beyond tolerance */
    uint64_t worst;               /* logical index of the worst element */
    double worst_values[2];
    double floor; /* the distance that equal runs have there; 0: not known */
};

/* A difference of one event or of control flow, passed to `found` in the order of the traces,
 * with two exceptions. Events that only one trace has are reported one by one (DIFF_ONLY), and
 * the control flow that led there is reported after the last of them, with the first one of each
 * side. If the traces have whole values of a line, it is reported after they were read. Valid
 * only during the call of `found`. */
struct diff_finding {
    const struct log_item *items[2];  /* A, B: LOG_EVENT, LOG_CALL or LOG_END; NULL on a
                                        side that has none */
    const struct open_call *calls[2]; /* may be NULL */
    enum diff_cause cause;
    enum diff_class class_;
    bool is_first;         /* it is the first divergence */
    bool has_equal_inputs; /* all inputs are equal in both runs */
    bool is_item;          /* ONLY: a missing item of the other's value, that counts */
    bool is_absorbed;      /* OWN: all values made from it are equal */
    bool is_unsure;        /* INHERITED: by an uncertain edge; it may be own */
    bool is_update;        /* of a gradient or a step: its items are LOG_GRADIENT */
    struct slice
        name; /* `q`, `self.scale`, `out[0]`, `return`; for control flow `if` … */
    struct slice words;  /* the difference, without place or name */
    struct slice detail; /* of an update: lines that are printed below its values */
    const struct diff_distance *distance; /* NULL where there is none */
    /* The nearest place in B and in A: where an item is missing, the place at which the other
     * program continued. Line 0: none. */
    uint32_t modules[2];
    uint32_t lines[2];
    /* Only for the first divergence: its whole report. It starts with `FILE:LINE: first
     * divergence: NAME: …`; each line ends with a newline. */
    struct slice text;
};

struct diff_options {
    struct diff_tolerance tolerance; /* its renames apply to sites, too */
    const struct slice
        *ignored; /* borrowed: globs of names whose values do not count */
    size_t ignored_count;
    bool has_color;         /* colours in the text of the first divergence */
    source_strip strip;     /* as in source_lines.h; may be NULL */
    const char *noise_path; /* trace of A with noise, for the floor; NULL: none */
    bool is_noise_given;    /* use it even if it is of another recording */
    /* Called for each event that is not equal, and for control flow. To stop with an error,
     * return false. May be NULL. */
    bool (*found)(void *context, const struct diff_finding *finding);
    void *context;
    /* Called before the comparison starts. The readers and `sources` remain valid during it. May
     * be NULL. */
    void (*begun)(void *context,
                  struct log_reader *const *readers,
                  struct source_lines *const *sources);
    /* Called at the end, for each line whose counterpart has another text, with the lines of A
     * and B. May be NULL. */
    void (*changed)(void *context,
                    const uint32_t modules[2],
                    const uint32_t lines[2],
                    const struct slice sources[2]);
    /* Called at the end, while the readers are still open. May be NULL. */
    void (*ended)(void *context, struct log_reader *const *readers);
    /* Called now and then. To stop with an error, return false. May be NULL. */
    bool (*progress)(void *progress_context, uint64_t events);
    void *progress_context;
};

/* Numbers of compared gradients, parameters and settings. */
struct diff_update_counts {
    uint64_t equal, own, inherited;
    uint64_t close; /* of the equal ones: within tolerance */
    uint64_t steps; /* differ, but all values that follow are equal */
};

/* The first value that is within tolerance but not bitwise equal, and the estimate of the
 * rounding error there. */
struct diff_rounding {
    bool is_there;
    char place[256]; /* `model.py:12: h` */
    enum dtype dtype;
    double units;    /* their distance, in units of the dtype at their usual size */
    double expected; /* the estimate: square root of the longest sum's length */
    uint64_t length; /* largest dimension of the call's values so far */
};

/* Rounding alone stays below this multiple of the estimate. Other kernels, other orders of a sum
 * and norms written by hand reach 0.73 times; an eps of 3e-6 instead of 1e-6 reaches 3 times. */
#define DIFF_ROUNDING_MULTIPLE 2

struct diff_result {
    uint64_t event_counts[2];
    uint64_t equal, own, inherited; /* pairs of events */
    uint64_t unsure;                /* of the inherited ones: by uncertain edges */
    uint64_t layout;   /* of the equal ones: memory layout differs, without effect */
    uint64_t clocks;   /* numbers read from a clock, and values made from them */
    uint64_t steps;    /* values that differ or that one run lacks, without effect */
    uint64_t own_flow; /* of `flow`: its condition's inputs were equal */
    uint64_t close;    /* of the equal ones: within tolerance */
    uint64_t flow;     /* places where the runs took different branches */
    uint64_t only[2];  /* only in A, only in B: because of control flow */
    uint64_t code[2];  /* of lines, functions or files that the other program lacks */
    uint64_t left_out[2]; /* of sites where one recording leaves out visits */
    uint64_t beyond[2];   /* after the end of the other recording, which was cut */
    uint64_t before[2];   /* before the first events that a ring kept */
    struct diff_likeness likeness;
    /* Nearly nothing of one program is in the other: their events were not compared. */
    bool is_other_program;
    bool
        is_mostly_other; /* most events of each run are of lines that the other lacks */
    bool has_updates;    /* both runs have some: gradients and steps were compared */
    bool is_update_alone; /* only one run has gradients or steps */
    struct diff_update_counts updates;
    bool is_unfinished[2];   /* killed, or still recording */
    uint64_t lost_counts[2]; /* events lost to a full disk or a limit */
    uint64_t dropped[2];     /* events that a ring has dropped */
    size_t damage_counts[2];
    char damage[2][ERROR_TEXT_SIZE]; /* first damage of each trace; "" */
    struct diff_floor floor;         /* without its owned memory */
    struct diff_rounding rounding;   /* used if no floor was measured */
    bool is_grafted;        /* B's values were replaced by those of a reference */
    bool is_graft_of_other; /* the reference is another trace than A */
};

/* Whether the traces have no events in common that could be compared, because of a ring or a
 * cut. */
bool diff_result_is_empty(const struct diff_result *result);
/* Whether no difference was found. Lines that only one program has are no difference. */
bool diff_result_is_equal(const struct diff_result *result);

/* Returns false if a trace cannot be read or memory runs out; `error` says why. Returns true
 * also if the traces differ. */
bool diff_traces(const char *path_a,
                 const char *path_b,
                 const struct diff_options *options,
                 struct diff_result *result,
                 struct error *error);

#endif
