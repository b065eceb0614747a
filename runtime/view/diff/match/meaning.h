/* What the values of a run mean: each content as a formula over the values that both runs have, read from
 * the statements that made it. A statement that is not understood has an unknown formula.
 *
 *     struct match_meanings meanings;
 *
 *     if (match_meanings_init(&meanings, match, 1)) {
 *         formula = match_meaning_of(&meanings, content); …
 *     }
 *     match_meanings_release(&meanings); */
#ifndef MONITORCH_VIEW_DIFF_MATCH_MEANING_H
#define MONITORCH_VIEW_DIFF_MATCH_MEANING_H

#include "runtime/view/diff/match/formula.h"
#include "runtime/view/diff/match/match.h"

#define MATCH_MEANING_NUMBERS 256

struct match_meanings {
    struct match *match; /* borrowed */
    unsigned side;
    struct arena arena;
    struct formula *formulas; /* owned: by content */
    unsigned char *states;    /* owned: by content */
    struct formula *parts;    /* owned: each formula that was made on the way */
    size_t part_count, part_capacity;
    uint32_t depth;
    uint32_t replaced; /* this content means `replacement`; MATCH_NONE: none */
    struct formula replacement;
    uint32_t exchanged; /* and this one means `other`; MATCH_NONE: none */
    struct formula other;
    double number,
        other_number; /* statements mean `other_number` where they say `number`; NaN: none */
    struct match_meaning_step {
        uint64_t argument; /* hash of a formula */
        struct formula result;
    } * steps; /* owned: what functions made of formulas */
    size_t step_count, step_capacity;
    unsigned blindness; /* what the last statement does that no formula shows */
    double numbers[MATCH_MEANING_NUMBERS]; /* that statements have used */
    size_t number_count;
    bool has_failed; /* memory ran out */
};

bool match_meanings_init(struct match_meanings *meanings,
                         struct match *match,
                         unsigned side);
void match_meanings_release(struct match_meanings *meanings);

/* Of a content that both runs have it is a base of its own. */
struct formula match_meaning_of(struct match_meanings *meanings, uint32_t content);
/* Forgets the formulas of the contents from `first` up to `last`, so that they are made again. */
void match_meanings_forget(struct match_meanings *meanings,
                           uint32_t first,
                           uint32_t last);
/* What the content's own statement says. */
struct formula match_meaning_of_statement(struct match_meanings *meanings,
                                          uint32_t content);
/* How much the value's statement does that its formula does not show: it lays out, cuts, joins, picks,
 * reduces along an axis. 0: nothing. */
unsigned match_meaning_blindness(struct match_meanings *meanings, uint32_t value);
/* The axis along which the value's statement normalises or adds up; NaN: none, or not known. */
double match_meaning_axis(struct match_meanings *meanings, uint32_t value);
/* Whether the value is a mask to be added: zeros, and numbers so low that nothing is left. */
bool match_is_mask(const struct match_value *value);
/* The base of a content of A. */
struct formula match_meaning_of_common(struct match_meanings *meanings, uint32_t of_a);

#endif
