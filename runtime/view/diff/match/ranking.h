/* What the files of evidence share while lines and weights are ranked. Private to this folder. */
#ifndef MONITORCH_VIEW_DIFF_MATCH_RANKING_H
#define MONITORCH_VIEW_DIFF_MATCH_RANKING_H

#include "runtime/base/buffer.h"
#include "runtime/view/diff/match/match.h"
#include "runtime/view/diff/match/words.h"

/* What each evidence counts. */
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
#define SCORE_UNLIKE                                                                   \
    3.5 /* transposed, and the other weights are not; or the other way round */
#define SCORE_OF_INNOCENT                                                              \
    2.0 /* a weight of a line that made values that A has, elsewhere */
#define SCORE_SKIPPED 1.5
#define SCORE_REORDERED                                                                \
    1.25 /* a line that laid an input out in an order that A has nowhere */
#define SCORE_PROVED   5.0 /* formulas name it */
#define SCORE_LAYOUT   2.0
#define SCORE_INNOCENT -2.0 /* the line made values that A has, elsewhere */
/* The first suspect is certain with so much, and so much more than the second. */
#define CERTAIN_LEAST 2.5
#define CERTAIN_MORE  1.5
/* So much has the score where something else than the line's step speaks for it. */
#define CERTAIN_STRONG 3.5

#define INPUTS_MAX 64
#define VALUES_MAX 8

struct ranking {
    struct match *match;
    const struct match_region *region;
    struct match_leave *leave;
    struct match_words words[2];    /* of all lines of the region, A's and B's */
    uint32_t inputs[2][INPUTS_MAX]; /* contents that go into the region */
    size_t input_counts[2];
    struct buffer text; /* owned: a statement */
    struct match_words
        all;            /* the numbers of A: of all its lines, and that were recorded */
    unsigned orders[4]; /* how the weights lie: how many, by enum match_order */
    unsigned pack_orders[4]; /* the same of the pieces of packed weights */
    unsigned
        permutations[2]; /* packed weights: in the order of A's container, or not */
    unsigned line_count;
    bool
        has_unproved; /* a weight of the region is none of A's, or may be in another order */
    bool has_doubt; /* what no line shows may be it: no suspect is certain */
};

/* ---- suspects.c ---- */

uint64_t match_count_of(const struct match_contents *contents, uint32_t content);

/* The suspect of that line or weight, a new one where there is none; NULL: there is no room. */
struct match_suspect *match_add_suspect(struct ranking *ranking,
                                        const struct match_suspect *suspect);
/* The line that made B's value. */
struct match_suspect *match_add_line(struct ranking *ranking, uint32_t value);
/* Counts the reason once. The suspect may be NULL. */
void match_blame(struct match_suspect *suspect, enum match_reason reason, double score);

/* The formulas leave nothing else: counts whatever else speaks for it. The suspect may be NULL. */
void match_prove(struct match_suspect *suspect, enum match_reason reason);

/* Whether the content of B is in the region, and no weight. */
bool match_is_suspect(const struct ranking *ranking, uint32_t content);
/* Whether the value's site made, elsewhere, a value that A has. */
bool match_is_innocent(const struct ranking *ranking, const struct match_value *value);

/* ---- evidence.c: numbers and operations ---- */

void match_collect_words(struct ranking *ranking);
void match_judge_words(struct ranking *ranking);
/* The only line of the module that has the number as a literal; 0: none, or several. */
uint32_t match_find_literal(struct ranking *ranking, uint32_t module, double number);
/* The line that gave the number to a module which the value's statement calls: that of the constructor, or the only
 * one of its file that has the number; 0: none. */
uint32_t match_find_made_with(struct ranking *ranking,
                              uint32_t value,
                              double number,
                              uint32_t *module);
/* Operations that A's lines have alone; needs the inputs. */
void match_judge_missing(struct ranking *ranking);

/* ---- evidence.c: what the two regions read ---- */

void match_collect_inputs(struct ranking *ranking, unsigned side);
/* Needs the weights that are suspects. */
void match_judge_inputs(struct ranking *ranking);
/* The lines that made the input and gave it its names, but for those that made A's values elsewhere. */
void match_blame_makers(struct ranking *ranking,
                        uint32_t input,
                        enum match_reason reason,
                        double score);

/* Whether the run makes `later` from `content` in one step. */
bool match_is_step(const struct match_contents *contents,
                   uint32_t content,
                   uint32_t later);

/* ---- suspects.c: weights, and how values lie ---- */

/* B's weight, and the weight of A that it is held against, or MATCH_NONE. */
struct match_suspect *
match_add_weight(struct ranking *ranking, uint32_t value, uint32_t other);
/* Whether B's weight lies in relation to A's as most weights do. */
bool match_is_like_others(const struct ranking *ranking, uint32_t value);
/* How the value lies, by those of its content's partner. */
enum match_order match_order_of_value(const struct ranking *ranking, uint32_t value);
/* The newest state dict's item with B's content; MATCH_NONE: none. */
uint32_t match_find_weight(const struct match *match, uint32_t content);
/* The last value of the content that lies as one of A's; MATCH_NONE: none. */
uint32_t match_find_in_order(struct ranking *ranking, uint32_t content);
/* Blames the weight, or the line that laid the value out, if the input of the content lies otherwise than
 * in A. */
bool match_blame_order(struct ranking *ranking, uint32_t content, uint32_t input);

/* ---- proof.c ---- */

/* Needs all other evidence. */
void match_judge_formulas(struct ranking *ranking);

#endif
