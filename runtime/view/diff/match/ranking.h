/* The interfaces between the files of evidence, which rank lines and weights. Private to this
 * folder. */
#ifndef MONITORCH_VIEW_DIFF_MATCH_RANKING_H
#define MONITORCH_VIEW_DIFF_MATCH_RANKING_H

#include "runtime/base/buffer.h"
#include "runtime/view/diff/match/match.h"
#include "runtime/view/diff/match/words.h"

/* The score of each kind of evidence. */
#define SCORE_STEP           1.0
#define SCORE_CONSTANT       0.5 /* made from nothing: positions, masks */
#define SCORE_ALONE          1.5 /* no other line is in the region */
#define SCORE_NUMBER         3.0 /* A has another number there */
#define SCORE_NUMBER_MORE    1.0
#define SCORE_NUMBER_FAR     1.5
#define SCORE_OPERATION      2.5 /* A has another operation there */
#define SCORE_OPERATION_MORE 1.0
#define SCORE_MISSING        1.5
#define SCORE_INPUT          2.0
#define SCORE_INPUT_MISSING  1.5
#define SCORE_ORDER          4.0
#define SCORE_ORDER_PERHAPS  0.75
#define SCORE_UNKNOWN        3.5
#define SCORE_TWICE          4.0
#define SCORE_UNLIKE         3.5 /* transposed unlike the other weights */
#define SCORE_OF_INNOCENT    2.0 /* a weight of a line that made values of A elsewhere */
#define SCORE_SKIPPED        1.5
#define SCORE_REORDERED                                                                \
    1.25 /* a line that laid an input out in an order that A does not have */
#define SCORE_PROVED   5.0 /* proven by formulas */
#define SCORE_LAYOUT   2.0
#define SCORE_INNOCENT -2.0 /* the line made values of A elsewhere */
/* The first suspect is certain with at least this score, and at least this much more than the
 * second. */
#define CERTAIN_LEAST 2.5
#define CERTAIN_MORE  1.5
/* The minimum score of a suspect with more evidence than its line's step. */
#define CERTAIN_STRONG 3.5

#define INPUTS_MAX 64
#define VALUES_MAX 8

struct ranking {
    struct match *match;
    const struct match_region *region;
    struct match_leave *leave;
    struct match_words words[2];    /* of all lines of the region, A's and B's */
    uint32_t inputs[2][INPUTS_MAX]; /* contents that the region reads */
    size_t input_counts[2];
    struct buffer text; /* owned: the text of a statement */
    struct match_words
        all;            /* of A: the words of all its lines, and the recorded numbers */
    unsigned orders[4]; /* number of weights by enum match_order */
    unsigned pack_orders[4]; /* the same for the pieces of packed weights */
    unsigned permutations
        [2]; /* number of packed weights in the order of A's container, and in another */
    unsigned line_count;
    bool
        has_unproved; /* a weight of the region is not in A, or its order is not known */
    bool has_doubt;   /* the cause may be in no line: no suspect is certain */
};

/* ---- suspects.c ---- */

uint64_t match_count_of(const struct match_contents *contents, uint32_t content);

/* Returns the suspect of that line or weight, and adds it if it is new. NULL: there is no room. */
struct match_suspect *match_add_suspect(struct ranking *ranking,
                                        const struct match_suspect *suspect);
/* Adds the line that made B's value. */
struct match_suspect *match_add_line(struct ranking *ranking, uint32_t value);
/* Adds the reason and its score, each reason once. The suspect may be NULL. */
void match_blame(struct match_suspect *suspect, enum match_reason reason, double score);

/* Adds the reason and SCORE_PROVED, even if the suspect has the reason already: the formulas
 * leave no other cause. The suspect may be NULL. */
void match_prove(struct match_suspect *suspect, enum match_reason reason);

/* Whether the content of B is in the region and is no weight. */
bool match_is_suspect(const struct ranking *ranking, uint32_t content);
/* Whether the value's site made a value of A elsewhere. */
bool match_is_innocent(const struct ranking *ranking, const struct match_value *value);

/* ---- evidence.c: numbers and operations ---- */

void match_collect_words(struct ranking *ranking);
void match_judge_words(struct ranking *ranking);
/* The only line of the module that has the number as a literal. 0: none or several. */
uint32_t match_find_literal(struct ranking *ranking, uint32_t module, double number);
/* The line that gave the number to a module which the value's statement calls: the line of the
 * constructor, or the only line of its file that has the number. 0: none. */
uint32_t match_find_made_with(struct ranking *ranking,
                              uint32_t value,
                              double number,
                              uint32_t *module);
/* Judges the operations that only A's lines have. Requires the inputs. */
void match_judge_missing(struct ranking *ranking);

/* ---- evidence.c: the inputs of the two regions ---- */

void match_collect_inputs(struct ranking *ranking, unsigned side);
/* Finds the inputs of B's region that replace other inputs of A's. Blames the weight that
 * changed the input, the line that stopped one step before A's, or the lines that read the
 * input. Requires the judged weights. */
void match_judge_inputs(struct ranking *ranking);
/* Blames the lines that made the input and gave it its names, except lines that made values of A
 * elsewhere. */
void match_blame_makers(struct ranking *ranking,
                        uint32_t input,
                        enum match_reason reason,
                        double score);

/* Whether the run makes `later` from `content` in one step. */
bool match_is_step(const struct match_contents *contents,
                   uint32_t content,
                   uint32_t later);

/* ---- suspects.c: weights, and the order of elements ---- */

/* Adds B's weight. `other` is the weight of A that it is compared with, or MATCH_NONE. */
struct match_suspect *
match_add_weight(struct ranking *ranking, uint32_t value, uint32_t other);
/* Whether B's weight has the same orientation relative to A's as most weights have. */
bool match_is_like_others(const struct ranking *ranking, uint32_t value);
/* The order of the value's elements, compared with the values of its content's partner. */
enum match_order match_order_of_value(const struct ranking *ranking, uint32_t value);
/* The newest state dict's item with B's content. MATCH_NONE: none. */
uint32_t match_find_weight(const struct match *match, uint32_t content);
/* The last value of the content whose order is that of a value of A. MATCH_NONE: none. */
uint32_t match_find_in_order(struct ranking *ranking, uint32_t content);
/* Blames the weight, or the line that laid the value out, if the input of the content has
 * another order than in A. Returns whether it did. */
bool match_blame_order(struct ranking *ranking, uint32_t content, uint32_t input);

/* ---- proof.c ---- */

/* Requires all other evidence. */
void match_judge_formulas(struct ranking *ranking);

#endif
