/* A formula in normal form: a sum of products of powers. Two expressions that compute the same numbers,
 * written in whatever order, factored or expanded, have the same formula: (1 + s) * h + t and
 * h + s * h + t, x / sqrt(v + e) and x * rsqrt(v + e). Layout is left out: a matrix product, a convolution
 * and an elementwise product are all a product of their operands.
 *
 * A base is known by a hash alone: of a value of A, or of a function and its arguments' formulas. */
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

/* Its factors are in the order of their bases, each base once. */
struct formula_term {
    double coefficient;
    uint32_t factor_count;
    struct formula_factor factors[FORMULA_FACTORS_MAX];
};

struct formula {
    bool is_known; /* false: something in it is not understood, or it is too long */
    uint32_t term_count;
    struct formula_term *terms; /* in the arena; none of them alike */
};

struct formula formula_unknown(void);
struct formula formula_number(struct arena *arena, double number);
struct formula formula_base(struct arena *arena, uint64_t base);

/* NULL memory makes the result unknown; the arena has failed then. */
struct formula formula_add(struct arena *arena,
                           const struct formula *a,
                           const struct formula *b,
                           double sign);
struct formula
formula_multiply(struct arena *arena, const struct formula *a, const struct formula *b);
struct formula
formula_power(struct arena *arena, const struct formula *base, double power);
/* A function of the arguments, known by its name. */
struct formula formula_function(struct arena *arena,
                                struct slice name,
                                const struct formula *arguments,
                                size_t count);

/* The number that the formula is; NaN: it is none. */
double formula_constant(const struct formula *formula);
uint64_t formula_hash(const struct formula *formula);

/* How a part is in a whole. */
enum formula_place {
    FORMULA_NOWHERE,
    FORMULA_INSIDE, /* times something it is some of the whole's terms */
    FORMULA_SCALED, /* times a number it is the whole */
    FORMULA_WHOLE,
};
enum formula_place formula_find(const struct formula *part,
                                const struct formula *whole);

#endif
