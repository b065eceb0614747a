/* The contents of a run, and their partners in the other run. A content is a set of values that
 * hold the same numbers in any order, shape or layout, one made from the other. */
#ifndef MONITORCH_VIEW_DIFF_MATCH_CONTENTS_H
#define MONITORCH_VIEW_DIFF_MATCH_CONTENTS_H

#include "runtime/view/diff/match/run.h"
#include "runtime/view/diff/values/tolerance.h"

struct match_content {
    uint32_t first;    /* its first value */
    uint32_t last;     /* its newest value */
    uint32_t partner;  /* the content of the other run, or MATCH_NONE */
    uint32_t partners; /* of A: number of contents of B that have it as partner */
    /* of B's weight without a partner: A's weight that has its rows, or the first of A's weights
     * that are its rows; MATCH_NONE: none */
    uint32_t whole;
    int64_t row; /* the first of these rows; -1: not known */
    uint32_t
        group;    /* of A: the first of the weights that together are one weight of B */
    bool is_weak; /* few numbers, constants or integers, which may be equal by chance */
    bool is_back; /* has no partner, but something made from it has */
    bool is_weight;
    uint32_t keys;    /* number of keys of the newest state dict that hold it */
    uint32_t holders; /* of A: number of such keys of B */
};

struct match_contents {
    struct match_run *run;       /* borrowed */
    struct match_content *items; /* owned; in the order of their first values */
    size_t count;
    uint32_t *next; /* owned: by value, the next one of its content, or MATCH_NONE */
    struct match_links in, out; /* of contents */
};

bool match_contents_make(struct match_contents *contents, struct match_run *run);
void match_contents_release(struct match_contents *contents);

/* A row of the user's map file: B's value of that name is A's. A weight is identified by its
 * key, another value by its name and line. */
struct match_pin {
    struct slice names[2]; /* A, B; borrowed */
    uint32_t lines[2];     /* 0: any */
    bool is_part;          /* a piece of a packed weight */
    bool is_found;         /* both values were recorded */
    bool differs;          /* and their figures differ */
    uint32_t contents[2];  /* the contents found; MATCH_NONE: none */
};

struct match_pins {
    struct match_pin *items; /* borrowed; the search writes its results to them */
    size_t count;
};

/* Finds the partners of B's contents (1) in A (0), and sets is_back in both. `pins` may be NULL.
 * Returns false if out of memory. */
bool match_contents_pair(struct match_contents contents[2],
                         const struct diff_tolerance *tolerance,
                         const struct match_pins *pins);

/* Whether the two have the same figures, in any order of their elements. */
bool match_figures_agree(const struct match_value *a,
                         const struct match_value *b,
                         const struct diff_tolerance *tolerance);

/* The order of the elements of one value relative to another with the same figures. */
enum match_order {
    MATCH_ORDER_UNKNOWN, /* both the shapes and the hashes differ */
    MATCH_ORDER_SAME,
    MATCH_ORDER_TRANSPOSED, /* of a matrix */
    MATCH_ORDER_OTHER,
};
enum match_order match_order_of(const struct match_run *run_a,
                                const struct match_value *a,
                                const struct match_run *run_b,
                                const struct match_value *b,
                                const struct diff_tolerance *tolerance);

#endif
