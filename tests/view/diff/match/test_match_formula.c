/* Formulas: what is equal however it is written, what is not, and what is a part of what. */
#include "runtime/view/diff/match/meaning/formula.h"
#include "tests/unit/check.h"

#include <math.h>

static struct arena arena;

static struct formula base(uint64_t number)
{
    return formula_base(&arena, number);
}

static struct formula number(double value)
{
    return formula_number(&arena, value);
}

static struct formula plus(struct formula a, struct formula b)
{
    return formula_add(&arena, &a, &b, 1);
}

static struct formula times(struct formula a, struct formula b)
{
    return formula_multiply(&arena, &a, &b);
}

static struct formula power(struct formula a, double exponent)
{
    return formula_power(&arena, &a, exponent);
}

static enum formula_place find(struct formula part, struct formula whole)
{
    return formula_find(&part, &whole);
}

static void test_equal(void)
{
    struct formula h = base(1), s = base(2), t = base(3);
    struct formula factored = plus(times(plus(number(1), s), h), t);
    struct formula expanded = plus(plus(h, times(s, h)), t);

    CHECK(find(factored, expanded) == FORMULA_WHOLE);
    CHECK(formula_hash(&factored) == formula_hash(&expanded));
    CHECK(find(times(h, power(s, 0.5)), times(power(s, 1.5), times(h, power(s, -1)))) ==
          FORMULA_WHOLE);
    CHECK(find(power(plus(h, t), 2),
               plus(plus(power(h, 2), power(t, 2)), times(number(2), times(t, h)))) ==
          FORMULA_WHOLE);
    CHECK(find(power(plus(h, number(1e-6)), -0.5),
               power(plus(number(1e-6), h), -0.5)) == FORMULA_WHOLE);
}

static void test_different(void)
{
    struct formula h = base(1), s = base(2), t = base(3);

    CHECK(find(plus(h, t), plus(h, s)) == FORMULA_NOWHERE);
    CHECK(find(power(plus(h, number(1e-5)), -0.5),
               power(plus(h, number(1e-3)), -0.5)) == FORMULA_NOWHERE);
    CHECK(find(plus(h, t), plus(h, times(number(-1), t))) == FORMULA_NOWHERE);
    CHECK(find(formula_unknown(), h) == FORMULA_NOWHERE);
    CHECK(find(h, formula_unknown()) == FORMULA_NOWHERE);
}

static void test_parts(void)
{
    struct formula x = base(1), w = base(2), b = base(3);
    struct formula whole = plus(times(x, w), b);

    CHECK(find(times(x, w), whole) == FORMULA_INSIDE);
    CHECK(find(x, whole) == FORMULA_INSIDE);
    CHECK(find(b, whole) == FORMULA_INSIDE);
    CHECK(find(times(x, b), whole) == FORMULA_NOWHERE);
    CHECK(find(times(number(2), whole), whole) == FORMULA_SCALED);
    CHECK(find(whole, times(x, whole)) == FORMULA_INSIDE);
}

static void test_numbers(void)
{
    struct formula x = base(1), none = plus(x, times(number(-1), x)), y;

    CHECK(formula_constant(&none) == 0);
    CHECK(none.term_count == 0);
    y = power(number(4), 0.5);
    CHECK(formula_constant(&y) == 2);
    CHECK(isnan(formula_constant(&x)));
    y = power(number(-4), 0.5);
    CHECK(!y.is_known);
    y = number(INFINITY);
    CHECK(!y.is_known);
}

/* What is too long for terms becomes a base of its own, and stays equal. */
static void test_long(void)
{
    struct formula sum = number(0), turned = number(0), a, b;

    for (uint64_t i = 1; i <= 100; i++) {
        sum = plus(sum, base(i));
    }
    CHECK(sum.is_known && sum.term_count <= FORMULA_TERMS_MAX);
    for (uint64_t i = 1; i <= 40; i++) {
        turned = plus(turned, base(i));
    }
    a = times(turned, turned);
    b = times(turned, turned);
    CHECK(a.is_known && find(a, b) == FORMULA_WHOLE);
}

static void test_functions(void)
{
    struct formula x = base(1), y = base(2), both[2] = {x, y}, turned[2] = {y, x};
    struct formula f = formula_function(&arena, SLICE("f"), both, 2);
    struct formula g = formula_function(&arena, SLICE("g"), both, 2);
    struct formula t = formula_function(&arena, SLICE("f"), turned, 2);

    CHECK(find(f, formula_function(&arena, SLICE("f"), both, 2)) == FORMULA_WHOLE);
    CHECK(find(f, g) == FORMULA_NOWHERE);
    CHECK(find(f, t) == FORMULA_NOWHERE);
    both[1] = formula_unknown();
    f = formula_function(&arena, SLICE("f"), both, 2);
    CHECK(!f.is_known);
}

int main(void)
{
    arena_init(&arena);
    test_equal();
    test_different();
    test_parts();
    test_numbers();
    test_long();
    test_functions();
    arena_release(&arena);
    return check_finish();
}
