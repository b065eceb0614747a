/* The comparison of the formulas of both runs: formulas (proof.c), blame (blame.c), repairs that
 * give a statement A's formula (repair.c), the orientation of weights (orientation.c), and
 * layouts, which no formula shows (layout.c). Private to these files. */
#ifndef MONITORCH_VIEW_DIFF_MATCH_PROOF_H
#define MONITORCH_VIEW_DIFF_MATCH_PROOF_H

#include "runtime/view/diff/match/meaning/meaning.h"
#include "runtime/view/diff/match/ranking.h"

/* The maximum number of contents of A and of B that are read. */
#define PROOF_CONTENTS_MAX 2048

struct proof {
    struct ranking *ranking;
    struct match_meanings meanings[2];
    uint32_t content; /* the content of B to explain */
    unsigned tried;
    /* the number of A's first parts and steps that belong to values which B does not have */
    size_t lost_parts, lost_steps;
    bool is_hidden;       /* steps whose results both runs have are compared too */
    struct formula added; /* MISSING_VALUE: what A adds */
};

/* ---- proof.c ---- */

/* The value that only A has with as many elements and the same formula. MATCH_NONE: none. */
uint32_t match_proof_equal(struct proof *proof, uint32_t content);
/* Whether B lost the content: neither it nor anything made from it is in A. */
bool match_proof_is_open(const struct match_contents *contents, uint32_t i);
/* The place of the formula among all of A's formulas. */
enum formula_place match_proof_find_in_a(const struct proof *proof,
                                         const struct formula *formula);
/* Whether the content is a number or a range: made from no value. */
bool match_proof_is_constant(const struct proof *proof, uint32_t content);

/* ---- blame.c ---- */

void match_proof_blame(struct proof *proof, uint32_t content);

/* ---- repair.c ---- */

/* The kind of step of A that B leaves out after an input. */
enum missing {
    MISSING_NOTHING,
    MISSING_STEP,  /* a function, a factor or a weight */
    MISSING_VALUE, /* a sum with another value */
};

/* The place of the formula among the first `count` parts of A. */
enum formula_place match_proof_find(const struct proof *proof,
                                    const struct formula *formula,
                                    size_t count);
/* The place in A of the formula of the content's statement with `formula` in the place of its
 * input. `input` may be MATCH_NONE: nothing is replaced. */
enum formula_place match_proof_repair(struct proof *proof,
                                      uint32_t content,
                                      uint32_t input,
                                      struct formula formula);
bool match_proof_is_repaired(struct proof *proof,
                             uint32_t content,
                             uint32_t input,
                             struct formula formula);
/* The kind of step that A makes of the input first and that repairs the content. */
enum missing match_proof_missing(struct proof *proof, uint32_t content, uint32_t input);
/* The first content above proof->content after which a step of A is missing. MATCH_NONE: none.
 * `of_a` is the result of that step, or MATCH_NONE if A bound it to no name. */
uint32_t match_proof_missing_above(struct proof *proof,
                                   uint32_t content,
                                   unsigned depth,
                                   uint32_t *of_a);
/* The value of A that repairs the content in the place of its input. MATCH_NONE: none. */
uint32_t match_proof_other_value(struct proof *proof, uint32_t content, uint32_t input);

/* ---- orientation.c ---- */

enum match_fit { MATCH_FIT_UNKNOWN, MATCH_FIT_RIGHT, MATCH_FIT_WRONG };

void match_proof_clear_weights(struct proof *proof);
bool match_proof_blame_orientation(struct proof *proof, uint32_t content);

/* ---- layout.c ---- */

/* Blames the line or the weight where the content's formula is A's and its numbers are not:
 * their layout differs. */
void match_proof_blame_layout(struct proof *proof, uint32_t content);

#endif
