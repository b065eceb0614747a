/* The matcher of two runs by their values: finds where B leaves A, and whether their results
 * agree. */
#include "runtime/view/diff/match/match.h"

#include "runtime/base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* The point where B leaves A is the first value of B that A has with other numbers. A value is
 * lost if it is not in A and nothing made from it is. Its counterpart in A is lost too, has as
 * many elements, and is made from the same values that both runs have. */

/* The maximum number of common values that are kept of those that a value is made from. */
#define FRONTIER_MAX 64
/* The maximum number of contents that are visited in the search for them. */
#define WALK_MAX 4096
/* The maximum number of lost values of B, and of A for each, that are compared. */
#define LOST_MAX  512
#define OTHER_MAX 512
/* The minimum share of sources that two values must have in common. */
#define LIKENESS_LEAST 0.3
/* The likeness added for each of: as many infinities, as many zeros, the same signs, a similar
 * mean. */
#define LIKENESS_FIGURE 0.1

/* The nearest contents of A that a content is made from. */
struct frontier {
    uint32_t items[FRONTIER_MAX];
    size_t count;
    uint32_t weights[FRONTIER_MAX]; /* those that are weights */
    size_t weight_count;
};

struct search {
    struct match *match;
    uint32_t
        *stamps[2]; /* owned: by content, the number of the walk that visited it last */
    uint32_t stamp;
    uint32_t *stack; /* owned */
    uint32_t *lost;  /* owned: of A */
    size_t lost_count;
    struct frontier
        *frontiers; /* owned: of the lost contents, as far as they were computed */
    bool has_frontier[OTHER_MAX];
};

static bool is_lost(const struct match_contents *contents, uint32_t i)
{
    assert(i < contents->count);

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

/* Finds the nearest contents of A that `start` is made from. */
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
    assert(content < contents->count);
    return contents->run->values[contents->items[content].first].statistics->count;
}

static bool is_complex(const struct match_contents *contents, uint32_t content)
{
    assert(content < contents->count);
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

/* The likeness of the figures of two values that differ. */
static double compare_figures(const struct match_contents *contents_a,
                              uint32_t a,
                              const struct match_contents *contents_b,
                              uint32_t b)
{
    const struct match_value *x = &contents_a->run->values[contents_a->items[a].first];
    const struct match_value *y = &contents_b->run->values[contents_b->items[b].first];
    const struct statistics *p = x->statistics, *q = y->statistics;
    unsigned common = 0;

    common += p->neginf_count == q->neginf_count && p->posinf_count == q->posinf_count;
    common += p->zero_count == q->zero_count;
    common += (statistics_bound_real(x->shape->dtype, p->min) < 0) ==
              (statistics_bound_real(y->shape->dtype, q->min) < 0);
    common += fabs(p->mean - q->mean) <= 1e-3 * fabs(q->mean);
    return LIKENESS_FIGURE * common;
}

/* The counterpart of the content according to the user's map file, if the two differ.
 * MATCH_NONE: none. */
static uint32_t find_pinned(const struct search *search, uint32_t b)
{
    const struct match *match = search->match;

    for (size_t i = 0; match->pins != NULL && i < match->pins->count; i++) {
        const struct match_pin *pin = &match->pins->items[i];

        if (pin->differs && pin->contents[1] == b &&
            is_lost(&match->contents[0], pin->contents[0])) {
            return pin->contents[0];
        }
    }
    return MATCH_NONE;
}

/* The lost content of A that is made from the same values as B's. With `is_strict` it must have
 * as many elements. A counterpart from the user's map file precedes it. MATCH_NONE: none. */
static uint32_t
find_counterpart(struct search *search, uint32_t b, bool is_strict, double *likeness)
{
    struct match *match = search->match;
    struct frontier of_b;
    uint32_t best = find_pinned(search, b);

    *likeness = 1;
    if (best != MATCH_NONE) {
        return best;
    }
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
            continue; /* the number of elements is equal by chance */
        }
        found += figures;
        if (found > *likeness) {
            *likeness = found;
            best = a;
        }
    }
    return best;
}

/* Whether `b` is a later step than `a`: its figures are less like those of `a` than the figures
 * of `last` are, or A makes something from `a` whose figures are as like. */
static bool
is_further(const struct search *search, uint32_t a, uint32_t last, uint32_t b)
{
    const struct match_contents *contents = search->match->contents;
    double own = compare_figures(&contents[0], a, &contents[1], b);

    assert(a < contents[0].count);
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

/* The last lost content that is made from `b` and has the same counterpart. Several steps of B
 * may be one step of A. */
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

/* Whether the content is made from a weight that A's end is made from and B's end is not. */
static bool reads_missing(const struct search *search,
                          uint32_t content,
                          const struct frontier *of_a,
                          const struct frontier *of_b)
{
    const struct match_contents *contents = &search->match->contents[1];

    assert(content < contents->count);
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

/* Returns the next content of B if it uses a weight that A's end uses and `b` does not: then its
 * line belongs to the region. Otherwise returns `b`. */
static uint32_t add_weighted_step(struct search *search, uint32_t b, uint32_t a)
{
    const struct match_contents *contents = &search->match->contents[1];
    struct frontier of_a, of_b;

    assert(b < contents->count);
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

/* Finds the first lost content of B that has a counterpart. Returns false if there is none. */
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

/* The newest tensor that is neither a weight nor weak. */
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
    assert(i < contents->count);
    return contents->items[i].partner != MATCH_NONE || contents->items[i].is_back;
}

/* Fills match->leave where only the results differ. */
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

/* Finds where B leaves A. Requires the partners. Returns false if out of memory. */
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
    match_packs_check(&match->packs, match->contents, pins);
    match->pins = pins;
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
