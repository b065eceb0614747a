/* A trace as a graph: which value was made from which. A node is an event, or several that were
 * folded to one; an edge says that the one value went into the other, or is the other. Knows
 * nothing of pictures: docs/internals/graph.md tells how it is found.
 *
 *     struct flow_graph graph;
 *
 *     flow_graph_init(&graph);
 *     if (flow_graph_build(&graph, reader, sources, &options, &error)) { … }
 *     flow_graph_release(&graph);
 *
 * Everything in it is borrowed from the graph's own arena: the reader may be gone. Equal traces
 * give equal graphs; nodes, groups and edges are in the order in which they began. */
#ifndef MONITORCH_VIEW_FLOW_FLOW_H
#define MONITORCH_VIEW_FLOW_FLOW_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"
#include "runtime/view/graph/graph.h"
#include "runtime/view/walk/event_filter.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLOW_NONE UINT32_MAX

enum flow_fold {
    FLOW_FOLD_AUTO, /* turns of a loop and repeated calls that are alike */
    FLOW_FOLD_ALL, /* those that differ too: one node for each site of a function and path */
    FLOW_FOLD_NONE,
};

/* What is to be seen at once: of a comparison, or of where a NaN came from. The graver, the
 * further down. */
enum flow_mark {
    FLOW_MARK_NONE,
    FLOW_MARK_EQUAL,     /* in both traces */
    FLOW_MARK_MEANT,     /* an infinity that its line writes by name, as masks do */
    FLOW_MARK_PASSED,    /* NaN or an infinity, from what it was made from */
    FLOW_MARK_INHERITED, /* differs, as something that it was made from does */
    FLOW_MARK_FIRST,     /* a NaN that no recorded input has */
    FLOW_MARK_ONLY,      /* the other trace has no such event */
    FLOW_MARK_OWN,       /* differs, though all that it was made from is equal */
    FLOW_MARK_PRODUCER,  /* NaN or an infinity, from values without */
    FLOW_MARK_COUNT
};

struct flow_options {
    enum flow_fold fold;
    uint64_t max_nodes;   /* after folding; the newest are kept. 0: all */
    bool keeps_ends;      /* the oldest half of max_nodes, and the newest one */
    uint64_t first_event; /* number of the first event that counts */
    const struct event_filter *filter; /* borrowed; may be NULL */
    bool has_scalars; /* numbers, strings, bools too; else arrays alone are nodes */
    /* One step alone: a turn of the loop that calls the outermost nn.Module, or such a call. `step`
     * counts from 1; 0: the first with a NaN in it, or the first. A trace that calls no module is
     * drawn as a whole. */
    bool has_step;
    bool is_step_call; /* the call alone, though a loop makes it */
    uint64_t step;
    /* Calls nested deeper are one node each, FLOW_NODE_CALL; 0: all calls that the outermost one, or
     * the one with the step, makes. */
    bool has_depth;
    uint32_t depth;
    /* Calls of these functions are no single nodes, however deep they are; those that they make
     * are: flow_node.callee. Borrowed. */
    const uint64_t *opened;
    uint32_t opened_count;
    /* The mark of each event, by its number, where not NULL. Turns and calls whose marks differ
     * are not alike. */
    enum flow_mark (*mark)(void *mark_context, uint64_t event);
    /* What a marked event's node is to say in words besides; "" for nothing. Copied. May be
     * NULL. */
    struct slice (*remark)(void *mark_context, uint64_t event);
    void *mark_context;
    /* Without `mark`: values with a NaN are marked PASSED, or FIRST if no recorded input has one. */
    bool has_nan_marks;
    /* A recording with gradients: backwards, and calls that write to gradients or parameters, are
     * nodes; and nodes have their gradients. */
    bool has_updates;
    /* Nodes have no values: neither form nor figures. For edges alone. */
    bool has_no_values;
    /* The same where there are more nodes; 0: no limit. */
    uint32_t values_limit;
    /* Told now and then, where not NULL; false ends the work with an error. */
    bool (*progress)(void *context, uint64_t events);
    void *progress_context;
};

/* Of the values that a folded node stands for: the least and the greatest. */
struct flow_range {
    double low;
    double high;
};

/* Flags of the graph, and those that a picture's node has besides. */
enum flow_node_flag {
    FLOW_NODE_SOURCE = GRAPH_SOURCE,
    FLOW_NODE_ARGUMENT = GRAPH_ARGUMENT,
    FLOW_NODE_RESULT = GRAPH_RESULT,
    FLOW_NODE_GUESSED = GRAPH_GUESSED, /* `guess` has the words */
    FLOW_NODE_IN_PLACE = GRAPH_IN_PLACE,
    FLOW_NODE_ALIAS = GRAPH_ALIASED,
    FLOW_NODE_PARAMETER = GRAPH_PARAMETER,
    FLOW_NODE_NONFINITE = 128, /* NaN or an infinity is in it, whatever was sampled */
    /* A whole call: its figures are of what that returned, or of another value in it; NONFINITE: a NaN
     * is somewhere inside. */
    FLOW_NODE_CALL = 256,
    /* kind is VALUE_NOTHING, `text` and `inside` say what it wrote */
    FLOW_NODE_UPDATE = GRAPH_UPDATE,
};

/* Of the gradients that a node's values were given, in all their elements. */
struct flow_gradient {
    uint64_t count;          /* gradients; 0: none is recorded */
    uint64_t bad_count;      /* those that hold NaN or an infinity */
    struct flow_range range; /* of finite elements; low > high: there are none */
};

struct flow_node {
    unsigned flags;      /* enum flow_node_flag, combined */
    uint32_t group;      /* the innermost one, or FLOW_NONE */
    uint64_t event;      /* number of the first event that it stands for */
    uint64_t count;      /* how many it stands for; 1 where nothing was folded */
    enum flow_mark mark; /* the gravest of all */
    uint64_t marked;     /* number of the first event that has it */
    struct slice remark; /* what flow_options.remark says of that one; "" */
    struct slice name; /* `x`, `self.scale`, `out[0]['logits']`; of a result `return` */
    struct slice file; /* as the trace has it */
    uint32_t line;     /* 0: not known */
    struct slice code; /* the line's text without blanks around it; "" */
    struct slice function;   /* qualified */
    struct slice guess;      /* `randn(8, 8)` */
    enum change change;      /* since the name's last value; of the last event */
    unsigned difference;     /* enum log_difference */
    struct slice changed_by; /* where ALIASED: `model.py:31 by y` */

    /* CALL: `h.0 … h.3, 41 values inside`, and the first array that it was given, `float32 [4, 8]`. */
    struct slice inside;
    struct slice keeps;
    uint64_t callee; /* CALL: the same number for calls of one function and class */
    uint64_t inside_count; /* CALL: values inside, of all that it stands for */
    struct flow_gradient gradient;
    enum value_kind kind;
    struct slice text; /* where kind is no TENSOR: the value for people */
    /* kind TENSOR: as the last event told it. */
    struct slice
        type; /* "" for a plain tensor or array; `Parameter`, `numpy.ndarray` … */
    enum dtype dtype;
    struct slice dtype_text;
    uint32_t dimension_count;
    const int64_t *shape;
    struct slice device;
    struct slice layout;
    struct slice note; /* why there are no values; "" */
    bool requires_grad;
    bool shape_varies; /* folded values of several shapes; so do dtypes */
    bool has_statistics;
    struct statistics statistics; /* of the last event */
    /* Of all, where count > 1 and has_statistics; real numbers also for integers. */
    struct flow_range min, max, mean, std;
    uint64_t nan_count, posinf_count, neginf_count; /* of all together */
    struct sample_grid grid; /* of the last event; count 0 where there is no sample */
    const void *sample;      /* grid.count elements, aligned for any */
};

struct flow_edge {
    enum graph_kind kind;
    uint32_t name;   /* in names: how the target's statement spells the source */
    uint32_t source; /* index of a node */
    uint32_t target;
    uint64_t count;  /* folded ones */
    bool is_carried; /* from one turn of a folded loop to the next */
    bool is_unsure;  /* a call that was not recorded had it among several arguments */
};

enum flow_group_kind {
    FLOW_GROUP_CALL,
    FLOW_GROUP_LOOP, /* a loop's folded turns */
};

/* Boxes around nodes. A parent stands before its children. */
struct flow_group {
    enum flow_group_kind kind;
    uint32_t parent; /* or FLOW_NONE */
    uint64_t count;  /* how many calls or turns were folded; 1 where none */
    uint32_t
        call; /* the trace's number of the first; LOOP: of the call that it is in */
    struct slice function; /* qualified: `Attention.forward`; LOOP: "" */
    struct slice path; /* `blocks.0.attention`, folded: `blocks.0-11.attention`; "" */
    struct slice class_name;
    struct slice code; /* LOOP: the line of the loop */
    struct slice file;
    uint32_t line; /* of the def or the loop */
    uint16_t thread;
    bool is_recursive; /* stands inside a group of the same function */
};

/* What the graph leaves out, to be told on the picture. */
struct flow_left_out {
    uint64_t older_nodes;   /* beyond max_nodes; and events that a ring does not keep */
    uint64_t between_nodes; /* beyond max_nodes, where keeps_ends */
    uint64_t scalars;       /* events whose values are no arrays */
    uint64_t unchanged;     /* lines that might have written to a value, and did not */
    uint64_t filtered;      /* events that the filter did not let through */
    uint64_t in_part;       /* containers with more in them than the trace has */
    uint64_t beside;        /* nodes that flow_graph_keep left out */
    uint64_t lost_events;   /* never recorded: a full disk, a limit */
};

/* The step that is drawn, of how many. */
struct flow_step {
    uint64_t number; /* from 1; 0: the whole trace is drawn */
    uint64_t count;
    uint32_t call;         /* its first call of the module */
    bool is_turn;          /* of a loop; else that call alone */
    bool has_update;       /* an optimizer's step is in it */
    struct slice name;     /* the module's class */
    uint64_t closed_count; /* calls that are one node each, before folding */
};

struct flow_graph {
    struct flow_node *nodes;
    uint32_t node_count;
    struct flow_edge *edges;
    uint32_t edge_count;
    struct slice *names; /* of edges; 0 is "": not known */
    struct flow_group *groups;
    uint32_t group_count;
    struct flow_left_out left_out;
    struct flow_step step;
    uint64_t event_count; /* events that are nodes, before folding */
    struct slice file;    /* the file that most nodes are of; "" where there are none */
    uint32_t file_count;
    struct arena arena;
};

void flow_graph_init(struct flow_graph *graph);
void flow_graph_release(struct flow_graph *graph);

/* Reads the whole stream. A trace without events is no failure: there are no nodes then.
 * Fails where memory runs out, or progress says so. */
bool flow_graph_build(struct flow_graph *graph,
                      struct log_reader *reader,
                      struct source_lines *sources,
                      const struct flow_options *options,
                      struct error *error);

/* The same in two parts, to make several graphs of one reading: the trace is read, and then each graph
 * has its own step, depth and folding. What a filter, a mark or first_event chooses is chosen by the
 * options of the reading. Needs the memory of what was read twice. */
struct flow_reading;
/* NULL: fails as flow_graph_build. Reader and sources are borrowed. */
struct flow_reading *flow_reading_new(struct log_reader *reader,
                                      struct source_lines *sources,
                                      const struct flow_options *options,
                                      struct error *error);
void flow_reading_free(struct flow_reading *reading); /* may be NULL */
/* Replaces the graph, which is initialised. */
bool flow_reading_graph(struct flow_reading *reading,
                        const struct flow_options *options,
                        struct flow_graph *graph,
                        struct error *error);

/* Leaves the nodes whose flag in `kept` (node_count of them) is true, the edges among them, and
 * the groups that still hold one: a part of the graph, such as all that a value was made from.
 * Fails where memory runs out; the graph is as it was then. */
bool flow_graph_keep(struct flow_graph *graph, const bool *kept, struct error *error);

/* Leaves out the nodes that are nothing but another name of the value that they come from, such as
 * arguments and results of calls; what was made from them is made from that value. Fails where memory
 * runs out. */
bool flow_graph_drop_names(struct flow_graph *graph, struct error *error);

/* What stands around a node of a graph: for a picture that shows a part of it. */

/* Sets `kept`, a flag for each node, for `limit` nodes at most around the start: what it was made
 * from, and what was made from it, the nearest first. Beyond what is equal (FLOW_MARK_EQUAL) the
 * way goes up alone: what else was made from it is not of interest. Fails where memory runs
 * out. */
bool flow_graph_near(const struct flow_graph *graph,
                     uint32_t start,
                     uint32_t limit,
                     bool *kept,
                     struct error *error);

/* Of a line with several statements, the site's own; else the line. */
struct slice
flow_statement(struct slice line, const struct site_table *table, uint32_t site);

#endif
