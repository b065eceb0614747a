/* The meanings of a run's values: each content as a formula over the values that both runs have,
 * read from the statements that made it. A statement that is not understood has an unknown formula.
 *
 *     struct match_meanings meanings;
 *
 *     if (match_meanings_init(&meanings, match, 1)) {
 *         formula = match_meaning_of(&meanings, content); …
 *     }
 *     match_meanings_release(&meanings); */
#ifndef MONITORCH_VIEW_DIFF_MATCH_MEANING_H
#define MONITORCH_VIEW_DIFF_MATCH_MEANING_H

#include "runtime/view/diff/match/match.h"
#include "runtime/view/diff/match/meaning/formula.h"
#include "runtime/view/why/reason/expression.h"

#include <assert.h>

#define MATCH_MEANING_NUMBERS 256

struct match_meanings {
    struct match *match; /* borrowed */
    unsigned side;
    struct arena arena;
    struct formula *formulas; /* owned: by content */
    unsigned char *states;    /* owned: by content */
    struct formula *parts; /* owned: all formulas found on the way, those of A only */
    size_t part_count, part_capacity;
    uint32_t depth;
    uint32_t
        replaced; /* the content whose formula is `replacement`; MATCH_NONE: none */
    struct formula replacement;
    uint32_t exchanged; /* a second one, whose formula is `other`; MATCH_NONE: none */
    struct formula other;
    double number,
        other_number; /* `number` in a statement is read as `other_number`; NaN: none */
    struct match_meaning_step {
        uint64_t argument; /* hash of its formula */
        struct formula result;
    } * steps; /* owned: results of functions, with the hash of their argument */
    size_t step_count, step_capacity;
    unsigned
        blindness; /* weight of what the last statement does that no formula shows */
    double numbers
        [MATCH_MEANING_NUMBERS]; /* the numbers in the statements that were read */
    size_t number_count;
    struct number_map
        imports;     /* hash of a name in a module -> 1: it is imported; 0: it is not */
    bool has_failed; /* memory ran out */
};

bool match_meanings_init(struct match_meanings *meanings,
                         struct match *match,
                         unsigned side);
void match_meanings_release(struct match_meanings *meanings);

/* The formula of the content. A content that both runs have is a base of its own. */
struct formula match_meaning_of(struct match_meanings *meanings, uint32_t content);
/* Forgets the formulas of the contents from `first` up to `last`. They are computed again when
 * needed. */
void match_meanings_forget(struct match_meanings *meanings,
                           uint32_t first,
                           uint32_t last);
/* The formula of the content's own statement, even if both runs have the content. */
struct formula match_meaning_of_statement(struct match_meanings *meanings,
                                          uint32_t content);
/* The weight of what the value's statement does and its formula does not show: it changes
 * layout, cuts, joins, picks, or reduces along an axis. 0: nothing. */
unsigned match_meaning_blindness(struct match_meanings *meanings, uint32_t value);
/* The axis along which the value's statement normalises or sums. NaN: none, or not known. */
double match_meaning_axis(struct match_meanings *meanings, uint32_t value);
/* The axis of a matrix along which a statement sums. */
struct match_axis {
    int axis;       /* 0 or 1; -1: not known */
    uint32_t value; /* the value of the matrix that the statement reads */
    bool is_module; /* a module of torch reads it */
};

/* The axis of the weight along which the content's statement sums. */
struct match_axis match_meaning_weight_axis(struct match_meanings *meanings,
                                            uint32_t content,
                                            uint32_t weight);
/* Whether the value is a mask to be added: zeros, and numbers so low that nothing is left of a
 * masked place. */
bool match_is_mask(const struct match_value *value);
/* The base of a content of A. */
struct formula match_meaning_of_common(struct match_meanings *meanings, uint32_t of_a);

enum match_meaning_kind {
    MEANING_NONE,
    MEANING_LAYOUT,
    MEANING_JOINED,
    MEANING_PRODUCT,
    MEANING_AFFINE,
    MEANING_PICKED,
    MEANING_PICKED_BY,
    MEANING_SUM,
    MEANING_DIFFERENCE,
    MEANING_QUOTIENT,
    MEANING_NEGATIVE,
    MEANING_ADDED_PRODUCT,
    MEANING_POWER,
    MEANING_SQUARE,
    MEANING_ROOT,
    MEANING_INVERSE_ROOT,
    MEANING_INVERSE,
    MEANING_SILU,
    MEANING_GELU,
    MEANING_FUNCTION,
    MEANING_EXPONENTIAL,
    MEANING_POLAR,
    MEANING_RANGE,
    MEANING_ONE,
    MEANING_ZERO,
    MEANING_FULL,
    MEANING_VARIANCE,
    MEANING_LAYER_NORM,
    MEANING_RMS_NORM,
    MEANING_BATCH_NORM,
    MEANING_GROUP_NORM,
    MEANING_MASKED,
    MEANING_ATTENTION,
    MEANING_SEQUENTIAL,
    MEANING_TOTAL,
    MEANING_ADAPTIVE,
    MEANING_ADDED_AT,
};

#define MATCH_ARGUMENTS_MAX 8

/* The operands of a call: the tensor whose method it is, and its arguments. */
struct match_operands {
    struct formula items[MATCH_ARGUMENTS_MAX];
    uint32_t expressions[MATCH_ARGUMENTS_MAX]; /* EXPRESSION_NONE: a module's weight */
    size_t count;
};

/* ---- a statement whose formula is read: its names (meaning.c) and its operations
 * (operations.c) ---- */

#define MATCH_MAKER_NONE UINT32_MAX

struct reading {
    struct match_meanings *meanings;
    struct match_run *run; /* borrowed */
    uint32_t value;        /* the value that the statement made */
    uint32_t
        maker; /* the statement is of this function of the value's module: a constructor;
                       MATCH_MAKER_NONE: it is of the value's own call */
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

/* Records the formula in meanings->parts, for A only, and returns it. */
struct formula match_reading_note(struct match_meanings *meanings,
                                  struct formula formula);
/* Records the result of a function of `argument` in meanings->steps, for A only, and returns it. */
struct formula match_reading_note_step(struct match_meanings *meanings,
                                       const struct formula *argument,
                                       struct formula result);
/* The formula of the function of that name, applied to one argument. */
struct formula match_reading_apply(struct reading *reading,
                                   struct slice name,
                                   const struct formula *argument);
/* Records the number, and returns it or the number that replaces it: see match_meanings.number. */
double match_reading_number(struct match_meanings *meanings, double value);

/* The input of the statement with that name. MATCH_NONE: none. */
uint32_t match_reading_input(const struct reading *reading, struct slice name);
/* The weight among the inputs whose key ends with the attribute's name and `part`. MATCH_NONE:
 * none. */
uint32_t match_reading_weight(const struct reading *reading,
                              struct slice attribute,
                              const char *part);
/* The item of the container whose key ends like the subscript. MATCH_NONE: none. */
uint32_t match_reading_item(const struct reading *reading,
                            struct slice name,
                            struct slice subscript);
/* The value that a recorded function or module of that name returned to the statement.
 * MATCH_NONE: none. */
uint32_t match_reading_returned(const struct reading *reading, struct slice word);
/* The only value that a recorded function returned to the statement, if the call is the only one
 * of an unknown function in it. MATCH_NONE: none. */
uint32_t match_reading_only_return(const struct reading *reading,
                                   const struct expression *call);
/* The line that assigns the attribute in the value's class, and its function. 0: none. */
uint32_t match_reading_setting(const struct reading *reading,
                               struct slice name,
                               uint32_t *maker);
/* Parses the statement, and marks functions of imported modules as such. EXPRESSION_NONE: it
 * cannot be parsed. */
uint32_t match_reading_parse(struct reading *reading, struct slice statement);
/* Whether the attribute is a view of its object, as `T` or `data`. */
bool match_reading_is_view(struct slice attribute);
struct formula match_reading_name(struct reading *reading, struct slice name);
struct formula match_reading_value(struct match_meanings *meanings, uint32_t value);
/* The share of the value's elements that are not zero. */
double match_reading_share(const struct match_value *value);
/* The formula of what a mask with that share adds. */
struct formula match_reading_mask(struct arena *arena, double share);

/* ---- modules.c ---- */

/* The formula of the torch module `self.name`, applied to the first operand. */
struct formula match_reading_module(struct reading *reading,
                                    struct slice name,
                                    const struct match_operands *operands);
/* The formula of the modules that `self.name[…]` selects from a Sequential, applied to the first
 * operand. */
struct formula match_reading_module_part(struct reading *reading,
                                         const struct expression *index,
                                         const struct match_operands *operands);

/* The kind of the module, by the line of its class that made `self.name`. MEANING_NONE: not
 * known. */
enum match_meaning_kind match_reading_module_kind(struct reading *reading,
                                                  struct slice name);

/* ---- axes.c ---- */

struct match_axis match_reading_axis(struct reading *reading, uint32_t weight);

/* ---- operations.c ---- */

/* The kind of the function, method or module of that name. MEANING_NONE: not understood. */
enum match_meaning_kind match_reading_kind(struct slice name);
/* The formula of the function, method or module of that name. `first` is the expression of the
 * first argument. */
struct formula match_reading_compute(struct reading *reading,
                                     struct slice name,
                                     const struct match_operands *operands,
                                     uint32_t first);
/* Returns false if there is no room. */
bool match_operands_add(struct match_operands *operands,
                        struct formula formula,
                        uint32_t expression);

struct formula match_reading_expression(struct reading *reading, uint32_t number);
/* The argument with that key, or without a key at that place. EXPRESSION_NONE: none. */
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
