/* Formulas in normal form: sums of products of powers. Two expressions that compute the same
 * numbers, written in any order, factored or expanded, have the same formula: (1 + s) * h + t
 * and h + s * h + t, x / sqrt(v + e) and x * rsqrt(v + e). Layout is left out: a matrix product,
 * a convolution and an elementwise product are all products of their operands.
 *
 * A base is identified by a hash alone: of a value of A, or of a function and its arguments'
 * formulas. */
#ifndef MONITORCH_VIEW_DIFF_MATCH_FORMULA_H
#define MONITORCH_VIEW_DIFF_MATCH_FORMULA_H

#include "runtime/base/arena.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORMULA_FACTORS_MAX 10
#define FORMULA_TERMS_MAX   48

struct formula_factor {
    uint64_t base;
    double power;
};

/* The factors are sorted by base, and each base occurs once. */
struct formula_term {
    double coefficient;
    uint32_t factor_count;
    struct formula_factor factors[FORMULA_FACTORS_MAX];
};

struct formula {
    bool is_known; /* false: not understood in full, or too long */
    uint32_t term_count;
    struct formula_term *terms; /* in the arena; no two have the same factors */
};

struct formula formula_unknown(void);
struct formula formula_number(struct arena *arena, double number);
struct formula formula_base(struct arena *arena, uint64_t base);

/* If memory is NULL the result is unknown; the arena has failed then. */
struct formula formula_add(struct arena *arena,
                           const struct formula *a,
                           const struct formula *b,
                           double sign);
struct formula
formula_multiply(struct arena *arena, const struct formula *a, const struct formula *b);
struct formula
formula_power(struct arena *arena, const struct formula *base, double power);
/* A function of the arguments, identified by its name. */
struct formula formula_function(struct arena *arena,
                                struct slice name,
                                const struct formula *arguments,
                                size_t count);

/* The number that the formula equals. NaN: it is no number. */
double formula_constant(const struct formula *formula);
uint64_t formula_hash(const struct formula *formula);

/* The place of a part in a whole. */
enum formula_place {
    FORMULA_NOWHERE,
    FORMULA_INSIDE, /* multiplied by a term it is some terms of the whole */
    FORMULA_SCALED, /* multiplied by a number it is the whole */
    FORMULA_WHOLE,
};
enum formula_place formula_find(const struct formula *part,
                                const struct formula *whole);

#endif
