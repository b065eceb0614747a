/* The results of both runs: tensors and numbers from which nothing was made. Contents do not
 * judge few numbers and integers, because these may be equal by chance; a result such as a loss
 * or an index must be judged. A result that only one run has is no difference by itself. If each
 * run has such a result, made from the same values, the results differ. */
#include "runtime/base/memory.h"
#include "runtime/view/diff/match/match.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* The maximum number of common values that are kept of those that a result is made from. */
#define ROOTS_MAX 16
/* The maximum number of values that are visited in the search for them. */
#define RESULT_WALK_MAX 1024
/* The maximum number of values with the same figures that are compared. */
#define TRIED_MAX 16
/* The tolerance as a multiple of the usual one: rounding grows along a program. */
#define SLACK 4

/* The nearest common values that a value is made from, as contents of A. */
struct roots {
    uint32_t items[ROOTS_MAX];
    size_t count;
};

struct results {
    struct match *match;
    uint32_t *orders[2]; /* owned: the values by count and mean; NULL: not sorted yet */
    size_t order_counts[2];
    bool has_failed; /* memory ran out */
    uint32_t
        *stamps[2]; /* owned: by value, the number of the walk that visited it last */
    uint32_t stamp;
    uint32_t *stack; /* owned */
};

/* ---- figures ---- */

static uint64_t result_count(const struct match_value *value)
{
    return value->shape == NULL ? 1 : value->statistics->count;
}

static double result_mean(const struct match_value *value)
{
    return value->shape == NULL ? value->number : value->statistics->mean;
}

static enum dtype dtype_of(const struct match_value *value)
{
    if (value->shape != NULL) {
        return value->shape->dtype;
    }
    return value->is_integer ? DTYPE_INT64 : DTYPE_FLOAT32; /* of an item of a tensor */
}

static bool is_scalar_near(const struct results *results,
                           const struct match_value *a,
                           const struct match_value *b)
{
    double x = result_mean(a), y = result_mean(b), rtol, atol;

    diff_tolerance_of(results->match->tolerance, dtype_of(a), dtype_of(b), &rtol,
                      &atol);
    return diff_is_within(x, y, SLACK * rtol, SLACK * atol, fabs(y));
}

static bool is_result(const struct match_run *run, uint32_t i)
{
    assert(i < run->value_count);

    const struct match_value *value = &run->values[i];

    return !value->is_weight && !value->is_argument && result_count(value) > 0 &&
           run->out.first[i] == run->out.first[i + 1] &&
           run->in.first[i] < run->in.first[i + 1];
}

/* ---- sources of a value ---- */

static uint32_t common_content(const struct match *match, unsigned side, uint32_t value)
{
    assert(value < match->runs[side].value_count);

    uint32_t content = match->runs[side].values[value].content;
    const struct match_content *item;

    if (content == MATCH_NONE) {
        return MATCH_NONE;
    }
    item = &match->contents[side].items[content];
    if (item->partner == MATCH_NONE || item->is_weak) {
        return MATCH_NONE;
    }
    return side == 0 ? content : item->partner;
}

static void add_root(struct roots *roots, uint32_t content)
{
    for (size_t i = 0; i < roots->count; i++) {
        if (roots->items[i] == content) {
            return;
        }
    }
    if (roots->count < ROOTS_MAX) {
        roots->items[roots->count++] = content;
    }
}

static void mark_back(struct match *match, unsigned side, uint32_t value)
{
    assert(value < match->runs[side].value_count);

    uint32_t content = match->runs[side].values[value].content;

    if (content != MATCH_NONE &&
        match->contents[side].items[content].partner == MATCH_NONE) {
        match->contents[side].items[content].is_back = true;
    }
}

/* Finds the nearest values above that both runs have. With `is_back`, marks the values between
 * as proven by the result. */
static void find_roots(struct results *results,
                       unsigned side,
                       uint32_t start,
                       bool is_back,
                       struct roots *roots)
{
    const struct match_run *run = &results->match->runs[side];
    uint32_t *stamps = results->stamps[side];
    size_t depth = 0, walked = 0;

    roots->count = 0;
    results->stamp++;
    results->stack[depth++] = start;
    stamps[start] = results->stamp;
    while (depth > 0 && walked++ < RESULT_WALK_MAX) {
        uint32_t value = results->stack[--depth];
        uint32_t content = common_content(results->match, side, value);

        if (content != MATCH_NONE) {
            add_root(roots, content);
            continue;
        }
        if (is_back) {
            mark_back(results->match, side, value);
        }
        for (uint32_t k = run->in.first[value]; k < run->in.first[value + 1]; k++) {
            uint32_t source = run->in.items[k];

            if (stamps[source] != results->stamp) {
                stamps[source] = results->stamp;
                results->stack[depth++] = source;
            }
        }
    }
}

static bool have_common_root(const struct roots *a, const struct roots *b)
{
    for (size_t i = 0; i < a->count; i++) {
        for (size_t k = 0; k < b->count; k++) {
            if (a->items[i] == b->items[k]) {
                return true;
            }
        }
    }
    return false;
}

/* ---- the counterpart of a result ---- */

static int compare_keys(const struct match_value *a, const struct match_value *b)
{
    double x = result_mean(a), y = result_mean(b);

    if (result_count(a) != result_count(b)) {
        return result_count(a) < result_count(b) ? -1 : 1;
    }
    if (isnan(x) || isnan(y)) {
        return (int)isnan(x) - (int)isnan(y);
    }
    return x < y ? -1 : x > y;
}

static int compare_values(const void *left, const void *right, void *context)
{
    const struct match_run *run = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = compare_keys(&run->values[a], &run->values[b]);

    return order != 0 ? order : a < b ? -1 : a > b;
}

/* The first place whose value is not before that count and mean. */
static size_t
find_place(const struct results *results, unsigned side, uint64_t count, double mean)
{
    const struct match_run *run = &results->match->runs[side];
    size_t first = 0, end = results->order_counts[side];

    while (first < end) {
        size_t middle = first + (end - first) / 2;
        const struct match_value *value = &run->values[results->orders[side][middle]];

        bool is_number = !isnan(result_mean(value));

        if (result_count(value) < count ||
            (result_count(value) == count && is_number &&
             (isnan(mean) || result_mean(value) < mean))) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first;
}

/* Whether the two values hold the same numbers in the same order, as far as samples show. */
static bool is_equal_result(const struct results *results, const uint32_t values[2])
{
    const struct match_run *runs = results->match->runs;
    const struct match_value *a = &runs[0].values[values[0]];
    const struct match_value *b = &runs[1].values[values[1]];

    if (a->shape == NULL || b->shape == NULL) {
        return is_scalar_near(results, a, b);
    }
    return match_figures_agree(a, b, results->match->tolerance) &&
           match_order_of(&runs[0], a, &runs[1], b, results->match->tolerance) !=
               MATCH_ORDER_OTHER;
}

static bool is_same(const struct match_value *a, const struct match_value *b)
{
    if (a->shape == NULL || b->shape == NULL) {
        return a->shape == b->shape && a->number == b->number;
    }
    return a->has_hash && b->has_hash && a->hash == b->hash;
}

/* Sorts the side's values before their first search. Returns false if out of memory. */
static bool sort_values(struct results *results, unsigned side)
{
    struct match_run *run = &results->match->runs[side];
    uint32_t *order = results->orders[side];

    if (order != NULL) {
        return true;
    }
    order = memory_allocate(run->value_count, sizeof *order);
    if (order == NULL) {
        results->has_failed = true;
        return false;
    }
    for (uint32_t i = 0; i < run->value_count; i++) {
        if (result_count(&run->values[i]) > 0) {
            order[results->order_counts[side]++] = i;
        }
    }
    if (results->order_counts[side] > 1) {
        qsort_r(order, results->order_counts[side], sizeof *order, compare_values, run);
    }
    results->orders[side] = order;
    return true;
}

/* The value of the content's partner that has exactly the result's elements. MATCH_NONE: none. */
static uint32_t
find_partner(const struct results *results, unsigned side, uint32_t number)
{
    const struct match *match = results->match;
    const struct match_contents *contents = &match->contents[1 - side];
    uint32_t common = common_content(match, side, number), i;
    unsigned tried = 0;

    if (common == MATCH_NONE) {
        return MATCH_NONE;
    }
    i = contents->items[side == 0 ? match->contents[0].items[common].partner : common]
            .first;
    while (i != MATCH_NONE && tried++ < TRIED_MAX &&
           !is_same(&contents->run->values[i], &match->runs[side].values[number])) {
        i = contents->next[i];
    }
    return tried > TRIED_MAX ? MATCH_NONE : i;
}

/* The first value of the other side that has exactly the result's elements and was made from the
 * same values. MATCH_NONE: none. */
static uint32_t find_same(struct results *results,
                          unsigned side,
                          const struct match_value *value,
                          const struct roots *roots)
{
    const struct match_run *other = &results->match->runs[1 - side];
    double mean = result_mean(value);
    size_t place = find_place(results, 1 - side, result_count(value), mean);
    unsigned tried = 0;

    for (; place < results->order_counts[1 - side] && tried < TRIED_MAX; place++) {
        uint32_t found = results->orders[1 - side][place];
        struct roots of_found;

        if (result_mean(&other->values[found]) != mean) {
            break;
        }
        if (is_same(&other->values[found], value)) {
            find_roots(results, 1 - side, found, false, &of_found);
            if (have_common_root(roots, &of_found)) {
                return found;
            }
            tried++;
        }
    }
    return MATCH_NONE;
}

/* The maximum distance between the means of equal results. */
static double find_reach(const struct match_value *value, double mean)
{
    double reach = isinf(mean) ? 0 : 1e-3 + 1e-3 * fabs(mean);

    return value->shape != NULL && isfinite(mean)
               ? reach + 1e-3 * diff_usual_size(value->statistics)
               : reach;
}

/* The value of the other side that equals the result. MATCH_NONE: none. */
static uint32_t find_equal(struct results *results,
                           unsigned side,
                           uint32_t number,
                           const struct roots *roots)
{
    assert(number < results->match->runs[side].value_count);

    const struct match_run *other = &results->match->runs[1 - side];
    const struct match_value *value = &results->match->runs[side].values[number];
    double mean = result_mean(value), reach = find_reach(value, mean);
    uint32_t same = find_partner(results, side, number);
    unsigned tried = 0;
    size_t place;

    if (same != MATCH_NONE || !sort_values(results, 1 - side)) {
        return same;
    }
    same = find_same(results, side, value, roots);
    if (same != MATCH_NONE) {
        return same;
    }
    place = find_place(results, 1 - side, result_count(value), mean - reach);
    for (; place < results->order_counts[1 - side]; place++) {
        uint32_t found = results->orders[1 - side][place];
        uint32_t pair[2] = {side == 0 ? number : found, side == 0 ? found : number};
        struct roots of_found;

        if (result_count(&other->values[found]) != result_count(value) ||
            result_mean(&other->values[found]) > mean + reach) {
            break;
        }
        if (is_equal_result(results, pair)) {
            find_roots(results, 1 - side, found, false, &of_found);
            if (have_common_root(roots, &of_found) || ++tried == TRIED_MAX) {
                return found;
            }
        }
    }
    return MATCH_NONE;
}

/* ---- the results of one side ---- */

/* Whether an equal result is a proof. Whole numbers may be equal by chance; fractions are not. */
static bool is_proof(const struct match_value *value)
{
    double mean = result_mean(value);

    return (value->shape != NULL ? diff_is_inexact(value->shape->dtype)
                                 : !value->is_integer) &&
           isfinite(mean) && mean != floor(mean);
}

/* The first value that held the result, before it was bound to other names. */
static uint32_t first_name(const struct match_run *run, uint32_t value)
{
    bool is_passed_on = true;

    while (is_passed_on) {
        is_passed_on = false;
        for (uint32_t k = run->in.first[value];
             !is_passed_on && k < run->in.first[value + 1]; k++) {
            uint32_t source = run->in.items[k];

            if (source < value && !run->values[source].is_argument &&
                is_same(&run->values[source], &run->values[value])) {
                value = source;
                is_passed_on = true;
            }
        }
    }
    return value;
}

static void add_open(struct match_open *open, uint32_t value)
{
    for (size_t i = 0; i < open->count && i < MATCH_OPEN_MAX; i++) {
        if (open->values[i] == value) {
            return;
        }
    }
    if (open->count < MATCH_OPEN_MAX) {
        open->values[open->count] = value;
    }
    open->count++;
}

static void judge_result(struct results *results, unsigned side, uint32_t number)
{
    struct match *match = results->match;
    struct roots roots;
    uint32_t found;

    assert(number < match->runs[side].value_count);
    find_roots(results, side, number, false, &roots);
    if (roots.count == 0) {
        return;
    }
    found = find_equal(results, side, number, &roots);
    if (found == MATCH_NONE) {
        add_open(&match->open[side], first_name(&match->runs[side], number));
    } else if (is_proof(&match->runs[side].values[number])) {
        find_roots(results, side, number, true, &roots);
        find_roots(results, 1 - side, found, true, &roots);
    }
}

/* ---- results that differ ---- */

/* The result of A that corresponds to B's result: made from the same values, preferably with as
 * many numbers. MATCH_NONE: none. */
static uint32_t find_other(struct results *results, uint32_t b)
{
    const struct match *match = results->match;
    const struct match_open *open = &match->open[0];
    uint32_t best = MATCH_NONE;
    struct roots of_a, of_b;

    assert(b < match->runs[1].value_count);
    find_roots(results, 1, b, false, &of_b);
    for (size_t i = 0; i < open->count && i < MATCH_OPEN_MAX; i++) {
        uint32_t a = open->values[i];

        find_roots(results, 0, a, false, &of_a);
        if (!have_common_root(&of_a, &of_b)) {
            continue;
        }
        if (result_count(&match->runs[0].values[a]) ==
            result_count(&match->runs[1].values[b])) {
            return a;
        }
        best = best == MATCH_NONE ? a : best;
    }
    return best;
}

static void find_parted(struct results *results)
{
    struct match *match = results->match;
    const struct match_open *open = &match->open[1];

    for (size_t i = 0; i < open->count && i < MATCH_OPEN_MAX; i++) {
        uint32_t a = find_other(results, open->values[i]);

        if (a != MATCH_NONE &&
            (match->parted[1] == MATCH_NONE || open->values[i] < match->parted[1])) {
            match->parted[0] = a;
            match->parted[1] = open->values[i];
        }
    }
}

/* ---- the whole ---- */

static bool prepare(struct results *results)
{
    struct match *match = results->match;
    size_t most = 0;

    for (unsigned side = 0; side < 2; side++) {
        size_t count = match->runs[side].value_count;

        most = count > most ? count : most;
        results->stamps[side] = memory_allocate_zeroed(count, sizeof(uint32_t));
        if (results->stamps[side] == NULL) {
            return false;
        }
    }
    results->stack = memory_allocate(most + 1, sizeof *results->stack);
    return results->stack != NULL;
}

/* Finds the results that only one run has, and the values that a common result proves. Requires
 * the partners. Returns false if out of memory. */
bool match_judge_results(struct match *match)
{
    struct results results = {.match = match};
    bool is_done = prepare(&results);

    for (unsigned side = 0; is_done && side < 2; side++) {
        for (uint32_t i = 0; i < match->runs[side].value_count; i++) {
            if (is_result(&match->runs[side], i)) {
                judge_result(&results, side, i);
            }
        }
    }
    match->parted[0] = MATCH_NONE;
    match->parted[1] = MATCH_NONE;
    if (is_done) {
        find_parted(&results);
    }
    for (unsigned side = 0; side < 2; side++) {
        memory_free(results.orders[side]);
        memory_free(results.stamps[side]);
    }
    memory_free(results.stack);
    return is_done && !results.has_failed;
}
