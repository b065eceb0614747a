/* A trace as a graph: the steps of its construction, and the second reading, which fills in the
 * shown nodes. */
#include "runtime/view/flow/flow.h"

#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"
#include "runtime/base/text_table.h"
#include "runtime/view/flow/build.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/value_text.h"

#include <assert.h>
#include <math.h>

static struct reading_options reading_options_of(const struct flow_options *options)
{
    return (struct reading_options){
        .filter = options->filter,
        .first_event = options->first_event,
        .hides_reported = true,
        .has_scalars = options->has_scalars,
        .has_updates = options->has_updates,
        .progress = options->progress,
        .progress_context = options->progress_context,
    };
}

/* The second reading of a trace: the values that the picture shows of each node. */

/* Extends the range by the value. A NaN is ignored: it is the figure of an array that has none. */
static void range_add(struct flow_range *range, double value, bool is_first)
{
    if (is_first || isnan(range->low)) {
        *range = (struct flow_range){value, value};
        return;
    }
    range->low = value < range->low ? value : range->low;
    range->high = value > range->high ? value : range->high;
}

static void add_statistics(struct flow_node *node, const struct log_event_view *event)
{
    const struct statistics *statistics = &event->statistics;
    enum dtype dtype = event->shape->dtype;
    bool is_first = !node->has_statistics;

    range_add(&node->min, statistics_bound_real(dtype, statistics->min), is_first);
    range_add(&node->max, statistics_bound_real(dtype, statistics->max), is_first);
    range_add(&node->mean, statistics->mean, is_first);
    range_add(&node->std, statistics->std, is_first);
    node->nan_count += statistics->nan_count;
    node->posinf_count += statistics->posinf_count;
    node->neginf_count += statistics->neginf_count;
    node->statistics = *statistics;
    node->has_statistics = true;
    if (statistics->nan_count + statistics->posinf_count + statistics->neginf_count >
        0) {
        node->flags |= FLOW_NODE_NONFINITE;
    }
}

static bool has_shape(const struct flow_node *node, const struct log_shape *shape)
{
    if (node->dimension_count != shape->dimension_count ||
        node->dtype != shape->dtype) {
        return false;
    }
    for (uint32_t i = 0; i < shape->dimension_count; i++) {
        if (node->shape[i] != shape->shape[i]) {
            return false;
        }
    }
    return true;
}

static void fill_shape(struct flow_builder *builder,
                       struct flow_node *node,
                       const struct log_shape *shape)
{
    uint32_t count = shape->dimension_count;
    int64_t *copy = arena_allocate(&builder->graph->arena, count, sizeof *copy);

    if (copy == NULL) {
        return;
    }
    if (count > 0) {
        memcpy(copy, shape->shape, count * sizeof *copy);
    }
    node->shape = copy;
    node->dimension_count = count;
    node->dtype = shape->dtype;
    node->dtype_text = flow_keep(builder, shape->dtype_text);
}

static void fill_sample(struct flow_builder *builder,
                        struct flow_node *node,
                        const struct log_event_view *event)
{
    size_t size = (size_t)event->grid.count * dtype_size(event->shape->dtype);
    void *copy;

    if (event->sample == NULL || size == 0) {
        return;
    }
    copy = arena_allocate(&builder->graph->arena, size, 1);
    if (copy == NULL) {
        return;
    }
    memcpy(copy, event->sample, size);
    node->sample = copy;
    node->grid = event->grid;
    node->grid.shape = node->shape;
}

/* The node shows the value of its last event. */
static void fill_last(struct flow_builder *builder,
                      struct flow_node *node,
                      const struct log_event_view *event)
{
    const struct log_shape *shape = event->shape;
    struct buffer text = BUFFER_INIT;

    if (event->kind != VALUE_TENSOR) {
        value_text_add(&text, event, false);
        builder->graph->arena.has_failed |= text.has_failed;
        node->text = flow_keep(builder, buffer_slice(&text));
        buffer_release(&text);
        return;
    }
    node->type = flow_keep(builder, shape->type);
    node->device = flow_keep(builder, shape->device);
    node->layout = flow_keep(builder, shape->layout);
    node->note = flow_keep(builder, shape->note);
    node->requires_grad = (shape->flags & LOG_FORM_REQUIRES_GRAD) != 0;
    fill_sample(builder, node, event);
}

static void add_event(struct flow_builder *builder,
                      const struct flow_cluster *cluster,
                      uint32_t raw,
                      const struct log_event_view *event)
{
    struct flow_node *node = &builder->graph->nodes[cluster->node];

    if (event->kind == VALUE_TENSOR) {
        if (node->dtype_text.size == 0 || !has_shape(node, event->shape)) {
            node->shape_varies = node->dtype_text.size > 0;
            fill_shape(builder, node, event->shape);
        }
        if (event->has_statistics) {
            add_statistics(node, event);
        }
    }
    if (raw == cluster->last) {
        fill_last(builder, node, event);
    }
}

/* The node that shows the raw node. NULL: none does. */
static struct flow_node *node_of(const struct flow_builder *builder, uint32_t raw)
{
    assert(raw < builder->raw_count);

    uint32_t cluster = builder->raws[raw].cluster;

    return cluster == FLOW_NONE || builder->clusters[cluster].node == FLOW_NONE
               ? NULL
               : &builder->graph->nodes[builder->clusters[cluster].node];
}

/* Adds a value inside of a call that is one node: notes the form of the first argument, and
 * whether a value has a NaN. */
static void add_inside(struct flow_builder *builder,
                       const struct flow_raw *raw,
                       const struct log_event_view *event)
{
    const struct flow_raw *whole = &builder->raws[raw->inside];
    struct buffer text = BUFFER_INIT;
    struct flow_node *node = node_of(builder, raw->inside);

    if (node == NULL || event->kind != VALUE_TENSOR) {
        return;
    }
    if (raw->has_nan) {
        node->flags |= FLOW_NODE_NONFINITE;
    }
    if ((raw->flags & FLOW_NODE_ARGUMENT) == 0 || raw->call != whole->closed_call ||
        node->keeps.size > 0) {
        return;
    }
    buffer_add(&text, event->shape->dtype_text);
    buffer_add_byte(&text, ' ');
    dimensions_add(&text, event->shape->shape, event->shape->dimension_count);
    builder->graph->arena.has_failed |= text.has_failed;
    node->keeps = flow_keep(builder, buffer_slice(&text));
    buffer_release(&text);
}

/* Adds a gradient of a shown value, or of the result of a call that is one node. */
static void add_gradient(struct flow_builder *builder,
                         const struct log_event_view *gradient)
{
    uint32_t raw = reading_find(builder->reading, gradient->number);
    const struct statistics *figures = &gradient->statistics;
    struct flow_gradient *all;
    struct flow_node *node;

    if (raw != FLOW_NONE && builder->raws[raw].cluster == FLOW_NONE &&
        builder->raws[raw].inside != FLOW_NONE &&
        builder->raws[builder->raws[raw].inside].object == builder->raws[raw].object) {
        raw = builder->raws[raw].inside;
    }
    node = raw == FLOW_NONE ? NULL : node_of(builder, raw);
    if (node == NULL || !gradient->has_statistics) {
        return;
    }
    all = &node->gradient;
    all->bad_count +=
        figures->nan_count + figures->posinf_count + figures->neginf_count > 0;
    if (all->count++ == 0) {
        all->range = (struct flow_range){INFINITY, -INFINITY};
    }
    if (statistics_finite_count(figures) > 0) {
        enum dtype dtype = gradient->shape->dtype;

        all->range.low =
            fmin(all->range.low, statistics_bound_real(dtype, figures->min));
        all->range.high =
            fmax(all->range.high, statistics_bound_real(dtype, figures->max));
    }
}

/* The state of the second reading. */
struct filling {
    struct flow_builder *builder; /* borrowed */
    bool
        *is_near; /* owned; by unit: in the turn in which gradients of the step's values
                      arrive; NULL: the whole trace is drawn */
    uint32_t raw; /* the next raw node to be read again; builder->raw_count: none */
};

/* A gap of more events than this, all without nodes, is skipped and not read. */
#define GAP 20000

static bool find_near(struct filling *filling)
{
    struct flow_builder *builder = filling->builder;
    uint32_t turn = builder->root;

    if (turn == FLOW_NONE) {
        return true;
    }
    while (builder->units[turn].loop == FLOW_NONE &&
           builder->units[turn].parent != FLOW_NONE) {
        turn = builder->units[turn].parent;
    }
    filling->is_near =
        memory_allocate_zeroed(builder->unit_count, sizeof *filling->is_near);
    if (filling->is_near == NULL) {
        return flow_out_of_memory(builder);
    }
    for (uint32_t i = turn; i < builder->unit_count; i++) {
        uint32_t parent = builder->units[i].parent;

        filling->is_near[i] =
            i == turn || (parent != FLOW_NONE && filling->is_near[parent]);
    }
    return true;
}

/* Advances to the next raw node that has to be read again. */
static void find_next(struct filling *filling)
{
    const struct flow_builder *builder = filling->builder;

    while (filling->raw < builder->raw_count && filling->is_near != NULL) {
        const struct flow_raw *raw = &builder->raws[filling->raw];

        if (raw->cluster != FLOW_NONE || raw->inside != FLOW_NONE ||
            filling->is_near[raw->unit]) {
            return;
        }
        filling->raw++;
    }
}

static void fill_event(struct filling *filling, const struct log_event_view *event)
{
    struct flow_builder *builder = filling->builder;
    const struct flow_raw *raw = &builder->raws[filling->raw];
    const struct flow_raw *end = builder->raws + builder->raw_count;

    while (raw < end &&
           (raw->event < event->number || (raw->flags & FLOW_NODE_UPDATE) != 0)) {
        raw++;
    }
    filling->raw = (uint32_t)(raw - builder->raws);
    if (raw < end && raw->event == event->number && raw->kind == event->kind) {
        if (node_of(builder, filling->raw) != NULL) {
            add_event(builder, &builder->clusters[raw->cluster], filling->raw, event);
        } else if (raw->inside != FLOW_NONE) {
            add_inside(builder, raw, event);
        }
        filling->raw++;
    }
    find_next(filling);
}

/* Reads the next event, and adds the gradients before it. Returns false at the end. */
static bool next_event(struct filling *filling, struct log_item *item)
{
    struct flow_builder *builder = filling->builder;

    while (log_reader_next(builder->reader, item)) {
        if (item->kind == LOG_EVENT) {
            return true;
        }
        if (item->kind == LOG_GRADIENT && builder->reading->has_updates &&
            (item->event.flags & LOG_EVENT_PARAMETER) == 0) {
            add_gradient(builder, &item->event);
        }
    }
    return false;
}

static bool fill_items(struct filling *filling)
{
    struct flow_builder *builder = filling->builder;
    struct reading_options options = reading_options_of(builder->options);
    struct log_item item;
    uint64_t count = 0;
    uint64_t last = 0;

    find_next(filling);
    while (filling->raw < builder->raw_count) {
        if (filling->is_near != NULL &&
            builder->raws[filling->raw].event > last + GAP) {
            log_reader_go_to_event(builder->reader, builder->raws[filling->raw].event);
        }
        if (!next_event(filling, &item)) {
            return true;
        }
        last = item.event.number;
        if (!reading_report_progress(&options, ++count, builder->error)) {
            return false;
        }
        fill_event(filling, &item.event);
    }
    return true;
}

/* Reads the parts of the trace that have nodes a second time. */
static bool flow_fill(struct flow_builder *builder)
{
    struct filling filling = {.builder = builder};
    bool is_done;

    log_reader_rewind(builder->reader);
    is_done = find_near(&filling) && fill_items(&filling);
    memory_free(filling.is_near);
    return is_done;
}

/* Marks of NaN. A value with a NaN is marked FIRST if no recorded input of it has one, else
 * PASSED. Works on the raw nodes that are drawn, after the outline. */

enum { HAS_NAN = 1, HAS_NAN_INPUT = 2 };

/* Finds the values with a NaN, and those with a NaN in an input. A call that is one node has a
 * NaN if a value in it has one. */
static void find_nans(const struct flow_builder *builder, uint8_t *nans)
{
    for (uint32_t i = 0; i < builder->raw_count; i++) {
        const struct flow_raw *node = &builder->raws[i];

        if (node->has_nan) {
            nans[i] |= HAS_NAN;
            if (node->inside != FLOW_NONE) {
                assert(node->inside < builder->raw_count);
                nans[node->inside] |= HAS_NAN;
            }
        }
    }
    for (uint32_t i = 0; i < builder->edge_count; i++) {
        const struct reading_edge *edge = &builder->edges[i];

        if (edge->kind != GRAPH_SHAPE && (nans[edge->source] & HAS_NAN) != 0) {
            nans[edge->target] |= HAS_NAN_INPUT;
        }
    }
}

/* Marks the values with a NaN, if the options ask for it. */
static bool flow_mark_nans(struct flow_builder *builder)
{
    uint8_t *nans;

    if (!builder->options->has_nan_marks || builder->raw_count == 0) {
        return true;
    }
    nans = memory_allocate_zeroed(builder->raw_count, sizeof *nans);
    if (nans == NULL) {
        return flow_out_of_memory(builder);
    }
    find_nans(builder, nans);
    for (uint32_t i = 0; i < builder->raw_count; i++) {
        if ((nans[i] & HAS_NAN) != 0 && !builder->raws[i].is_hidden) {
            builder->raws[i].mark =
                (nans[i] & HAS_NAN_INPUT) != 0 ? FLOW_MARK_PASSED : FLOW_MARK_FIRST;
        }
    }
    memory_free(nans);
    return true;
}

void flow_graph_init(struct flow_graph *graph)
{
    *graph = (struct flow_graph){.file = {"", 0}, .step.name = {"", 0}};
    arena_init(&graph->arena);
}

void flow_graph_release(struct flow_graph *graph)
{
    arena_release(&graph->arena);
    flow_graph_init(graph);
}

bool flow_out_of_memory(struct flow_builder *builder)
{
    return error_set_memory(builder->error);
}

bool flow_grow(struct flow_builder *builder,
               void **items,
               size_t *capacity,
               uint32_t count,
               size_t size)
{
    if (count == UINT32_MAX || !memory_grow(items, capacity, (size_t)count + 1, size)) {
        return flow_out_of_memory(builder);
    }
    return true;
}

bool flow_text(struct flow_builder *builder, struct slice text, uint32_t *number)
{
    return text_table_add(&builder->reading->texts, text, number) ||
           flow_out_of_memory(builder);
}

/* ---- from a reading to a graph ---- */

static struct flow_raw raw_of(const struct flow_builder *builder,
                              const struct reading_value *value)
{
    const struct flow_options *options = builder->options;
    enum flow_mark mark = options->mark == NULL || (value->flags & GRAPH_UPDATE) != 0
                              ? FLOW_MARK_NONE
                              : options->mark(options->mark_context, value->event);

    return (struct flow_raw){
        .event = value->event,
        .object = value->object,
        .site = value->site,
        .call = value->call,
        .unit = value->unit,
        .name = value->name,
        .path = value->path,
        .guess = value->guess,
        .alias_site = value->alias_site,
        .cluster = FLOW_NONE,
        .inside = FLOW_NONE,
        .closed_call = FLOW_NONE,
        .flags = value->flags,
        .kind = value->kind,
        .dtype = value->dtype,
        .change = value->change,
        .difference = value->difference,
        .mark = (uint8_t)mark,
        .is_read = value->is_read,
        .is_hidden = value->is_hidden,
        .is_promoted = value->is_promoted,
        .has_nan = value->has_nan,
    };
}

static void fill_raws(struct flow_builder *builder)
{
    const struct reading *reading = builder->reading;

    for (uint32_t i = 0; i < reading->value_count; i++) {
        builder->raws[i] = raw_of(builder, &reading->values[i]);
    }
    for (uint32_t i = 0; i < reading->unit_count; i++) {
        const struct reading_unit *unit = &reading->units[i];

        builder->units[i] =
            (struct flow_unit){unit->parent, unit->call, unit->loop, i, 1, FLOW_NONE};
    }
    if (reading->edge_count > 0) {
        memcpy(builder->edges, reading->edges,
               reading->edge_count * sizeof *builder->edges);
    }
}

/* Copies the reading; nothing is folded yet. */
static bool begin_graph(struct flow_builder *builder)
{
    const struct reading *reading = builder->reading;
    const struct reading_left_out *left_out = &reading->left_out;

    builder->calls = reading->calls;
    builder->call_count = reading->call_count;
    builder->raw_count = reading->value_count;
    builder->unit_count = reading->unit_count;
    builder->edge_count = reading->edge_count;
    builder->graph->left_out = (struct flow_left_out){
        .older_nodes = left_out->dropped,
        .scalars = left_out->scalars,
        .unchanged = left_out->unchanged,
        .filtered = left_out->filtered,
        .in_part = left_out->in_part,
        .lost_events = left_out->lost,
    };
    builder->raws = memory_allocate(builder->raw_count, sizeof *builder->raws);
    builder->units = memory_allocate(builder->unit_count, sizeof *builder->units);
    builder->edges = memory_allocate(builder->edge_count, sizeof *builder->edges);
    if (builder->raws == NULL || builder->units == NULL || builder->edges == NULL) {
        return flow_out_of_memory(builder);
    }
    fill_raws(builder);
    return true;
}

static void builder_release(struct flow_builder *builder)
{
    memory_free(builder->raws);
    memory_free(builder->units);
    memory_free(builder->edges);
    memory_free(builder->clusters);
    memory_free(builder->kept_texts);
}

/* Whether nodes and edges have numbers in range, and a group precedes those inside it. For
 * asserts. */
static __attribute__((unused)) bool is_sound(const struct flow_graph *graph)
{
    for (uint32_t i = 0; i < graph->group_count; i++) {
        uint32_t parent = graph->groups[i].parent;

        if ((parent != FLOW_NONE && parent >= i) || graph->groups[i].count == 0) {
            return false;
        }
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct flow_node *node = &graph->nodes[i];

        if ((node->group != FLOW_NONE && node->group >= graph->group_count) ||
            node->count == 0 || node->mark >= FLOW_MARK_COUNT) {
            return false;
        }
    }
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const struct flow_edge *edge = &graph->edges[i];

        if (edge->source >= graph->node_count || edge->target >= graph->node_count ||
            edge->count == 0 || graph->names[edge->name].bytes == NULL) {
            return false;
        }
    }
    return true;
}

/* Makes the builder's graph of its reading. */
static bool make_graph(struct flow_builder *builder)
{
    if (!flow_outline(builder) || !flow_mark_nans(builder) || !flow_fold(builder) ||
        !flow_finish(builder)) {
        return false;
    }
    assert(builder->graph->arena.has_failed || is_sound(builder->graph));
    return builder->options->has_no_values ||
           (builder->options->values_limit > 0 &&
            builder->graph->node_count > builder->options->values_limit) ||
           flow_fill(builder);
}

static bool end_graph(struct flow_graph *graph, bool is_done, struct error *error)
{
    if (is_done && graph->arena.has_failed) {
        error_set_memory(error);
        is_done = false;
    }
    if (!is_done) {
        flow_graph_release(graph);
    }
    return is_done;
}

static bool graph_of_reading(struct reading *reading,
                             struct log_reader *reader,
                             struct source_lines *sources,
                             const struct flow_options *options,
                             struct flow_graph *graph,
                             struct error *error)
{
    struct flow_builder builder = {
        .reading = reading,
        .reader = reader,
        .lines = sources,
        .options = options,
        .graph = graph,
        .error = error,
        .root = FLOW_NONE,
    };
    bool is_done = begin_graph(&builder) && make_graph(&builder);

    builder_release(&builder);
    return end_graph(graph, is_done, error);
}

struct flow_reading {
    struct reading reading; /* owned */
    struct log_reader *reader;
    struct source_lines *sources;
};

struct flow_reading *flow_reading_new(struct log_reader *reader,
                                      struct source_lines *sources,
                                      const struct flow_options *options,
                                      struct error *error)
{
    struct reading_options reading_options = reading_options_of(options);
    struct flow_reading *reading = memory_allocate_zeroed(1, sizeof *reading);

    if (reading == NULL) {
        error_set_memory(error);
        return NULL;
    }
    reading->reader = reader;
    reading->sources = sources;
    if (!reading_read(&reading->reading, reader, &reading_options, error)) {
        memory_free(reading);
        return NULL;
    }
    return reading;
}

void flow_reading_free(struct flow_reading *reading)
{
    if (reading != NULL) {
        reading_release(&reading->reading);
        memory_free(reading);
    }
}

bool flow_reading_graph(struct flow_reading *reading,
                        const struct flow_options *options,
                        struct flow_graph *graph,
                        struct error *error)
{
    flow_graph_release(graph);
    return graph_of_reading(&reading->reading, reading->reader, reading->sources,
                            options, graph, error);
}

bool flow_graph_build(struct flow_graph *graph,
                      struct log_reader *reader,
                      struct source_lines *sources,
                      const struct flow_options *options,
                      struct error *error)
{
    struct reading_options reading_options = reading_options_of(options);
    struct reading reading;
    bool is_done;

    if (!reading_read(&reading, reader, &reading_options, error)) {
        flow_graph_release(graph);
        return false;
    }
    is_done = graph_of_reading(&reading, reader, sources, options, graph, error);
    reading_release(&reading);
    return is_done;
}
