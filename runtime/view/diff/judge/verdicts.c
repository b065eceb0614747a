/* Verdicts on the facts of two traces, by the graphs of both. */
#include "runtime/view/diff/judge/verdicts.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/view/diff/diff.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define NONE DIFF_FACT_NONE
/* If an error grows by more than this factor in one line, it has another cause. */
#define GROWTH_MAX 64
/* Two values are the same if their figures are this close; of values with the same mean, at most
 * so many are tried. */
#define FIGURES_RTOL  1e-4
#define FIGURES_TRIED 64

/* ---- edges ---- */

static bool is_value_edge(const struct graph_edge *edge)
{
    return edge->kind != GRAPH_SHAPE;
}

/* The edges to a node: a range of numbers. */
struct edges {
    uint32_t edge, end;
};

static struct edges edges_to(const struct diff_facts *facts, uint32_t node)
{
    assert(node < facts->node_count);
    return (struct edges){facts->nodes[node].first_edge,
                          facts->nodes[node + 1].first_edge};
}

/* Returns the fact that the edge starts at. DIFF_FACT_NONE: none. */
static uint32_t source_of(const struct diff_facts *facts, uint32_t edge)
{
    return facts->nodes[facts->edges[edge].source].fact;
}

/* Summary of the inputs of a fact. */
struct inputs {
    bool is_odd, is_unsure_odd; /* by a certain edge; by another one */
    bool is_clock;
    uint32_t close, layout, code; /* facts; NONE */
};

static void add_input(const struct diff_facts *facts,
                      const struct diff_fact *fact,
                      bool is_certain,
                      struct inputs *inputs)
{
    uint32_t number = (uint32_t)(fact - facts->items);

    if (fact->is_grafted) {
        return; /* its readers got an equal value */
    }
    if (fact->is_odd) {
        inputs->is_odd |= is_certain;
        inputs->is_unsure_odd |= !is_certain;
    }
    inputs->is_clock |= fact->verdict == DIFF_VERDICT_CLOCK;
    if (fact->state == DIFF_STATE_CLOSE) {
        inputs->close = number;
    } else if (fact->state == DIFF_STATE_LAYOUT) {
        inputs->layout = number;
    } else if (fact->state == DIFF_STATE_CODE && !fact->is_odd) {
        inputs->code = number;
    }
}

static struct inputs find_inputs(const struct diff_facts *facts,
                                 const struct diff_fact *fact)
{
    struct inputs inputs = {.close = NONE, .layout = NONE, .code = NONE};

    if (fact->node == GRAPH_NONE) {
        const struct diff_fact *origin = diff_facts_find_origin(facts, fact);

        if (origin != NULL) {
            add_input(facts, origin, true, &inputs);
        }
        return inputs;
    }
    for (struct edges to = edges_to(facts, fact->node); to.edge < to.end; to.edge++) {
        const struct graph_edge *edge = &facts->edges[to.edge];
        uint32_t source = source_of(facts, to.edge);

        if (source != NONE && (is_value_edge(edge) || facts->items[source].is_form)) {
            add_input(facts, &facts->items[source], edge->is_unsure == 0, &inputs);
        }
    }
    return inputs;
}

static bool
is_input(const struct diff_facts *facts, const struct diff_fact *fact, uint32_t number)
{
    if (fact->node == GRAPH_NONE || number == NONE) {
        return false;
    }
    for (struct edges to = edges_to(facts, fact->node); to.edge < to.end; to.edge++) {
        if (source_of(facts, to.edge) == number) {
            return true;
        }
    }
    return false;
}

/* Whether the other fact was made from that value, by an input that is not the counterpart of
 * another input of the fact. */
static bool has_input(const struct diff_facts *others,
                      const struct diff_fact *other,
                      const struct diff_facts *facts,
                      const struct diff_fact *fact,
                      uint64_t digest)
{
    if (other->node == GRAPH_NONE || digest == 0) {
        return false;
    }
    for (struct edges to = edges_to(others, other->node); to.edge < to.end; to.edge++) {
        uint32_t source = source_of(others, to.edge);

        if (source != NONE && others->items[source].digest == digest &&
            !is_input(facts, fact, others->items[source].partner)) {
            return true;
        }
    }
    return false;
}

/* Returns the line that the other program lacks and that wrote the value into the item. */
static const struct diff_fact *find_writer(const struct diff_facts *facts,
                                           const struct diff_fact *code)
{
    while (!code->is_code) {
        struct inputs inputs = find_inputs(facts, code);

        if (inputs.code == NONE || facts->items[inputs.code].event >= code->event) {
            break;
        }
        code = &facts->items[inputs.code];
    }
    return code;
}

const struct diff_fact *diff_verdicts_find_code(const struct diff_facts *facts,
                                                const struct diff_fact *fact,
                                                const struct diff_facts *others,
                                                const struct diff_fact *other)
{
    struct inputs inputs = find_inputs(facts, fact);

    return inputs.code == NONE || has_input(others, other, facts, fact,
                                            facts->items[inputs.code].digest)
               ? NULL
               : find_writer(facts, &facts->items[inputs.code]);
}

/* ---- what is odd ---- */

static void find_odd(struct diff_facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        struct diff_fact *fact = &facts->items[i];

        fact->is_odd =
            fact->state == DIFF_STATE_DIFFERS || fact->state == DIFF_STATE_FLOW;
    }
    /* Nodes are sorted: sources come before the values made from them. */
    for (uint32_t node = 0; node < facts->node_count; node++) {
        uint32_t number = facts->nodes[node].fact;
        struct diff_fact *fact = number == NONE ? NULL : &facts->items[number];

        if (fact != NULL && (fact->state == DIFF_STATE_CODE || fact->is_lone_part)) {
            struct inputs inputs = find_inputs(facts, fact);

            if (fact->state == DIFF_STATE_CODE || inputs.code != NONE) {
                /* A line that only this program has may have written to the item by another
                 * name. */
                fact->state = DIFF_STATE_CODE;
                fact->is_odd = inputs.is_odd || inputs.is_unsure_odd;
            }
        }
    }
}

/* ---- verdicts on pairs ---- */

/* Returns the first value of the chain of values in that state that leads to this one. */
static uint32_t
find_first_of(const struct diff_facts *facts, uint32_t number, enum diff_state state)
{
    assert(number < facts->count);
    for (size_t i = 0; i < facts->count; i++) {
        struct inputs inputs = find_inputs(facts, &facts->items[number]);
        uint32_t next = state == DIFF_STATE_CLOSE ? inputs.close : inputs.layout;

        if (next == NONE || facts->items[next].event >= facts->items[number].event) {
            break;
        }
        number = next;
    }
    return number;
}

static bool is_growth(const struct diff_facts *facts,
                      const struct diff_fact *close,
                      const struct diff_fact *fact)
{
    float before = diff_fact_details(facts, close)->apart;
    float now = diff_fact_details(facts, fact)->apart;

    return before > 0 && now >= 0 && now <= GROWTH_MAX * before;
}

/* Whether the pair's difference comes from an earlier one in layout, or within tolerance. That
 * one becomes own then. */
static bool comes_from_before(struct diff_facts *b,
                              struct diff_fact *fact,
                              const struct inputs *inputs)
{
    uint32_t first;

    if (fact->is_edited) {
        return false;
    }
    if (inputs->layout != NONE) {
        first = find_first_of(b, inputs->layout, DIFF_STATE_LAYOUT);
        b->items[first].verdict = DIFF_VERDICT_OWN;
        return true;
    }
    if (inputs->close == NONE || !is_growth(b, &b->items[inputs->close], fact)) {
        return false;
    }
    first = find_first_of(b, inputs->close, DIFF_STATE_CLOSE);
    if (!b->items[first].is_edited) {
        return false;
    }
    if (b->items[first].verdict != DIFF_VERDICT_OWN) {
        b->items[first].verdict = DIFF_VERDICT_OWN;
        diff_fact_details(b, &b->items[first])->grown = (uint32_t)(fact - b->items);
    }
    return true;
}

static void
judge_pair(struct diff_facts sides[2], struct diff_fact *fact, bool has_hidden)
{
    struct diff_fact *other = &sides[0].items[fact->partner];
    struct inputs inputs = find_inputs(&sides[1], fact);
    struct inputs others = find_inputs(&sides[0], other);
    bool is_unsure = !inputs.is_odd && inputs.is_unsure_odd;
    bool is_inherited = inputs.is_odd || (is_unsure && !fact->is_edited);
    bool has_code =
        diff_verdicts_find_code(&sides[1], fact, &sides[0], other) != NULL ||
        diff_verdicts_find_code(&sides[0], other, &sides[1], fact) != NULL;

    if (fact->is_edited && !others.is_odd && !others.is_unsure_odd) {
        is_inherited = false; /* the edited line reads another value */
    }
    if (!is_inherited && fact->is_number &&
        (fact->is_clock || inputs.is_clock || others.is_clock) && !has_code) {
        fact->verdict = DIFF_VERDICT_CLOCK;
        fact->is_odd = other->is_odd = false;
        return;
    }
    if (fact->state != DIFF_STATE_DIFFERS) {
        return;
    }
    if (!is_inherited && !has_code) {
        is_inherited = comes_from_before(&sides[1], fact, &inputs);
    }
    if (!is_inherited && has_hidden && fact->is_values && !fact->is_edited) {
        is_inherited = true;
    }
    fact->is_unsure = is_unsure;
    fact->verdict = is_inherited ? DIFF_VERDICT_INHERITED : DIFF_VERDICT_OWN;
    /* The value of a new line is the cause, which counts as an edit. */
    fact->is_edited |= has_code;
}

static void judge_pairs(struct diff_facts sides[2])
{
    bool has_hidden = false, has_grafted = false, has_step = false;

    for (size_t i = 0; i < sides[1].count; i++) {
        struct diff_fact *fact = &sides[1].items[i];

        has_hidden = has_hidden || fact->event >= sides[1].changed_from;
        /* A wrong line has a wrong gradient too, even if its value was replaced. */
        has_grafted = has_grafted || (fact->is_grafted && fact->is_odd);
        if (fact->verdict == DIFF_VERDICT_OWN) {
            continue;
        }
        if (fact->state == DIFF_STATE_IGNORED) {
            fact->verdict = DIFF_VERDICT_CLOCK;
        } else if (fact->state == DIFF_STATE_LAYOUT) {
            fact->verdict = DIFF_VERDICT_LAYOUT;
        } else if (fact->partner != NONE && fact->state != DIFF_STATE_EQUAL) {
            judge_pair(sides, fact, has_hidden);
        }
        has_hidden = has_hidden || (fact->is_hidden && (fact->is_odd || has_grafted));
        /* After a step of training, the first line that differs stands for all lines that use
         * its parameters. */
        has_hidden = has_hidden || (has_step && !fact->is_edited &&
                                    fact->verdict == DIFF_VERDICT_OWN);
        has_step = has_step || fact->is_hidden;
    }
}

/* ---- rounding ---- */

/* Estimates the rounding error of each value. The sums that made it are at most as long as the
 * dimensions of its inputs; a sum of n numbers adds sqrt(n) units to the error of its inputs. */
static void estimate_rounding(const struct diff_facts *facts)
{
    for (uint32_t node = 0; node < facts->node_count; node++) {
        uint32_t number = facts->nodes[node].fact;
        struct diff_details *details =
            number == NONE ? NULL : diff_fact_details(facts, &facts->items[number]);
        uint8_t extent;
        float before = 0;

        if (details == NULL) {
            continue;
        }
        extent = facts->items[number].extent;
        for (struct edges to = edges_to(facts, node); to.edge < to.end; to.edge++) {
            uint32_t source = source_of(facts, to.edge);

            if (source != NONE && is_value_edge(&facts->edges[to.edge])) {
                const struct diff_fact *input = &facts->items[source];
                const struct diff_details *inexact = diff_fact_details(facts, input);

                extent = input->extent > extent ? input->extent : extent;
                before = inexact == NULL ? before : fmaxf(before, inexact->rounding);
            }
        }
        details->rounding =
            details->rounding * sqrtf((float)((uint64_t)1 << extent)) + before;
    }
}

/* Finds the sites whose differences may be rounding errors that a step of training enlarged:
 * Adam divides a gradient by its size, even if it is only a rounding error. These are the sites
 * that gave equal values before the first step, if all values before it were equal or differed
 * by rounding alone. Returns false if memory ran out. */
static bool find_steady(struct diff_facts *facts)
{
    bool is_rounded = false;
    uint8_t *steady = memory_allocate_zeroed(facts->site_capacity + 1, 1);

    if (steady == NULL) {
        return false;
    }
    for (size_t i = 0; i < facts->count && facts->steady == NULL; i++) {
        const struct diff_fact *fact = &facts->items[i];
        const struct diff_details *details = diff_fact_details(facts, fact);

        if (fact->is_backward && is_rounded) {
            facts->steady = steady;
            return true;
        }
        if (fact->verdict >= DIFF_VERDICT_INHERITED ||
            (fact->state == DIFF_STATE_CLOSE &&
             details->apart > DIFF_ROUNDING_MULTIPLE * details->rounding)) {
            break;
        }
        is_rounded |= fact->state == DIFF_STATE_CLOSE;
        steady[fact->site] |= fact->partner != NONE;
    }
    memory_free(steady);
    return true;
}

/* Whether the difference may be a rounding error that a step of training enlarged. */
static bool may_be_rounding(const struct diff_facts *facts,
                            const struct diff_fact *fact)
{
    return facts->steady != NULL && facts->steady[fact->site] != 0 && fact->is_values &&
           !fact->is_edited;
}

/* ---- values that do not come back: is_lost ---- */

struct losses {
    uint32_t *items[2]; /* owned */
    size_t counts[2];
    size_t done[2]; /* number of items that were spread */
};

static void
lose(struct diff_facts sides[2], struct losses *losses, unsigned side, uint32_t number)
{
    struct diff_fact *fact = &sides[side].items[number];

    if (fact->is_lost) {
        return;
    }
    fact->is_lost = true;
    losses->items[side][losses->counts[side]++] = number;
    if (fact->partner != NONE) {
        lose(sides, losses, 1 - side, fact->partner);
    }
}

/* Marks odd facts that are used: a value made from them is odd, or is equal and has as many
 * elements as the smaller value of the pair. */
static void find_used(struct diff_facts sides[2], unsigned side)
{
    struct diff_facts *facts = &sides[side];

    for (uint32_t node = 0; node < facts->node_count; node++) {
        uint32_t number = facts->nodes[node].fact;
        const struct diff_fact *target = number == NONE ? NULL : &facts->items[number];

        for (struct edges to = edges_to(facts, node);
             target != NULL && to.edge < to.end; to.edge++) {
            uint32_t source = source_of(facts, to.edge);
            struct diff_fact *fact = source == NONE ? NULL : &facts->items[source];
            uint32_t count;

            if (fact == NULL || !fact->is_odd ||
                (!fact->is_form && !is_value_edge(&facts->edges[to.edge]))) {
                continue;
            }
            count = fact->count;
            if (fact->partner != NONE &&
                sides[1 - side].items[fact->partner].count < count) {
                count = sides[1 - side].items[fact->partner].count;
            }
            fact->is_used |= fact->state == DIFF_STATE_CODE || target->is_odd ||
                             target->count >= count;
        }
    }
}

/* ---- values that are elsewhere in the other run ---- */

static int compare_figures(const void *left, const void *right, void *context)
{
    const struct diff_facts *facts = context;
    const struct diff_fact *a = &facts->items[*(const uint32_t *)left];
    const struct diff_fact *b = &facts->items[*(const uint32_t *)right];
    float means[2] = {diff_fact_details(facts, a)->mean,
                      diff_fact_details(facts, b)->mean};

    if (a->count != b->count) {
        return a->count < b->count ? -1 : 1;
    }
    if (means[0] != means[1]) {
        return means[0] < means[1] ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

/* Whether the value differs or only one run has it. */
static bool is_apart(const struct diff_fact *fact)
{
    return fact->is_odd || fact->state == DIFF_STATE_CODE ||
           fact->state == DIFF_STATE_FLOW;
}

static bool index_figures(struct diff_facts *facts)
{
    size_t count = 0;

    for (uint32_t i = 0; i < facts->count; i++) {
        count += is_apart(&facts->items[i]) && facts->items[i].count > 0;
    }
    facts->odd = memory_allocate(count + 1, sizeof *facts->odd);
    if (facts->odd == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < facts->count; i++) {
        if (is_apart(&facts->items[i]) && facts->items[i].count > 0) {
            facts->odd[facts->odd_count++] = i;
        }
    }
    qsort_r(facts->odd, facts->odd_count, sizeof *facts->odd, compare_figures, facts);
    return true;
}

static double slack_of(const struct diff_details *figures)
{
    return FIGURES_RTOL * (fabs((double)figures->low) + fabs((double)figures->high)) +
           1e-12;
}

static bool has_same_figures(const struct diff_details *a, const struct diff_details *b)
{
    double slack = slack_of(a);

    return fabs((double)a->mean - (double)b->mean) <= slack &&
           fabs((double)a->low - (double)b->low) <= slack &&
           fabs((double)a->high - (double)b->high) <= slack;
}

/* Returns the index of the first odd fact with that count and no smaller mean. */
static size_t find_figures(const struct diff_facts *facts, uint32_t count, double least)
{
    size_t first = 0, end = facts->odd_count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;
        const struct diff_fact *fact = &facts->items[facts->odd[middle]];

        if (fact->count < count ||
            (fact->count == count && diff_fact_details(facts, fact)->mean < least)) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first;
}

/* Whether the other side has the value elsewhere than in the fact's own pair. */
static bool is_elsewhere(const struct diff_facts *others,
                         const struct diff_facts *facts,
                         const struct diff_fact *fact)
{
    const struct diff_details *figures = diff_fact_details(facts, fact);
    size_t first;

    if (fact->count == 0) {
        return false;
    }
    first = find_figures(others, fact->count, figures->mean - slack_of(figures));
    for (size_t i = 0; i < FIGURES_TRIED && first + i < others->odd_count; i++) {
        uint32_t number = others->odd[first + i];
        const struct diff_fact *other = &others->items[number];
        const struct diff_details *found = diff_fact_details(others, other);

        if (other->count != fact->count ||
            found->mean > figures->mean + slack_of(figures)) {
            return false;
        }
        if (number != fact->partner && has_same_figures(figures, found)) {
            return true;
        }
    }
    return false;
}

/* Returns a key of the name and the value. */
static uint64_t key_of(const struct diff_facts *facts, const struct diff_fact *fact)
{
    uint64_t parts[3] = {hash_64(diff_fact_name(facts, fact)), fact->path,
                         fact->digest};

    return hash_64((struct slice){(const char *)parts, sizeof parts});
}

/* Added to the key of an equal pair's value: at a site, and of an item at any place. */
#define KEY_OF_SITE 0x9e3779b97f4a7c15u
#define KEY_OF_ITEM 0xc2b2ae3d27d4eb4fu

static uint64_t key_of_site(const struct diff_fact *fact)
{
    return KEY_OF_SITE * (fact->site + 1);
}

/* Whether the fact is a text that a line passes unchanged and that no value is made from, such
 * as the name of an implementation. Its effect shows in other values. */
static bool is_choice(const struct diff_facts *facts, const struct diff_fact *fact)
{
    return fact->is_passed_text && fact->is_edited &&
           edges_to(facts, fact->node).edge == edges_to(facts, fact->node).end;
}

/* Whether the fact is an item of a container that a function received. Another line put it
 * there. */
static bool is_seen_item(const struct diff_facts *facts, const struct diff_fact *fact)
{
    return fact->is_part && diff_fact_site_of(facts, fact).site->kind == SITE_ENTER;
}

static bool has_key(const struct diff_facts *facts, uint64_t key)
{
    return number_map_get(&facts->alone, key) != NUMBER_MAP_NONE;
}

/* Whether no value was made from it and the other run does not have it either. */
static bool is_dropped(struct diff_facts sides[2], unsigned side, uint32_t number)
{
    const struct diff_facts *facts = &sides[side];
    const struct diff_facts *others = &sides[1 - side];
    const struct diff_fact *fact = &facts->items[number];

    assert(number < facts->count);
    if (fact->node == GRAPH_NONE || fact->is_used || is_choice(facts, fact)) {
        return false;
    }
    return fact->digest == 0 || !(has_key(others, key_of(facts, fact)) ||
                                  (is_seen_item(facts, fact) &&
                                   has_key(others, key_of(facts, fact) ^ KEY_OF_ITEM)));
}

/* Whether is_dropped may search for an item. */
static bool has_seen_items(const struct diff_facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        const struct diff_fact *fact = &facts->items[i];

        if (fact->is_odd && !fact->is_used && is_seen_item(facts, fact)) {
            return true;
        }
    }
    return false;
}

/* Marks the sites that only one run reached. is_repeated may search for the values that both
 * runs computed there. */
static void mark_ways(const struct diff_facts *facts, uint8_t *ways)
{
    for (size_t i = 0; i < facts->count; i++) {
        ways[facts->items[i].site] |= facts->items[i].state == DIFF_STATE_FLOW;
    }
}

static bool add_key(struct diff_facts *facts, uint64_t key, size_t fact)
{
    return number_map_put(&facts->alone, key, (uint32_t)fact);
}

static bool index_alone(struct diff_facts *facts, bool has_items)
{
    uint8_t *ways = memory_allocate_zeroed(facts->site_capacity + 1, 1);
    bool is_done = ways != NULL;

    if (is_done) {
        mark_ways(facts, ways);
    }
    for (size_t i = 0; is_done && i < facts->count; i++) {
        const struct diff_fact *fact = &facts->items[i];

        if (fact->digest == 0 || fact->state == DIFF_STATE_DIFFERS) {
            continue;
        }
        if (fact->state == DIFF_STATE_CODE || fact->state == DIFF_STATE_FLOW) {
            is_done = add_key(facts, key_of(facts, fact), i);
            continue;
        }
        if (ways[fact->site] != 0) {
            is_done = add_key(facts, key_of(facts, fact) ^ key_of_site(fact), i);
        }
        if (is_done && has_items && fact->is_part) {
            is_done = add_key(facts, key_of(facts, fact) ^ KEY_OF_ITEM, i);
        }
    }
    memory_free(ways);
    return is_done;
}

/* Whether both runs have an equal value of its site: it is a recomputation. */
static bool is_repeated(const struct diff_facts *facts, const struct diff_fact *fact)
{
    return fact->digest != 0 && has_key(facts, key_of(facts, fact) ^ key_of_site(fact));
}

/* Whether a fact cannot come back, whatever was made from it. */
static bool is_lost_at_once(struct diff_facts sides[2],
                            unsigned side,
                            uint32_t number,
                            bool has_edits)
{
    const struct diff_fact *fact = &sides[side].items[number];
    const struct diff_fact *other =
        fact->partner == NONE ? NULL : &sides[1 - side].items[fact->partner];

    if (!fact->is_odd) {
        return false;
    }
    switch (fact->state) {
    case DIFF_STATE_FLOW:
        return !has_edits ||
               (is_dropped(sides, side, number) && !is_repeated(&sides[side], fact));
    case DIFF_STATE_DIFFERS:
        if (fact->is_container) {
            return false; /* its items decide */
        }
        if (fact->is_grafted) {
            return true; /* values made from it are equal for that reason */
        }
        return (side == 1 && fact->verdict == DIFF_VERDICT_OWN && !fact->is_edited &&
                !may_be_rounding(&sides[1], fact)) ||
               (fact->node == GRAPH_NONE &&
                (other == NULL || other->node == GRAPH_NONE)) ||
               fact->is_other_type || is_dropped(sides, side, number);
    default:
        return false;
    }
}

/* Whether the line gives its name another value than in the other run, and neither run has the
 * other's value elsewhere. */
static bool is_other_value(const struct diff_facts sides[2],
                           const struct diff_fact *fact)
{
    return fact->is_odd && fact->state == DIFF_STATE_DIFFERS && !fact->is_container &&
           fact->verdict == DIFF_VERDICT_OWN && !fact->is_form &&
           !may_be_rounding(&sides[1], fact) && !is_choice(&sides[1], fact) &&
           !is_elsewhere(&sides[0], &sides[1], fact) &&
           !is_elsewhere(&sides[1], &sides[0], &sides[0].items[fact->partner]);
}

/* Marks such values as lost. Those whose difference has no effect are absorbed. That is certain
 * of arrays only: code that is not recorded may have used a number. */
static void lose_other_values(struct diff_facts sides[2], struct losses *losses)
{
    for (uint32_t i = 0; i < sides[1].count; i++) {
        struct diff_fact *fact = &sides[1].items[i];

        if (is_other_value(sides, fact)) {
            fact->is_absorbed = !fact->is_lost && fact->is_used && fact->count > 1;
            lose(sides, losses, 1, i);
        }
    }
}

/* Marks the odd inputs of lost facts as lost. */
static void spread(struct diff_facts sides[2], struct losses *losses)
{
    size_t *done = losses->done;

    while (done[0] < losses->counts[0] || done[1] < losses->counts[1]) {
        unsigned side = done[0] < losses->counts[0] ? 0 : 1;
        const struct diff_facts *facts = &sides[side];
        const struct diff_fact *fact = &facts->items[losses->items[side][done[side]++]];

        if (fact->node == GRAPH_NONE) {
            continue;
        }
        for (struct edges to = edges_to(facts, fact->node); to.edge < to.end;
             to.edge++) {
            uint32_t source = source_of(facts, to.edge);

            if (source != NONE && facts->items[source].is_odd &&
                (is_value_edge(&facts->edges[to.edge]) ||
                 facts->items[source].is_form)) {
                lose(sides, losses, side, source);
            }
        }
    }
}

/* Whether a fact is lost in the branch of one run alone that starts with that fact. */
static bool is_way_lost(const struct diff_facts *facts, size_t first)
{
    for (size_t i = first; i < facts->count && facts->items[i].state >= DIFF_STATE_CODE;
         i++) {
        if (facts->items[i].is_lost) {
            return true;
        }
    }
    return false;
}

/* Returns the branch or loop that only one run reached. NULL: the fact is none. */
static const struct site *condition_of(const struct diff_facts *facts,
                                       const struct diff_fact *fact)
{
    const struct site *site = diff_fact_site_of(facts, fact).site;

    return fact->state == DIFF_STATE_FLOW &&
                   (site->kind == SITE_BRANCH || site->kind == SITE_LOOP)
               ? site
               : NULL;
}

/* Marks the odd values that a condition reads as lost if a fact of the branch that it chose is
 * lost. */
static void lose_conditions(struct diff_facts sides[2], struct losses *losses)
{
    for (unsigned side = 0; side < 2; side++) {
        const struct diff_facts *facts = &sides[side];

        for (size_t i = 0; i < facts->count; i++) {
            const struct diff_fact *fact = &facts->items[i];
            const struct site *condition = condition_of(facts, fact);
            bool is_first = i == 0 || facts->items[i - 1].state != DIFF_STATE_FLOW;

            if (condition == NULL || !is_first || !is_way_lost(facts, i)) {
                continue;
            }
            for (uint32_t k = 0; k < condition->read_count; k++) {
                const struct diff_fact *read =
                    diff_facts_find_read(facts, fact, &condition->reads[k], false);

                if (read != NULL && read->is_odd) {
                    lose(sides, losses, side, (uint32_t)(read - facts->items));
                }
            }
        }
    }
}

/* Whether an item of the container is lost. A container of another length comes back if it has
 * odd or new items and none of them is lost. */
static bool
has_lost_items(const struct diff_facts *facts, uint32_t number, bool *has_odd)
{
    assert(number < facts->count);

    const struct diff_fact *container = &facts->items[number];

    for (size_t i = (size_t)number + 1; i < facts->count; i++) {
        const struct diff_fact *fact = &facts->items[i];

        if (!fact->is_part || fact->call != container->call ||
            fact->site != container->site) {
            return false;
        }
        *has_odd |= fact->is_odd || fact->state == DIFF_STATE_CODE;
        if (fact->is_lost) {
            return true;
        }
    }
    return false;
}

static void find_lost_containers(struct diff_facts sides[2])
{
    for (uint32_t i = 0; i < sides[1].count; i++) {
        struct diff_fact *fact = &sides[1].items[i];
        bool has_odd = false;

        if (fact->is_container && fact->state == DIFF_STATE_DIFFERS) {
            fact->is_lost = has_lost_items(&sides[1], i, &has_odd) ||
                            has_lost_items(&sides[0], fact->partner, &has_odd) ||
                            !has_odd;
        }
    }
}

static void spread_all(struct diff_facts sides[2], struct losses *losses)
{
    spread(sides, losses);
    lose_conditions(sides, losses);
    spread(sides, losses);
}

static bool find_lost(struct diff_facts sides[2], bool has_edits)
{
    struct losses losses = {.counts = {0, 0}, .done = {0, 0}};
    bool has_items = has_seen_items(&sides[0]) || has_seen_items(&sides[1]);
    bool is_done = true;

    for (unsigned side = 0; side < 2; side++) {
        losses.items[side] =
            memory_allocate(sides[side].count + 1, sizeof *losses.items[side]);
        is_done = is_done && losses.items[side] != NULL &&
                  index_alone(&sides[side], has_items) && index_figures(&sides[side]);
    }
    for (unsigned side = 0; is_done && side < 2; side++) {
        for (uint32_t i = 0; i < sides[side].count; i++) {
            if (is_lost_at_once(sides, side, i, has_edits)) {
                lose(sides, &losses, side, i);
            }
        }
    }
    if (is_done) {
        spread_all(sides, &losses);
        lose_other_values(sides, &losses);
        spread_all(sides, &losses);
        find_lost_containers(sides);
    }
    for (size_t i = 0; is_done && i < sides[1].count; i++) {
        struct diff_fact *fact = &sides[1].items[i];

        if (fact->state == DIFF_STATE_DIFFERS && !fact->is_lost &&
            fact->verdict >= DIFF_VERDICT_INHERITED) {
            fact->verdict = DIFF_VERDICT_STEP;
        }
        sides[1].has_cause |= fact->verdict == DIFF_VERDICT_OWN && !fact->is_absorbed;
    }
    memory_free(losses.items[0]);
    memory_free(losses.items[1]);
    return is_done;
}

bool diff_verdicts_find(struct diff_facts sides[2], bool has_edits)
{
    for (unsigned side = 0; side < 2; side++) {
        if (!diff_facts_join(&sides[side])) {
            return false;
        }
        find_odd(&sides[side]);
    }
    judge_pairs(sides);
    estimate_rounding(&sides[1]);
    if (!find_steady(&sides[1])) {
        return false;
    }
    find_used(sides, 0);
    find_used(sides, 1);
    return find_lost(sides, has_edits);
}
