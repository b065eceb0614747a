/* Facts of each event of two traces, and the verdicts on them. */
#include "runtime/view/diff/judge/facts.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define NONE DIFF_FACT_NONE
/* So many facts back a name is looked for. */
#define READ_DISTANCE 65536
/* An error that grows by more than this in one line has another cause. */
#define GROWTH_MAX 64
/* Two values are one if their figures are so near, of so many with the same mean. */
#define FIGURES_RTOL  1e-4
#define FIGURES_TRIED 64

void diff_facts_init(struct diff_facts *facts)
{
    *facts = (struct diff_facts){.items = NULL};
    graph_init(&facts->graph);
}

void diff_facts_release(struct diff_facts *facts)
{
    memory_free(facts->items);
    memory_free(facts->facts);
    memory_free(facts->first_out);
    memory_free(facts->out);
    memory_free(facts->targets);
    memory_free(facts->odd);
    number_map_release(&facts->index);
    number_map_release(&facts->alone);
    graph_release(&facts->graph);
    diff_facts_init(facts);
}

uint32_t diff_facts_add(struct diff_facts *facts, const struct diff_fact *fact)
{
    void *items = facts->items;
    uint32_t number = (uint32_t)facts->count;

    if (facts->count >= NONE - 1 ||
        !memory_grow(&items, &facts->capacity, facts->count + 1,
                     sizeof *facts->items)) {
        return NONE;
    }
    facts->items = items;
    facts->items[number] = *fact;
    facts->count++;
    return number_map_put(&facts->index, fact->event, number) ? number : NONE;
}

struct diff_fact *diff_facts_find(const struct diff_facts *facts, uint64_t event)
{
    uint32_t number = number_map_get(&facts->index, event);

    return number == NUMBER_MAP_NONE ? NULL : &facts->items[number];
}

const struct diff_fact *diff_facts_find_read(const struct diff_facts *facts,
                                             const struct diff_fact *reader,
                                             const struct site_read *read)
{
    size_t place = (size_t)(reader - facts->items);

    assert(place < facts->count);
    for (size_t i = 0; i < READ_DISTANCE && place-- > 0;) {
        const struct diff_fact *fact = &facts->items[place];
        bool is_here = fact->call == reader->call;

        i++;
        if (slice_equal(fact->name, read->name) && !fact->is_result &&
            (is_here ||
             (fact->module == reader->module && read->scope != SITE_SCOPE_LOCAL) ||
             slice_starts(read->name, SLICE("self.")))) {
            return fact;
        }
    }
    return NULL;
}

const struct diff_fact *diff_facts_find_result(const struct diff_facts *facts,
                                               const struct diff_fact *reader)
{
    size_t place = (size_t)(reader - facts->items);

    assert(place < facts->count);
    for (size_t i = 0; i < READ_DISTANCE && place-- > 0; i++) {
        const struct diff_fact *fact = &facts->items[place];

        if (fact->call == reader->call) {
            return NULL;
        }
        if (fact->is_result && fact->parent == reader->call &&
            fact->call_line == reader->line) {
            return fact;
        }
    }
    return NULL;
}

/* ---- edges ---- */

static bool is_value_edge(const struct graph_edge *edge)
{
    return edge->kind != GRAPH_SHAPE;
}

/* Edges by their sources, and the facts of the nodes. */
static bool index_edges(struct diff_facts *facts)
{
    const struct graph *graph = &facts->graph;
    size_t count = (size_t)graph->node_count + 1;

    facts->facts = memory_allocate(count, sizeof *facts->facts);
    facts->first_out = memory_allocate_zeroed(count + 1, sizeof *facts->first_out);
    facts->out = memory_allocate((size_t)graph->edge_count + 1, sizeof *facts->out);
    facts->targets =
        memory_allocate((size_t)graph->edge_count + 1, sizeof *facts->targets);
    if (facts->facts == NULL || facts->first_out == NULL || facts->out == NULL ||
        facts->targets == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t number = number_map_get(&facts->index, graph->nodes[i].event);

        facts->facts[i] = number == NUMBER_MAP_NONE ? NONE : number;
        if (number != NUMBER_MAP_NONE) {
            facts->items[number].node = i;
        }
        for (uint32_t k = graph->nodes[i].first_edge;
             k < graph->nodes[i + 1].first_edge; k++) {
            facts->targets[k] = i;
            facts->first_out[graph->edges[k].source + 2]++;
        }
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        facts->first_out[i + 1] += facts->first_out[i];
    }
    for (uint32_t k = 0; k < graph->edge_count; k++) {
        facts->out[facts->first_out[graph->edges[k].source + 1]++] = k;
    }
    return true;
}

/* What went into a fact. */
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

/* Of a value that is no node, the object that it is. */
static struct inputs find_inputs(const struct diff_facts *facts,
                                 const struct diff_fact *fact)
{
    const struct graph *graph = &facts->graph;
    struct inputs inputs = {.close = NONE, .layout = NONE, .code = NONE};

    if (fact->node == GRAPH_NONE) {
        const struct diff_fact *origin =
            fact->origin == 0 ? NULL : diff_facts_find(facts, fact->origin - 1);

        if (origin != NULL) {
            add_input(facts, origin, true, &inputs);
        }
        return inputs;
    }
    for (uint32_t k = graph->nodes[fact->node].first_edge;
         k < graph->nodes[fact->node + 1].first_edge; k++) {
        const struct graph_edge *edge = &graph->edges[k];
        uint32_t source = facts->facts[edge->source];

        if (source != NONE && (is_value_edge(edge) || facts->items[source].is_form)) {
            add_input(facts, &facts->items[source], edge->is_unsure == 0, &inputs);
        }
    }
    return inputs;
}

static bool
is_input(const struct diff_facts *facts, const struct diff_fact *fact, uint32_t number)
{
    const struct graph *graph = &facts->graph;

    if (fact->node == GRAPH_NONE || number == NONE) {
        return false;
    }
    for (uint32_t k = graph->nodes[fact->node].first_edge;
         k < graph->nodes[fact->node + 1].first_edge; k++) {
        if (facts->facts[graph->edges[k].source] == number) {
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
    const struct graph *graph = &others->graph;

    if (other->node == GRAPH_NONE || digest == 0) {
        return false;
    }
    for (uint32_t k = graph->nodes[other->node].first_edge;
         k < graph->nodes[other->node + 1].first_edge; k++) {
        uint32_t source = others->facts[graph->edges[k].source];

        if (source != NONE && others->items[source].digest == digest &&
            !is_input(facts, fact, others->items[source].partner)) {
            return true;
        }
    }
    return false;
}

/* The line that the other program lacks, where its value was written into an item that the fact is. */
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

const struct diff_fact *diff_facts_find_code(const struct diff_facts *facts,
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
    /* Sources stand before what was made from them. */
    for (uint32_t node = 0; node < facts->graph.node_count; node++) {
        struct diff_fact *fact =
            facts->facts[node] == NONE ? NULL : &facts->items[facts->facts[node]];

        if (fact != NULL && (fact->state == DIFF_STATE_CODE || fact->is_lone_part)) {
            struct inputs inputs = find_inputs(facts, fact);

            if (fact->state == DIFF_STATE_CODE || inputs.code != NONE) {
                /* An item may be written to by another name, in a line of this program alone. */
                fact->state = DIFF_STATE_CODE;
                fact->is_odd = inputs.is_odd || inputs.is_unsure_odd;
            }
        }
    }
}

/* ---- verdicts on pairs ---- */

/* The first value of the chain of close ones that leads to this one. */
static uint32_t
find_first_of(const struct diff_facts *facts, uint32_t number, enum diff_state state)
{
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

static bool is_growth(const struct diff_fact *close, const struct diff_fact *fact)
{
    return close->apart > 0 && fact->apart >= 0 &&
           fact->apart <= GROWTH_MAX * close->apart;
}

/* Whether the pair's difference comes from one in layout, or within tolerance: that one is own then. */
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
    if (inputs->close == NONE || !is_growth(&b->items[inputs->close], fact)) {
        return false;
    }
    first = find_first_of(b, inputs->close, DIFF_STATE_CLOSE);
    if (!b->items[first].is_edited) {
        return false;
    }
    if (b->items[first].verdict != DIFF_VERDICT_OWN) {
        b->items[first].verdict = DIFF_VERDICT_OWN;
        b->items[first].grown = (uint32_t)(fact - b->items);
    }
    return true;
}

/* Memory that B's value shares with one that was written, and A's does not: where it began to. */
static bool comes_from_sharing(struct diff_facts sides[2], struct diff_fact *fact)
{
    struct diff_facts *b = &sides[1];
    const struct graph *graph = &b->graph;

    if (fact->node == GRAPH_NONE) {
        return false;
    }
    for (uint32_t k = graph->nodes[fact->node].first_edge;
         k < graph->nodes[fact->node + 1].first_edge; k++) {
        uint32_t writer = b->facts[graph->edges[k].source];
        struct inputs inputs;

        if (graph->edges[k].kind != GRAPH_ALIAS || writer == NONE) {
            continue;
        }
        inputs = find_inputs(b, &b->items[writer]);
        if (b->items[writer].state == DIFF_STATE_LAYOUT) {
            inputs.layout = writer;
        }
        if (inputs.layout != NONE) {
            writer = find_first_of(b, inputs.layout, DIFF_STATE_LAYOUT);
            b->items[writer].verdict = DIFF_VERDICT_OWN;
            return true;
        }
    }
    return false;
}

static void
judge_pair(struct diff_facts sides[2], struct diff_fact *fact, bool has_hidden)
{
    struct diff_fact *other = &sides[0].items[fact->partner];
    struct inputs inputs = find_inputs(&sides[1], fact);
    struct inputs others = find_inputs(&sides[0], other);
    bool is_unsure = !inputs.is_odd && inputs.is_unsure_odd;
    bool is_inherited = inputs.is_odd || (is_unsure && !fact->is_edited);
    bool has_code = diff_facts_find_code(&sides[1], fact, &sides[0], other) != NULL ||
                    diff_facts_find_code(&sides[0], other, &sides[1], fact) != NULL;

    if (fact->is_edited && !others.is_odd && !others.is_unsure_odd) {
        is_inherited = false; /* the line that was edited reads another value */
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
        is_inherited = comes_from_before(&sides[1], fact, &inputs) ||
                       comes_from_sharing(sides, fact);
    }
    if (!is_inherited && has_hidden && fact->is_values && !fact->is_edited) {
        is_inherited = true;
    }
    fact->is_unsure = is_unsure;
    fact->verdict = is_inherited ? DIFF_VERDICT_INHERITED : DIFF_VERDICT_OWN;
    /* What a new line computes is why it differs, and that the line was edited. */
    fact->is_edited |= has_code;
}

static void judge_pairs(struct diff_facts sides[2])
{
    bool has_hidden = false;

    for (size_t i = 0; i < sides[1].count; i++) {
        struct diff_fact *fact = &sides[1].items[i];

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
        has_hidden = has_hidden || (fact->is_hidden && fact->is_odd);
    }
}

/* ---- what comes back ---- */

struct losses {
    uint32_t *items[2]; /* owned */
    size_t counts[2];
    size_t done[2]; /* so many were spread */
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

/* Whether something was made from it that is odd, or that is equal and has as many elements as the
 * smaller of the pair. */
static bool is_used(const struct diff_facts *facts,
                    const struct diff_fact *fact,
                    const struct diff_fact *other)
{
    uint64_t count =
        other != NULL && other->count < fact->count ? other->count : fact->count;

    for (uint32_t k = facts->first_out[fact->node];
         k < facts->first_out[fact->node + 1]; k++) {
        uint32_t target = facts->facts[facts->targets[facts->out[k]]];

        if (target == NONE ||
            (!fact->is_form && !is_value_edge(&facts->graph.edges[facts->out[k]]))) {
            continue;
        }
        if (fact->state == DIFF_STATE_CODE || facts->items[target].is_odd ||
            facts->items[target].count >= count) {
            return true;
        }
    }
    return false;
}

/* ---- values that are elsewhere in the other run ---- */

struct order {
    const struct diff_fact *items;
};

static int compare_figures(const void *left, const void *right, void *context)
{
    const struct order *order = context;
    const struct diff_fact *a = &order->items[*(const uint32_t *)left];
    const struct diff_fact *b = &order->items[*(const uint32_t *)right];

    if (a->count != b->count) {
        return a->count < b->count ? -1 : 1;
    }
    if (a->mean != b->mean) {
        return a->mean < b->mean ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

static bool index_figures(struct diff_facts *facts)
{
    struct order order = {facts->items};

    facts->odd = memory_allocate(facts->count + 1, sizeof *facts->odd);
    if (facts->odd == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < facts->count; i++) {
        const struct diff_fact *fact = &facts->items[i];
        bool is_alone =
            fact->state == DIFF_STATE_CODE || fact->state == DIFF_STATE_FLOW;

        if ((fact->is_odd || is_alone) && fact->count > 0) {
            facts->odd[facts->odd_count++] = i;
        }
    }
    qsort_r(facts->odd, facts->odd_count, sizeof *facts->odd, compare_figures, &order);
    return true;
}

static double slack_of(const struct diff_fact *fact)
{
    return FIGURES_RTOL * (fabs(fact->low) + fabs(fact->high)) + 1e-12;
}

static bool has_same_figures(const struct diff_fact *a, const struct diff_fact *b)
{
    double slack = slack_of(a);

    return a->count == b->count && fabs(a->mean - b->mean) <= slack &&
           fabs(a->low - b->low) <= slack && fabs(a->high - b->high) <= slack;
}

/* Whether the other side has the value, elsewhere than in the fact's own pair. */
static bool is_elsewhere(const struct diff_facts *others, const struct diff_fact *fact)
{
    size_t first = 0, end = others->odd_count;
    double least = fact->mean - slack_of(fact);

    if (fact->count == 0) {
        return false;
    }
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        const struct diff_fact *other = &others->items[others->odd[middle]];

        if (other->count < fact->count ||
            (other->count == fact->count && other->mean < least)) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    for (size_t i = 0; i < FIGURES_TRIED && first + i < others->odd_count; i++) {
        uint32_t number = others->odd[first + i];
        const struct diff_fact *other = &others->items[number];

        if (other->count != fact->count || other->mean > fact->mean + slack_of(fact)) {
            return false;
        }
        if (number != fact->partner && has_same_figures(fact, other)) {
            return true;
        }
    }
    return false;
}

static uint64_t key_of(const struct diff_fact *fact)
{
    uint64_t parts[2] = {fact->key, fact->digest};

    return hash_64((struct slice){(const char *)parts, sizeof parts});
}

/* A text that a line passes as it stands, and that no value is made from, such as the name of an
 * implementation: what it chooses shows in other values. */
static bool is_choice(const struct diff_facts *facts, const struct diff_fact *fact)
{
    return fact->is_passed_text && fact->is_edited &&
           facts->graph.nodes[fact->node].first_edge ==
               facts->graph.nodes[fact->node + 1].first_edge;
}

/* Whether nothing was made from it and the other run does not have it either. */
static bool is_dropped(struct diff_facts sides[2], unsigned side, uint32_t number)
{
    const struct diff_fact *fact = &sides[side].items[number];

    const struct diff_fact *other =
        fact->partner == NONE ? NULL : &sides[1 - side].items[fact->partner];

    return fact->node != GRAPH_NONE && !is_used(&sides[side], fact, other) &&
           !is_choice(&sides[side], fact) &&
           (fact->digest == 0 ||
            number_map_get(&sides[1 - side].alone, key_of(fact)) == NUMBER_MAP_NONE);
}

static bool index_alone(struct diff_facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        const struct diff_fact *fact = &facts->items[i];
        bool is_alone =
            fact->state == DIFF_STATE_CODE || fact->state == DIFF_STATE_FLOW;

        if (fact->digest == 0 || fact->state == DIFF_STATE_DIFFERS) {
            continue;
        }
        if (!number_map_put(&facts->alone,
                            is_alone ? key_of(fact) : key_of(fact) ^ fact->site,
                            (uint32_t)i)) {
            return false;
        }
    }
    return true;
}

/* Whether its site has computed the same in both runs: a recomputation. */
static bool is_repeated(const struct diff_facts *facts, const struct diff_fact *fact)
{
    return fact->digest != 0 &&
           number_map_get(&facts->alone, key_of(fact) ^ fact->site) != NUMBER_MAP_NONE;
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
            return false; /* as its items are */
        }
        return (side == 1 && fact->verdict == DIFF_VERDICT_OWN && !fact->is_form &&
                !is_choice(&sides[side], fact) &&
                !is_elsewhere(&sides[1 - side], fact) &&
                !is_elsewhere(&sides[side], other)) ||
               (side == 1 && fact->verdict == DIFF_VERDICT_OWN && !fact->is_edited) ||
               (fact->node == GRAPH_NONE &&
                (other == NULL || other->node == GRAPH_NONE)) ||
               fact->is_other_type || is_dropped(sides, side, number);
    default:
        return false;
    }
}

/* What something lost was made from is lost. */
static void spread(struct diff_facts sides[2], struct losses *losses)
{
    size_t *done = losses->done;

    while (done[0] < losses->counts[0] || done[1] < losses->counts[1]) {
        unsigned side = done[0] < losses->counts[0] ? 0 : 1;
        const struct diff_facts *facts = &sides[side];
        const struct diff_fact *fact = &facts->items[losses->items[side][done[side]++]];
        const struct graph *graph = &facts->graph;

        if (fact->node == GRAPH_NONE) {
            continue;
        }
        for (uint32_t k = graph->nodes[fact->node].first_edge;
             k < graph->nodes[fact->node + 1].first_edge; k++) {
            uint32_t source = facts->facts[graph->edges[k].source];

            if (source != NONE && facts->items[source].is_odd &&
                (is_value_edge(&graph->edges[k]) || facts->items[source].is_form)) {
                lose(sides, losses, side, source);
            }
        }
    }
}

/* Whether something is lost on the way of one run's own that begins with that fact. */
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

/* What a condition reads is lost if the way that it chose is. */
static void lose_conditions(struct diff_facts sides[2], struct losses *losses)
{
    for (unsigned side = 0; side < 2; side++) {
        const struct diff_facts *facts = &sides[side];

        for (size_t i = 0; i < facts->count; i++) {
            const struct diff_fact *fact = &facts->items[i];
            bool is_first = i == 0 || facts->items[i - 1].state != DIFF_STATE_FLOW;

            if (fact->condition == NULL || !is_first || !is_way_lost(facts, i)) {
                continue;
            }
            for (uint32_t k = 0; k < fact->condition->read_count; k++) {
                const struct diff_fact *read =
                    diff_facts_find_read(facts, fact, &fact->condition->reads[k]);

                if (read != NULL && read->is_odd) {
                    lose(sides, losses, side, (uint32_t)(read - facts->items));
                }
            }
        }
    }
}

/* A container of another length comes back if it has odd or new items and none of them is lost. */
static bool
has_lost_items(const struct diff_facts *facts, uint32_t number, bool *has_odd)
{
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

static bool find_lost(struct diff_facts sides[2], bool has_edits)
{
    struct losses losses = {.counts = {0, 0}, .done = {0, 0}};
    bool is_done = true;

    for (unsigned side = 0; side < 2; side++) {
        losses.items[side] =
            memory_allocate(sides[side].count + 1, sizeof *losses.items[side]);
        is_done = is_done && losses.items[side] != NULL && index_alone(&sides[side]) &&
                  index_figures(&sides[side]);
    }
    for (unsigned side = 0; is_done && side < 2; side++) {
        for (uint32_t i = 0; i < sides[side].count; i++) {
            if (is_lost_at_once(sides, side, i, has_edits)) {
                lose(sides, &losses, side, i);
            }
        }
    }
    if (is_done) {
        spread(sides, &losses);
        lose_conditions(sides, &losses);
        spread(sides, &losses);
        find_lost_containers(sides);
    }
    for (size_t i = 0; is_done && i < sides[1].count; i++) {
        struct diff_fact *fact = &sides[1].items[i];

        if (fact->state == DIFF_STATE_DIFFERS && !fact->is_lost &&
            fact->verdict >= DIFF_VERDICT_INHERITED) {
            fact->verdict = DIFF_VERDICT_STEP;
        }
    }
    memory_free(losses.items[0]);
    memory_free(losses.items[1]);
    return is_done;
}

bool diff_facts_judge(struct diff_facts sides[2], bool has_edits)
{
    for (unsigned side = 0; side < 2; side++) {
        if (!index_edges(&sides[side])) {
            return false;
        }
        find_odd(&sides[side]);
    }
    judge_pairs(sides);
    return find_lost(sides, has_edits);
}
