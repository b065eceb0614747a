/* The graph of a trace: for each event, the events that its value was made from.
 *
 *     struct graph graph;
 *
 *     graph_init(&graph);
 *     if (graph_build(&graph, reader, &options, &error)) {
 *         struct graph_sources sources = graph_sources_of(&graph, event);
 *         struct graph_source source;
 *
 *         while (graph_sources_next(&sources, &source)) { … source.event … }
 *     }
 *     graph_release(&graph);
 *
 * A node is an event whose value is an array, a number, a text or the like. Nodes are in the order of
 * their events, edges in the order of their targets, then of their sources. The graph holds no
 * statistics and no lines: these are read from the trace by the event's number. */
#ifndef MONITORCH_VIEW_GRAPH_GRAPH_H
#define MONITORCH_VIEW_GRAPH_GRAPH_H

#include "runtime/base/error.h"
#include "runtime/base/text_table.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAPH_NONE UINT32_MAX

enum graph_kind {
    GRAPH_VALUE, /* was read to compute it */
    GRAPH_SAME,  /* is the same value under another name: an argument, a result */
    GRAPH_WRITE, /* the value before an in-place write, to the one after it */
    GRAPH_ALIAS, /* was changed by writing to the other */
    GRAPH_SHAPE, /* its shape, dtype, device or length alone was read */
};

enum graph_flag {
    GRAPH_SOURCE = 1,     /* existed before, and is recorded because it was read */
    GRAPH_ARGUMENT = 2,   /* a parameter at a function's entry */
    GRAPH_RESULT = 4,     /* a returned value */
    GRAPH_GUESSED = 8,    /* an argument that monitorch.run made up */
    GRAPH_IN_PLACE = 16,  /* the same memory as before, written to */
    GRAPH_ALIASED = 32,   /* written to through another name of its memory */
    GRAPH_PARAMETER = 64, /* a torch.nn.Parameter */
    GRAPH_UPDATE =
        512, /* a backward, or a call that writes to gradients or parameters */
};

struct graph_build_options {
    /* Called regularly if not NULL. If it returns false, the work ends with an error. */
    bool (*progress)(void *context, uint64_t events);
    void *progress_context;
};

struct graph_node {
    uint64_t event;
    uint32_t site;       /* of the trace */
    uint32_t call;       /* in graph.calls */
    uint32_t name;       /* texts: the name, "return" for a result … */
    uint32_t path;       /* … and the path in it: `[0]`, `['mask']`; "" */
    uint32_t first_edge; /* the edges to it, up to the next node's first one */
    uint16_t flags;      /* enum graph_flag, combined */
    uint8_t kind;        /* enum value_kind */
};

struct graph_edge {
    uint32_t source;    /* a node */
    uint32_t name : 28; /* text: how the target's statement spells it; 0: not known */
    uint32_t kind : 3;  /* enum graph_kind */
    uint32_t is_unsure : 1; /* elements of the source may be missing in the target */
};

/* A parent precedes its calls. */
struct graph_call {
    uint32_t number; /* in the trace */
    uint32_t parent; /* in graph.calls, or GRAPH_NONE */
    uint32_t module;
    uint32_t function;   /* in the module's table; 0: the module itself */
    uint32_t line;       /* in the parent; 0: not known */
    uint32_t path;       /* text: of the nn.Module; "" */
    uint32_t class_name; /* text */
};

struct graph {
    struct graph_node *nodes; /* owned; one extra item at the end has the edges' end */
    struct graph_edge *edges; /* owned */
    struct graph_call *calls; /* owned */
    struct text_table texts;  /* owned */
    uint32_t node_count;
    uint32_t edge_count;
    uint32_t call_count;
};

void graph_init(struct graph *graph);
void graph_release(struct graph *graph);

/* Reads the whole stream. A trace without events succeeds and gives no nodes. Returns false if
 * memory runs out or progress returns false. */
bool graph_build(struct graph *graph,
                 struct log_reader *reader,
                 const struct graph_build_options *options,
                 struct error *error);

/* The node of an event. GRAPH_NONE: the event is no node. */
uint32_t graph_find(const struct graph *graph, uint64_t event);

struct slice graph_text(const struct graph *graph, uint32_t number);

/* An event that a value was made from. */
struct graph_source {
    uint64_t event;
    enum graph_kind kind;
    bool is_certain;
};

/* The remaining sources of one event. */
struct graph_sources {
    const struct graph *graph; /* borrowed */
    uint32_t edge, end;
};

/* The sources of an event; empty if it is no node. */
struct graph_sources graph_sources_of(const struct graph *graph, uint64_t event);
/* Sets the next one. Returns false if there is no other. */
bool graph_sources_next(struct graph_sources *sources, struct graph_source *source);

#endif
