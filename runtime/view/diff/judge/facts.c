/* Facts of all events of two traces. */
#include "runtime/view/diff/judge/facts.h"

#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"

#include <assert.h>
#include <stdlib.h>

#define NONE DIFF_FACT_NONE
/* A name is searched in this many facts before the event. */
#define READ_DISTANCE 65536

void diff_facts_init(struct diff_facts *facts)
{
    *facts = (struct diff_facts){.changed_from = UINT64_MAX};
}

void diff_facts_release(struct diff_facts *facts)
{
    memory_free(facts->items);
    memory_free(facts->details);
    memory_free(facts->returned);
    memory_free(facts->sites);
    memory_free(facts->order);
    memory_free(facts->nodes);
    memory_free(facts->edges);
    memory_free(facts->odd);
    memory_free(facts->steady);
    number_map_release(&facts->alone);
    diff_facts_init(facts);
}

bool diff_facts_set_graph(struct diff_facts *facts,
                          struct graph *graph,
                          uint64_t first_event)
{
    uint32_t count = graph->node_count;

    assert(facts->count == 0);
    facts->first_event = first_event;
    facts->nodes = memory_allocate((size_t)count + 1, sizeof *facts->nodes);
    if (facts->nodes == NULL || graph->edge_count >= NONE ||
        (count > 0 && graph->nodes[count - 1].event - first_event >= NONE)) {
        graph_release(graph);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        facts->nodes[i] =
            (struct diff_node){(uint32_t)(graph->nodes[i].event - first_event),
                               graph->nodes[i].first_edge};
    }
    facts->nodes[count] = (struct diff_node){NONE, graph->edge_count};
    facts->node_count = count;
    facts->edges = graph->edges;
    graph->edges = NULL;
    graph_release(graph);
    return true;
}

/* ---- facts ---- */

bool diff_facts_note_site(struct diff_facts *facts, const struct log_event_view *event)
{
    void *sites = facts->sites;

    if (event->site_number >= facts->site_capacity) {
        if (!memory_grow_zeroed(&sites, &facts->site_capacity,
                                (size_t)event->site_number + 1, sizeof *facts->sites)) {
            return false;
        }
        facts->sites = sites;
    }
    facts->sites[event->site_number] =
        (struct diff_fact_site){event->site, event->module_number};
    return true;
}

struct diff_fact_site diff_fact_site_of(const struct diff_facts *facts,
                                        const struct diff_fact *fact)
{
    assert(fact->site < facts->site_capacity && facts->sites[fact->site].site != NULL);
    return facts->sites[fact->site];
}

struct slice diff_fact_name(const struct diff_facts *facts,
                            const struct diff_fact *fact)
{
    const struct site *site = diff_fact_site_of(facts, fact).site;

    if (fact->is_read) {
        return fact->name < site->read_count ? site->reads[fact->name].name : SLICE("");
    }
    return fact->name < site->write_count ? site->writes[fact->name].name : SLICE("");
}

struct diff_details *diff_fact_details(const struct diff_facts *facts,
                                       const struct diff_fact *fact)
{
    return fact->details == NONE ? NULL : &facts->details[fact->details];
}

static bool add_details(struct diff_facts *facts, const struct diff_details *details)
{
    void *items = facts->details;

    if (!memory_grow(&items, &facts->detail_capacity, facts->detail_count + 1,
                     sizeof *facts->details)) {
        return false;
    }
    facts->details = items;
    facts->details[facts->detail_count++] = *details;
    return true;
}

static bool add_returned(struct diff_facts *facts, const struct open_call *call)
{
    void *items = facts->returned;

    if (!memory_grow(&items, &facts->returned_capacity, facts->returned_count + 1,
                     sizeof *facts->returned)) {
        return false;
    }
    facts->returned = items;
    facts->returned[facts->returned_count++] =
        (struct diff_returned){(uint32_t)facts->count, call->parent->call, call->line};
    return true;
}

uint32_t diff_facts_add(struct diff_facts *facts,
                        const struct diff_fact *fact,
                        const struct diff_details *details,
                        const struct open_call *call)
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
    facts->items[number].details = NONE;
    if (details != NULL) {
        facts->items[number].details = (uint32_t)facts->detail_count;
        if (!add_details(facts, details)) {
            return NONE;
        }
    }
    if (fact->is_result && call != NULL && call->parent != NULL &&
        !add_returned(facts, call)) {
        return NONE;
    }
    facts->count++;
    return number;
}

/* Returns the fact at that index in the order of events. */
static struct diff_fact *fact_at(const struct diff_facts *facts, size_t place)
{
    return &facts->items[facts->order == NULL ? place : facts->order[place]];
}

static bool is_before(const void *facts, size_t place, uint64_t event)
{
    return fact_at(facts, place)->event < event;
}

static struct diff_fact *find_event(const struct diff_facts *facts, uint64_t event)
{
    size_t place = sorted_place(facts, facts->count, is_before, event);
    struct diff_fact *fact = place < facts->count ? fact_at(facts, place) : NULL;

    return fact != NULL && fact->event == event ? fact : NULL;
}

struct diff_fact *diff_facts_find(struct diff_facts *facts, uint64_t event)
{
    uint64_t number = event - facts->first_event;
    struct diff_fact *found;

    for (size_t i = facts->cursor; i < facts->count && i < facts->cursor + 2; i++) {
        if (facts->items[i].event == number) {
            facts->cursor = i;
            return &facts->items[i];
        }
    }
    found = find_event(facts, number);
    if (found != NULL) {
        facts->cursor = (size_t)(found - facts->items);
    }
    return found;
}

const struct diff_fact *diff_facts_find_origin(const struct diff_facts *facts,
                                               const struct diff_fact *fact)
{
    const struct diff_details *details = diff_fact_details(facts, fact);

    return details == NULL || details->origin <= facts->first_event
               ? NULL
               : find_event(facts, details->origin - 1 - facts->first_event);
}

static bool is_named(const struct diff_facts *facts,
                     const struct diff_fact *fact,
                     const struct site_read *read,
                     bool is_whole)
{
    return !fact->is_result && !(is_whole && fact->path != 0) &&
           slice_equal(diff_fact_name(facts, fact), read->name);
}

/* Returns the newest input of that name. NULL: none. */
static const struct diff_fact *find_input(const struct diff_facts *facts,
                                          const struct diff_fact *reader,
                                          const struct site_read *read,
                                          bool is_whole)
{
    const struct diff_fact *found = NULL;

    if (reader->node == GRAPH_NONE) {
        return NULL;
    }
    for (uint32_t i = facts->nodes[reader->node].first_edge;
         i < facts->nodes[reader->node + 1].first_edge; i++) {
        uint32_t number = facts->nodes[facts->edges[i].source].fact;

        if (number != NONE && is_named(facts, &facts->items[number], read, is_whole) &&
            (found == NULL || facts->items[number].event > found->event)) {
            found = &facts->items[number];
        }
    }
    return found;
}

const struct diff_fact *diff_facts_find_read(const struct diff_facts *facts,
                                             const struct diff_fact *reader,
                                             const struct site_read *read,
                                             bool is_whole)
{
    const struct diff_fact *input = find_input(facts, reader, read, is_whole);
    size_t place = (size_t)(reader - facts->items);
    uint32_t module = diff_fact_site_of(facts, reader).module;

    assert(place < facts->count);
    if (input != NULL) {
        return input;
    }
    for (size_t i = 0; i < READ_DISTANCE && place-- > 0; i++) {
        const struct diff_fact *fact = &facts->items[place];
        bool is_here = fact->call == reader->call;

        if ((is_here ||
             (facts->sites[fact->site].module == module &&
              read->scope != SITE_SCOPE_LOCAL) ||
             slice_starts(read->name, SLICE("self."))) &&
            is_named(facts, fact, read, is_whole)) {
            return fact;
        }
    }
    return NULL;
}

static bool is_fact_before(const void *returned, size_t place, uint64_t fact)
{
    return ((const struct diff_returned *)returned)[place].fact < fact;
}

const struct diff_fact *diff_facts_find_result(const struct diff_facts *facts,
                                               const struct diff_fact *reader)
{
    size_t place = (size_t)(reader - facts->items);
    size_t result =
        sorted_place(facts->returned, facts->returned_count, is_fact_before, place);
    uint32_t line = diff_fact_site_of(facts, reader).site->line;

    assert(place < facts->count);
    for (size_t i = 0; i < READ_DISTANCE && place-- > 0; i++) {
        if (facts->items[place].call == reader->call) {
            return NULL;
        }
        if (result == 0 || facts->returned[result - 1].fact != place) {
            continue;
        }
        result--;
        if (facts->returned[result].parent == reader->call &&
            facts->returned[result].line == line) {
            return &facts->items[place];
        }
    }
    return NULL;
}

/* ---- order ---- */

static int compare_events(const void *left, const void *right, void *items)
{
    uint32_t a = ((const struct diff_fact *)items)[*(const uint32_t *)left].event;
    uint32_t b = ((const struct diff_fact *)items)[*(const uint32_t *)right].event;

    return a < b ? -1 : a > b;
}

/* Sorts the facts by their events, if they were added in another order: facts of several
 * threads, and items whose order differs in the other run. */
static bool order_facts(struct diff_facts *facts)
{
    size_t sorted = 1;

    while (sorted < facts->count &&
           facts->items[sorted - 1].event < facts->items[sorted].event) {
        sorted++;
    }
    if (sorted >= facts->count) {
        return true;
    }
    facts->order = memory_allocate(facts->count, sizeof *facts->order);
    if (facts->order == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < facts->count; i++) {
        facts->order[i] = i;
    }
    qsort_r(facts->order, facts->count, sizeof *facts->order, compare_events,
            facts->items);
    return true;
}

/* Finds the node of each fact, and the fact of each node, in one pass: both are in the order of
 * events. */
static void join_nodes(struct diff_facts *facts)
{
    size_t place = 0;

    for (uint32_t i = 0; i < facts->node_count; i++) {
        uint32_t event = facts->nodes[i].fact;

        while (place < facts->count && fact_at(facts, place)->event < event) {
            place++;
        }
        facts->nodes[i].fact = NONE;
        if (place < facts->count && fact_at(facts, place)->event == event) {
            facts->nodes[i].fact = (uint32_t)(fact_at(facts, place) - facts->items);
            fact_at(facts, place)->node = i;
        }
    }
}

bool diff_facts_join(struct diff_facts *facts)
{
    if (!order_facts(facts)) {
        return false;
    }
    join_nodes(facts);
    return true;
}
