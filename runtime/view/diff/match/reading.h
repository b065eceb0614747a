/* A statement while its formula is read: what its names stand for (meaning.c), and what its operations
 * compute (operations.c). Private to these two. */
#ifndef MONITORCH_VIEW_DIFF_MATCH_READING_H
#define MONITORCH_VIEW_DIFF_MATCH_READING_H

#include "runtime/view/diff/match/meaning.h"
#include "runtime/view/why/reason/expression.h"

#include <assert.h>

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
