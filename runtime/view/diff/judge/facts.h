/* Facts: what the comparison of two traces found of each event. Verdicts follow from them and from the
 * graphs of both traces: see verdicts.h. */
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
    DIFF_STATE_CLOSE,  /* within tolerance, not the same to the bit */
    DIFF_STATE_LAYOUT, /* the strides alone differ */
    DIFF_STATE_DIFFERS,
    DIFF_STATE_IGNORED, /* its name is ignored */
    DIFF_STATE_CODE,    /* alone: of code that the other program does not have */
    DIFF_STATE_FLOW,    /* alone: the other run did not reach it */
};

enum diff_verdict {
    DIFF_VERDICT_EQUAL,
    DIFF_VERDICT_LAYOUT,
    DIFF_VERDICT_CLOCK, /* differs, and does not count */
    DIFF_VERDICT_STEP,  /* odd, and comes back to equal values */
    DIFF_VERDICT_INHERITED,
    DIFF_VERDICT_OWN,
};

/* An event of either trace. One of these for each: its size is what a comparison costs. */
struct diff_fact {
    uint64_t digest;  /* the same for the same value; 0: not known */
    uint32_t event;   /* from the side's first one on */
    uint32_t partner; /* fact of the other side; DIFF_FACT_NONE: it is alone */
    uint32_t node;    /* GRAPH_NONE: the value is none */
    uint32_t call;
    uint32_t site;    /* of the trace */
    uint32_t path;    /* hash of the place in the value; 0: the value itself */
    uint32_t count;   /* of elements, as far as it holds them; 0: no number */
    uint32_t details; /* in diff_facts.details; DIFF_FACT_NONE: a pair that is equal */
    uint16_t name;    /* of the site's writes, or reads */
    uint8_t state;    /* enum diff_state */
    uint8_t verdict;  /* enum diff_verdict */
    uint8_t extent;   /* the largest dimension is at most two to the power of it */
    bool is_read : 1; /* recorded because it was read */
    bool is_code : 1; /* alone: of a line that the other program lacks, or of a call by
                       * one */
    bool is_number : 1;      /* a number or a text */
    bool is_result : 1;      /* of a return */
    bool is_passed_text : 1; /* a text as an argument */
    bool is_container : 1;
    bool is_part : 1;      /* an item of the container before it */
    bool is_lone_part : 1; /* such an item that the other run's container lacks */
    bool is_clock : 1; /* may differ by itself: read from a clock, an address, a path */
    bool is_edited : 1; /* its line reads differently, or the line that passed it */
    bool is_form : 1;   /* differs in more than its values */
    bool is_values : 1; /* differs in its values alone */
    bool
        is_other_type : 1; /* a number or a text of another type than the other side's */
    bool is_hidden : 1;    /* differs, and its statement may have written anywhere */
    bool is_backward : 1;  /* its statement runs a backward */
    bool is_odd : 1;
    bool is_used : 1;     /* odd, and something was made from it: see verdicts.c */
    bool is_lost : 1;     /* odd, and does not come back */
    bool is_absorbed : 1; /* OWN: all that was made from it is equal */
    bool is_unsure : 1;   /* an odd input may be one, by an edge that is not certain */
    bool
        is_grafted : 1; /* B's got A's value once it was recorded; or A's is that value */
};

static_assert(sizeof(struct diff_fact) == 48, "a fact costs what diff.md says");

/* What is kept of an event that is no equal pair. */
struct diff_details {
    uint64_t origin; /* 1 + the event that held the object before; 0: none */
    float low, high, mean;
    float apart; /* how far apart two values are, in their size; -1: not known */
    float
        rounding; /* how far apart equal runs may come, in its size; before diff_verdicts_find a unit of
                     * its dtype */
    uint32_t grown; /* OWN: the fact of B at which its error is beyond tolerance */
    /* Alone: the edited line that made the call which it is in; line 0: none. */
    uint32_t edit_module, edit_line;
};

/* What a call returned: the call that made it, and where. */
struct diff_returned {
    uint32_t fact, parent, line;
};

struct diff_fact_site {
    const struct site *site; /* borrowed from the reader; NULL: not visited */
    uint32_t module;
};

/* A node of the trace's graph, of which the judge needs no more. */
struct diff_node {
    uint32_t
        fact; /* the event from the first one on, until diff_facts_join; DIFF_FACT_NONE */
    uint32_t first_edge;
};

struct diff_facts {
    struct diff_fact *items; /* owned */
    size_t count, capacity;
    struct diff_details *details; /* owned */
    size_t detail_count, detail_capacity;
    struct diff_returned *returned; /* owned; by their facts */
    size_t returned_count, returned_capacity;
    struct diff_fact_site *sites; /* owned; by number */
    size_t site_capacity;
    uint64_t first_event;
    uint32_t
        *order;    /* owned: the facts by their events; NULL: they are in that order */
    size_t cursor; /* the fact that was found last */
    struct diff_node *nodes;  /* owned; one more behind the last, for its edges' end */
    struct graph_edge *edges; /* owned */
    uint32_t node_count;
    uint64_t
        changed_from; /* B: from this event on, counted from the first one, gradients or steps
                              differ; UINT64_MAX */
    bool has_cause; /* B: an own difference that is not absorbed */
    uint8_t *
        steady; /* owned; B: by site, whether its values are equal before a step of training that may
                      * have enlarged rounding; NULL: there is no such step */
    uint32_t *odd; /* owned: odd facts with figures, by their counts and means */
    size_t odd_count;
    struct number_map
        alone; /* the values that this side alone has, and those of equal pairs by site */
};

void diff_facts_init(struct diff_facts *facts);
void diff_facts_release(struct diff_facts *facts);

/* The graph of the side's trace, before the first fact; what is not needed of it is freed. false: out of
 * memory. */
bool diff_facts_set_graph(struct diff_facts *facts,
                          struct graph *graph,
                          uint64_t first_event);

/* Adds a copy; its details where there are any, and of a result the call that made its call. Gives its
 * number; DIFF_FACT_NONE: out of memory. */
uint32_t diff_facts_add(struct diff_facts *facts,
                        const struct diff_fact *fact,
                        const struct diff_details *details,
                        const struct open_call *call);
/* The fact of an event; NULL: there is none. Quick where events are asked for in the order in which they
 * were added. */
struct diff_fact *diff_facts_find(struct diff_facts *facts, uint64_t event);

/* The site of an event whose fact is added next. false: out of memory. */
bool diff_facts_note_site(struct diff_facts *facts, const struct log_event_view *event);
struct diff_fact_site diff_fact_site_of(const struct diff_facts *facts,
                                        const struct diff_fact *fact);
struct slice diff_fact_name(const struct diff_facts *facts,
                            const struct diff_fact *fact);
/* NULL: the fact is an equal pair. */
struct diff_details *diff_fact_details(const struct diff_facts *facts,
                                       const struct diff_fact *fact);

/* The fact that the site's read stands for: by the graph, else the newest before the event of that name, in
 * the call, or in its module where the name is no local one. `is_whole`: no part of a value. NULL: none. */
const struct diff_fact *diff_facts_find_read(const struct diff_facts *facts,
                                             const struct diff_fact *reader,
                                             const struct site_read *read,
                                             bool is_whole);

/* What a call of the fact's statement returned last; NULL: none. */
const struct diff_fact *diff_facts_find_result(const struct diff_facts *facts,
                                               const struct diff_fact *reader);

/* The object that a value which is no node is; NULL. */
const struct diff_fact *diff_facts_find_origin(const struct diff_facts *facts,
                                               const struct diff_fact *fact);

/* All facts are there: finds the node of each, and the fact of each node. false: out of memory. */
bool diff_facts_join(struct diff_facts *facts);

#endif
