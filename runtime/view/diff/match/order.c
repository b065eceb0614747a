/* The order of the elements of two values, found from their hashes and from the samples of
 * places that both have. */
#include "runtime/view/diff/match/contents.h"

#include "runtime/array/dtype.h"

#include <math.h>

/* The tolerance for elements, as a multiple of the usual one: rounding grows along a program. */
#define ELEMENTS_SLACK 4
/* The minimum number of elements that are compared, unless the sample has fewer. */
#define COMPARED_LEAST 4

/* The axes with more than one element, and the grid of the sample along them. */
struct side {
    const struct match_value *value;
    const char *sample;
    struct sample_grid grid;
    uint32_t axes[ARRAY_DIMENSION_MAX];
    uint64_t steps[ARRAY_DIMENSION_MAX]; /* of the axes in the sample */
    uint32_t count;
};

static void side_init(struct side *side,
                      const struct match_run *run,
                      const struct match_value *value)
{
    uint64_t step = 1;

    side->value = value;
    side->grid = match_run_grid(run, value);
    side->sample = match_run_sample(run, value);
    side->count = 0;
    for (uint32_t i = 0; i < value->shape->dimension_count; i++) {
        if (value->shape->shape[i] != 1 && side->count < ARRAY_DIMENSION_MAX) {
            side->axes[side->count++] = i;
        }
    }
    for (uint32_t i = side->count; side->grid.count > 0 && i-- > 0;) {
        side->steps[i] = step;
        step *= side->grid.counts[side->axes[i]];
    }
}

static double element(const struct side *side, uint64_t index)
{
    enum dtype dtype = side->value->shape->dtype;
    struct dtype_value read =
        dtype_read(dtype, side->sample + index * dtype_size(dtype));

    return dtype_value_real(&read);
}

static bool is_near(double a, double b, double bound)
{
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= bound * (1 + fabs(b));
}

/* The position in the sample, along that axis, of the element with the index. -1: not in the
 * sample. */
static int64_t find_position(const struct side *side, uint32_t axis, int64_t index)
{
    uint32_t dimension = side->axes[axis];

    for (uint32_t i = 0; i < side->grid.counts[dimension]; i++) {
        if (sample_grid_index(&side->grid, dimension, i) == index) {
            return i;
        }
    }
    return -1;
}

/* The place in B's sample of the element at a place of A's sample. -1: not in B's. */
static int64_t
find_place(const struct side *a, const struct side *b, uint64_t place, bool is_turned)
{
    uint64_t found = 0;

    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t other = is_turned ? 1 - i : i;
        uint32_t position =
            (uint32_t)(place / a->steps[i] % a->grid.counts[a->axes[i]]);
        int64_t index = sample_grid_index(&a->grid, a->axes[i], position);
        int64_t there = find_position(b, other, index);

        if (there < 0) {
            return -1;
        }
        found += (uint64_t)there * b->steps[other];
    }
    return (int64_t)found;
}

enum likeness { LIKENESS_UNKNOWN, LIKENESS_DIFFERS, LIKENESS_EQUAL };

static enum likeness
compare(const struct side *a, const struct side *b, bool is_turned, double bound)
{
    uint64_t compared = 0;

    if (a->count != b->count || (is_turned && a->count != 2)) {
        return LIKENESS_UNKNOWN;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t other = b->axes[is_turned ? 1 - i : i];

        if (a->value->shape->shape[a->axes[i]] != b->value->shape->shape[other]) {
            return LIKENESS_UNKNOWN;
        }
    }
    for (uint64_t place = 0; place < a->grid.count; place++) {
        int64_t there = find_place(a, b, place, is_turned);

        if (there >= 0) {
            compared++;
            if (!is_near(element(a, place), element(b, (uint64_t)there), bound)) {
                return LIKENESS_DIFFERS;
            }
        }
    }
    return compared >= COMPARED_LEAST || compared == a->grid.count ? LIKENESS_EQUAL
                                                                   : LIKENESS_UNKNOWN;
}

static double largest(const struct match_value *value)
{
    return fmax(
        fabs(statistics_bound_real(value->shape->dtype, value->statistics->min)),
        fabs(statistics_bound_real(value->shape->dtype, value->statistics->max)));
}

enum match_order match_order_of(const struct match_run *run_a,
                                const struct match_value *a,
                                const struct match_run *run_b,
                                const struct match_value *b,
                                const struct diff_tolerance *tolerance)
{
    struct side sides[2];
    enum likeness same, turned;
    double rtol, atol, bound;

    if (a->has_hash && b->has_hash && a->hash == b->hash) {
        return MATCH_ORDER_SAME;
    }
    side_init(&sides[0], run_a, a);
    side_init(&sides[1], run_b, b);
    if (sides[0].grid.count == 0 || sides[1].grid.count == 0) {
        return MATCH_ORDER_UNKNOWN;
    }
    diff_tolerance_of(tolerance, a->shape->dtype, b->shape->dtype, &rtol, &atol);
    bound = ELEMENTS_SLACK * (atol + rtol * fmax(1e-3, largest(b)));
    same = compare(&sides[0], &sides[1], false, bound);
    if (same == LIKENESS_EQUAL) {
        return MATCH_ORDER_SAME;
    }
    turned = compare(&sides[0], &sides[1], true, bound);
    if (turned == LIKENESS_EQUAL) {
        return MATCH_ORDER_TRANSPOSED;
    }
    return same == LIKENESS_DIFFERS || turned == LIKENESS_DIFFERS ? MATCH_ORDER_OTHER
                                                                  : MATCH_ORDER_UNKNOWN;
}
