/* Two runs matched by their values: where B leaves A, and whether their results agree. */
#include "runtime/view/diff/match/match.h"

#include "runtime/base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Where B leaves A: the first value of B that A has under other numbers. A value is lost if it is not in
 * A and nothing that is made from it is; its counterpart in A is lost too, has as many elements, and is
 * made from the same values of both. */

/* So many values that both have are noted of what a value is made from. */
#define FRONTIER_MAX 64
/* So many contents are walked for them. */
#define WALK_MAX 4096
/* So many lost values of B, and of A for each, are compared. */
#define LOST_MAX  512
#define OTHER_MAX 512
/* The part of what two values are made from that is the same in both, at least. */
#define LIKENESS_LEAST 0.3
/* What speaks besides for two values being one: as many infinities, as many zeros, the same signs. */
#define LIKENESS_FIGURE 0.1

/* The nearest contents of A that a content is made from. */
struct frontier {
    uint32_t items[FRONTIER_MAX];
    size_t count;
    uint32_t weights[FRONTIER_MAX]; /* the same of weights */
    size_t weight_count;
};

struct search {
    struct match *match;
    uint32_t *stamps[2]; /* owned: by content, the walk that was there last */
    uint32_t stamp;
    uint32_t *stack; /* owned */
    uint32_t *lost;  /* owned: of A */
    size_t lost_count;
    struct frontier *frontiers; /* owned: of these, as far as they were found */
    bool has_frontier[OTHER_MAX];
};

static bool is_lost(const struct match_contents *contents, uint32_t i)
{
    const struct match_content *content = &contents->items[i];

    return content->partner == MATCH_NONE && !content->is_back && !content->is_weak &&
           !content->is_weight && contents->in.first[i] < contents->in.first[i + 1];
}

static void add_once(uint32_t *items, size_t *count, uint32_t content)
{
    for (size_t i = 0; i < *count; i++) {
        if (items[i] == content) {
            return;
        }
    }
    if (*count < FRONTIER_MAX) {
        items[(*count)++] = content;
    }
}

static void add_to_frontier(struct frontier *frontier, uint32_t content, bool is_weight)
{
    if (is_weight) {
        add_once(frontier->weights, &frontier->weight_count, content);
    } else {
        add_once(frontier->items, &frontier->count, content);
    }
}

/* What `start` is made from, as contents of A. */
static void find_frontier(struct search *search,
                          unsigned side,
                          uint32_t start,
                          struct frontier *frontier)
{
    const struct match_contents *contents = &search->match->contents[side];
    size_t depth = 0, walked = 0;

    frontier->count = 0;
    frontier->weight_count = 0;
    search->stamp++;
    search->stack[depth++] = start;
    search->stamps[side][start] = search->stamp;
    while (depth > 0 && walked++ < WALK_MAX) {
        uint32_t content = search->stack[--depth];

        for (uint32_t i = contents->in.first[content];
             i < contents->in.first[content + 1]; i++) {
            uint32_t source = contents->in.items[i];
            uint32_t partner = contents->items[source].partner;

            if (search->stamps[side][source] == search->stamp) {
                continue;
            }
            search->stamps[side][source] = search->stamp;
            if (partner != MATCH_NONE) {
                add_to_frontier(frontier, side == 0 ? source : partner,
                                contents->items[source].is_weight);
            } else if (!contents->items[source].is_weight) {
                search->stack[depth++] = source;
            }
        }
    }
}

static double compare_frontiers(const struct frontier *a, const struct frontier *b)
{
    size_t both = 0;

    for (size_t i = 0; i < a->count; i++) {
        for (size_t k = 0; k < b->count; k++) {
            both += a->items[i] == b->items[k];
        }
    }
    return both == 0 ? 0 : (double)both / (double)(a->count + b->count - both);
}

static uint64_t count_of(const struct match_contents *contents, uint32_t content)
{
    return contents->run->values[contents->items[content].first].statistics.count;
}

static bool is_complex(const struct match_contents *contents, uint32_t content)
{
    return dtype_class(
               contents->run->values[contents->items[content].first].shape->dtype) ==
           DTYPE_CLASS_COMPLEX;
}

static bool are_alike(const struct match_contents *contents_a,
                      uint32_t a,
                      const struct match_contents *contents_b,
                      uint32_t b)
{
    return count_of(contents_a, a) == count_of(contents_b, b) &&
           is_complex(contents_a, a) == is_complex(contents_b, b);
}

/* What the figures of two values have in common, though they differ. */
static double compare_figures(const struct match_contents *contents_a,
                              uint32_t a,
                              const struct match_contents *contents_b,
                              uint32_t b)
{
    const struct match_value *x = &contents_a->run->values[contents_a->items[a].first];
    const struct match_value *y = &contents_b->run->values[contents_b->items[b].first];
    const struct statistics *p = &x->statistics, *q = &y->statistics;
    unsigned common = 0;

    common += p->neginf_count == q->neginf_count && p->posinf_count == q->posinf_count;
    common += p->zero_count == q->zero_count;
    common += (statistics_bound_real(x->shape->dtype, p->min) < 0) ==
              (statistics_bound_real(y->shape->dtype, q->min) < 0);
    common += fabs(p->mean - q->mean) <= 1e-3 * fabs(q->mean);
    return LIKENESS_FIGURE * common;
}

/* The lost content of A that is made from the same as B's, and has as many elements where
 * `is_strict`. */
static uint32_t
find_counterpart(struct search *search, uint32_t b, bool is_strict, double *likeness)
{
    struct match *match = search->match;
    struct frontier of_b;
    uint32_t best = MATCH_NONE;

    *likeness = 0;
    find_frontier(search, 1, b, &of_b);
    for (size_t i = 0; of_b.count > 0 && i < search->lost_count; i++) {
        uint32_t a = search->lost[i];
        double found, figures;

        if (is_strict && !are_alike(&match->contents[0], a, &match->contents[1], b)) {
            continue;
        }
        if (!search->has_frontier[i]) {
            find_frontier(search, 0, a, &search->frontiers[i]);
            search->has_frontier[i] = true;
        }
        found = compare_frontiers(&search->frontiers[i], &of_b);
        if (found < LIKENESS_LEAST) {
            continue;
        }
        figures = compare_figures(&match->contents[0], a, &match->contents[1], b);
        if (is_strict && figures == 0) {
            continue; /* as many elements by chance */
        }
        found += figures;
        if (found > *likeness) {
            *likeness = found;
            best = a;
        }
    }
    return best;
}

/* Whether the figures of `b` are those of something that A makes from `a`, rather than of `a`; or are less
 * like those of `a` than the last step's. */
static bool
is_further(const struct search *search, uint32_t a, uint32_t last, uint32_t b)
{
    const struct match_contents *contents = search->match->contents;
    double own = compare_figures(&contents[0], a, &contents[1], b);

    if (own < compare_figures(&contents[0], a, &contents[1], last)) {
        return true;
    }

    for (uint32_t i = contents[0].out.first[a]; i < contents[0].out.first[a + 1]; i++) {
        uint32_t next = contents[0].out.items[i];

        if (is_lost(&contents[0], next) &&
            are_alike(&contents[0], next, &contents[1], b) &&
            compare_figures(&contents[0], next, &contents[1], b) >= own) {
            return true;
        }
    }
    return false;
}

/* The last lost content that is made from `b` and has the same counterpart: several steps of B may be
 * one of A's. */
static uint32_t
find_last_step(struct search *search, uint32_t b, uint32_t a, bool is_strict)
{
    const struct match_contents *contents = &search->match->contents[1];
    uint32_t last = b;
    bool is_longer = true;

    while (is_longer) {
        is_longer = false;
        for (uint32_t i = contents->out.first[last]; i < contents->out.first[last + 1];
             i++) {
            uint32_t next = contents->out.items[i];
            double found;

            if (next > last && is_lost(contents, next) &&
                !is_further(search, a, last, next) &&
                find_counterpart(search, next, is_strict, &found) == a) {
                last = next;
                is_longer = true;
                break;
            }
        }
    }
    return last;
}

/* Whether the content is made from the partner of a weight that A's end is made from and B's is not. */
static bool reads_missing(const struct search *search,
                          uint32_t content,
                          const struct frontier *of_a,
                          const struct frontier *of_b)
{
    const struct match_contents *contents = &search->match->contents[1];

    for (uint32_t i = contents->in.first[content]; i < contents->in.first[content + 1];
         i++) {
        uint32_t partner = contents->items[contents->in.items[i]].partner;
        bool is_in_a = false, is_in_b = false;

        for (size_t k = 0; k < of_a->weight_count; k++) {
            is_in_a |= of_a->weights[k] == partner;
        }
        for (size_t k = 0; k < of_b->weight_count; k++) {
            is_in_b |= of_b->weights[k] == partner;
        }
        if (is_in_a && !is_in_b) {
            return true;
        }
    }
    return false;
}

/* A's end may hold a weight that B uses one line further: then that line belongs to the region. */
static uint32_t add_weighted_step(struct search *search, uint32_t b, uint32_t a)
{
    const struct match_contents *contents = &search->match->contents[1];
    struct frontier of_a, of_b;

    find_frontier(search, 0, a, &of_a);
    find_frontier(search, 1, b, &of_b);
    for (uint32_t i = contents->out.first[b]; i < contents->out.first[b + 1]; i++) {
        uint32_t next = contents->out.items[i];

        if (next > b && is_lost(contents, next) &&
            reads_missing(search, next, &of_a, &of_b)) {
            return next;
        }
    }
    return b;
}

/* The first lost content of B that has a counterpart. */
static bool find_ends(struct search *search, uint32_t ends[2], bool is_strict)
{
    const struct match_contents *b = &search->match->contents[1];
    size_t tried = 0;

    for (uint32_t i = 0; i < b->count && tried < LOST_MAX; i++) {
        double likeness;
        uint32_t other;

        if (!is_lost(b, i)) {
            continue;
        }
        tried++;
        other = find_counterpart(search, i, is_strict, &likeness);
        if (other != MATCH_NONE && likeness >= LIKENESS_LEAST) {
            ends[0] = other;
            ends[1] = add_weighted_step(
                search, find_last_step(search, i, other, is_strict), other);
            return true;
        }
    }
    return false;
}

/* ---- the region ---- */

static void mark_region(struct search *search, unsigned side, uint32_t end, bool *is_in)
{
    const struct match_contents *contents = &search->match->contents[side];
    size_t depth = 0;

    is_in[end] = true;
    search->stack[depth++] = end;
    while (depth > 0) {
        uint32_t content = search->stack[--depth];

        for (uint32_t i = contents->in.first[content];
             i < contents->in.first[content + 1]; i++) {
            uint32_t source = contents->in.items[i];

            if (!is_in[source] && contents->items[source].partner == MATCH_NONE) {
                is_in[source] = true;
                search->stack[depth++] = source;
            }
        }
    }
}

static bool rank(struct search *search, const uint32_t ends[2])
{
    struct match *match = search->match;
    struct match_region region = {.ends = {ends[0], ends[1]}};
    bool is_done;

    for (unsigned side = 0; side < 2; side++) {
        region.is_in[side] =
            memory_allocate_zeroed(match->contents[side].count, sizeof(bool));
    }
    is_done = region.is_in[0] != NULL && region.is_in[1] != NULL;
    if (is_done) {
        for (unsigned side = 0; side < 2; side++) {
            if (ends[side] != MATCH_NONE) {
                mark_region(search, side, ends[side], region.is_in[side]);
            }
        }
        match->leave.content = ends[1];
        match->leave.counterpart = ends[0];
        match->leave.values[0] = ends[0] == MATCH_NONE
                                     ? MATCH_NONE
                                     : match->contents[0].items[ends[0]].first;
        match->leave.values[1] = match->contents[1].items[ends[1]].first;
        is_done = match_rank_suspects(match, &region);
    }
    memory_free(region.is_in[0]);
    memory_free(region.is_in[1]);
    return is_done;
}

/* ---- the whole ---- */

/* The newest tensor that nothing was made from, and that is no weight. */
static uint32_t find_last(const struct match_contents *contents)
{
    for (size_t i = contents->run->value_count; i-- > 0;) {
        uint32_t content = contents->run->values[i].content;

        if (content != MATCH_NONE && !contents->items[content].is_weight &&
            !contents->items[content].is_weak) {
            return (uint32_t)i;
        }
    }
    return MATCH_NONE;
}

static bool is_known(const struct match_contents *contents, uint32_t i)
{
    return contents->items[i].partner != MATCH_NONE || contents->items[i].is_back;
}

/* Only the results differ. */
static void blame_result(struct match *match)
{
    struct match_leave *leave = &match->leave;
    uint32_t a = match->parted[0], b = match->parted[1];

    leave->values[0] = a;
    leave->values[1] = b;
    match_rank_result(match, a, b);
    match_place(&match->runs[0], &match->runs[0].values[a], &leave->a_module,
                &leave->a_line);
}

static uint32_t first_lost(const struct match_contents *contents)
{
    for (uint32_t i = 0; i < contents->count; i++) {
        if (is_lost(contents, i)) {
            return i;
        }
    }
    return MATCH_NONE;
}

static bool allocate(struct search *search)
{
    struct match *match = search->match;
    size_t most = 0;

    for (unsigned side = 0; side < 2; side++) {
        size_t count = match->contents[side].count;

        most = count > most ? count : most;
        search->stamps[side] = memory_allocate_zeroed(count, sizeof(uint32_t));
        if (search->stamps[side] == NULL) {
            return false;
        }
    }
    search->stack = memory_allocate(most + 1, sizeof *search->stack);
    search->lost = memory_allocate(OTHER_MAX, sizeof *search->lost);
    search->frontiers = memory_allocate(OTHER_MAX, sizeof *search->frontiers);
    return search->stack != NULL && search->lost != NULL && search->frontiers != NULL;
}

static bool search_leave(struct search *search)
{
    struct match *match = search->match;
    const struct match_contents *contents = match->contents;
    uint32_t ends[2] = {MATCH_NONE, MATCH_NONE};
    bool is_last_common;

    for (uint32_t i = 0; i < contents[0].count && search->lost_count < OTHER_MAX; i++) {
        if (is_lost(&contents[0], i)) {
            search->lost[search->lost_count++] = i;
        }
    }
    match->last = find_last(&contents[1]);
    is_last_common =
        match->last != MATCH_NONE &&
        is_known(&contents[1], contents[1].run->values[match->last].content);
    if (find_ends(search, ends, true) ||
        (!is_last_common && find_ends(search, ends, false))) {
        match->verdict = MATCH_LEAVES;
        return rank(search, ends);
    }
    if (match->parted[1] != MATCH_NONE) {
        match->verdict = MATCH_LEAVES;
        blame_result(match);
        return true;
    }
    match->verdict = is_last_common ? MATCH_EQUAL : MATCH_OPEN;
    if (match->verdict == MATCH_OPEN) {
        ends[1] = first_lost(&contents[1]);
        return ends[1] == MATCH_NONE || rank(search, ends);
    }
    return true;
}

/* Finds where B leaves A; needs the partners. false: out of memory. */
static bool match_find_leave(struct match *match)
{
    struct search search = {.match = match};
    bool is_done = allocate(&search) && search_leave(&search);

    memory_free(search.stamps[0]);
    memory_free(search.stamps[1]);
    memory_free(search.stack);
    memory_free(search.lost);
    memory_free(search.frontiers);
    return is_done;
}

/* The results of both runs: tensors and numbers that nothing was made from. Contents leave open what few
 * numbers and integers are; of a result it matters, be it a loss or an index. A result that one run has
 * alone is no difference by itself. If both have such results, made from the same values, they differ. */

/* So many nearest values that both have are noted of what a result is made from. */
#define ROOTS_MAX 16
/* So many values are walked for them. */
#define RESULT_WALK_MAX 1024
/* So many values with the same figures are compared. */
#define TRIED_MAX 16
/* Rounding grows along a program. */
#define SLACK 4

/* What a value is made from, as contents of A. */
struct roots {
    uint32_t items[ROOTS_MAX];
    size_t count;
};

struct results {
    struct match *match;
    uint32_t *orders[2]; /* owned: the values by count and mean */
    size_t order_counts[2];
    uint32_t *stamps[2]; /* owned: by value, the walk that was there last */
    uint32_t stamp;
    uint32_t *stack; /* owned */
};

/* ---- figures ---- */

static uint64_t result_count(const struct match_value *value)
{
    return value->shape == NULL ? 1 : value->statistics.count;
}

static double result_mean(const struct match_value *value)
{
    return value->shape == NULL ? value->number : value->statistics.mean;
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
    const struct match_value *value = &run->values[i];

    return !value->is_weight && !value->is_argument && result_count(value) > 0 &&
           run->out.first[i] == run->out.first[i + 1] &&
           run->in.first[i] < run->in.first[i + 1];
}

/* ---- what a value is made from ---- */

static uint32_t common_content(const struct match *match, unsigned side, uint32_t value)
{
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
    uint32_t content = match->runs[side].values[value].content;

    if (content != MATCH_NONE &&
        match->contents[side].items[content].partner == MATCH_NONE) {
        match->contents[side].items[content].is_back = true;
    }
}

/* The nearest values above that both runs have; `is_back`: those between have been proved by the result. */
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

/* Whether the two values hold the same numbers in the same order, as far as samples say. */
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

/* The first of the other side's values with the result's very elements that was made from the same; MATCH_NONE:
 * none. */
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

/* How far apart the means of equal results may be. */
static double find_reach(const struct match_value *value, double mean)
{
    double reach = isinf(mean) ? 0 : 1e-3 + 1e-3 * fabs(mean);

    return value->shape != NULL && isfinite(mean)
               ? reach + 1e-3 * diff_usual_size(&value->statistics)
               : reach;
}

/* The value of the other side that is the result; MATCH_NONE: none. */
static uint32_t find_equal(struct results *results,
                           unsigned side,
                           uint32_t number,
                           const struct roots *roots)
{
    const struct match_run *other = &results->match->runs[1 - side];
    const struct match_value *value = &results->match->runs[side].values[number];
    double mean = result_mean(value), reach = find_reach(value, mean);
    uint32_t same = find_same(results, side, value, roots);
    unsigned tried = 0;
    size_t place;

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

/* A number or a few that are equal by chance prove nothing; a fraction does. */
static bool is_proof(const struct match_value *value)
{
    double mean = result_mean(value);

    return (value->shape != NULL ? diff_is_inexact(value->shape->dtype)
                                 : !value->is_integer) &&
           isfinite(mean) && mean != floor(mean);
}

/* The value that the result began as, by whatever names it was passed on since. */
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

/* The result of A that B's result should be: made from the same, and if possible of as many numbers. */
static uint32_t find_other(struct results *results, uint32_t b)
{
    const struct match *match = results->match;
    const struct match_open *open = &match->open[0];
    uint32_t best = MATCH_NONE;
    struct roots of_a, of_b;

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
        struct match_run *run = &match->runs[side];
        uint32_t *order = memory_allocate(run->value_count, sizeof *order);

        most = run->value_count > most ? run->value_count : most;
        results->orders[side] = order;
        results->stamps[side] =
            memory_allocate_zeroed(run->value_count, sizeof(uint32_t));
        if (order == NULL || results->stamps[side] == NULL) {
            return false;
        }
        for (uint32_t i = 0; i < run->value_count; i++) {
            if (result_count(&run->values[i]) > 0) {
                order[results->order_counts[side]++] = i;
            }
        }
        if (results->order_counts[side] > 1) {
            qsort_r(order, results->order_counts[side], sizeof *order, compare_values,
                    run);
        }
    }
    results->stack = memory_allocate(most + 1, sizeof *results->stack);
    return results->stack != NULL;
}

/* Finds the results that one run has alone, and what a result that both have proves of the values above
 * it; needs the partners. false: out of memory. */
static bool match_judge_results(struct match *match)
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
    return is_done;
}

/* ---- both, in order ---- */

static void count(struct match *match)
{
    const struct match_contents *contents = &match->contents[1];

    for (size_t i = 0; i < contents->count; i++) {
        const struct match_content *content = &contents->items[i];

        if (!content->is_weak) {
            match->common += content->partner != MATCH_NONE;
            match->own += content->partner == MATCH_NONE && content->is_back;
            match->lost += content->partner == MATCH_NONE && !content->is_back;
        }
    }
}

static bool
compare(struct match *match, const struct match_pins *pins, struct error *error)
{
    if (!match_contents_make(&match->contents[0], &match->runs[0]) ||
        !match_contents_make(&match->contents[1], &match->runs[1]) ||
        !match_contents_pair(match->contents, match->tolerance, pins) ||
        !match_packs_find(&match->packs, match->contents)) {
        return error_set_memory(error);
    }
    if (!match_judge_results(match)) {
        return error_set_memory(error);
    }
    count(match);
    match->last = MATCH_NONE;
    if (match->contents[0].count == 0 || match->contents[1].count == 0) {
        match->verdict = MATCH_EMPTY;
        return true;
    }
    if (match->common == 0) {
        match->verdict = MATCH_NOTHING;
        return true;
    }
    return match_find_leave(match) || error_set_memory(error);
}

bool match_runs(struct match *match,
                const char *const paths[2],
                const struct match_options *options,
                struct error *error)
{
    *match = (struct match){.tolerance = options->tolerance};
    return match_run_read(&match->runs[0], paths[0], options->strip, error) &&
           match_run_read(&match->runs[1], paths[1], options->strip, error) &&
           compare(match, options->pins, error);
}

void match_release(struct match *match)
{
    match_packs_release(&match->packs);
    for (unsigned side = 0; side < 2; side++) {
        match_contents_release(&match->contents[side]);
        match_run_release(&match->runs[side]);
    }
}
