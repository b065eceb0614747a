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
#include "runtime/view/why/reason/expression.h"

#include <assert.h>

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

/* ---- a statement while its formula is read: what its names stand for (meaning.c), and what its
 * operations compute (operations.c) ---- */

struct reading {
    struct match_meanings *meanings;
    struct match_run *run; /* borrowed */
    uint32_t value;        /* that the statement made */
    struct expressions *expressions;
};

static inline struct match_run *match_reading_run(const struct match_meanings *meanings)
{
    return &meanings->match->runs[meanings->side];
}

static inline struct arena *match_reading_arena(struct reading *reading)
{
    return &reading->meanings->arena;
}

static inline const struct expression *
match_reading_item_of(const struct reading *reading, uint32_t number)
{
    assert(number < reading->expressions->count);
    return &reading->expressions->items[number];
}

/* ---- meaning.c ---- */

/* Keeps the formula among those that were made. */
struct formula match_reading_note(struct match_meanings *meanings,
                                  struct formula formula);
/* Keeps what a function made of a formula. */
struct formula match_reading_note_step(struct match_meanings *meanings,
                                       const struct formula *argument,
                                       struct formula result);
/* The function of that name, of one argument. */
struct formula match_reading_apply(struct reading *reading,
                                   struct slice name,
                                   const struct formula *argument);
/* The number that the statement means where it says `value`. */
double match_reading_number(struct match_meanings *meanings, double value);

/* The input of the statement with that name; MATCH_NONE: none. */
uint32_t match_reading_input(const struct reading *reading, struct slice name);
/* The weight among the inputs whose key ends with the attribute's name and the part. */
uint32_t match_reading_weight(const struct reading *reading,
                              struct slice attribute,
                              const char *part);
/* The item of the container that the subscript's text ends like. */
uint32_t match_reading_item(const struct reading *reading,
                            struct slice name,
                            struct slice subscript);
/* What a recorded function or module of that name gave to the statement; MATCH_NONE: none. */
uint32_t match_reading_returned(const struct reading *reading, struct slice word);
/* The line of the constructor that gives the attribute of the value's class its value; 0: none. */
uint32_t match_reading_setting(const struct reading *reading, struct slice name);
/* Whether the attribute is a view of what it is of. */
bool match_reading_is_view(struct slice attribute);
struct formula match_reading_name(struct reading *reading, struct slice name);
struct formula match_reading_value(struct match_meanings *meanings, uint32_t value);
/* The share of the value's elements that are not zero. */
double match_reading_share(const struct match_value *value);
/* What a mask with that share adds. */
struct formula match_reading_mask(struct arena *arena, double share);

/* ---- operations.c ---- */

struct formula match_reading_expression(struct reading *reading, uint32_t number);
/* The argument with that key, or that comes at that place without one; EXPRESSION_NONE: none. */
uint32_t match_reading_argument(struct reading *reading,
                                uint32_t first,
                                const char *key,
                                size_t place);
double match_reading_number_of(struct reading *reading,
                               uint32_t first,
                               const char *key,
                               size_t place,
                               double otherwise);
bool match_reading_is_operation(struct slice name);

#endif
