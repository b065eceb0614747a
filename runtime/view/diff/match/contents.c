/* The contents of a run, and their partners in the other run. */
#include "runtime/view/diff/match/contents.h"

#include "runtime/array/dtype.h"
#include "runtime/base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Values with fewer elements may be equal by chance. */
#define WEAK_COUNT 4
/* The tolerance for figures, as a multiple of that for elements: rounding grows along a program. */
#define FIGURES_SLACK 4
/* The relative difference allowed between sums of the same elements in another order. */
#define SUM_SLACK 1e-6
/* The maximum number of contents with the same figures that are compared. */
#define CANDIDATES_MAX 256
/* The maximum number of inputs that are compared. */
#define NEIGHBOURS_MAX 16

/* ---- values with the same figures ---- */

static double low(const struct match_value *value)
{
    return statistics_bound_real(value->shape->dtype, value->statistics->min);
}

static double high(const struct match_value *value)
{
    return statistics_bound_real(value->shape->dtype, value->statistics->max);
}

static bool are_counts_equal(const struct statistics *a, const struct statistics *b)
{
    return a->count == b->count && a->nan_count == b->nan_count &&
           a->posinf_count == b->posinf_count && a->neginf_count == b->neginf_count;
}

static bool is_near(double a, double b, double bound)
{
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= bound;
}

static double size_of(const struct match_value *value)
{
    return fmax(fabs(low(value)), fabs(high(value)));
}

/* Whether two values of one run have the same elements. */
static bool is_same_content(const struct match_value *a, const struct match_value *b)
{
    double bound;

    if (a->shape == NULL || b->shape == NULL ||
        !are_counts_equal(a->statistics, b->statistics) || a->statistics->count == 0) {
        return false;
    }
    if (a->has_hash && b->has_hash && a->hash == b->hash) {
        return true;
    }
    bound = SUM_SLACK * size_of(a);
    return a->statistics->zero_count == b->statistics->zero_count && low(a) == low(b) &&
           high(a) == high(b) &&
           is_near(a->statistics->mean, b->statistics->mean, bound) &&
           is_near(a->statistics->std, b->statistics->std, bound);
}

bool match_figures_agree(const struct match_value *a,
                         const struct match_value *b,
                         const struct diff_tolerance *tolerance)
{
    double rtol, atol, bound, scale;

    if (!are_counts_equal(a->statistics, b->statistics) || a->statistics->count == 0) {
        return false;
    }
    if ((dtype_class(a->shape->dtype) == DTYPE_CLASS_COMPLEX) !=
        (dtype_class(b->shape->dtype) == DTYPE_CLASS_COMPLEX)) {
        return false;
    }
    diff_tolerance_of(tolerance, a->shape->dtype, b->shape->dtype, &rtol, &atol);
    scale = diff_usual_size(b->statistics);
    bound = FIGURES_SLACK * (atol * fmin(1, scale) + rtol * scale);
    return is_near(low(a), low(b), bound + FIGURES_SLACK * rtol * fabs(low(b))) &&
           is_near(high(a), high(b), bound + FIGURES_SLACK * rtol * fabs(high(b))) &&
           is_near(a->statistics->mean, b->statistics->mean, bound) &&
           is_near(a->statistics->std, b->statistics->std, bound);
}

/* Axes with one element are ignored. */
static bool is_same_shape(const struct log_shape *a, const struct log_shape *b)
{
    uint32_t i = 0, k = 0;

    while (true) {
        while (i < a->dimension_count && a->shape[i] == 1) {
            i++;
        }
        while (k < b->dimension_count && b->shape[k] == 1) {
            k++;
        }
        if (i == a->dimension_count || k == b->dimension_count) {
            return i == a->dimension_count && k == b->dimension_count;
        }
        if (a->shape[i++] != b->shape[k++]) {
            return false;
        }
    }
}

/* ---- the contents of one run ---- */

static uint32_t root_of(uint32_t *roots, uint32_t value)
{
    while (roots[value] != value) {
        roots[value] = roots[roots[value]];
        value = roots[value];
    }
    return value;
}

static void join(const struct match_run *run, uint32_t *roots)
{
    for (uint32_t i = 0; i < run->value_count; i++) {
        for (uint32_t k = run->in.first[i]; k < run->in.first[i + 1]; k++) {
            uint32_t source = run->in.items[k];

            if (is_same_content(&run->values[source], &run->values[i])) {
                uint32_t a = root_of(roots, source);
                uint32_t b = root_of(roots, i);

                roots[a > b ? a : b] = a > b ? b : a;
            }
        }
    }
}

/* Weights are exempt from the minimum of elements: a small weight's few numbers are not equal by
 * chance. */
static bool is_weak(const struct match_value *value)
{
    return (value->statistics->count < WEAK_COUNT && !value->is_weight) ||
           !diff_is_inexact(value->shape->dtype) || !(value->statistics->std > 0);
}

static void number_contents(struct match_contents *contents, uint32_t *roots)
{
    struct match_run *run = contents->run;

    for (uint32_t i = 0; i < run->value_count; i++) {
        struct match_value *value = &run->values[i];
        uint32_t root = root_of(roots, i);
        struct match_content *content;

        contents->next[i] = MATCH_NONE;
        if (value->shape == NULL) {
            continue;
        }
        if (root == i) {
            value->content = (uint32_t)contents->count;
            contents->items[contents->count++] =
                (struct match_content){.first = i,
                                       .last = i,
                                       .partner = MATCH_NONE,
                                       .whole = MATCH_NONE,
                                       .group = (uint32_t)(contents->count - 1),
                                       .is_weak = is_weak(value)};
        } else {
            value->content = run->values[root].content;
            content = &contents->items[value->content];
            contents->next[content->last] = i;
            content->last = i;
        }
        contents->items[value->content].is_weight |= value->is_weight;
    }
}

/* Gives back the unused room: most values share a content with another one. */
static void keep_used(struct match_contents *contents)
{
    struct match_content *items =
        memory_resize(contents->items, contents->count, sizeof *contents->items);

    contents->items = items != NULL ? items : contents->items;
}

static int compare_links(const void *left, const void *right)
{
    const struct match_link *a = left;
    const struct match_link *b = right;

    if (a->target != b->target) {
        return a->target < b->target ? -1 : 1;
    }
    return a->source < b->source ? -1 : a->source > b->source;
}

/* Whether the value is one of its sources in another layout. That source is then its only input. */
static bool is_relaid(const struct match_run *run, uint32_t value)
{
    for (uint32_t k = run->in.first[value]; k < run->in.first[value + 1]; k++) {
        const struct match_value *source = &run->values[run->in.items[k]];

        if (source->content == run->values[value].content && source->shape != NULL &&
            !is_weak(source)) {
            return true;
        }
    }
    return false;
}

static bool link_contents(struct match_contents *contents)
{
    const struct match_run *run = contents->run;
    size_t most = run->in.first[run->value_count], count = 0, kept = 0;
    struct match_link *links = memory_allocate(most, sizeof *links);
    bool is_made;

    if (links == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < run->value_count; i++) {
        uint32_t target = run->values[i].content;

        if (target == MATCH_NONE || is_relaid(run, i)) {
            continue;
        }
        for (uint32_t k = run->in.first[i]; k < run->in.first[i + 1]; k++) {
            uint32_t source = run->values[run->in.items[k]].content;

            if (source != MATCH_NONE && source != target) {
                links[count++] = (struct match_link){source, target};
            }
        }
    }
    if (count > 1) {
        qsort(links, count, sizeof *links, compare_links);
    }
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_links(&links[i - 1], &links[i]) != 0) {
            links[kept++] = links[i];
        }
    }
    is_made =
        match_links_make(&contents->in, &contents->out, links, kept, contents->count);
    memory_free(links);
    return is_made;
}

static void count_keys(struct match_contents *contents)
{
    const struct match_run *run = contents->run;
    uint32_t newest = match_newest_dict(run);

    for (size_t i = 0; newest != MATCH_NONE && i < run->value_count; i++) {
        if (match_is_beside(&run->values[i], &run->values[newest])) {
            contents->items[run->values[i].content].keys++;
        }
    }
}

bool match_contents_make(struct match_contents *contents, struct match_run *run)
{
    size_t count = run->value_count;
    uint32_t *roots = memory_allocate(count, sizeof *roots);
    bool is_made = false;

    *contents = (struct match_contents){
        .run = run,
        .items = memory_allocate(run->tensor_count, sizeof *contents->items),
        .next = memory_allocate(count, sizeof *contents->next),
    };
    if (roots != NULL && contents->items != NULL && contents->next != NULL) {
        for (uint32_t i = 0; i < count; i++) {
            roots[i] = i;
        }
        join(run, roots);
        number_contents(contents, roots);
        keep_used(contents);
        assert(contents->count <= run->tensor_count);
        count_keys(contents);
        is_made = link_contents(contents);
    }
    memory_free(roots);
    return is_made;
}

void match_contents_release(struct match_contents *contents)
{
    memory_free(contents->items);
    memory_free(contents->next);
    match_links_release(&contents->in);
    match_links_release(&contents->out);
}

/* ---- partners ---- */

struct pairing {
    struct match_contents *contents; /* borrowed: A and B */
    const struct diff_tolerance *tolerance;
    uint32_t *
        order; /* owned: A's contents by count and largest element; NULL: not sorted yet */
    struct number_map hashes;    /* of A's values: their contents */
    bool has_dtype[DTYPE_COUNT]; /* A has contents of this dtype */
};

static const struct match_value *first_of(const struct match_contents *contents,
                                          uint32_t i)
{
    assert(i < contents->count);
    return &contents->run->values[contents->items[i].first];
}

static int compare_figures(const struct match_value *a, const struct match_value *b)
{
    double x = high(a), y = high(b);

    if (a->statistics->count != b->statistics->count) {
        return a->statistics->count < b->statistics->count ? -1 : 1;
    }
    if (isnan(x) || isnan(y)) {
        return (int)isnan(x) - (int)isnan(y);
    }
    return x < y ? -1 : x > y;
}

static int compare_contents(const void *left, const void *right, void *context)
{
    const struct match_contents *contents = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = compare_figures(first_of(contents, a), first_of(contents, b));

    return order != 0 ? order : a < b ? -1 : a > b;
}

/* Counts the pairs of partners among the inputs of the two contents. */
static unsigned count_neighbours(const struct pairing *pairing, uint32_t a, uint32_t b)
{
    const struct match_contents *contents = pairing->contents;
    const struct match_links *in_a = &contents[0].in, *in_b = &contents[1].in;
    unsigned count = 0;

    for (uint32_t i = in_b->first[b];
         i < in_b->first[b + 1] && i < in_b->first[b] + NEIGHBOURS_MAX; i++) {
        uint32_t partner = contents[1].items[in_b->items[i]].partner;

        for (uint32_t k = in_a->first[a];
             partner != MATCH_NONE && k < in_a->first[a + 1] &&
             k < in_a->first[a] + NEIGHBOURS_MAX;
             k++) {
            count += in_a->items[k] == partner;
        }
    }
    return count;
}

static uint32_t find_hash(const struct pairing *pairing, uint32_t b)
{
    const struct match_contents *contents = &pairing->contents[1];

    assert(b < contents->count);
    for (uint32_t i = contents->items[b].first; i != MATCH_NONE;
         i = contents->next[i]) {
        const struct match_value *value = &contents->run->values[i];
        uint32_t a = value->has_hash ? number_map_get(&pairing->hashes, value->hash)
                                     : NUMBER_MAP_NONE;

        if (a != NUMBER_MAP_NONE) {
            return a;
        }
    }
    return MATCH_NONE;
}

static int
score_of(const struct pairing *pairing, uint32_t a, uint32_t b, uint32_t same)
{
    const struct match_value *x = first_of(&pairing->contents[0], a);
    const struct match_value *y = first_of(&pairing->contents[1], b);
    int score = 8 * (a == same) + 4 * (int)count_neighbours(pairing, a, b);

    score += is_same_shape(x->shape, y->shape);
    score += slice_equal(x->name, y->name);
    score += 2 * (pairing->contents[0].items[a].partners == 0);
    return score;
}

/* The first place in `order` whose figures are not before that count and largest element. */
static size_t find_place(const struct pairing *pairing, uint64_t count, double largest)
{
    const struct match_contents *contents = &pairing->contents[0];
    size_t first = 0, end = contents->count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;
        const struct match_value *value = first_of(contents, pairing->order[middle]);

        if (value->statistics->count < count ||
            (value->statistics->count == count && high(value) < largest)) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first;
}

/* Whether `a` may be the partner of `b`. A weak content needs more evidence than equal figures. */
static bool
is_proved(const struct pairing *pairing, uint32_t a, uint32_t b, bool is_same)
{
    const struct match_contents *contents = pairing->contents;
    bool has_inputs = contents[1].in.first[b] < contents[1].in.first[b + 1];

    assert(b < contents[1].count);
    if (!contents[1].items[b].is_weak) {
        return true;
    }
    if (first_of(&contents[1], b)->statistics->count >= WEAK_COUNT && is_same &&
        first_of(&contents[1], b)->statistics->std > 0) {
        return true;
    }
    return has_inputs && count_neighbours(pairing, a, b) > 0;
}

static void set_partner(struct match_contents contents[2], uint32_t a, uint32_t b)
{
    assert(a < contents[0].count);
    assert(b < contents[1].count);
    contents[1].items[b].partner = a;
    contents[0].items[a].partners++;
    if (contents[0].items[a].partner == MATCH_NONE) {
        contents[0].items[a].partner = b;
    }
}

/* The maximum distance between the maximum of a content of A and the value's, for any dtype: the
 * bound of match_figures_agree. */
static double find_reach(const struct pairing *pairing, const struct match_value *value)
{
    double scale = diff_usual_size(value->statistics), reach = 0;

    for (size_t i = 0; i < DTYPE_COUNT; i++) {
        double rtol, atol;

        if (pairing->has_dtype[i]) {
            diff_tolerance_of(pairing->tolerance, (enum dtype)i, value->shape->dtype,
                              &rtol, &atol);
            reach =
                fmax(reach, atol * fmin(1, scale) + rtol * (scale + fabs(high(value))));
        }
    }
    return FIGURES_SLACK * reach;
}

/* Whether A's content has B's exact elements, no other partner and all of its inputs. No other
 * content can be nearer. */
static bool is_nearest(const struct pairing *pairing, uint32_t a, uint32_t b)
{
    const struct match_contents *contents = pairing->contents;
    const struct match_links *in = &contents[1].in;
    unsigned known = 0;

    if (a == MATCH_NONE || contents[0].items[a].partners > 0 ||
        in->first[b + 1] - in->first[b] > NEIGHBOURS_MAX) {
        return false;
    }
    for (uint32_t i = in->first[b]; i < in->first[b + 1]; i++) {
        known += contents[1].items[in->items[i]].partner != MATCH_NONE;
    }
    return count_neighbours(pairing, a, b) >= known &&
           match_figures_agree(first_of(&contents[0], a), first_of(&contents[1], b),
                               pairing->tolerance) &&
           is_proved(pairing, a, b, true);
}

/* Sorts A's contents before the first search by figures. Returns false if out of memory. */
static bool sort_contents(struct pairing *pairing)
{
    struct match_contents *a = &pairing->contents[0];

    if (pairing->order != NULL) {
        return true;
    }
    pairing->order = memory_allocate(a->count, sizeof *pairing->order);
    for (uint32_t i = 0; pairing->order != NULL && i < a->count; i++) {
        pairing->order[i] = i;
    }
    if (pairing->order != NULL && a->count > 1) {
        qsort_r(pairing->order, a->count, sizeof *pairing->order, compare_contents, a);
    }
    return pairing->order != NULL;
}

/* Returns false if out of memory. */
static bool find_partner(struct pairing *pairing, uint32_t b)
{
    struct match_contents *contents = pairing->contents;
    const struct match_value *value = first_of(&contents[1], b);
    double reach = isnan(high(value)) ? 0 : find_reach(pairing, value);
    uint32_t same = find_hash(pairing, b), best = MATCH_NONE;
    int best_score = -1;
    size_t place;

    if (is_nearest(pairing, same, b)) {
        set_partner(contents, same, b);
        return true;
    }
    if (!sort_contents(pairing)) {
        return false;
    }
    place = find_place(pairing, value->statistics->count,
                       isnan(high(value)) ? -INFINITY : high(value) - reach);
    for (unsigned tried = 0; place < contents[0].count && tried < CANDIDATES_MAX;
         place++, tried++) {
        uint32_t a = pairing->order[place];
        const struct match_value *other = first_of(&contents[0], a);
        int score;

        if (other->statistics->count != value->statistics->count ||
            high(other) > high(value) + reach) {
            break;
        }
        if (!match_figures_agree(other, value, pairing->tolerance) ||
            !is_proved(pairing, a, b, a == same)) {
            continue;
        }
        score = score_of(pairing, a, b, same);
        if (score > best_score) {
            best_score = score;
            best = a;
        }
    }
    if (best != MATCH_NONE) {
        set_partner(contents, best, b);
    }
    return true;
}

/* ---- the whole ---- */

/* Sets is_back in the contents from which those with a partner were made. Returns false if out
 * of memory. */
static bool find_back(struct match_contents *contents)
{
    uint32_t *queue = memory_allocate(contents->count, sizeof *queue);
    size_t count = 0;

    if (queue == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < contents->count; i++) {
        if (contents->items[i].partner != MATCH_NONE && !contents->items[i].is_weak) {
            queue[count++] = i;
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (uint32_t k = contents->in.first[queue[i]];
             k < contents->in.first[queue[i] + 1]; k++) {
            struct match_content *source = &contents->items[contents->in.items[k]];

            if (source->partner == MATCH_NONE && !source->is_back) {
                source->is_back = true;
                assert(count < contents->count);
                queue[count++] = contents->in.items[k];
            }
        }
    }
    memory_free(queue);
    return true;
}

static bool prepare(struct pairing *pairing)
{
    struct match_contents *a = &pairing->contents[0];

    for (uint32_t i = 0; i < a->count; i++) {
        pairing->has_dtype[first_of(a, i)->shape->dtype] = true;
    }
    for (uint32_t i = 0; i < a->run->value_count; i++) {
        const struct match_value *value = &a->run->values[i];

        if (value->has_hash && value->content != MATCH_NONE &&
            number_map_get(&pairing->hashes, value->hash) == NUMBER_MAP_NONE &&
            !number_map_put(&pairing->hashes, value->hash, value->content)) {
            return false;
        }
    }
    return true;
}

static bool
is_pinned(const struct match_value *value, const struct match_pin *pin, unsigned side)
{
    struct slice name = pin->names[side];

    if (value->shape == NULL) {
        return false;
    }
    if (value->is_weight) {
        return slice_equal(slice_part(value->path, 2, value->path.size - 2), name);
    }
    return value->line == pin->lines[side] && value->path.size < name.size + 1 &&
           slice_starts(name, value->name) &&
           slice_equal(slice_part(name, value->name.size, name.size), value->path);
}

/* The first content of the pin's name whose figures agree with those of `like`, which may be
 * NULL. If none agree, the first content of that name. MATCH_NONE: none was recorded. */
static uint32_t find_pinned(const struct pairing *pairing,
                            const struct match_pin *pin,
                            unsigned side,
                            const struct match_value *like)
{
    const struct match_run *run = pairing->contents[side].run;
    uint32_t first = MATCH_NONE;

    for (uint32_t i = 0; i < run->value_count; i++) {
        if (is_pinned(&run->values[i], pin, side)) {
            if (like == NULL ||
                match_figures_agree(&run->values[i], like, pairing->tolerance)) {
                return run->values[i].content;
            }
            first = first == MATCH_NONE ? run->values[i].content : first;
        }
    }
    return first;
}

static void pair_pinned(const struct pairing *pairing, const struct match_pins *pins)
{
    struct match_contents *contents = pairing->contents;

    for (size_t i = 0; pins != NULL && i < pins->count; i++) {
        struct match_pin *pin = &pins->items[i];
        uint32_t b = find_pinned(pairing, pin, 1, NULL), a;

        a = find_pinned(pairing, pin, 0,
                        b == MATCH_NONE ? NULL : first_of(&contents[1], b));

        pin->contents[0] = a;
        pin->contents[1] = b;
        pin->is_found = a != MATCH_NONE && b != MATCH_NONE;
        pin->differs =
            pin->is_found && !pin->is_part &&
            !match_figures_agree(first_of(&contents[0], a), first_of(&contents[1], b),
                                 pairing->tolerance);
        if (pin->is_found && !pin->differs && !pin->is_part &&
            contents[1].items[b].partner == MATCH_NONE) {
            set_partner(contents, a, b);
        }
    }
}

bool match_contents_pair(struct match_contents contents[2],
                         const struct diff_tolerance *tolerance,
                         const struct match_pins *pins)
{
    struct pairing pairing = {.contents = contents, .tolerance = tolerance};
    bool is_done;

    number_map_init(&pairing.hashes);
    is_done = prepare(&pairing);
    pair_pinned(&pairing, pins);
    for (uint32_t i = 0; is_done && i < contents[1].count; i++) {
        if (contents[1].items[i].partner == MATCH_NONE) {
            is_done = find_partner(&pairing, i);
        }
    }
    for (uint32_t i = 0; is_done && i < contents[1].count; i++) {
        if (contents[1].items[i].partner != MATCH_NONE) {
            contents[0].items[contents[1].items[i].partner].holders +=
                contents[1].items[i].keys;
        }
    }
    is_done = is_done && find_back(&contents[0]) && find_back(&contents[1]);
    memory_free(pairing.order);
    number_map_release(&pairing.hashes);
    return is_done;
}
