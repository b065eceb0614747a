/* Facts: results of the comparison of two traces, one for each event. Verdicts are derived from
 * them and from the graphs of both traces: see verdicts.h. */
#ifndef MONITORCH_VIEW_DIFF_JUDGE_FACTS_H
#define MONITORCH_VIEW_DIFF_JUDGE_FACTS_H

#include "runtime/base/number_map.h"
#include "runtime/trace/reader.h"
#include "runtime/view/graph/graph.h"
#include "runtime/view/walk/open_calls.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIFF_FACT_NONE UINT32_MAX

enum diff_state {
    DIFF_STATE_EQUAL,
    DIFF_STATE_CLOSE,  /* within tolerance, not bitwise equal */
    DIFF_STATE_LAYOUT, /* only the strides differ */
    DIFF_STATE_DIFFERS,
    DIFF_STATE_IGNORED, /* its name is ignored */
    DIFF_STATE_CODE,    /* alone: of code that the other program lacks */
    DIFF_STATE_FLOW,    /* alone: the other run did not reach it */
};

enum diff_verdict {
    DIFF_VERDICT_EQUAL,
    DIFF_VERDICT_LAYOUT,
    DIFF_VERDICT_CLOCK, /* differs, but does not count */
    DIFF_VERDICT_STEP,  /* odd, but has no effect on later values */
    DIFF_VERDICT_INHERITED,
    DIFF_VERDICT_OWN,
};

/* Fact of an event of either trace. There is one for each event, so its size decides the memory
 * that a comparison needs. */
struct diff_fact {
    uint64_t digest;  /* equal for equal values; 0: not known */
    uint32_t event;   /* relative to the side's first event */
    uint32_t partner; /* fact of the other side; DIFF_FACT_NONE: it is alone */
    uint32_t node;    /* GRAPH_NONE: the value has no node */
    uint32_t call;
    uint32_t site;      /* of the trace */
    uint32_t path;      /* hash of the item's path in the value; 0: the value itself */
    uint32_t count;     /* number of elements, saturated; 0: no figures */
    uint32_t details;   /* in diff_facts.details; DIFF_FACT_NONE: an equal pair */
    uint16_t name;      /* index in the site's writes, or reads */
    uint8_t state;      /* enum diff_state */
    uint8_t verdict;    /* enum diff_verdict */
    uint8_t extent;     /* the largest dimension is at most 2 to the power of it */
    bool is_read : 1;   /* recorded because it was read */
    bool is_code : 1;   /* alone: its line or its call is not in the other program */
    bool is_number : 1; /* a number or a text */
    bool is_result : 1; /* of a return */
    bool is_passed_text : 1; /* a text as an argument */
    bool is_container : 1;
    bool is_part : 1;      /* an item of the container before it */
    bool is_lone_part : 1; /* an item that the other run's container lacks */
    bool is_clock : 1; /* may differ by chance: read from a clock, an address, a path */
    bool is_edited : 1;     /* its line, or the line that passed it, is edited */
    bool is_form : 1;       /* differs in type, dtype, shape or device */
    bool is_values : 1;     /* differs only in its values */
    bool is_other_type : 1; /* a number or text whose type differs */
    bool is_hidden : 1;     /* differs, and its statement may write to any value */
    bool is_backward : 1;   /* its statement runs a backward */
    bool is_odd : 1;
    bool is_used : 1;     /* odd, and a value was made from it: see verdicts.c */
    bool is_lost : 1;     /* odd, and it has an effect: it does not come back */
    bool is_absorbed : 1; /* OWN: all values made from it are equal */
    bool is_unsure : 1;   /* may be inherited, by an uncertain edge */
    bool is_grafted : 1;  /* B's value was replaced by A's, or it is that value of A */
};

static_assert(sizeof(struct diff_fact) == 48, "a fact costs what diff.md says");

/* Further data of an event that is not an equal pair. */
struct diff_details {
    uint64_t origin; /* 1 + the last event that held the object before; 0: none */
    float low, high, mean;
    float apart; /* distance of the pair, relative to their size; -1: not known */
    /* Estimated distance of equal runs, relative to the size. Before diff_verdicts_find: a unit of
     * the dtype. */
    float rounding;
    uint32_t grown; /* OWN: fact of B at which its error exceeds the tolerance */
    /* Alone: the edited line that made the call around it. Line 0: none. */
    uint32_t edit_module, edit_line;
};

/* The result of a call: its fact, the caller, and the caller's line. */
struct diff_returned {
    uint32_t fact, parent, line;
};

struct diff_fact_site {
    const struct site *site; /* borrowed from the reader; NULL: not reached */
    uint32_t module;
};

/* Node of the trace's graph, reduced to the fields that judge needs. */
struct diff_node {
    uint32_t
        fact; /* before diff_facts_join the event, from the first one; DIFF_FACT_NONE */
    uint32_t first_edge;
};

struct diff_facts {
    struct diff_fact *items; /* owned */
    size_t count, capacity;
    struct diff_details *details; /* owned */
    size_t detail_count, detail_capacity;
    struct diff_returned *returned; /* owned; sorted by fact */
    size_t returned_count, returned_capacity;
    struct diff_fact_site *sites; /* owned; by number */
    size_t site_capacity;
    uint64_t first_event;
    uint32_t *order; /* owned: facts in the order of events; NULL: they are in order */
    size_t cursor;   /* index of the last fact that was found */
    struct diff_node *nodes;  /* owned; one more than node_count, to end the edges */
    struct graph_edge *edges; /* owned */
    uint32_t node_count;
    /* B: the first event, counted from first_event, from which on gradients or steps may differ;
     * or UINT64_MAX. */
    uint64_t changed_from;
    bool has_cause; /* B: there is an own difference that is not absorbed */
    /* Owned; B: by site, whether its values are equal before a step of training that may enlarge
     * rounding errors. NULL: there is no such step. */
    uint8_t *steady;
    uint32_t *odd; /* owned: odd facts with figures, sorted by count and mean */
    size_t odd_count;
    struct number_map
        alone; /* keys of values that only this side has, and of equal pairs by site */
};

void diff_facts_init(struct diff_facts *facts);
void diff_facts_release(struct diff_facts *facts);

/* Takes over the graph of the side's trace, and frees the parts that are not needed. To be
 * called before the first fact is added. Returns false if memory ran out. */
bool diff_facts_set_graph(struct diff_facts *facts,
                          struct graph *graph,
                          uint64_t first_event);

/* Adds a copy of the fact, of its details if it has some, and for a result the calling call.
 * Returns the fact's number; DIFF_FACT_NONE: out of memory. */
uint32_t diff_facts_add(struct diff_facts *facts,
                        const struct diff_fact *fact,
                        const struct diff_details *details,
                        const struct open_call *call);
/* Returns the fact of an event; NULL: there is none. Fast if events are searched in the order in
 * which they were added. */
struct diff_fact *diff_facts_find(struct diff_facts *facts, uint64_t event);

/* Records the site of the event whose fact is added next. Returns false if memory ran out. */
bool diff_facts_note_site(struct diff_facts *facts, const struct log_event_view *event);
struct diff_fact_site diff_fact_site_of(const struct diff_facts *facts,
                                        const struct diff_fact *fact);
struct slice diff_fact_name(const struct diff_facts *facts,
                            const struct diff_fact *fact);
/* Returns the details. NULL: the fact is an equal pair. */
struct diff_details *diff_fact_details(const struct diff_facts *facts,
                                       const struct diff_fact *fact);

/* Returns the fact of the value that the site's read refers to: by the graph, else the newest
 * one of that name before the event, in the same call, or in its module if the name is not
 * local. `is_whole`: skip items of values. NULL: none. */
const struct diff_fact *diff_facts_find_read(const struct diff_facts *facts,
                                             const struct diff_fact *reader,
                                             const struct site_read *read,
                                             bool is_whole);

/* Returns the fact of the last result that a call of the fact's statement returned. NULL: none. */
const struct diff_fact *diff_facts_find_result(const struct diff_facts *facts,
                                               const struct diff_fact *reader);

/* Returns the fact of the event that held the object before, for a value without a node. NULL:
 * none. */
const struct diff_fact *diff_facts_find_origin(const struct diff_facts *facts,
                                               const struct diff_fact *fact);

/* Connects facts and nodes after the last fact was added. Returns false if memory ran out. */
bool diff_facts_join(struct diff_facts *facts);

#endif
