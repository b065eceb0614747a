/* What led to each value: the names that its statement reads, and the very objects, as their
 * addresses tell. */
#include "runtime/view/flow/build.h"

#include "runtime/base/sorted.h"

/* So many nodes of an object, the newest first, are asked whether their names have it still. */
#define HOLDERS_MAX 64

static bool is_before(const void *raws, size_t place, uint64_t event)
{
    return ((const struct flow_raw *)raws)[place].event < event;
}

/* The raw node of that event, or the one that tells the same; FLOW_NONE. */
static uint32_t raw_of_event(const struct flow_builder *builder, uint64_t event)
{
    size_t place = sorted_place(builder->raws, builder->raw_count, is_before, event);

    if (place < builder->raw_count && builder->raws[place].event == event) {
        return (uint32_t)place;
    }
    return number_map_get(&builder->repeated, event);
}

/* What the filter keeps back and something that is shown was made from: a source. */
static void promote(struct flow_builder *builder, struct flow_raw *node)
{
    node->is_hidden = false;
    node->is_promoted = true;
    node->flags = (uint16_t)((node->flags & FLOW_NODE_PARAMETER) | FLOW_NODE_SOURCE);
    if (node->event >= builder->options->first_event) {
        builder->graph->left_out.filtered--;
    }
}

/* What is surer of two reports that one value went into another. */
static void
edge_improve(struct flow_raw_edge *edge, enum flow_edge_kind kind, bool is_unsure)
{
    if (edge->kind == FLOW_EDGE_FORM && kind != FLOW_EDGE_FORM) {
        edge->kind = kind;
        edge->is_unsure = is_unsure;
    } else if (kind != FLOW_EDGE_FORM || edge->kind == FLOW_EDGE_FORM) {
        edge->is_unsure = edge->is_unsure && is_unsure;
    }
}

static bool add_edge(struct flow_builder *builder, const struct flow_raw_edge *edge)
{
    void *items = builder->edges;
    uint32_t source = edge->source;
    struct flow_raw *from;

    if (source == FLOW_NONE || source == edge->target ||
        builder->raws[edge->target].is_hidden) {
        return true;
    }
    from = &builder->raws[source];
    if (from->stamp == edge->target + 1) {
        edge_improve(&builder->edges[from->stamped], edge->kind, edge->is_unsure);
        return true;
    }
    if (!flow_grow(builder, &items, &builder->edge_capacity, builder->edge_count,
                   sizeof *builder->edges)) {
        return false;
    }
    if (from->is_hidden) {
        promote(builder, from);
    }
    from->stamp = edge->target + 1;
    from->stamped = builder->edge_count;
    builder->edges = items;
    builder->edges[builder->edge_count++] = *edge;
    return true;
}

bool flow_edge_add(struct flow_builder *builder,
                   enum flow_edge_kind kind,
                   uint32_t source,
                   uint32_t target)
{
    return add_edge(builder, &(struct flow_raw_edge){
                                 .source = source, .target = target, .kind = kind});
}

bool flow_edge_add_read(struct flow_builder *builder,
                        const struct flow_source *source,
                        uint32_t target,
                        bool is_form,
                        bool is_unsure)
{
    return add_edge(builder, &(struct flow_raw_edge){.source = source->raw,
                                                     .target = target,
                                                     .name = source->name,
                                                     .kind = is_form ? FLOW_EDGE_FORM
                                                                     : FLOW_EDGE_VALUE,
                                                     .is_unsure = is_unsure});
}

/* ---- which object it is ---- */

uint32_t flow_origin_of(const struct flow_builder *builder,
                        const struct log_event_view *event)
{
    return event->tensor.origin == 0 ? FLOW_NONE
                                     : raw_of_event(builder, event->tensor.origin - 1);
}

uint32_t flow_find_read(const struct flow_builder *builder, uint32_t object)
{
    uint32_t found = FLOW_NONE;

    for (uint32_t i = 0; i < builder->visit.source_count; i++) {
        uint32_t source = builder->sources[i].raw;

        if (builder->raws[source].object == object &&
            (found == FLOW_NONE || source > builder->sources[found].raw)) {
            found = i;
        }
    }
    return found;
}

uint32_t flow_find_holder(const struct flow_builder *builder, uint32_t raw)
{
    uint32_t holder = builder->raws[builder->raws[raw].object].holder;

    if (flow_is_held(builder, raw)) {
        return raw;
    }
    for (int i = 0; i < HOLDERS_MAX && holder != FLOW_NONE; i++) {
        if (flow_is_held(builder, holder)) {
            return holder;
        }
        holder = builder->raws[holder].older;
    }
    return FLOW_NONE;
}

void flow_hold(struct flow_builder *builder, uint32_t raw)
{
    struct flow_raw *first = &builder->raws[builder->raws[raw].object];

    if (first->holder != raw) {
        builder->raws[raw].older = first->holder;
        first->holder = raw;
    }
}

/* ---- values ---- */

/* The node that held the same object last, where it is certain that the object is the same: an
 * address may have been used again. */
static uint32_t find_origin(const struct flow_builder *builder,
                            const struct log_event_view *event)
{
    uint32_t origin = flow_origin_of(builder, event);
    const struct flow_raw *node;
    uint32_t read;

    if (origin == FLOW_NONE) {
        return FLOW_NONE;
    }
    node = &builder->raws[origin];
    read = flow_find_read(builder, node->object);
    if (read != FLOW_NONE) {
        return builder->sources[read].raw;
    }
    /* It was returned, and nothing happened in this thread since. */
    if ((node->flags & FLOW_NODE_RESULT) != 0 &&
        node->serial == builder->visit.before) {
        return origin;
    }
    return flow_find_holder(builder, origin);
}

/* The node that wrote into the value's memory, as the recorder saw it. */
static uint32_t find_writer(const struct flow_builder *builder, uint32_t raw)
{
    const struct flow_raw *node = &builder->raws[raw];
    uint32_t found = node->storage == 0
                         ? NUMBER_MAP_NONE
                         : number_map_get(&builder->writings, node->storage);

    if (found == NUMBER_MAP_NONE || builder->raws[found].site != node->alias_site) {
        found = number_map_get(&builder->written_sites, node->alias_site);
    }
    return found == NUMBER_MAP_NONE || builder->raws[found].is_hidden ? FLOW_NONE
                                                                      : found;
}

/* Written in place: the value before it, and the others that the statement read. */
static bool add_write(struct flow_builder *builder,
                      uint32_t raw,
                      uint32_t before,
                      const struct log_event_view *event)
{
    if (before != FLOW_NONE) {
        builder->raws[raw].object = builder->raws[before].object;
    }
    return flow_edge_add(builder, FLOW_EDGE_WRITE, before, raw) &&
           flow_made(builder, raw, event);
}

/* Written through another name: by that one's node. */
static bool
add_alias(struct flow_builder *builder, uint32_t raw, uint32_t before, uint32_t origin)
{
    if (before != FLOW_NONE) {
        builder->raws[raw].object = builder->raws[before].object;
    }
    return flow_edge_add(builder, FLOW_EDGE_ALIAS, find_writer(builder, raw), raw) &&
           flow_edge_add(builder, FLOW_EDGE_SAME, origin == before ? FLOW_NONE : origin,
                         raw) &&
           flow_edge_add(builder, FLOW_EDGE_WRITE, before, raw);
}

void flow_set_same(struct flow_builder *builder, uint32_t raw, uint32_t same_as)
{
    uint32_t removed = builder->visit.removed_raw;

    builder->raws[raw].same_as = same_as;
    builder->raws[raw].object = builder->raws[same_as].object;
    if (removed != FLOW_NONE &&
        builder->raws[removed].object == builder->raws[raw].object) {
        builder->visit.removed_raw = FLOW_NONE; /* it was taken out */
    }
}

/* Whether the name has the very object that it had, though it is new to this call: the old one
 * was alive until now, so no other can have its address. */
static bool is_same_object(const struct flow_builder *builder,
                           uint32_t previous,
                           uint32_t raw,
                           const struct flow_binding *binding)
{
    const struct flow_raw *then = &builder->raws[previous];
    const struct flow_raw *now = &builder->raws[raw];

    return now->address != 0 && then->address == now->address &&
           then->storage == now->storage && then->version <= now->version &&
           !binding->is_ambiguous;
}

/* What was written into the value's memory through other names since `before` held it, up to what
 * covers it. Without `before` the memory may have been another value's then: it must be equal. */
static bool add_writings(struct flow_builder *builder, uint32_t raw, uint32_t before)
{
    const struct flow_raw *node = &builder->raws[raw];
    uint32_t writing = node->storage == 0
                           ? NUMBER_MAP_NONE
                           : number_map_get(&builder->writings, node->storage);

    for (uint32_t i = 0; i < FLOW_WRITINGS_MAX && writing < raw &&
                         (before == FLOW_NONE || writing > before);
         i++) {
        const struct flow_raw *write = &builder->raws[writing];
        bool is_equal = write->has_hash && node->has_hash &&
                        write->hash == node->hash && write->data == node->data &&
                        write->extent == node->extent && write->dtype == node->dtype;
        uint32_t older = write->written;
        bool is_last = is_equal || flow_is_covered(node, write);

        if (!write->is_hidden && (is_equal || before != FLOW_NONE) &&
            !flow_edge_add(builder, FLOW_EDGE_ALIAS, writing, raw)) {
            return false;
        }
        if (is_last) {
            break;
        }
        writing = older;
    }
    return true;
}

bool flow_edges_of_read(struct flow_builder *builder,
                        uint32_t raw,
                        uint32_t index,
                        uint32_t origin)
{
    const struct flow_binding *binding =
        index == FLOW_NONE ? NULL : &builder->bindings[index];
    uint32_t before = origin;

    if (before == FLOW_NONE && binding != NULL) {
        before = flow_find_previous(builder, builder->raws[raw].path, binding);
        if (before != FLOW_NONE && !is_same_object(builder, before, raw, binding)) {
            before = FLOW_NONE;
        }
    }
    if (before != FLOW_NONE && builder->raws[before].is_hidden) {
        before = FLOW_NONE;
    }
    if (!add_writings(builder, raw, before)) {
        return false;
    }
    if (before == FLOW_NONE) {
        return true;
    }
    builder->raws[raw].object = builder->raws[before].object;
    return flow_edge_add(builder, FLOW_EDGE_WRITE, before, raw);
}

/* `y.data.add_(1)`: the value that the statement read and that lies in the same memory, where it
 * was another before. FLOW_NONE: there is none. */
static uint32_t find_written_through(const struct flow_builder *builder,
                                     uint32_t raw,
                                     const struct log_event_view *event)
{
    const struct flow_raw *node = &builder->raws[raw];

    if (event->site->kind != SITE_MUTATE || node->storage == 0 || !node->has_hash) {
        return FLOW_NONE;
    }
    for (uint32_t i = 0; i < builder->visit.source_count; i++) {
        const struct flow_raw *source = &builder->raws[builder->sources[i].raw];

        if (source->storage == node->storage && source->has_hash &&
            source->hash != node->hash) {
            return builder->sources[i].raw;
        }
    }
    return FLOW_NONE;
}

bool flow_edges_of_value(struct flow_builder *builder,
                         uint32_t raw,
                         uint32_t index,
                         const struct log_event_view *event)
{
    const struct flow_binding *binding = &builder->bindings[index];
    uint32_t previous = flow_find_previous(builder, builder->raws[raw].path, binding);
    uint32_t origin = find_origin(builder, event);
    uint32_t before = previous != FLOW_NONE ? previous : origin;

    if (event->change == CHANGE_MUTATED) {
        return add_write(builder, raw, before, event);
    }
    if (event->change == CHANGE_ALIASED) {
        return add_alias(builder, raw, before, origin);
    }
    if (origin == FLOW_NONE && previous != FLOW_NONE &&
        (event->change == CHANGE_SAME ||
         is_same_object(builder, previous, raw, binding))) {
        origin = previous;
    }
    if (origin == FLOW_NONE) {
        before = find_written_through(builder, raw, event);
        builder->raws[raw].flags |= before == FLOW_NONE ? 0 : FLOW_NODE_IN_PLACE;
        return before == FLOW_NONE ? flow_made(builder, raw, event)
                                   : add_write(builder, raw, before, event);
    }
    if (!flow_is_unchanged(&builder->raws[origin], &builder->raws[raw])) {
        /* New as a name of this call, but the object was there: it was written to. */
        builder->raws[raw].flags |= FLOW_NODE_IN_PLACE;
        return add_write(builder, raw, origin, event);
    }
    flow_set_same(builder, raw, origin);
    return flow_edge_add(builder, FLOW_EDGE_SAME, origin, raw);
}
