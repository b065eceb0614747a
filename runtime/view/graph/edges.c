/* Edges: the values that led to each value, found by the names that its statement reads and by
 * the addresses of objects. */
#include "runtime/view/graph/build.h"

#include "runtime/base/sorted.h"

#include <assert.h>

/* The most nodes of an object, newest first, that are searched for one that is still held. */
#define HOLDERS_MAX 64

static bool is_before(const void *raws, size_t place, uint64_t event)
{
    return ((const struct graph_raw *)raws)[place].event < event;
}

uint32_t graph_raw_of_event(const struct graph_builder *builder, uint64_t event)
{
    uint32_t count = builder->raw_count;
    uint64_t last = count == 0 ? 0 : builder->raws[count - 1].event;
    /* The node is at most this many places before the end: one for each later event, and the
     * updates, which have no event of their own. */
    uint64_t back = (last > event ? last - event : 0) + builder->updates.count;
    size_t first = back + 1 < count ? count - 1 - (size_t)back : 0;
    size_t place =
        first + sorted_place(builder->raws + first, count - first, is_before, event);

    if (place < count && builder->raws[place].event == event &&
        (builder->raws[place].flags & GRAPH_UPDATE) == 0) {
        return (uint32_t)place;
    }
    return number_map_get(&builder->repeated, event);
}

/* Turns a hidden value that a shown value was made from into a source. */
static void promote(struct graph_builder *builder, struct graph_raw *node)
{
    node->is_hidden = false;
    node->is_promoted = true;
    node->flags = (uint16_t)((node->flags & GRAPH_PARAMETER) | GRAPH_SOURCE);
    if (node->event >= builder->options->first_event) {
        builder->left_out.filtered--;
    }
}

/* Merges a second report that a value went into another: the more certain one wins, and
 * GRAPH_SHAPE is the weakest kind. */
static void
edge_improve(struct graph_raw_edge *edge, enum graph_kind kind, bool is_unsure)
{
    if (edge->kind == GRAPH_SHAPE && kind != GRAPH_SHAPE) {
        edge->kind = kind;
        edge->is_unsure = is_unsure;
    } else if (kind != GRAPH_SHAPE || edge->kind == GRAPH_SHAPE) {
        edge->is_unsure = edge->is_unsure && is_unsure;
    }
}

static bool add_edge(struct graph_builder *builder, const struct graph_raw_edge *edge)
{
    void *items = builder->edges;
    uint32_t source = edge->source;
    struct graph_raw *from;

    if (source == GRAPH_NONE || source == edge->target ||
        builder->raws[edge->target].is_hidden) {
        return true;
    }
    from = &builder->raws[source];
    if (from->stamp == edge->target + 1) {
        edge_improve(&builder->edges[from->stamped], edge->kind, edge->is_unsure);
        return true;
    }
    if (!graph_grow(builder, &items, &builder->edge_capacity, builder->edge_count,
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

bool graph_edge_add(struct graph_builder *builder,
                    enum graph_kind kind,
                    uint32_t source,
                    uint32_t target)
{
    return add_edge(builder, &(struct graph_raw_edge){
                                 .source = source, .target = target, .kind = kind});
}

bool graph_edge_add_read(struct graph_builder *builder,
                         const struct graph_input *source,
                         uint32_t target,
                         bool is_form,
                         bool is_unsure)
{
    return add_edge(
        builder, &(struct graph_raw_edge){.source = source->raw,
                                          .target = target,
                                          .name = source->name,
                                          .kind = is_form ? GRAPH_SHAPE : GRAPH_VALUE,
                                          .is_unsure = is_unsure});
}

/* ---- the identity of objects ---- */

uint32_t graph_origin_of(const struct graph_builder *builder,
                         const struct log_event_view *event)
{
    return event->tensor.origin == 0
               ? GRAPH_NONE
               : graph_raw_of_event(builder, event->tensor.origin - 1);
}

/* The place of the newest source of the visit that is this object. GRAPH_NONE: none. */
static uint32_t graph_find_read(const struct graph_builder *builder, uint32_t object)
{
    uint32_t found = GRAPH_NONE;

    for (uint32_t i = 0; i < builder->visit.source_count; i++) {
        uint32_t source = builder->sources[i].raw;

        if (builder->raws[source].object == object &&
            (found == GRAPH_NONE || source > builder->sources[found].raw)) {
            found = i;
        }
    }
    return found;
}

/* A node of the same object that is still held. GRAPH_NONE: none. */
static uint32_t graph_find_holder(const struct graph_builder *builder, uint32_t raw)
{
    assert(raw < builder->raw_count);

    uint32_t holder = builder->raws[builder->raws[raw].object].holder;

    if (graph_is_held(builder, raw)) {
        return raw;
    }
    for (int i = 0; i < HOLDERS_MAX && holder != GRAPH_NONE; i++) {
        if (graph_is_held(builder, holder)) {
            return holder;
        }
        holder = builder->raws[holder].older;
    }
    return GRAPH_NONE;
}

void graph_hold(struct graph_builder *builder, uint32_t raw)
{
    assert(raw < builder->raw_count);

    struct graph_raw *first = &builder->raws[builder->raws[raw].object];

    if (first->holder != raw) {
        builder->raws[raw].older = first->holder;
        first->holder = raw;
    }
}

/* ---- values ---- */

/* The node that held the same object last. GRAPH_NONE if the object may be another one:
 * addresses are reused. */
static uint32_t find_origin(const struct graph_builder *builder,
                            const struct log_event_view *event)
{
    uint32_t origin = graph_origin_of(builder, event);
    const struct graph_raw *node;
    uint32_t read;

    if (origin == GRAPH_NONE) {
        return GRAPH_NONE;
    }
    node = &builder->raws[origin];
    read = graph_find_read(builder, node->object);
    if (read != GRAPH_NONE) {
        return builder->sources[read].raw;
    }
    /* The value was returned just now: its thread has made no other visit since. */
    if ((node->flags & GRAPH_RESULT) != 0 && node->serial == builder->visit.before) {
        return origin;
    }
    return graph_find_holder(builder, origin);
}

/* The node that wrote to the value's memory, by the site that the recorder noted. */
static uint32_t find_writer(const struct graph_builder *builder, uint32_t raw)
{
    assert(raw < builder->raw_count);

    const struct graph_raw *node = &builder->raws[raw];
    uint64_t storage = graph_storage_of(builder, node);
    uint32_t found =
        storage == 0 ? NUMBER_MAP_NONE : number_map_get(&builder->writings, storage);

    if (found == NUMBER_MAP_NONE || builder->raws[found].site != node->alias_site) {
        found = number_map_get(&builder->written_sites, node->alias_site);
    }
    return found == NUMBER_MAP_NONE || builder->raws[found].is_hidden ? GRAPH_NONE
                                                                      : found;
}

/* Adds the edges of a write in place: from the value before it, and from the others that the
 * statement read. */
static bool add_write(struct graph_builder *builder,
                      uint32_t raw,
                      uint32_t before,
                      const struct log_event_view *event)
{
    assert(raw < builder->raw_count);
    if (before != GRAPH_NONE) {
        builder->raws[raw].object = builder->raws[before].object;
    }
    return graph_edge_add(builder, GRAPH_WRITE, before, raw) &&
           graph_made(builder, raw, event);
}

/* Adds the edges of a write through another name: from the node that wrote. */
static bool
add_alias(struct graph_builder *builder, uint32_t raw, uint32_t before, uint32_t origin)
{
    assert(raw < builder->raw_count);
    if (before != GRAPH_NONE) {
        builder->raws[raw].object = builder->raws[before].object;
    }
    return graph_edge_add(builder, GRAPH_ALIAS, find_writer(builder, raw), raw) &&
           graph_edge_add(builder, GRAPH_SAME, origin == before ? GRAPH_NONE : origin,
                          raw) &&
           graph_edge_add(builder, GRAPH_WRITE, before, raw);
}

static void
graph_set_same(struct graph_builder *builder, uint32_t raw, uint32_t same_as)
{
    uint32_t removed = builder->visit.removed_raw;

    assert(raw < builder->raw_count);
    builder->raws[raw].same_as = same_as;
    builder->raws[raw].object = builder->raws[same_as].object;
    if (removed != GRAPH_NONE &&
        builder->raws[removed].object == builder->raws[raw].object) {
        builder->visit.removed_raw = GRAPH_NONE; /* it was removed from its container */
    }
}

/* Whether a name that is new in this call has the very object that it had before. The old object
 * was alive until now, so no other can have its address. */
static bool is_same_object(const struct graph_builder *builder,
                           uint32_t previous,
                           uint32_t raw,
                           const struct graph_binding *binding)
{
    assert(raw < builder->raw_count);

    const struct graph_raw *then = &builder->raws[previous];
    const struct graph_raw *now = &builder->raws[raw];

    assert(previous < builder->raw_count);
    return now->address != 0 && then->address == now->address &&
           graph_storage_of(builder, then) == graph_storage_of(builder, now) &&
           then->version <= now->version && !binding->is_ambiguous;
}

/* Adds edges from the writes to the value's memory through other names since `before`, newest
 * first, until one covers it. Without `before` the memory may have belonged to another value, so
 * only a write with equal content counts. */
static bool add_writings(struct graph_builder *builder, uint32_t raw, uint32_t before)
{
    assert(raw < builder->raw_count);

    const struct graph_raw *node = &builder->raws[raw];
    uint64_t storage = graph_storage_of(builder, node);
    uint32_t writing =
        storage == 0 ? NUMBER_MAP_NONE : number_map_get(&builder->writings, storage);

    for (uint32_t i = 0; i < GRAPH_WRITINGS_MAX && writing < raw &&
                         (before == GRAPH_NONE || writing > before);
         i++) {
        const struct graph_raw *write = &builder->raws[writing];
        bool is_equal = write->has_hash && node->has_hash &&
                        write->hash == node->hash && write->memory == node->memory &&
                        write->dtype == node->dtype;
        uint32_t older = write->written;
        bool is_last = is_equal || graph_is_covered(builder, node, write);

        if (!write->is_hidden && (is_equal || before != GRAPH_NONE) &&
            !graph_edge_add(builder, GRAPH_ALIAS, writing, raw)) {
            return false;
        }
        if (is_last) {
            break;
        }
        writing = older;
    }
    return true;
}

bool graph_edges_of_read(struct graph_builder *builder,
                         uint32_t raw,
                         uint32_t index,
                         uint32_t origin)
{
    const struct graph_binding *binding =
        index == GRAPH_NONE ? NULL : &builder->bindings[index];
    uint32_t before = origin;

    assert(raw < builder->raw_count);
    if (before == GRAPH_NONE && binding != NULL) {
        before = graph_find_previous(builder, builder->raws[raw].path, binding);
        if (before != GRAPH_NONE && !is_same_object(builder, before, raw, binding)) {
            before = GRAPH_NONE;
        }
    }
    if (before != GRAPH_NONE && builder->raws[before].is_hidden) {
        before = GRAPH_NONE;
    }
    if (!add_writings(builder, raw, before)) {
        return false;
    }
    if (before == GRAPH_NONE) {
        return true;
    }
    builder->raws[raw].object = builder->raws[before].object;
    return graph_edge_add(builder, GRAPH_WRITE, before, raw);
}

/* The source of a write such as `y.data.add_(1)`: a value that the statement read, that is in
 * the same memory and had another content. GRAPH_NONE: none. */
static uint32_t find_written_through(const struct graph_builder *builder,
                                     uint32_t raw,
                                     const struct log_event_view *event)
{
    assert(raw < builder->raw_count);

    const struct graph_raw *node = &builder->raws[raw];

    if (event->site->kind != SITE_MUTATE || graph_storage_of(builder, node) == 0 ||
        !node->has_hash) {
        return GRAPH_NONE;
    }
    for (uint32_t i = 0; i < builder->visit.source_count; i++) {
        const struct graph_raw *source = &builder->raws[builder->sources[i].raw];

        if (graph_storage_of(builder, source) == graph_storage_of(builder, node) &&
            source->has_hash && source->hash != node->hash) {
            return builder->sources[i].raw;
        }
    }
    return GRAPH_NONE;
}

bool graph_edges_of_value(struct graph_builder *builder,
                          uint32_t raw,
                          uint32_t index,
                          const struct log_event_view *event)
{
    assert(index < builder->binding_count);

    const struct graph_binding *binding = &builder->bindings[index];
    uint32_t previous = graph_find_previous(builder, builder->raws[raw].path, binding);
    uint32_t origin = find_origin(builder, event);
    uint32_t before = previous != GRAPH_NONE ? previous : origin;

    assert(raw < builder->raw_count);
    if (event->change == CHANGE_MUTATED) {
        return add_write(builder, raw, before, event);
    }
    if (event->change == CHANGE_ALIASED) {
        return add_alias(builder, raw, before, origin);
    }
    if (origin == GRAPH_NONE && previous != GRAPH_NONE &&
        (event->change == CHANGE_SAME ||
         is_same_object(builder, previous, raw, binding))) {
        origin = previous;
    }
    if (origin == GRAPH_NONE) {
        before = find_written_through(builder, raw, event);
        builder->raws[raw].flags |= before == GRAPH_NONE ? 0 : GRAPH_IN_PLACE;
        return before == GRAPH_NONE ? graph_made(builder, raw, event)
                                    : add_write(builder, raw, before, event);
    }
    if (!graph_is_unchanged(builder, &builder->raws[origin], &builder->raws[raw])) {
        /* The name is new in this call, but its object existed before: it was written to. */
        builder->raws[raw].flags |= GRAPH_IN_PLACE;
        return add_write(builder, raw, origin, event);
    }
    graph_set_same(builder, raw, origin);
    return graph_edge_add(builder, GRAPH_SAME, origin, raw);
}

/* Arguments and results of calls, joined with the statement that made the calls. The caller
 * records that statement after the calls have ended, with its next event. */

/* The most sources of an argument whose place in the term is not known. */
#define ARGUMENT_SOURCES_MAX 64

/* ---- identity of arguments ---- */

static bool
is_pending_result(const struct graph_builder *builder, uint32_t origin, uint32_t caller)
{
    assert(origin < builder->raw_count);

    const struct graph_raw_call *call = &builder->calls[builder->raws[origin].call];

    return (builder->raws[origin].flags & GRAPH_RESULT) != 0 && call->is_pending &&
           call->parent == caller;
}

bool graph_judge_argument(struct graph_builder *builder,
                          uint32_t raw,
                          const struct log_event_view *event)
{
    assert(raw < builder->raw_count);

    struct graph_raw *node = &builder->raws[raw];
    uint32_t caller = builder->calls[node->call].parent;
    uint32_t origin = graph_origin_of(builder, event);
    uint64_t storage = graph_storage_of(builder, node);
    uint32_t base =
        storage == 0 ? NUMBER_MAP_NONE : number_map_get(&builder->storages, storage);
    uint32_t holder;

    if (base != NUMBER_MAP_NONE && graph_is_held(builder, base)) {
        struct graph_argument *argument = graph_argument_set(builder, raw);

        if (argument == NULL) {
            return false;
        }
        argument->base = base;
    }
    if (origin == GRAPH_NONE) {
        return true;
    }
    holder = graph_find_holder(builder, origin);
    if (is_pending_result(builder, origin, caller)) {
        graph_set_same(builder, raw, origin);
    } else if (holder != GRAPH_NONE) {
        graph_set_same(builder, raw, holder);
    } else {
        struct graph_argument *argument = graph_argument_set(builder, raw);

        if (argument == NULL) {
            return false;
        }
        argument->maybe = builder->raws[origin].object;
    }
    return true;
}

/* ---- calls of a statement ---- */

static bool is_made_by(const struct graph_builder *builder,
                       const struct graph_raw_call *callee,
                       const struct site *site)
{
    const struct graph_raw_call *caller = &builder->calls[builder->visit.call];
    const struct graph_module *module = &builder->modules[caller->module];
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

/* ---- the term of a call ---- */

/* The most calls of one statement that are matched. */
#define CALLS_MAX 64

/* The calls of a term, in the order of execution. */
struct term_calls {
    uint32_t nodes[CALLS_MAX];
    uint32_t count;
};

static bool is_call(const struct term *term, uint32_t node)
{
    assert(node < term->node_count);
    return term->nodes[node].kind == TERM_CALL || term->nodes[node].kind == TERM_METHOD;
}

/* Finds the calls in the order of execution: arguments are computed before the call that gets
 * them, so the term that ends first is first. */
static void find_calls(const struct term *term, struct term_calls *calls)
{
    calls->count = 0;
    for (uint32_t i = 0; i < term->node_count; i++) {
        uint32_t place = calls->count;

        if (!is_call(term, i) || calls->count == CALLS_MAX) {
            continue;
        }
        while (place > 0 &&
               term->nodes[calls->nodes[place - 1]].next >= term->nodes[i].next) {
            calls->nodes[place] = calls->nodes[place - 1];
            place--;
        }
        calls->nodes[place] = i;
        calls->count++;
    }
}

/* Whether the term is inside one of that kind, such as a comprehension or a choice. */
bool graph_term_is_in(const struct term *term, uint32_t node, enum term_kind kind)
{
    for (uint32_t i = 0; i < node; i++) {
        if (term->nodes[i].kind == kind && term->nodes[i].next > node) {
            return true;
        }
    }
    return false;
}

static struct slice function_name(const struct graph_builder *builder,
                                  const struct graph_raw_call *call)
{
    return builder->modules[call->module].module->table.functions[call->function].name;
}

/* The class name: `Linear` of `Linear.__init__`. */
static struct slice class_of(struct slice name)
{
    size_t end = name.size;

    while (end > 0 && name.bytes[end - 1] != '.') {
        end--;
    }
    return end == 0 ? name : slice_last_part(slice_part(name, 0, end - 1), '.');
}

/* Whether the call's module is inside the called module of that name: `q.1` for `self.q(x)`. */
static bool is_within(const struct graph_builder *builder,
                      const struct graph_raw_call *call,
                      struct slice name)
{
    struct slice path = builder->texts.texts[call->path];
    struct slice caller =
        builder->texts.texts[builder->calls[builder->visit.call].path];

    if (!slice_starts(path, caller)) {
        return false;
    }
    path = slice_part(path, caller.size, path.size);
    while (path.size > 0) {
        size_t end = slice_find(path, SLICE("."), 0);

        if (slice_equal(slice_part(path, 0, end), name)) {
            return true;
        }
        path = slice_part(path, end < path.size ? end + 1 : end, path.size);
    }
    return false;
}

/* Whether the read has a tensor among its values. */
static bool is_tensor_read(const struct graph_builder *builder, uint32_t read)
{
    for (uint32_t i = 0; i < builder->visit.source_count; i++) {
        if (builder->sources[i].read == read &&
            builder->raws[builder->sources[i].raw].kind == VALUE_TENSOR) {
            return true;
        }
    }
    return false;
}

/* Whether the method's object may be a module: true for `self.net(x)`, false for `x.transpose(0,
 * 1)`. */
static bool is_of_module(const struct graph_builder *builder, uint32_t node)
{
    const struct term *term = builder->visit.term;
    uint32_t object = term_child(term, node);

    while (object != 0 && (term->nodes[object].kind == TERM_ATTRIBUTE ||
                           term->nodes[object].kind == TERM_ITEM)) {
        object = term_child(term, object);
    }
    return object != 0 && term->nodes[object].kind == TERM_READ &&
           !is_tensor_read(builder, term->nodes[object].number);
}

/* Whether the term at `place` can be this call, by the names of both. */
static bool names_fit(const struct graph_builder *builder,
                      const struct graph_raw_call *call,
                      uint32_t place)
{
    assert(place < builder->visit.term->node_count);

    const struct term_node *node = &builder->visit.term->nodes[place];
    struct slice whole = function_name(builder, call);
    struct slice name = slice_last_part(whole, '.');
    struct slice path = builder->texts.texts[call->path];

    if (node->key.size == 0 || slice_equal(node->key, name)) {
        return true;
    }
    if (slice_equal(name, SLICE("__init__"))) {
        return slice_equal(node->key, class_of(whole));
    }
    if (!slice_equal(name, SLICE("forward")) && !slice_equal(name, SLICE("__call__"))) {
        return false;
    }
    return node->kind == TERM_CALL ||
           (path.size == 0 ? is_of_module(builder, place)
                           : slice_equal(node->key, slice_last_part(path, '.')));
}

static void
match(struct graph_builder *builder, struct graph_raw_call *call, uint32_t node)
{
    uint32_t *last = &builder->uses[node].first_call;

    while (*last != GRAPH_NONE) {
        last = &builder->calls[*last].next_at_term;
    }
    *last = (uint32_t)(call - builder->calls);
    call->next_at_term = GRAPH_NONE;
    call->term_node = node;
}

/* Matches the call with the next fitting call of the term, from `*place` on. Calls in a
 * comprehension are repeated, so earlier ones fit too. */
static bool match_next(struct graph_builder *builder,
                       const struct term_calls *calls,
                       struct graph_raw_call *call,
                       uint32_t *place)
{
    const struct term *term = builder->visit.term;

    for (uint32_t i = 0; i < calls->count; i++) {
        uint32_t at = (*place + i) % calls->count;
        uint32_t node = calls->nodes[at];

        if (names_fit(builder, call, node) &&
            (at >= *place || graph_term_is_in(term, node, TERM_EACH))) {
            match(builder, call, node);
            *place = at + 1;
            return true;
        }
    }
    return false;
}

/* Whether the function is a property or an operator's method: the statement has no call in its
 * text then. */
static bool is_without_call(const struct graph_builder *builder,
                            const struct graph_raw_call *call,
                            const struct site *site)
{
    struct slice name = slice_last_part(function_name(builder, call), '.');

    for (uint32_t i = 0; i < site->read_count; i++) {
        if (slice_equal(slice_last_part(site->reads[i].name, '.'), name)) {
            return true;
        }
    }
    return slice_starts(name, SLICE("__")) && !slice_equal(name, SLICE("__call__"));
}

/* The call of the term that this call was made inside: by the module's path, else the only one
 * without a recorded call. GRAPH_NONE: none, or several. */
static uint32_t find_open(const struct graph_builder *builder,
                          const struct term_calls *calls,
                          const struct graph_raw_call *call)
{
    uint32_t found = GRAPH_NONE;

    for (uint32_t i = 0; i < calls->count; i++) {
        if (is_within(builder, call, builder->visit.term->nodes[calls->nodes[i]].key)) {
            return calls->nodes[i];
        }
    }
    for (uint32_t i = 0; i < calls->count; i++) {
        if (builder->uses[calls->nodes[i]].first_call == GRAPH_NONE) {
            if (found != GRAPH_NONE) {
                return GRAPH_NONE;
            }
            found = calls->nodes[i];
        }
    }
    return found;
}

static bool has_self(const struct graph_builder *builder,
                     const struct graph_raw_call *call)
{
    return call->argument_count > 0 &&
           site_has_self(graph_site_of(builder, &builder->raws[call->first_argument]));
}

static void
match_calls(struct graph_builder *builder, uint32_t first, const struct site *site)
{
    struct term_calls calls;
    uint32_t place = 0;

    find_calls(builder->visit.term, &calls);
    for (uint32_t i = first; i != GRAPH_NONE && calls.count > 0;
         i = builder->calls[i].next_pending) {
        struct graph_raw_call *call = &builder->calls[i];

        call->is_bound = has_self(builder, call);
        if (call->is_made_here) {
            match_next(builder, &calls, call, &place);
        }
    }
    for (uint32_t i = first; i != GRAPH_NONE; i = builder->calls[i].next_pending) {
        struct graph_raw_call *call = &builder->calls[i];

        if (call->is_made_here && call->term_node == GRAPH_NONE &&
            !is_without_call(builder, call, site)) {
            uint32_t open = find_open(builder, &calls, call);

            call->is_inside = true;
            if (open != GRAPH_NONE) {
                match(builder, call, open);
            }
        }
    }
}

/* ---- arguments ---- */

/* Finds which of the statement's reads each argument is. */
static void find_same(struct graph_builder *builder,
                      const struct graph_raw_call *callee)
{
    for (uint32_t i = 0; i < callee->argument_count; i++) {
        uint32_t argument = callee->first_argument + i;
        const struct graph_raw *node = &builder->raws[argument];
        uint32_t maybe = graph_argument_of(builder, node)->maybe;
        uint32_t object = maybe != GRAPH_NONE ? maybe : node->object;
        uint32_t read =
            object == GRAPH_NONE ? GRAPH_NONE : graph_find_read(builder, object);

        /* A read whose value is the argument's own event is no source of it. */
        if (read != GRAPH_NONE && builder->sources[read].raw < callee->first_argument) {
            graph_set_same(builder, argument, builder->sources[read].raw);
        }
    }
}

static bool
shares_storage(const struct graph_builder *builder, uint32_t source, uint32_t argument)
{
    assert(argument < builder->raw_count);

    uint64_t storage = graph_storage_of(builder, &builder->raws[argument]);

    assert(source < builder->raw_count);
    return storage != 0 && graph_storage_of(builder, &builder->raws[source]) == storage;
}

/* Links an argument of a call without a known term: to the values that share its memory, as
 * `w[:2]` does, else to any value that was read, as unsure. */
static bool link_unknown(struct graph_builder *builder,
                         const struct graph_raw_call *callee,
                         uint32_t argument)
{
    uint32_t before = builder->edge_count;
    uint32_t linked = 0;

    for (int round = 0; round < 2 && linked == 0; round++) {
        for (uint32_t i = 0; i < builder->visit.source_count; i++) {
            const struct graph_input *source = &builder->sources[i];
            bool is_view = shares_storage(builder, source->raw, argument);

            if (source->raw >= callee->first_argument ||
                linked >= ARGUMENT_SOURCES_MAX || (round == 0 && !is_view)) {
                continue;
            }
            if (!graph_edge_add_read(builder, source, argument, source->is_form,
                                     round == 1)) {
                return false;
            }
            linked = builder->edge_count - before;
        }
    }
    return true;
}

/* Links an argument that is not the value of a name. */
static bool link_argument(struct graph_builder *builder,
                          const struct site *site,
                          const struct graph_raw_call *callee,
                          uint32_t argument)
{
    assert(argument < builder->raw_count);

    uint32_t base = graph_argument_of(builder, &builder->raws[argument])->base;

    if (site != NULL && callee->term_node != GRAPH_NONE && !callee->is_inside) {
        return graph_made_argument(builder, site, argument, callee);
    }
    if (base != GRAPH_NONE && !builder->raws[base].is_hidden) {
        return graph_edge_add(builder, GRAPH_VALUE, base, argument);
    }
    return site == NULL || builder->raws[argument].kind != VALUE_TENSOR ||
           link_unknown(builder, callee, argument);
}

/* Adds the edges of a call's arguments. `site`: the statement that made the call, NULL if it is
 * not recorded. */
static bool link_arguments(struct graph_builder *builder,
                           const struct site *site,
                           const struct graph_raw_call *callee)
{
    for (uint32_t i = 0; i < callee->argument_count; i++) {
        uint32_t argument = callee->first_argument + i;
        const struct graph_raw *node = &builder->raws[argument];

        if (node->is_hidden || node->is_promoted) {
            continue;
        }
        if (node->same_as == GRAPH_NONE) {
            if (!link_argument(builder, site, callee, argument)) {
                return false;
            }
        } else if (!builder->raws[node->same_as].is_hidden &&
                   !graph_edge_add(builder, GRAPH_SAME, node->same_as, argument)) {
            return false;
        }
    }
    return true;
}

/* Binds the items of a container argument to the caller's nodes again: the callee's names are
 * gone, and a later call gets the container from its caller, not from this call. */
static bool give_back(struct graph_builder *builder,
                      const struct graph_raw_call *callee)
{
    for (uint32_t i = 0; i < callee->argument_count; i++) {
        uint32_t argument = callee->first_argument + i;
        const struct graph_raw *node = &builder->raws[argument];

        if (node->same_as != GRAPH_NONE && node->content != GRAPH_NONE &&
            builder->raws[node->same_as].content == node->content &&
            graph_content_find(builder, node->content, node->place) == argument &&
            !graph_content_put(builder, node->content, node->place, node->same_as)) {
            return false;
        }
    }
    return true;
}

static bool add_results(struct graph_builder *builder,
                        const struct graph_raw_call *callee)
{
    for (uint32_t i = 0; i < callee->result_count; i++) {
        uint32_t result = callee->first_result + i;
        struct graph_input source = {.raw = result,
                                     .read = GRAPH_NONE,
                                     .node = GRAPH_NONE,
                                     .from = callee->term_node == GRAPH_NONE
                                                 ? GRAPH_FROM_RESULT
                                                 : GRAPH_FROM_TERM};

        if (!builder->raws[result].is_hidden && !graph_input_add(builder, &source)) {
            return false;
        }
    }
    return true;
}

/* Links a call whose statement is not recorded, without the visit's sources. */
static bool link_alone(struct graph_builder *builder,
                       const struct graph_raw_call *callee)
{
    uint32_t count = builder->visit.source_count;
    bool is_done;

    builder->visit.source_count = 0;
    is_done = link_arguments(builder, NULL, callee);
    builder->visit.source_count = count;
    return is_done;
}

bool graph_edges_of_calls(struct graph_builder *builder, const struct site *site)
{
    struct graph_raw_call *caller = &builder->calls[builder->visit.call];
    uint32_t first = caller->first_pending;
    uint32_t next;

    if (first == GRAPH_NONE) {
        return true;
    }
    caller->first_pending = GRAPH_NONE;
    for (uint32_t i = first; i != GRAPH_NONE; i = builder->calls[i].next_pending) {
        builder->calls[i].is_made_here = is_made_by(builder, &builder->calls[i], site);
        if (builder->calls[i].is_made_here) {
            builder->calls[i].made = builder->visit.serial;
            find_same(builder, &builder->calls[i]);
        }
    }
    match_calls(builder, first, site);
    for (uint32_t i = first; i != GRAPH_NONE; i = next) {
        struct graph_raw_call *callee = &builder->calls[i];

        next = callee->next_pending;
        callee->next_pending = GRAPH_NONE;
        callee->is_pending = false;
        if (callee->is_made_here ? !link_arguments(builder, site, callee) ||
                                       !add_results(builder, callee)
                                 : !link_alone(builder, callee)) {
            return false;
        }
        if (callee->is_ended && !give_back(builder, callee)) {
            return false;
        }
        graph_scope_note_over(builder, i);
    }
    return true;
}

bool graph_edges_of_last_calls(struct graph_builder *builder)
{
    for (uint32_t i = 0; i < builder->call_count; i++) {
        if ((builder->calls[i].is_pending || builder->calls[i].parent == GRAPH_NONE) &&
            !link_alone(builder, &builder->calls[i])) {
            return false;
        }
    }
    return true;
}
