/* The second reading of a trace: what the picture tells of each node. */
#include "runtime/view/flow/build.h"

#include "runtime/base/buffer.h"
#include "runtime/view/words/value_text.h"

#include <math.h>

/* NaN is the figure of an array that has none. */
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

/* The node's last event says what it is now. */
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

/* A value inside a call that is one node: what that was given first, and whether it is NaN. */
static void add_inside(struct flow_builder *builder,
                       const struct flow_raw *raw,
                       const struct log_event_view *event)
{
    const struct flow_raw *whole = &builder->raws[raw->inside];
    struct buffer text = BUFFER_INIT;
    struct flow_node *node;

    if (whole->cluster == FLOW_NONE ||
        builder->clusters[whole->cluster].node == FLOW_NONE ||
        event->kind != VALUE_TENSOR) {
        return;
    }
    node = &builder->graph->nodes[builder->clusters[whole->cluster].node];
    if (raw->has_nan) {
        node->flags |= FLOW_NODE_NONFINITE;
    }
    if ((raw->flags & FLOW_NODE_ARGUMENT) == 0 || raw->call != whole->closed_call ||
        node->keeps.size > 0) {
        return;
    }
    buffer_add(&text, event->shape->dtype_text);
    buffer_add(&text, SLICE(" ["));
    for (uint32_t i = 0; i < event->shape->dimension_count; i++) {
        buffer_add_format(&text, i > 0 ? ", %lld" : "%lld",
                          (long long)event->shape->shape[i]);
    }
    buffer_add_byte(&text, ']');
    builder->graph->arena.has_failed |= text.has_failed;
    node->keeps = flow_keep(builder, buffer_slice(&text));
    buffer_release(&text);
}

bool flow_fill(struct flow_builder *builder)
{
    struct log_item item;
    uint32_t raw = 0;
    uint64_t count = 0;

    log_reader_rewind(builder->reader);
    while (raw < builder->raw_count && log_reader_next(builder->reader, &item)) {
        if (item.kind != LOG_EVENT) {
            continue;
        }
        if (!flow_report_progress(builder, ++count)) {
            return false;
        }
        while (raw < builder->raw_count &&
               builder->raws[raw].event < item.event.number) {
            raw++;
        }
        if (raw < builder->raw_count && builder->raws[raw].event == item.event.number &&
            builder->raws[raw].kind == item.event.kind) {
            uint32_t cluster = builder->raws[raw].cluster;

            if (cluster != FLOW_NONE && builder->clusters[cluster].node != FLOW_NONE) {
                add_event(builder, &builder->clusters[cluster], raw, &item.event);
            } else if (builder->raws[raw].inside != FLOW_NONE) {
                add_inside(builder, &builder->raws[raw], &item.event);
            }
            raw++;
        }
    }
    return true;
}
