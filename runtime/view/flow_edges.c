/* What led to each value: the names that its statement reads, and the very objects, as their
 * addresses tell. */
#include "runtime/view/flow_build.h"

/* An argument that is a value of its own is taken for made from so many others at most. */
#define ARGUMENT_SOURCES_MAX 64

uint32_t flow_raw_of_event(const struct flow_builder *builder, uint64_t event)
{
    uint32_t low = 0;
    uint32_t high = builder->raw_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (builder->raws[middle].event < event) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < builder->raw_count && builder->raws[low].event == event ? low
                                                                         : FLOW_NONE;
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

bool flow_edge_add(struct flow_builder *builder,
                   enum flow_edge_kind kind,
                   uint32_t source,
                   uint32_t target)
{
    void *items = builder->edges;
    struct flow_raw *from = &builder->raws[source];
    struct flow_raw *to = &builder->raws[target];

    if (source == target || to->is_hidden || from->stamp == target + 1) {
        return true;
    }
    if (!flow_grow(builder, &items, &builder->edge_capacity, builder->edge_count,
                   sizeof *builder->edges)) {
        return false;
    }
    if (from->is_hidden) {
        promote(builder, from);
    }
    from->stamp = target + 1;
    to->has_edges = true;
    builder->edges = items;
    builder->edges[builder->edge_count++] =
        (struct flow_raw_edge){source, target, kind};
    return true;
}

/* ---- which object it is ---- */

static uint32_t origin_of(const struct flow_builder *builder,
                          const struct log_event_view *event)
{
    return event->tensor.origin == 0
               ? FLOW_NONE
               : flow_raw_of_event(builder, event->tensor.origin - 1);
}

static void set_same(struct flow_builder *builder, uint32_t raw, uint32_t same_as)
{
    builder->raws[raw].same_as = same_as;
    builder->raws[raw].object = builder->raws[same_as].object;
}

/* The newest value that the statement read and that is the same object; FLOW_NONE. */
static uint32_t find_read(const struct flow_builder *builder, uint32_t object)
{
    uint32_t found = FLOW_NONE;

    for (uint32_t i = 0; i < builder->visit.source_count; i++) {
        uint32_t source = builder->sources[i];

        if (builder->raws[source].object == object &&
            (found == FLOW_NONE || source > found)) {
            found = source;
        }
    }
    return found;
}

static bool
is_pending_result(const struct flow_builder *builder, uint32_t origin, uint32_t caller)
{
    const struct flow_call *call = &builder->calls[builder->raws[origin].call];

    return (builder->raws[origin].flags & FLOW_NODE_RESULT) != 0 && call->is_pending &&
           call->parent == caller;
}

void flow_judge_argument(struct flow_builder *builder,
                         uint32_t raw,
                         const struct log_event_view *event)
{
    uint32_t caller = builder->calls[builder->raws[raw].call].parent;
    uint32_t origin = origin_of(builder, event);
    uint64_t storage = builder->raws[raw].storage;
    uint32_t base =
        storage == 0 ? FLOW_MAP_NONE : flow_map_get(&builder->storages, storage);
    uint32_t first;

    builder->raws[raw].base =
        base != FLOW_MAP_NONE && flow_is_held(builder, base) ? base : FLOW_NONE;
    if (origin == FLOW_NONE) {
        return;
    }
    /* Its last holder may be gone: a call that ended. Its first is asked too. */
    first = builder->raws[origin].object;
    if (flow_is_held(builder, origin) || is_pending_result(builder, origin, caller)) {
        set_same(builder, raw, origin);
    } else if (flow_is_held(builder, first)) {
        set_same(builder, raw, first);
    }
}

/* ---- values ---- */

/* The value that the name had before this visit, at the same place in it. */
static uint32_t find_previous(const struct flow_builder *builder,
                              const struct flow_raw *node,
                              const struct flow_binding *binding)
{
    bool is_rebound = binding->serial == node->serial;
    uint32_t raw = is_rebound ? binding->before : binding->first;
    uint32_t count = is_rebound ? binding->before_count : binding->count;

    for (uint32_t i = 0; i < count; i++) {
        if (builder->raws[raw].path == node->path) {
            return raw;
        }
        raw = builder->raws[raw].next_leaf;
    }
    return FLOW_NONE;
}

/* The node that held the same object last, where it is certain that the object is the same: an
 * address may have been used again. */
static uint32_t find_origin(const struct flow_builder *builder,
                            uint32_t raw,
                            const struct flow_binding *binding,
                            const struct log_event_view *event)
{
    uint32_t origin = origin_of(builder, event);
    const struct flow_raw *node;
    uint32_t read;

    if (origin == FLOW_NONE) {
        return FLOW_NONE;
    }
    node = &builder->raws[origin];
    read = find_read(builder, node->object);
    if (read != FLOW_NONE) {
        return read;
    }
    if (flow_is_held(builder, origin)) {
        return origin;
    }
    /* Its name is being bound anew by this very visit. */
    if (node->binding == builder->raws[raw].binding &&
        binding->serial == builder->visit.serial &&
        node->serial == binding->before_serial) {
        return origin;
    }
    return flow_is_held(builder, node->object) ? node->object : FLOW_NONE;
}

static bool add_sources(struct flow_builder *builder, uint32_t raw)
{
    uint32_t count = builder->visit.source_count;

    for (uint32_t i = 0; i < count && builder->visit.edges_left > 0; i++) {
        builder->visit.edges_left--;
        if (!flow_edge_add(builder, FLOW_EDGE_VALUE, builder->sources[i], raw)) {
            return false;
        }
    }
    return true;
}

/* The node that wrote into the value's memory, as the recorder saw it. */
static uint32_t find_writer(const struct flow_builder *builder, uint32_t raw)
{
    const struct flow_raw *node = &builder->raws[raw];
    uint32_t found = node->storage == 0
                         ? FLOW_MAP_NONE
                         : flow_map_get(&builder->writings, node->storage);

    if (found == FLOW_MAP_NONE || builder->raws[found].site != node->alias_site) {
        found = flow_map_get(&builder->written_sites, node->alias_site);
    }
    return found == FLOW_MAP_NONE || builder->raws[found].is_hidden ? FLOW_NONE : found;
}

static bool add_one(struct flow_builder *builder,
                    enum flow_edge_kind kind,
                    uint32_t source,
                    uint32_t target)
{
    return source == FLOW_NONE || flow_edge_add(builder, kind, source, target);
}

bool flow_edges_of_value(struct flow_builder *builder,
                         uint32_t raw,
                         uint32_t index,
                         const struct log_event_view *event)
{
    const struct flow_binding *binding = &builder->bindings[index];
    uint32_t previous = find_previous(builder, &builder->raws[raw], binding);
    uint32_t origin = find_origin(builder, raw, binding, event);
    uint32_t before = previous != FLOW_NONE ? previous : origin;

    switch (event->change) {
    case CHANGE_MUTATED:
        if (before != FLOW_NONE) {
            builder->raws[raw].object = builder->raws[before].object;
        }
        return add_one(builder, FLOW_EDGE_WRITE, before, raw) &&
               add_sources(builder, raw);
    case CHANGE_ALIASED:
        if (before != FLOW_NONE) {
            builder->raws[raw].object = builder->raws[before].object;
        }
        return add_one(builder, FLOW_EDGE_ALIAS, find_writer(builder, raw), raw) &&
               add_one(builder, FLOW_EDGE_SAME, origin == before ? FLOW_NONE : origin,
                       raw) &&
               add_one(builder, FLOW_EDGE_WRITE, before, raw);
    case CHANGE_SAME:
        origin = origin != FLOW_NONE ? origin : previous;
        break;
    default:
        break;
    }
    if (origin == FLOW_NONE) {
        return add_sources(builder, raw);
    }
    set_same(builder, raw, origin);
    return flow_edge_add(builder, FLOW_EDGE_SAME, origin, raw);
}

/* ---- calls made by a statement ---- */

static bool is_made_by(const struct flow_builder *builder,
                       const struct flow_call *callee,
                       const struct site *site)
{
    const struct flow_call *caller = &builder->calls[builder->visit.call];
    const struct flow_module *module = &builder->modules[caller->module];
    uint32_t first = module->module->first_site;
    uint32_t next;

    if (callee->line == 0) {
        return true;
    }
    if (site->kind == SITE_LOOP || site->kind == SITE_BRANCH) {
        return callee->line == site->line;
    }
    if (builder->visit.site < first ||
        builder->visit.site - first >= module->module->table.site_count) {
        return false;
    }
    next = module->next_lines[builder->visit.site - first];
    return callee->line >= site->line && callee->line < next;
}

/* Reads that were handed to a call as they are, are no reason to think that another argument
 * was made from them. */
static void claim_reads(struct flow_builder *builder, const struct flow_call *callee)
{
    for (uint32_t i = 0; i < callee->argument_count; i++) {
        uint32_t same_as = builder->raws[callee->first_argument + i].same_as;

        if (same_as != FLOW_NONE) {
            builder->raws[same_as].claimed = builder->visit.serial;
        }
    }
}

static bool
shares_storage(const struct flow_builder *builder, uint32_t source, uint32_t argument)
{
    return builder->raws[argument].storage != 0 &&
           builder->raws[source].storage == builder->raws[argument].storage;
}

enum argument_pass {
    PASS_VIEWS,     /* those whose memory it shares */
    PASS_UNCLAIMED, /* those that went nowhere else */
    PASS_ALL,
};

/* A view of a value that is alive, though the statement did not name it. */
static uint32_t find_base(const struct flow_builder *builder, uint32_t argument)
{
    uint32_t base = builder->raws[argument].base;

    return base == FLOW_NONE || builder->raws[base].is_hidden ? FLOW_NONE : base;
}

static bool link_argument(struct flow_builder *builder, uint32_t argument)
{
    uint32_t count = builder->visit.source_count;

    for (int pass = PASS_VIEWS; pass <= PASS_ALL; pass++) {
        uint32_t linked = 0;

        for (uint32_t i = 0; i < count && linked < ARGUMENT_SOURCES_MAX; i++) {
            uint32_t source = builder->sources[i];
            bool fits = pass == PASS_ALL ||
                        (pass == PASS_VIEWS
                             ? shares_storage(builder, source, argument)
                             : builder->raws[source].claimed != builder->visit.serial);

            if (!fits || source >= argument || builder->visit.edges_left == 0) {
                continue;
            }
            builder->visit.edges_left--;
            linked++;
            if (!flow_edge_add(builder, FLOW_EDGE_VALUE, source, argument)) {
                return false;
            }
        }
        if (linked > 0) {
            return true;
        }
    }
    return add_one(builder, FLOW_EDGE_VALUE, find_base(builder, argument), argument);
}

/* The edges of a call's arguments, once it is known what the statement read: nothing, where
 * the statement is none that is recorded. */
static bool link_arguments(struct flow_builder *builder, const struct flow_call *callee)
{
    for (uint32_t i = 0; i < callee->argument_count; i++) {
        uint32_t argument = callee->first_argument + i;
        const struct flow_raw *node = &builder->raws[argument];
        uint32_t read;

        if (node->is_hidden || node->is_promoted) {
            continue;
        }
        if (node->same_as == FLOW_NONE) {
            if (!link_argument(builder, argument)) {
                return false;
            }
            continue;
        }
        read = find_read(builder, node->object);
        read = read == FLOW_NONE || read >= argument ? node->same_as : read;
        if (!builder->raws[read].is_hidden &&
            !flow_edge_add(builder, FLOW_EDGE_SAME, read, argument)) {
            return false;
        }
    }
    return true;
}

static bool add_results(struct flow_builder *builder, const struct flow_call *callee)
{
    for (uint32_t i = 0; i < callee->result_count; i++) {
        uint32_t result = callee->first_result + i;

        if (!builder->raws[result].is_hidden && !flow_source_add(builder, result)) {
            return false;
        }
    }
    return true;
}

/* Without what the statement read: of a statement that is not recorded. */
static bool link_alone(struct flow_builder *builder, const struct flow_call *callee)
{
    uint32_t count = builder->visit.source_count;
    bool is_done;

    builder->visit.source_count = 0;
    is_done = link_arguments(builder, callee);
    builder->visit.source_count = count;
    return is_done;
}

bool flow_edges_of_calls(struct flow_builder *builder, const struct site *site)
{
    struct flow_call *caller = &builder->calls[builder->visit.call];
    uint32_t first = caller->first_pending;
    uint32_t next;

    caller->first_pending = FLOW_NONE;
    for (uint32_t i = first; i != FLOW_NONE; i = builder->calls[i].next_pending) {
        builder->calls[i].is_made_here = is_made_by(builder, &builder->calls[i], site);
        if (builder->calls[i].is_made_here) {
            claim_reads(builder, &builder->calls[i]);
        }
    }
    for (uint32_t i = first; i != FLOW_NONE; i = next) {
        struct flow_call *callee = &builder->calls[i];

        next = callee->next_pending;
        callee->next_pending = FLOW_NONE;
        callee->is_pending = false;
        if (callee->is_made_here
                ? !link_arguments(builder, callee) || !add_results(builder, callee)
                : !link_alone(builder, callee)) {
            return false;
        }
    }
    return true;
}

bool flow_edges_of_last_calls(struct flow_builder *builder)
{
    for (uint32_t i = 0; i < builder->call_count; i++) {
        if ((builder->calls[i].is_pending || builder->calls[i].parent == FLOW_NONE) &&
            !link_alone(builder, &builder->calls[i])) {
            return false;
        }
    }
    return true;
}
