/* A trace as a graph: which value was made from which. A node is an event, or several that were
 * folded to one. An edge means that one value went into the other, or is the other. Knows
 * nothing of pictures: docs/internals/graph.md describes how it is found.
 *
 *     struct flow_graph graph;
 *
 *     flow_graph_init(&graph);
 *     if (flow_graph_build(&graph, reader, sources, &options, &error)) { … }
 *     flow_graph_release(&graph);
 *
 * All its memory is in the graph's own arena: the reader may be freed. Equal traces
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
    FLOW_FOLD_AUTO, /* folds turns of a loop and repeated calls that are alike */
    FLOW_FOLD_ALL,  /* one node for each site of a function and path */
    FLOW_FOLD_NONE,
};

/* How a node is highlighted, in a comparison or a search for NaN. Later ones are graver. */
enum flow_mark {
    FLOW_MARK_NONE,
    FLOW_MARK_EQUAL,     /* in both traces */
    FLOW_MARK_MEANT,     /* an infinity that its line writes by name, as masks do */
    FLOW_MARK_PASSED,    /* NaN or an infinity, also in a source */
    FLOW_MARK_INHERITED, /* differs, and so does a source */
    FLOW_MARK_FIRST,     /* a NaN that no recorded input has */
    FLOW_MARK_ONLY,      /* the other trace has no such event */
    FLOW_MARK_OWN,       /* differs, but all its sources are equal */
    FLOW_MARK_PRODUCER,  /* NaN or an infinity, but all its sources are finite */
    FLOW_MARK_COUNT
};

struct flow_options {
    enum flow_fold fold;
    uint64_t max_nodes;   /* after folding; the newest are kept; 0: all */
    bool keeps_ends;      /* keeps half of max_nodes at each end, oldest and newest */
    uint64_t first_event; /* number of the first event that is shown */
    const struct event_filter *filter; /* borrowed; may be NULL */
    bool has_scalars; /* numbers, strings, bools too; else only arrays are nodes */
    /* Draws one step alone: a turn of the loop that calls the outermost nn.Module, or such a
     * call. `step` counts from 1. 0: the first step with a NaN in it, or else the first. A trace
     * that calls no module is drawn as a whole. */
    bool has_step;
    bool is_step_call; /* the step is the call alone, even inside a loop */
    uint64_t step;
    /* Draws calls that are nested deeper than `depth` as one node each, FLOW_NODE_CALL. The
     * outermost calls, or the call that the step is in, have depth 0. */
    bool has_depth;
    uint32_t depth;
    /* Calls of these functions are never closed for their depth; deeper calls that they make
     * still are. The values are those of flow_node.callee. Borrowed. */
    const uint64_t *opened;
    uint32_t opened_count;
    /* The mark of the event with that number; may be NULL. Turns and calls whose marks differ
     * are not alike. */
    enum flow_mark (*mark)(void *mark_context, uint64_t event);
    /* Extra text for the node of a marked event; "" for none. Copied. May be NULL. */
    struct slice (*remark)(void *mark_context, uint64_t event);
    void *mark_context;
    /* Without `mark`: values with a NaN are marked PASSED, or FIRST if no recorded input has one. */
    bool has_nan_marks;
    /* For recordings with gradients: backwards, and calls that write to gradients or parameters,
     * become nodes, and nodes show their gradients. */
    bool has_updates;
    /* Leaves nodes without shape and statistics, for uses that need the edges alone. */
    bool has_no_values;
    /* The same for graphs with more nodes than this; 0: no limit. */
    uint32_t values_limit;
    /* Called regularly if not NULL. If it returns false, the work ends with an error. */
    bool (*progress)(void *context, uint64_t events);
    void *progress_context;
};

/* The least and the greatest of the values that were folded to a node. */
struct flow_range {
    double low;
    double high;
};

/* Flags of graph.h, and flags of a picture's nodes. */
enum flow_node_flag {
    FLOW_NODE_SOURCE = GRAPH_SOURCE,
    FLOW_NODE_ARGUMENT = GRAPH_ARGUMENT,
    FLOW_NODE_RESULT = GRAPH_RESULT,
    FLOW_NODE_GUESSED = GRAPH_GUESSED, /* `guess` has the text */
    FLOW_NODE_IN_PLACE = GRAPH_IN_PLACE,
    FLOW_NODE_ALIAS = GRAPH_ALIASED,
    FLOW_NODE_PARAMETER = GRAPH_PARAMETER,
    FLOW_NODE_NONFINITE = 128, /* has NaN or an infinity, even outside of the sample */
    /* A whole call. Its value is the call's result, or another value in it. NONFINITE: a value
     * inside has a NaN. */
    FLOW_NODE_CALL = 256,
    /* kind is VALUE_NOTHING; `text` and `inside` describe what it wrote */
    FLOW_NODE_UPDATE = GRAPH_UPDATE,
};

/* The gradients of a node's values, over all their elements. */
struct flow_gradient {
    uint64_t count;          /* number of gradients; 0: none is recorded */
    uint64_t bad_count;      /* number of those with NaN or an infinity */
    struct flow_range range; /* of finite elements; low > high: none */
};

struct flow_node {
    unsigned flags;          /* enum flow_node_flag, combined */
    uint32_t group;          /* the innermost group; FLOW_NONE: none */
    uint64_t event;          /* number of its first event */
    uint64_t count;          /* number of its events; 1 if nothing was folded */
    enum flow_mark mark;     /* the gravest of its events */
    uint64_t marked;         /* number of the first event with that mark */
    struct slice remark;     /* text of flow_options.remark for that event; "" */
    struct slice name;       /* `x`, `self.scale`, `out[0]['logits']`, `return` */
    struct slice file;       /* as the trace has it */
    uint32_t line;           /* 0: not known */
    struct slice code;       /* the line's text without blanks around it; "" */
    struct slice function;   /* qualified */
    struct slice guess;      /* how an argument was made up: `randn(8, 8)` */
    enum change change;      /* of the last event, since the name's previous value */
    unsigned difference;     /* enum log_difference */
    struct slice changed_by; /* if ALIASED: `model.py:31 by y` */

    /* CALL: `h.0 … h.3, 41 values inside`, and the form of the first array argument, `float32
     * [4, 8]`. */
    struct slice inside;
    struct slice keeps;
    uint64_t callee;       /* CALL: equal for calls of one function and class */
    uint64_t inside_count; /* CALL: number of values inside, over all folded calls */
    struct flow_gradient gradient;
    enum value_kind kind;
    struct slice text; /* kind not TENSOR: the value as text */
    /* kind TENSOR: as the last event recorded it. */
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
    bool shape_varies; /* the folded values have several shapes or dtypes */
    bool has_statistics;
    struct statistics statistics; /* of the last event */
    /* Ranges over all events, if count > 1 and has_statistics. Real numbers also for integers. */
    struct flow_range min, max, mean, std;
    uint64_t nan_count, posinf_count, neginf_count; /* sums over all events */
    struct sample_grid grid; /* of the last event; count 0: no sample */
    const void *sample;      /* grid.count elements, aligned for any dtype */
};

struct flow_edge {
    enum graph_kind kind;
    uint32_t name;   /* in names: how the target's statement spells the source */
    uint32_t source; /* index of a node */
    uint32_t target;
    uint64_t count;  /* number of folded edges */
    bool is_carried; /* from one turn of a folded loop to the next */
    bool is_unsure;  /* a call that was not recorded had it among several arguments */
};

enum flow_group_kind {
    FLOW_GROUP_CALL,
    FLOW_GROUP_LOOP, /* folded turns of a loop */
};

/* Boxes around nodes. A parent precedes its children. */
struct flow_group {
    enum flow_group_kind kind;
    uint32_t parent; /* FLOW_NONE: none */
    uint64_t count;  /* number of folded calls or turns; 1 if nothing was folded */
    uint32_t call;   /* number of the first call; LOOP: of the loop's call */
    struct slice function; /* qualified, `Attention.forward`; LOOP: "" */
    struct slice path; /* `blocks.0.attention`, or folded `blocks.0-11.attention`; "" */
    struct slice class_name;
    struct slice code; /* LOOP: the loop's line */
    struct slice file;
    uint32_t line; /* of the def or the loop */
    uint16_t thread;
    bool is_recursive; /* inside a group of the same function */
};

/* Counts of what the graph leaves out, for a note on the picture. */
struct flow_left_out {
    uint64_t older_nodes;   /* beyond max_nodes, and events that a ring dropped */
    uint64_t between_nodes; /* beyond max_nodes, if keeps_ends */
    uint64_t scalars;       /* events whose values are no arrays */
    uint64_t unchanged;     /* lines that might have written to a value but did not */
    uint64_t filtered;      /* events that the filter left out */
    uint64_t in_part;       /* containers that were not recorded completely */
    uint64_t beside;        /* nodes that flow_graph_keep left out */
    uint64_t lost_events;   /* never recorded: a full disk, a limit */
};

/* The drawn step, and the number of steps. */
struct flow_step {
    uint64_t number; /* from 1; 0: the whole trace is drawn */
    uint64_t count;
    uint32_t call;         /* its first call of the module */
    bool is_turn;          /* a turn of a loop; else the call alone */
    bool has_update;       /* an optimizer's step is inside */
    struct slice name;     /* the module's class */
    uint64_t closed_count; /* number of calls drawn as one node, before folding */
};

struct flow_graph {
    struct flow_node *nodes;
    uint32_t node_count;
    struct flow_edge *edges;
    uint32_t edge_count;
    struct slice *names; /* names of edges; 0 is "": not known */
    struct flow_group *groups;
    uint32_t group_count;
    struct flow_left_out left_out;
    struct flow_step step;
    uint64_t event_count; /* number of events with a node, before folding */
    struct slice file;    /* the file of the most nodes; "" if there are none */
    uint32_t file_count;
    struct arena arena;
};

void flow_graph_init(struct flow_graph *graph);
void flow_graph_release(struct flow_graph *graph);

/* Reads the whole stream. A trace without events succeeds and gives no nodes. Returns false if
 * memory runs out or progress returns false. */
bool flow_graph_build(struct flow_graph *graph,
                      struct log_reader *reader,
                      struct source_lines *sources,
                      const struct flow_options *options,
                      struct error *error);

/* A trace that was read, for several graphs with their own steps, depths and foldings. The
 * filter, marks and first_event are those of the reading. Needs the memory of the reading twice. */
struct flow_reading;
/* Returns NULL where flow_graph_build returns false. Reader and sources are borrowed. */
struct flow_reading *flow_reading_new(struct log_reader *reader,
                                      struct source_lines *sources,
                                      const struct flow_options *options,
                                      struct error *error);
void flow_reading_free(struct flow_reading *reading); /* may be NULL */
/* Replaces the graph, which must be initialised. */
bool flow_reading_graph(struct flow_reading *reading,
                        const struct flow_options *options,
                        struct flow_graph *graph,
                        struct error *error);

/* Keeps the nodes whose flag in `kept` (node_count of them) is true, the edges among them, and
 * the groups that still have one: a part of the graph, such as everything that a value was made
 * from. Returns false if memory runs out; the graph is unchanged then. */
bool flow_graph_keep(struct flow_graph *graph, const bool *kept, struct error *error);

/* Removes the nodes that are only another name of their source, such as arguments and results of
 * calls. Their edges start at that source then. Returns false if memory runs out. */
bool flow_graph_drop_names(struct flow_graph *graph, struct error *error);

/* The surroundings of a node, for a picture that shows a part of a graph. */

/* Sets `kept`, a flag for each node, for at most `limit` nodes around the start: those that it
 * was made from and those made from it, the nearest first. From a node marked FLOW_MARK_EQUAL
 * only its sources are followed, because other values made from it are not of interest. Returns
 * false if memory runs out. */
bool flow_graph_near(const struct flow_graph *graph,
                     uint32_t start,
                     uint32_t limit,
                     bool *kept,
                     struct error *error);

/* The statement of the site, on a line with several statements; else the whole line. */
struct slice
flow_statement(struct slice line, const struct site_table *table, uint32_t site);

#endif
