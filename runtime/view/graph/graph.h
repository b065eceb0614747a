/* The graph of a trace: for each event, the events that its value was made from.
 *
 *     struct graph graph;
 *
 *     graph_init(&graph);
 *     if (graph_build(&graph, reader, sources, &options, &error)) {
 *         struct graph_sources sources = graph_sources_of(&graph, event);
 *         struct graph_source source;
 *
 *         while (graph_sources_next(&sources, &source)) { … source.event … }
 *     }
 *     graph_release(&graph);
 *
 * A node is an event whose value is an array or a number, text or the like; nodes are in the order
 * of their events, and edges in the order of their targets, then of their sources. The graph holds
 * no names, figures or lines: they are read from the trace by the event's number. */
#ifndef MONITORCH_VIEW_GRAPH_GRAPH_H
#define MONITORCH_VIEW_GRAPH_GRAPH_H

#include "runtime/base/error.h"
#include "runtime/trace/reader.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAPH_NONE UINT32_MAX

enum graph_kind {
    GRAPH_VALUE, /* was read to make it */
    GRAPH_SAME,  /* is the same value under another name: an argument, a result */
    GRAPH_WRITE, /* the value before an in-place write, to the one after it */
    GRAPH_ALIAS, /* was changed by writing to the other */
    GRAPH_SHAPE, /* its shape, dtype, device or length alone was read */
};

struct graph_options {
    /* Called now and then, where not NULL; false ends the work with an error. */
    bool (*progress)(void *context, uint64_t events);
    void *progress_context;
};

struct graph_edge {
    uint32_t source;        /* a node */
    uint32_t kind : 3;      /* enum graph_kind */
    uint32_t is_unsure : 1; /* elements of the source need not be in the target */
};

struct graph {
    uint64_t *events;         /* owned: by node, ascending */
    uint32_t *first_edges;    /* owned: by node, and one more */
    struct graph_edge *edges; /* owned: those to one node side by side */
    uint32_t node_count;
    uint32_t edge_count;
};

void graph_init(struct graph *graph);
void graph_release(struct graph *graph);

/* Reads the whole stream. A trace without events is no failure: there are no nodes then. Fails
 * where memory runs out, or progress says so. */
bool graph_build(struct graph *graph,
                 struct log_reader *reader,
                 struct source_lines *sources,
                 const struct graph_options *options,
                 struct error *error);

/* The node of an event; GRAPH_NONE: the event is no node. */
uint32_t graph_find(const struct graph *graph, uint64_t event);

/* An event that a value was made from. */
struct graph_source {
    uint64_t event;
    enum graph_kind kind;
    bool is_certain;
};

/* The sources of one event that are still to come. */
struct graph_sources {
    const struct graph *graph; /* borrowed */
    uint32_t edge, end;
};

/* Of an event that is no node there are none. */
struct graph_sources graph_sources_of(const struct graph *graph, uint64_t event);
/* Sets the next one; false where there is no other. */
bool graph_sources_next(struct graph_sources *sources, struct graph_source *source);

#endif
