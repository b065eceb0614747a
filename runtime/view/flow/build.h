/* The state of folding a reading to a picture's graph. Raw nodes become clusters, and a second
 * reading of the trace fills in the values of those that are shown, so that only these need
 * memory for statistics and samples. Private to this folder. */
#ifndef MONITORCH_VIEW_FLOW_BUILD_H
#define MONITORCH_VIEW_FLOW_BUILD_H

#include "runtime/view/flow/flow.h"
#include "runtime/view/graph/reading.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A unit of the reading, and the unit that it is folded with. */
struct flow_unit {
    uint32_t parent;  /* a unit, or FLOW_NONE */
    uint32_t call;    /* index: the call itself, or the one that the loop is in */
    uint32_t loop;    /* site of the trace; FLOW_NONE: a call */
    uint32_t cluster; /* the first of the units folded together; itself if alone */
    uint32_t count;   /* of a first unit: how many were folded */
    uint32_t group;   /* of a first unit: the box around it, or FLOW_NONE */
};

/* A value of the reading, and its place in the picture. */
struct flow_raw {
    uint64_t event;
    uint32_t object; /* the first raw node that held the same object */
    uint32_t site;   /* of the trace */
    uint32_t call;   /* index */
    uint32_t unit;
    uint32_t name;  /* text, without the path */
    uint32_t path;  /* text */
    uint32_t guess; /* text: how an argument was made up */
    uint32_t alias_site;
    uint32_t cluster;     /* FLOW_NONE: not shown */
    uint32_t inside;      /* the raw node of the closed call that it is in; FLOW_NONE */
    uint32_t closed_call; /* the closed call that it represents; FLOW_NONE */
    uint32_t inside_values; /* in that call */
    uint16_t flags;         /* enum flow_node_flag */
    uint8_t kind;           /* enum value_kind */
    uint8_t dtype;
    uint8_t change;
    uint8_t difference;
    uint8_t mark;         /* enum flow_mark */
    bool is_read : 1;     /* recorded because it was read */
    bool is_hidden : 1;   /* filtered out, or too old: drawn as a source at most */
    bool is_promoted : 1; /* was hidden until an edge started at it */
    bool has_nan : 1;
};

/* A future node of the graph. */
struct flow_cluster {
    uint64_t count;
    uint32_t first; /* raw nodes */
    uint32_t last;
    uint32_t marked; /* the first one with the gravest mark */
    uint32_t node;   /* index in the graph; FLOW_NONE: too old, or not used */
    bool is_unused;  /* a source without edges */
};

struct flow_builder {
    struct reading *reading; /* borrowed; gets more texts */
    struct log_reader *reader;
    struct source_lines *lines;
    const struct flow_options *options;
    struct flow_graph *graph;
    struct error *error;
    const struct reading_call *calls; /* the reading's */
    struct flow_raw *raws;            /* owned, as all below */
    struct flow_unit *units;
    struct reading_edge *edges;
    uint32_t call_count, raw_count, unit_count, edge_count;
    uint32_t root; /* the unit of the drawn step; FLOW_NONE: the whole trace */
    uint32_t cluster_count;
    struct flow_cluster *clusters; /* future nodes */
    struct slice *kept_texts;      /* by number: copies in the graph's arena */
    size_t kept_count;
};

/* The module of the node's site. Sets `number` to its index. */
static inline const struct log_module *flow_module_of(
    const struct flow_builder *builder, const struct flow_raw *raw, uint32_t *number)
{
    return reading_module_of(builder->reading, raw->call, raw->site, number);
}

static inline const struct site *flow_site_of(const struct flow_builder *builder,
                                              const struct flow_raw *raw)
{
    return reading_site_of(builder->reading, raw->call, raw->site);
}

static inline const struct site_table *flow_table_of(const struct flow_builder *builder,
                                                     const struct reading_call *call)
{
    return &builder->reading->modules[call->module]->table;
}

static inline struct slice flow_text_of(const struct flow_builder *builder,
                                        uint32_t number)
{
    return builder->reading->texts.texts[number];
}

/* Makes room for one more item after `count` items. Returns false, with the error set, if memory
 * runs out. */
bool flow_grow(struct flow_builder *builder,
               void **items,
               size_t *capacity,
               uint32_t count,
               size_t size);
bool flow_out_of_memory(struct flow_builder *builder);
bool flow_text(struct flow_builder *builder, struct slice text, uint32_t *number);

/* outline.c: a number that is equal for calls of the same function and class. */
uint64_t flow_callee_of(const struct flow_builder *builder, uint32_t call);
/* Hides everything outside of the wanted step. Makes one node of each call that is too deep, or
 * that a filter leaves out between values that it wants. */
bool flow_outline(struct flow_builder *builder);

/* fold.c: folds raw nodes to clusters. */
bool flow_fold(struct flow_builder *builder);

/* finish.c: makes nodes and edges of the clusters. */
bool flow_finish(struct flow_builder *builder);
/* A copy of the text in the graph's arena. Equal texts share one copy. */
struct slice flow_keep(struct flow_builder *builder, struct slice text);

#endif
