/* Two runs that need not share a name, matched by their values: what of B (1) is what of A (0), whatever
 * the order, shape or layout of its elements, and where B leaves A.
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

/* ---- packs.c: a weight of one run that is several of the other's, one after the other: q, k and v in
 * one matrix, the gates of an LSTM, a stack of experts ---- */

#define MATCH_PACK_PIECES_MAX 64

struct match_pack {
    unsigned side;  /* of the packed weight; the pieces are the other run's */
    uint32_t whole; /* its content */
    uint32_t pieces
        [MATCH_PACK_PIECES_MAX]; /* contents, as they lie in it if that is known */
    uint32_t count;
    enum match_order order; /* how a piece lies: SAME, TRANSPOSED, or not known */
    bool is_ordered;        /* the samples show where each piece lies */
    bool is_permuted;       /* and that is not the order of their container */
};

struct match_packs {
    struct match_pack *items; /* owned */
    size_t count, capacity;
};

/* Finds them among the weights without a partner, by figures that do not depend on order: count, bounds, sum
 * and sum of squares. false: out of memory. */
bool match_packs_find(struct match_packs *packs, struct match_contents contents[2]);
void match_packs_release(struct match_packs *packs);

/* Rows of the map file that are about a piece of a packed weight: whether there is such a pack. */
void match_packs_check(const struct match_packs *packs,
                       const struct match_contents contents[2],
                       const struct match_pins *pins);

/* The pack of B's packed weight; NULL: it is none. */
const struct match_pack *match_packs_of(const struct match_packs *packs,
                                        uint32_t whole);

/* The pack of B that holds A's weight; NULL: none. */
const struct match_pack *match_packs_with(const struct match_packs *packs,
                                          uint32_t piece);

#define MATCH_SUSPECTS_MAX 64
#define MATCH_OPEN_MAX     64

/* What speaks for a suspect; a bit each. */
enum match_reason {
    MATCH_REASON_STEP = 1,      /* the line made a value that A does not have */
    MATCH_REASON_NUMBER = 2,    /* it has a number that A's lines do not have */
    MATCH_REASON_OPERATION = 4, /* it has an operation that A's lines do not have */
    MATCH_REASON_MISSING = 8, /* A's line has an operation that B's lines do not have */
    MATCH_REASON_INPUT = 16,  /* it reads a value that A's line does not read */
    MATCH_REASON_INPUT_MISSING = 32, /* A's line reads a value that it does not read */
    MATCH_REASON_ORDER =
        64, /* the elements lie in another order than A's from here on */
    MATCH_REASON_UNKNOWN = 128, /* a weight that A does not have */
    MATCH_REASON_TWICE =
        256, /* two weights of B are one of A, and another of A is none */
    MATCH_REASON_SETTING = 512, /* the line that made the module which the line uses */
    MATCH_REASON_RESULT = 1024, /* A has another result made from the same values */
    MATCH_REASON_FORM = 2048,   /* its formula is nowhere in A, and its inputs' are */
    MATCH_REASON_FORM_MISSING = 4096, /* a step of A behind it gives A's formula */
    MATCH_REASON_PROVED = 8192,       /* its formula is in A */
    MATCH_REASON_LAYOUT = 16384,      /* its formula is A's, its numbers are not */
    MATCH_REASON_TURNED = 32768,      /* a weight is transposed, and most are not */
};

struct match_suspect {
    bool is_weight;
    uint32_t value; /* of B */
    uint32_t
        other; /* of A, that it should be or was compared with; MATCH_NONE: not known */
    uint32_t module, line; /* of B: the place to read; line 0: not known */
    unsigned reasons;      /* enum match_reason */
    bool is_chosen; /* INPUT: A's value was at hand where the line passed another one */
    double score;
    double number; /* NUMBER; else NaN */
};

enum match_verdict {
    MATCH_EQUAL,   /* B's last value is in A, and nothing that A has too differs */
    MATCH_LEAVES,  /* B leaves A */
    MATCH_OPEN,    /* B's last value is not in A, and nothing says where they part */
    MATCH_NOTHING, /* nothing of B is in A */
    MATCH_EMPTY,   /* one of them has no tensors */
};

struct match_leave {
    uint32_t content;          /* of B: the first that A has too, and that differs */
    uint32_t counterpart;      /* of A; MATCH_NONE: not known */
    uint32_t values[2];        /* with which they began, of A (or MATCH_NONE) and B */
    uint32_t a_module, a_line; /* A's line; 0: not known */
    struct match_suspect suspects[MATCH_SUSPECTS_MAX]; /* the likeliest first */
    size_t suspect_count;
    bool is_certain;    /* of the first one */
    uint32_t inputs[4]; /* contents of B: inputs of the region that A has */
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
    uint32_t parted[2]; /* values: results made from the same that differ; MATCH_NONE */
    uint64_t common, own, lost;             /* contents of B: in A; coming back; not */
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

/* Finds the results that one run has alone; needs the partners. false: out of memory. */
bool match_judge_results(struct match *match);

/* ---- suspects.c ---- */

/* The contents between what both have and the first that differs: a flag a content, of A and of B. */
struct match_region {
    bool *is_in[2];   /* owned */
    uint32_t ends[2]; /* contents; A's may be MATCH_NONE */
};

/* Ranks the lines and weights of the region; fills the suspects of match->leave. false: out of memory. */
bool match_rank_suspects(struct match *match, const struct match_region *region);
/* The suspects where nothing but a result differs: weights that lie otherwise, and the line of B's value. */
void match_rank_result(struct match *match, uint32_t a, uint32_t b);

/* ---- map.c: which weight and which value of B is which of A ---- */

struct match_map_row {
    uint32_t a, b; /* values */
    enum match_order order;
    bool is_weight;
    /* The weight of one run is several of the other's, and the row says it of one of these. NULL: it does not. */
    const struct match_pack *pack;
    uint32_t part; /* which one of them */
};

struct match_map {
    struct match_map_row *
        rows; /* owned; the weights first, then lines of B in the order of their values */
    size_t count, capacity;
};

/* A row for each weight of B's newest state dict, of a packed one for each piece, and for each name of each line of
 * B that A has. false: out of memory. To be released in any case. */
bool match_map_make(struct match_map *map, const struct match *match);
void match_map_release(struct match_map *map);

#endif
