/* Formulas in normal form: sums of products of powers. */
#include "runtime/view/diff/match/meaning/formula.h"

#include "runtime/base/hash/hash.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Numbers whose relative difference is less are equal: programs round their constants
 * differently. */
#define NUMBER_BOUND 1e-6

static bool is_near(double a, double b)
{
    return fabs(a - b) <= NUMBER_BOUND * fmax(fabs(a), fabs(b));
}

/* ---- terms ---- */

static bool has_same_factors(const struct formula_term *a, const struct formula_term *b)
{
    if (a->factor_count != b->factor_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->factor_count; i++) {
        if (a->factors[i].base != b->factors[i].base ||
            !is_near(a->factors[i].power, b->factors[i].power)) {
            return false;
        }
    }
    return true;
}

/* Multiplies the term by a power of a base. Returns false if there is no room. */
static bool term_multiply(struct formula_term *term,
                          const struct formula_factor *factor)
{
    uint32_t at = 0;

    while (at < term->factor_count && term->factors[at].base < factor->base) {
        at++;
    }
    if (at < term->factor_count && term->factors[at].base == factor->base) {
        term->factors[at].power += factor->power;
        if (fabs(term->factors[at].power) < NUMBER_BOUND) {
            term->factor_count--;
            memmove(&term->factors[at], &term->factors[at + 1],
                    (term->factor_count - at) * sizeof *term->factors);
        }
        return true;
    }
    if (term->factor_count == FORMULA_FACTORS_MAX) {
        return false;
    }
    memmove(&term->factors[at + 1], &term->factors[at],
            (term->factor_count - at) * sizeof *term->factors);
    term->factors[at] = *factor;
    term->factor_count++;
    return true;
}

static bool terms_multiply(struct formula_term *product, const struct formula_term *by)
{
    product->coefficient *= by->coefficient;
    for (uint32_t i = 0; i < by->factor_count; i++) {
        if (!term_multiply(product, &by->factors[i])) {
            return false;
        }
    }
    return true;
}

/* Adds the term to the sum. Returns false if there is no room. */
static bool add_term(struct formula *sum, const struct formula_term *term, double sign)
{
    for (uint32_t i = 0; i < sum->term_count; i++) {
        if (has_same_factors(&sum->terms[i], term)) {
            double before = sum->terms[i].coefficient;
            double after = before + sign * term->coefficient;

            sum->terms[i].coefficient = after;
            if (fabs(after) <= NUMBER_BOUND * fabs(before)) {
                sum->terms[i] = sum->terms[--sum->term_count];
            }
            return true;
        }
    }
    if (sum->term_count == FORMULA_TERMS_MAX) {
        return false;
    }
    sum->terms[sum->term_count] = *term;
    sum->terms[sum->term_count++].coefficient = sign * term->coefficient;
    return true;
}

/* ---- construction ---- */

struct formula formula_unknown(void)
{
    return (struct formula){.is_known = false};
}

/* A formula under construction, which is copied to the arena when it is complete. */
struct draft {
    struct formula formula;
    struct formula_term terms[FORMULA_TERMS_MAX];
};

static void draft_begin(struct draft *draft)
{
    draft->formula = (struct formula){.is_known = true, .terms = draft->terms};
}

static struct formula draft_keep(struct draft *draft, struct arena *arena)
{
    struct formula kept = draft->formula;

    if (!kept.is_known) {
        return formula_unknown();
    }
    kept.terms = arena_allocate(arena, kept.term_count + 1, sizeof *kept.terms);
    if (kept.terms == NULL) {
        return formula_unknown();
    }
    memcpy(kept.terms, draft->terms, kept.term_count * sizeof *kept.terms);
    return kept;
}

struct formula formula_number(struct arena *arena, double number)
{
    struct draft draft;

    draft_begin(&draft);
    if (number != 0) {
        draft.terms[0] = (struct formula_term){.coefficient = number};
        draft.formula.term_count = 1;
    }
    draft.formula.is_known = isfinite(number);
    return draft_keep(&draft, arena);
}

struct formula formula_base(struct arena *arena, uint64_t base)
{
    struct draft draft;

    draft_begin(&draft);
    draft.terms[0] = (struct formula_term){
        .coefficient = 1, .factor_count = 1, .factors = {{base, 1}}};
    draft.formula.term_count = 1;
    return draft_keep(&draft, arena);
}

/* Replaces a formula that is too long by one base. */
static struct formula shorten(struct arena *arena, const struct formula *formula)
{
    return formula->is_known && formula->term_count > 1
               ? formula_base(arena, formula_hash(formula))
               : *formula;
}

struct formula formula_add(struct arena *arena,
                           const struct formula *a,
                           const struct formula *b,
                           double sign)
{
    struct draft draft;

    draft_begin(&draft);
    draft.formula.is_known = a->is_known && b->is_known;
    for (uint32_t i = 0; draft.formula.is_known && i < a->term_count; i++) {
        draft.formula.is_known = add_term(&draft.formula, &a->terms[i], 1);
    }
    for (uint32_t i = 0; draft.formula.is_known && i < b->term_count; i++) {
        draft.formula.is_known = add_term(&draft.formula, &b->terms[i], sign);
    }
    if (!draft.formula.is_known && a->is_known && b->is_known &&
        a->term_count + b->term_count > 2) {
        struct formula left = shorten(arena, a), right = shorten(arena, b);

        return formula_add(arena, &left, &right, sign);
    }
    return draft_keep(&draft, arena);
}

struct formula
formula_multiply(struct arena *arena, const struct formula *a, const struct formula *b)
{
    struct draft draft;

    draft_begin(&draft);
    draft.formula.is_known = a->is_known && b->is_known;
    for (uint32_t i = 0; draft.formula.is_known && i < a->term_count; i++) {
        for (uint32_t k = 0; draft.formula.is_known && k < b->term_count; k++) {
            struct formula_term product = a->terms[i];

            draft.formula.is_known = terms_multiply(&product, &b->terms[k]) &&
                                     add_term(&draft.formula, &product, 1);
        }
    }
    if (!draft.formula.is_known && a->is_known && b->is_known &&
        (a->term_count > 1 || b->term_count > 1)) {
        struct formula left = shorten(arena, a), right = shorten(arena, b);

        return formula_multiply(arena, &left, &right);
    }
    return draft_keep(&draft, arena);
}

/* The power of a product: the product of its factors' powers. */
static struct formula
power_of_term(struct arena *arena, const struct formula_term *term, double power)
{
    struct draft draft;

    draft_begin(&draft);
    draft.terms[0] = *term;
    draft.terms[0].coefficient = pow(term->coefficient, power);
    for (uint32_t i = 0; i < term->factor_count; i++) {
        draft.terms[0].factors[i].power *= power;
    }
    draft.formula.term_count = 1;
    draft.formula.is_known = isfinite(draft.terms[0].coefficient);
    return draft_keep(&draft, arena);
}

struct formula
formula_power(struct arena *arena, const struct formula *base, double power)
{
    struct formula whole;

    if (!base->is_known || !isfinite(power)) {
        return formula_unknown();
    }
    if (power == 1) {
        return *base;
    }
    if (power == 0 || base->term_count == 0) {
        return formula_number(arena, power == 0 ? 1 : 0);
    }
    if (base->term_count == 1) {
        return power_of_term(arena, &base->terms[0], power);
    }
    if (power == 2) {
        return formula_multiply(arena, base, base);
    }
    whole = formula_base(arena, formula_hash(base));
    return whole.is_known ? power_of_term(arena, &whole.terms[0], power) : whole;
}

struct formula formula_function(struct arena *arena,
                                struct slice name,
                                const struct formula *arguments,
                                size_t count)
{
    struct hash_stream stream;

    hash_stream_init(&stream);
    hash_stream_add(&stream, name);
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = formula_hash(&arguments[i]);

        if (!arguments[i].is_known) {
            return formula_unknown();
        }
        hash_stream_add(&stream, (struct slice){(const char *)&hash, sizeof hash});
    }
    return formula_base(arena, hash_stream_finish(&stream));
}

/* ---- reading ---- */

double formula_constant(const struct formula *formula)
{
    if (!formula->is_known || formula->term_count > 1) {
        return NAN;
    }
    if (formula->term_count == 0) {
        return 0;
    }
    return formula->terms[0].factor_count == 0 ? formula->terms[0].coefficient : NAN;
}

static uint64_t mix(uint64_t hash)
{
    hash ^= hash >> 31;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* The hash of a number. Close numbers have the same hash, except where rounding separates them. */
static uint64_t hash_of_number(double number)
{
    int exponent;
    double fraction = frexp(number, &exponent);

    return mix((uint64_t)(int64_t)llround(fraction * 1e5) * 4096 +
               (uint64_t)(exponent + 2048));
}

uint64_t formula_hash(const struct formula *formula)
{
    uint64_t sum = formula->term_count;

    for (uint32_t i = 0; i < formula->term_count; i++) {
        const struct formula_term *term = &formula->terms[i];
        uint64_t product = hash_of_number(term->coefficient);

        for (uint32_t k = 0; k < term->factor_count; k++) {
            product +=
                mix(term->factors[k].base ^ hash_of_number(term->factors[k].power));
        }
        sum += mix(product);
    }
    return mix(sum);
}

static const struct formula_term *find_term(const struct formula *formula,
                                            const struct formula_term *term)
{
    for (uint32_t i = 0; i < formula->term_count; i++) {
        if (has_same_factors(&formula->terms[i], term)) {
            return &formula->terms[i];
        }
    }
    return NULL;
}

/* Whether all terms of `part`, times `quotient`, are terms of `whole`. */
static bool is_product_inside(const struct formula *part,
                              const struct formula *whole,
                              const struct formula_term *quotient)
{
    for (uint32_t i = 0; i < part->term_count; i++) {
        struct formula_term product = part->terms[i];
        const struct formula_term *found;

        if (!terms_multiply(&product, quotient)) {
            return false;
        }
        found = find_term(whole, &product);
        if (found == NULL || !is_near(found->coefficient, product.coefficient)) {
            return false;
        }
    }
    return true;
}

/* Computes `whole` / `part`. Returns false if the quotient would have a factor that only `part`
 * has, or too many factors. */
static bool divide(const struct formula_term *part,
                   const struct formula_term *whole,
                   struct formula_term *quotient)
{
    *quotient = *whole;
    quotient->coefficient = whole->coefficient / part->coefficient;
    for (uint32_t i = 0; i < part->factor_count; i++) {
        struct formula_factor inverse = {part->factors[i].base,
                                         -part->factors[i].power};

        if (!term_multiply(quotient, &inverse)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < part->factor_count; i++) {
        bool is_in_whole = false;

        for (uint32_t k = 0; k < whole->factor_count; k++) {
            is_in_whole |= whole->factors[k].base == part->factors[i].base;
        }
        if (!is_in_whole) {
            return false;
        }
    }
    return true;
}

enum formula_place formula_find(const struct formula *part, const struct formula *whole)
{
    enum formula_place found = FORMULA_NOWHERE;

    if (!part->is_known || !whole->is_known || part->term_count == 0) {
        return FORMULA_NOWHERE;
    }
    for (uint32_t i = 0; i < whole->term_count; i++) {
        struct formula_term quotient;
        enum formula_place place = FORMULA_INSIDE;

        if (!divide(&part->terms[0], &whole->terms[i], &quotient) ||
            !is_product_inside(part, whole, &quotient)) {
            continue;
        }
        if (quotient.factor_count == 0 && part->term_count == whole->term_count) {
            place = is_near(quotient.coefficient, 1) ? FORMULA_WHOLE : FORMULA_SCALED;
        }
        found = place > found ? place : found;
    }
    return found;
}
