/* What calls are given and what they return, joined with the statement that made them: it is
 * told after they have ended, by their caller's next event. */
#include "runtime/view/flow/build.h"

/* An argument that is a value of its own is taken for made from so many others at most. */
#define ARGUMENT_SOURCES_MAX 64

/* ---- what an argument is ---- */

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
    struct flow_raw *node = &builder->raws[raw];
    uint32_t caller = builder->calls[node->call].parent;
    uint32_t origin = flow_origin_of(builder, event);
    uint32_t base = node->storage == 0
                        ? NUMBER_MAP_NONE
                        : number_map_get(&builder->storages, node->storage);
    uint32_t holder;

    if (base != NUMBER_MAP_NONE && flow_is_held(builder, base)) {
        node->base = base;
    }
    if (origin == FLOW_NONE) {
        return;
    }
    holder = flow_find_holder(builder, origin);
    if (is_pending_result(builder, origin, caller)) {
        flow_set_same(builder, raw, origin);
    } else if (holder != FLOW_NONE) {
        flow_set_same(builder, raw, holder);
    } else {
        node->maybe = builder->raws[origin].object;
    }
}

/* ---- arguments ---- */

static bool is_made_by(const struct flow_builder *builder,
                       const struct flow_call *callee,
                       const struct site *site)
{
    const struct flow_call *caller = &builder->calls[builder->visit.call];
    const struct flow_module *module = &builder->modules[caller->module];
    uint32_t first = module->module->first_site;

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
    return callee->line >= site->line &&
           callee->line < module->next_lines[builder->visit.site - first];
}

static bool has_results(const struct flow_builder *builder,
                        const struct flow_call *callee)
{
    return callee->result_count > 0 && !builder->raws[callee->first_result].is_hidden;
}

/* The argument is just what the statement read there: no reason to think that another was made
 * from it. */
static void claim(struct flow_builder *builder,
                  const struct flow_call *callee,
                  const struct flow_source *source)
{
    bool is_spent = has_results(builder, callee);

    builder->claims[source->read].given++;
    builder->claims[source->read].spent += is_spent;
    builder->visit.has_claims |= is_spent;
}

/* What one call returned, and another of the same statement was given. */
static void claim_result(struct flow_builder *builder,
                         const struct flow_call *callee,
                         uint32_t same_as)
{
    if (same_as != FLOW_NONE &&
        (builder->raws[same_as].flags & FLOW_NODE_RESULT) != 0 &&
        has_results(builder, callee)) {
        builder->raws[same_as].claimed = builder->visit.serial;
        builder->visit.has_claims = true;
    }
}

/* Which of the statement's reads each argument is. */
static void find_same(struct flow_builder *builder, const struct flow_call *callee)
{
    for (uint32_t i = 0; i < callee->argument_count; i++) {
        uint32_t argument = callee->first_argument + i;
        const struct flow_raw *node = &builder->raws[argument];
        uint32_t object = node->maybe != FLOW_NONE ? node->maybe : node->object;
        uint32_t read =
            object == FLOW_NONE ? FLOW_NONE : flow_find_read(builder, object);

        claim_result(builder, callee, node->same_as);
        if (read == FLOW_NONE) {
            continue;
        }
        /* A name that is first told by the argument stands for the argument itself. */
        if (builder->sources[read].raw < callee->first_argument) {
            flow_set_same(builder, argument, builder->sources[read].raw);
        }
        if (builder->sources[read].read != FLOW_NONE) {
            claim(builder, callee, &builder->sources[read]);
        }
    }
}

/* Whether the statement does more with the value than to hand it to calls as it is. */
static bool is_left(struct flow_builder *builder,
                    const struct log_event_view *event,
                    const struct flow_source *source,
                    bool *is_it)
{
    uint32_t uses;

    if (source->read == FLOW_NONE) {
        *is_it = builder->raws[source->raw].claimed != builder->visit.serial;
        return true;
    }
    if (!flow_uses(builder, event, source->read, &uses)) {
        return false;
    }
    *is_it = builder->claims[source->read].given < (uses > 0 ? uses : 1);
    return true;
}

static bool
shares_storage(const struct flow_builder *builder, uint32_t source, uint32_t argument)
{
    return builder->raws[argument].storage != 0 &&
           builder->raws[source].storage == builder->raws[argument].storage;
}

static bool add_edge(struct flow_builder *builder,
                     const struct flow_source *source,
                     uint32_t argument)
{
    if (builder->visit.edges_left == 0) {
        return true;
    }
    builder->visit.edges_left--;
    return flow_edge_add_read(builder, source, argument);
}

/* A view of something that was read: `w[:2]`. */
static bool link_view(struct flow_builder *builder,
                      const struct flow_call *callee,
                      uint32_t argument,
                      uint32_t *linked)
{
    for (uint32_t i = 0; i < builder->visit.source_count; i++) {
        const struct flow_source *source = &builder->sources[i];

        if (source->raw < callee->first_argument && *linked < ARGUMENT_SOURCES_MAX &&
            shares_storage(builder, source->raw, argument)) {
            ++*linked;
            if (source->read != FLOW_NONE) {
                claim(builder, callee, source);
            }
            if (!add_edge(builder, source, argument)) {
                return false;
            }
        }
    }
    return true;
}

/* Made by the statement, from what of its reads did not go elsewhere. */
static bool link_made(struct flow_builder *builder,
                      const struct log_event_view *event,
                      const struct flow_call *callee,
                      uint32_t argument)
{
    uint32_t linked = 0;

    for (uint32_t i = 0; i < builder->visit.source_count; i++) {
        const struct flow_source *source = &builder->sources[i];
        bool is_it;

        if (source->raw >= callee->first_argument || linked >= ARGUMENT_SOURCES_MAX) {
            continue;
        }
        if (!is_left(builder, event, source, &is_it)) {
            return false;
        }
        linked += is_it;
        if (is_it && !add_edge(builder, source, argument)) {
            return false;
        }
    }
    return true;
}

/* An argument that is no value with a name. */
static bool link_argument(struct flow_builder *builder,
                          const struct log_event_view *event,
                          const struct flow_call *callee,
                          uint32_t argument)
{
    uint32_t base = builder->raws[argument].base;
    uint32_t linked = 0;

    if (!link_view(builder, callee, argument, &linked)) {
        return false;
    }
    if (linked > 0) {
        return true;
    }
    if (base != FLOW_NONE && !builder->raws[base].is_hidden) {
        return flow_edge_add(builder, FLOW_EDGE_VALUE, base, argument);
    }
    return event == NULL || link_made(builder, event, callee, argument);
}

/* The edges of a call's arguments; the event of the statement that made it, or NULL where that
 * is none that is recorded. */
static bool link_arguments(struct flow_builder *builder,
                           const struct log_event_view *event,
                           const struct flow_call *callee)
{
    for (uint32_t i = 0; i < callee->argument_count; i++) {
        uint32_t argument = callee->first_argument + i;
        const struct flow_raw *node = &builder->raws[argument];

        if (node->is_hidden || node->is_promoted) {
            continue;
        }
        if (node->same_as == FLOW_NONE) {
            if (!link_argument(builder, event, callee, argument)) {
                return false;
            }
        } else if (!builder->raws[node->same_as].is_hidden &&
                   !flow_edge_add(builder, FLOW_EDGE_SAME, node->same_as, argument)) {
            return false;
        }
    }
    return true;
}

static bool add_results(struct flow_builder *builder, const struct flow_call *callee)
{
    for (uint32_t i = 0; i < callee->result_count; i++) {
        uint32_t result = callee->first_result + i;

        if (!builder->raws[result].is_hidden &&
            !flow_source_add(builder, &(struct flow_source){result, FLOW_NONE, 0},
                             false)) {
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
    is_done = link_arguments(builder, NULL, callee);
    builder->visit.source_count = count;
    return is_done;
}

static bool clear_claims(struct flow_builder *builder, const struct site *site)
{
    void *items = builder->claims;

    if (!flow_grow(builder, &items, &builder->claim_capacity, site->read_count,
                   sizeof *builder->claims)) {
        return false;
    }
    builder->claims = items;
    memset(items, 0, site->read_count * sizeof *builder->claims);
    return true;
}

bool flow_edges_of_calls(struct flow_builder *builder,
                         const struct log_event_view *event)
{
    const struct site *site = event->site;
    struct flow_call *caller = &builder->calls[builder->visit.call];
    uint32_t first = caller->first_pending;
    uint32_t next;

    if (first == FLOW_NONE) {
        return true;
    }
    caller->first_pending = FLOW_NONE;
    if (!clear_claims(builder, site)) {
        return false;
    }
    for (uint32_t i = first; i != FLOW_NONE; i = builder->calls[i].next_pending) {
        builder->calls[i].is_made_here = is_made_by(builder, &builder->calls[i], site);
        if (builder->calls[i].is_made_here) {
            builder->calls[i].made = builder->visit.serial;
            find_same(builder, &builder->calls[i]);
        }
    }
    for (uint32_t i = first; i != FLOW_NONE; i = next) {
        struct flow_call *callee = &builder->calls[i];

        next = callee->next_pending;
        callee->next_pending = FLOW_NONE;
        callee->is_pending = false;
        if (callee->is_made_here ? !link_arguments(builder, event, callee) ||
                                       !add_results(builder, callee)
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
