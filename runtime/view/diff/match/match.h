/* The matcher of two runs that need not share names. It matches them by their values, whatever
 * the order, shape or layout of the elements: it finds which value of B (1) is which of A (0), and
 * where B leaves A.
 *
 *     struct match match;
 *
 *     if (match_runs(&match, paths, &options, &error)) { … }
 *     match_release(&match);
 *
 * docs/internals/diff.md has the rules. */
#ifndef MONITORCH_VIEW_DIFF_MATCH_MATCH_H
#define MONITORCH_VIEW_DIFF_MATCH_MATCH_H

#include "runtime/view/diff/match/contents.h"
#include "runtime/view/diff/match/run.h"

/* ---- packs.c: a weight of one run that concatenates several weights of the other: q, k and v
 * in one matrix, the gates of an LSTM, a stack of experts ---- */

#define MATCH_PACK_PIECES_MAX 64

struct match_pack {
    unsigned side;  /* of the packed weight; the pieces belong to the other run */
    uint32_t whole; /* its content */
    uint32_t pieces
        [MATCH_PACK_PIECES_MAX]; /* contents, in their order in the whole if it is known */
    uint32_t count;
    enum match_order order; /* of each piece: SAME, TRANSPOSED, or not known */
    bool is_ordered;        /* the samples show the place of each piece */
    bool is_permuted;       /* the order differs from that of the pieces' container */
};

struct match_packs {
    struct match_pack *items; /* owned */
    size_t count, capacity;
};

/* Finds the packs among the weights without a partner, by figures that do not depend on order:
 * count, bounds, sum and sum of squares. Returns false if out of memory. */
bool match_packs_find(struct match_packs *packs, struct match_contents contents[2]);
void match_packs_release(struct match_packs *packs);

/* Checks the rows of the map file that name a piece of a packed weight: sets `differs` unless
 * there is such a pack. */
void match_packs_check(const struct match_packs *packs,
                       const struct match_contents contents[2],
                       const struct match_pins *pins);

/* The pack of B's packed weight. NULL: the content is none. */
const struct match_pack *match_packs_of(const struct match_packs *packs,
                                        uint32_t whole);

/* The pack of B that holds A's weight. NULL: none. */
const struct match_pack *match_packs_with(const struct match_packs *packs,
                                          uint32_t piece);

#define MATCH_SUSPECTS_MAX 64
#define MATCH_OPEN_MAX     64

/* The kinds of evidence for a suspect, one bit each. */
enum match_reason {
    MATCH_REASON_STEP = 1,      /* the line made a value that A does not have */
    MATCH_REASON_NUMBER = 2,    /* it has a number that A's lines do not have */
    MATCH_REASON_OPERATION = 4, /* it has an operation that A's lines do not have */
    MATCH_REASON_MISSING = 8, /* A's line has an operation that B's lines do not have */
    MATCH_REASON_INPUT = 16,  /* it reads a value that A's line does not read */
    MATCH_REASON_INPUT_MISSING = 32, /* A's line reads a value that it does not read */
    MATCH_REASON_ORDER =
        64, /* the elements are in another order than A's from this line on */
    MATCH_REASON_UNKNOWN = 128, /* a weight that A does not have */
    MATCH_REASON_TWICE =
        256, /* two weights of B are the same weight of A, and B lacks another */
    MATCH_REASON_SETTING = 512, /* the line that made the module which the line uses */
    MATCH_REASON_RESULT = 1024, /* A has another result, made from the same values */
    MATCH_REASON_FORM =
        2048, /* its formula is nowhere in A, but the formulas of its inputs are */
    MATCH_REASON_FORM_MISSING = 4096, /* a step of A after it would give A's formula */
    MATCH_REASON_PROVED = 8192,       /* its formula is in A */
    MATCH_REASON_LAYOUT = 16384,      /* its formula is A's, but its numbers differ */
    MATCH_REASON_TURNED = 32768, /* a weight is transposed, and most weights are not */
};

struct match_suspect {
    bool is_weight;
    uint32_t value; /* of B */
    uint32_t
        other; /* of A: what it should be or was compared with; MATCH_NONE: not known */
    uint32_t module, line; /* of B: the line to read; line 0: not known */
    unsigned reasons;      /* enum match_reason */
    bool
        is_chosen; /* INPUT: A's value was available where the line passed another one */
    double score;
    double number; /* NUMBER; else NaN */
};

enum match_verdict {
    MATCH_EQUAL,   /* B's last value is in A, and no value that both have differs */
    MATCH_LEAVES,  /* B leaves A */
    MATCH_OPEN,    /* B's last value is not in A; where B leaves A is not known */
    MATCH_NOTHING, /* nothing of B is in A */
    MATCH_EMPTY,   /* one of them has no tensors */
};

struct match_leave {
    uint32_t content;          /* of B: the first that A has with other numbers */
    uint32_t counterpart;      /* of A; MATCH_NONE: not known */
    uint32_t values[2];        /* of A (or MATCH_NONE) and of B: their first values */
    uint32_t a_module, a_line; /* A's line; 0: not known */
    struct match_suspect suspects[MATCH_SUSPECTS_MAX]; /* the likeliest first */
    size_t suspect_count;
    bool is_certain;    /* of the first one */
    uint32_t inputs[4]; /* contents of B: inputs of the region that A has too */
    size_t input_count;
};

/* Results that the other run does not have. */
struct match_open {
    uint32_t values[MATCH_OPEN_MAX]; /* the first ones */
    size_t count;
};

struct match {
    struct match_run runs[2];
    struct match_contents contents[2];
    struct match_packs packs;
    enum match_verdict verdict;
    struct match_leave leave; /* LEAVES */
    uint32_t last;            /* value of B: its last result */
    struct match_open open[2];
    uint32_t parted[2]; /* results that differ, made from the same; MATCH_NONE: none */
    uint64_t common, own, lost; /* contents of B: in A; leading back to A; neither */
    const struct diff_tolerance *tolerance; /* borrowed */
    const struct match_pins *pins;          /* borrowed; may be NULL */
};

struct match_options {
    const struct diff_tolerance *tolerance; /* borrowed */
    source_strip strip;
    const struct match_pins *pins; /* borrowed; may be NULL */
};

bool match_runs(struct match *match,
                const char *const paths[2],
                const struct match_options *options,
                struct error *error);
void match_release(struct match *match);

/* ---- results.c ---- */

/* Finds the results that only one run has. Requires the partners. Returns false if out of
 * memory. */
bool match_judge_results(struct match *match);

/* ---- suspects.c ---- */

/* The region: the contents between those that both runs have and the first that differs. A flag
 * for each content of A and of B. */
struct match_region {
    bool *is_in[2];   /* owned */
    uint32_t ends[2]; /* contents; that of A may be MATCH_NONE */
};

/* Ranks the lines and weights of the region, and fills the suspects of match->leave. Returns
 * false if out of memory. */
bool match_rank_suspects(struct match *match, const struct match_region *region);
/* Finds the suspects where only a result differs: weights with another order, and the line of
 * B's value. */
void match_rank_result(struct match *match, uint32_t a, uint32_t b);

/* ---- map.c: the weight and the value of A for each of B ---- */

struct match_map_row {
    uint32_t a, b; /* values */
    enum match_order order;
    bool is_weight;
    /* the pack of which the row is about one piece; NULL: none */
    const struct match_pack *pack;
    uint32_t part; /* number of that piece */
};

struct match_map {
    struct match_map_row
        *rows; /* owned; weights first, then lines of B in the order of their values */
    size_t count, capacity;
};

/* Makes a row for each weight of B's newest state dict (of a packed one, for each piece), and
 * for each name of each line of B that A has. Returns false if out of memory. The map must be
 * released in any case. */
bool match_map_make(struct match_map *map, const struct match *match);
void match_map_release(struct match_map *map);

#endif
