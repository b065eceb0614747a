/* The comparison of the formulas of both runs: the formulas (proof.c), what gives a statement A's
 * formula (repair.c), and what no formula shows (layout.c). Private to these. */
#ifndef MONITORCH_VIEW_DIFF_MATCH_PROOF_H
#define MONITORCH_VIEW_DIFF_MATCH_PROOF_H

#include "runtime/view/diff/match/meaning/meaning.h"
#include "runtime/view/diff/match/ranking.h"

/* So many contents of A and of B are read. */
#define PROOF_CONTENTS_MAX 2048

struct proof {
    struct ranking *ranking;
    struct match_meanings meanings[2];
    uint32_t content; /* of B, that is to be explained */
    unsigned tried;
    /* So many of A's first parts and steps are of values that B does not have. */
    size_t lost_parts, lost_steps;
    bool is_hidden;       /* steps that came back are compared too */
    struct formula added; /* MISSING_VALUE: what A adds */
};

/* ---- proof.c ---- */

/* The value that only A has, with as many elements and the same formula; MATCH_NONE: none. */
uint32_t match_proof_equal(struct proof *proof, uint32_t content);
/* Whether B lost it: it is in A neither itself nor by what is made from it. */
bool match_proof_is_open(const struct match_contents *contents, uint32_t i);
/* Where in A the formula is. */
enum formula_place match_proof_find_in_a(const struct proof *proof,
                                         const struct formula *formula);
/* Numbers, ranges: made from no value. */
bool match_proof_is_constant(const struct proof *proof, uint32_t content);

/* ---- blame.c ---- */

void match_proof_blame(struct proof *proof, uint32_t content);

/* ---- repair.c ---- */

/* A step of A that B leaves out behind an input. */
enum missing {
    MISSING_NOTHING,
    MISSING_STEP,  /* a function, a factor, a weight */
    MISSING_VALUE, /* the sum with another value */
};

/* Where in A's first `count` parts the formula is. */
enum formula_place match_proof_find(const struct proof *proof,
                                    const struct formula *formula,
                                    size_t count);
/* Where in A the formula of the content's statement is with `formula` in the place of its input, which may be
 * MATCH_NONE; and whether it is anywhere. */
enum formula_place match_proof_repair(struct proof *proof,
                                      uint32_t content,
                                      uint32_t input,
                                      struct formula formula);
bool match_proof_is_repaired(struct proof *proof,
                             uint32_t content,
                             uint32_t input,
                             struct formula formula);
/* What repairs the content if A makes it of the input first. */
enum missing match_proof_missing(struct proof *proof, uint32_t content, uint32_t input);
/* The first content above proof->content with a step of A missing behind it, which is `of_a`, or MATCH_NONE
 * where A bound it to no name; MATCH_NONE: none. */
uint32_t match_proof_missing_above(struct proof *proof,
                                   uint32_t content,
                                   unsigned depth,
                                   uint32_t *of_a);
/* The value of A that repairs the content in the place of its input; MATCH_NONE: none. */
uint32_t match_proof_other_value(struct proof *proof, uint32_t content, uint32_t input);

/* ---- orientation.c ---- */

enum match_fit { MATCH_FIT_UNKNOWN, MATCH_FIT_RIGHT, MATCH_FIT_WRONG };

void match_proof_clear_weights(struct proof *proof);
bool match_proof_blame_orientation(struct proof *proof, uint32_t content);

/* ---- layout.c ---- */

/* The content's formula is A's, and its numbers are not: they lie otherwise. Blames the line or the weight. */
void match_proof_blame_layout(struct proof *proof, uint32_t content);

#endif
