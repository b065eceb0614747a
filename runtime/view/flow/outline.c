/* The outline of a trace: one of its steps, and calls that are drawn as one node each.
 *
 * Works on the raw nodes and edges, between reading and folding. A step is a turn of the loop
 * that calls the outermost nn.Module, or that call alone if it is in no loop. Raw nodes outside
 * of the step are hidden; those that a value inside was made from become sources.
 *
 * A call is closed if it is deeper than options.depth, or if a filter leaves it out but wants
 * its caller. All raw nodes of a closed call, and of the calls inside it, become one: the node
 * of its result, in the box of its caller. Edges into them lead to that node and edges out of
 * them start at it, so that a path through the call stays a path. Takes time and memory linear
 * in the number of raw nodes, edges and calls. */
#include "runtime/base/memory.h"
#include "runtime/view/flow/build.h"
#include "runtime/view/flow/fold.h"

#include <assert.h>

/* A call that is drawn as one node. */
struct closed_call {
    uint32_t call;
    uint32_t raw; /* the node that represents it; FLOW_NONE: none yet */
    uint32_t value_count;
    uint32_t call_count; /* including itself */
    bool has_in;
    bool has_out;
    uint32_t named;  /* the node of the name that the result is assigned to */
    bool has_others; /* has edges to other nodes than `named` */
    bool is_deep;    /* closed because of its depth, not by the filter */
    bool is_shown;
};

struct outline {
    struct flow_builder *builder;
    uint32_t *closed_of;        /* owned; by call: index in `closed`, or FLOW_NONE */
    struct closed_call *closed; /* owned */
    uint32_t closed_count;
    size_t closed_capacity;
    bool *is_inside; /* owned; by unit: inside the drawn step; NULL: all are */
};

static uint32_t parent_of(const struct flow_builder *builder, uint32_t call)
{
    assert(call < builder->call_count);
    return builder->calls[call].parent;
}

/* ---- the step ---- */

/* The outermost calls of modules that are made at one line: a candidate for the step. */
struct candidate {
    uint32_t call; /* the first of them */
    uint64_t value_count;
    uint32_t step_count;
    uint32_t last_unit;
};

struct steps {
    uint32_t *outermost;   /* owned; by call: the outermost module call around it */
    uint64_t *value_count; /* owned; by outermost call */
    uint32_t *candidate;   /* owned; by outermost call */
    struct candidate *candidates; /* owned */
    size_t candidate_capacity;
    uint32_t candidate_count;
    struct number_map places;
};

static bool is_constructor(const struct flow_builder *builder, uint32_t call)
{
    assert(call < builder->call_count);

    const struct reading_call *item = &builder->calls[call];

    return slice_ends(flow_table_of(builder, item)->functions[item->function].name,
                      SLICE(".__init__"));
}

/* Whether the call is of a method of an nn.Module. */
static bool has_class(const struct flow_builder *builder, uint32_t call)
{
    assert(call < builder->call_count);

    uint32_t name = builder->calls[call].class_name;

    return name != 0 && flow_text_of(builder, name).size > 0;
}

static bool is_module_call(const struct flow_builder *builder, uint32_t call)
{
    return has_class(builder, call) && !is_constructor(builder, call);
}

/* Whether the call is part of a construction. A call that a constructor makes, or that is
 * anywhere inside the construction of a module, such as of functions that initialise weights, is
 * no step. */
static bool is_building(const struct flow_builder *builder, uint32_t call)
{
    uint32_t above = parent_of(builder, call);

    if (above != FLOW_NONE && is_constructor(builder, above)) {
        return true;
    }
    while (above != FLOW_NONE &&
           !(is_constructor(builder, above) && has_class(builder, above))) {
        above = parent_of(builder, above);
    }
    return above != FLOW_NONE;
}

/* The innermost turn of a loop around the call that also has an optimizer's step in it, or else
 * the innermost turn. The call itself if it is in no loop. */
static uint32_t
unit_of_step(const struct flow_builder *builder, const bool *has_update, uint32_t call)
{
    assert(call < builder->call_count);

    uint32_t own = builder->calls[call].unit;
    uint32_t innermost = own;

    if (builder->options->is_step_call) {
        return own;
    }
    for (uint32_t unit = builder->units[own].parent; unit != FLOW_NONE;
         unit = builder->units[unit].parent) {
        if (builder->units[unit].loop == FLOW_NONE) {
            continue;
        }
        if (has_update[unit]) {
            return unit;
        }
        innermost = innermost == own ? unit : innermost;
    }
    return innermost;
}

/* The candidate of the call. FLOW_NONE: out of memory. */
static uint32_t
candidate_of(struct flow_builder *builder, struct steps *steps, uint32_t call)
{
    assert(call < builder->call_count);

    const struct reading_call *item = &builder->calls[call];
    const struct reading_call *caller =
        item->parent == FLOW_NONE ? NULL : &builder->calls[item->parent];
    uint64_t place = flow_mix(number_map_key(item->module, item->function),
                              number_map_key(item->class_name, item->line));
    uint32_t found;
    void *items = steps->candidates;

    if (caller != NULL) {
        place = flow_mix(place, number_map_key(caller->module, caller->function));
    }
    found = number_map_get(&steps->places, place);
    if (found != NUMBER_MAP_NONE) {
        return found;
    }
    if (!flow_grow(builder, &items, &steps->candidate_capacity, steps->candidate_count,
                   sizeof *steps->candidates)) {
        return FLOW_NONE;
    }
    steps->candidates = items;
    if (!number_map_put(&steps->places, place, steps->candidate_count)) {
        flow_out_of_memory(builder);
        return FLOW_NONE;
    }
    steps->candidates[steps->candidate_count] =
        (struct candidate){.call = call, .last_unit = FLOW_NONE};
    return steps->candidate_count++;
}

static bool find_candidates(struct flow_builder *builder, struct steps *steps)
{
    for (uint32_t i = 0; i < builder->call_count; i++) {
        uint32_t parent = parent_of(builder, i);

        steps->outermost[i] =
            parent == FLOW_NONE ? FLOW_NONE : steps->outermost[parent];
        if (steps->outermost[i] == FLOW_NONE && is_module_call(builder, i) &&
            !is_building(builder, i)) {
            steps->outermost[i] = i;
            steps->candidate[i] = candidate_of(builder, steps, i);
            if (steps->candidate[i] == FLOW_NONE) {
                return false;
            }
        }
    }
    for (uint32_t i = 0; i < builder->raw_count; i++) {
        uint32_t outermost = steps->outermost[builder->raws[i].call];

        if (outermost != FLOW_NONE && !builder->raws[i].is_hidden) {
            steps->candidates[steps->candidate[outermost]].value_count++;
        }
    }
    return true;
}

static bool has_nan(const struct flow_builder *builder, uint32_t raw)
{
    assert(raw < builder->raw_count);
    return builder->raws[raw].has_nan;
}

static bool is_optimizer_step(const struct flow_builder *builder, uint32_t raw)
{
    assert(raw < builder->raw_count);
    return (builder->raws[raw].flags & FLOW_NODE_UPDATE) != 0 &&
           reading_update_of(builder->reading, raw)->tag == LOG_STEP_OPTIMIZER;
}

/* By unit: whether such a node is in it or in a unit inside it. NULL: out of memory. */
static bool *find_units(struct flow_builder *builder,
                        bool (*is_one)(const struct flow_builder *, uint32_t raw))
{
    bool *has_one = memory_allocate_zeroed(builder->unit_count, sizeof *has_one);

    if (has_one == NULL) {
        flow_out_of_memory(builder);
        return NULL;
    }
    for (uint32_t i = 0; i < builder->raw_count; i++) {
        has_one[builder->raws[i].unit] |= is_one(builder, i);
    }
    for (uint32_t i = builder->unit_count; i-- > 0;) {
        uint32_t parent = builder->units[i].parent;

        if (parent != FLOW_NONE) {
            assert(parent < i);
            has_one[parent] |= has_one[i];
        }
    }
    return has_one;
}

/* Counts the candidate's steps and chooses the wanted one. Step 0 is the first one with a NaN in
 * it, or else the first. */
static bool
choose_step(struct outline *outline, const struct steps *steps, uint32_t candidate)
{
    struct flow_builder *builder = outline->builder;
    struct flow_step *step = &builder->graph->step;
    bool *has_nans = find_units(builder, has_nan);
    bool *has_update = find_units(builder, is_optimizer_step);
    bool is_found = false;
    uint32_t last = FLOW_NONE;

    if (has_nans == NULL || has_update == NULL) {
        memory_free(has_nans);
        memory_free(has_update);
        return false;
    }
    for (uint32_t i = 0; i < builder->call_count; i++) {
        uint32_t unit;

        if (steps->outermost[i] != i || steps->candidate[i] != candidate) {
            continue;
        }
        unit = unit_of_step(builder, has_update, i);
        if (unit == last) {
            continue;
        }
        last = unit;
        step->count++;
        if (step->number == 0 ||
            (builder->options->step == 0 && !is_found && has_nans[unit]) ||
            step->count == builder->options->step) {
            is_found = has_nans[unit];
            step->number = step->count;
            step->call = builder->calls[i].number;
            step->is_turn = builder->units[unit].loop != FLOW_NONE;
            step->has_update = has_update[unit];
            builder->root = unit;
        }
    }
    memory_free(has_nans);
    memory_free(has_update);
    return true;
}

static bool find_step(struct outline *outline, struct steps *steps)
{
    struct flow_builder *builder = outline->builder;
    struct flow_step *step = &builder->graph->step;
    uint32_t best = 0;

    if (!find_candidates(builder, steps)) {
        return false;
    }
    if (steps->candidate_count == 0) {
        return true;
    }
    for (uint32_t i = 1; i < steps->candidate_count; i++) {
        if (steps->candidates[i].value_count > steps->candidates[best].value_count) {
            best = i;
        }
    }
    if (!choose_step(outline, steps, best)) {
        return false;
    }
    if (builder->options->step > step->count) {
        error_set(
            builder->error, ERROR_USAGE,
            "--step %llu: the trace has %llu step%s, expected a number up to that",
            (unsigned long long)builder->options->step, (unsigned long long)step->count,
            step->count == 1 ? "" : "s");
        return false;
    }
    step->name = flow_keep(
        builder,
        slice_last_part(
            flow_text_of(builder,
                         builder->calls[steps->candidates[best].call].class_name),
            '.'));
    return true;
}

static bool choose_root(struct outline *outline)
{
    struct flow_builder *builder = outline->builder;
    struct steps steps = {0};
    bool is_done = false;

    number_map_init(&steps.places);
    steps.outermost = memory_allocate(builder->call_count, sizeof *steps.outermost);
    steps.candidate = memory_allocate(builder->call_count, sizeof *steps.candidate);
    if (steps.outermost == NULL || steps.candidate == NULL) {
        flow_out_of_memory(builder);
    } else {
        is_done = find_step(outline, &steps);
    }
    number_map_release(&steps.places);
    memory_free(steps.outermost);
    memory_free(steps.candidate);
    memory_free(steps.candidates);
    return is_done;
}

/* Makes a node a source: it is outside of the drawing, but a drawn value was made from it. */
static void make_source(struct flow_builder *builder, struct flow_raw *node)
{
    node->is_hidden = false;
    node->is_promoted = true;
    node->flags = (uint16_t)((node->flags & FLOW_NODE_PARAMETER) | FLOW_NODE_SOURCE);
    if (builder->options->has_step && builder->graph->left_out.beside > 0) {
        builder->graph->left_out.beside--;
    } else if (builder->graph->left_out.filtered > 0) {
        builder->graph->left_out.filtered--;
    }
}

static bool hide_other_steps(struct outline *outline)
{
    struct flow_builder *builder = outline->builder;
    bool *is_inside = memory_allocate_zeroed(builder->unit_count, sizeof *is_inside);

    if (is_inside == NULL) {
        return flow_out_of_memory(builder);
    }
    outline->is_inside = is_inside;
    for (uint32_t i = 0; i < builder->unit_count; i++) {
        uint32_t parent = builder->units[i].parent;

        is_inside[i] = i == builder->root || (parent != FLOW_NONE && is_inside[parent]);
    }
    for (uint32_t i = 0; i < builder->raw_count; i++) {
        struct flow_raw *node = &builder->raws[i];

        if (!is_inside[node->unit] && !node->is_hidden) {
            node->is_hidden = true;
            builder->graph->left_out.beside++;
        }
    }
    return true;
}

/* ---- closed calls ---- */

static bool add_closed(struct outline *outline, uint32_t call, bool is_deep)
{
    void *items = outline->closed;

    if (!flow_grow(outline->builder, &items, &outline->closed_capacity,
                   outline->closed_count, sizeof *outline->closed)) {
        return false;
    }
    outline->closed = items;
    outline->closed[outline->closed_count] =
        (struct closed_call){.call = call, .raw = FLOW_NONE, .is_deep = is_deep};
    outline->closed_of[call] = outline->closed_count++;
    return true;
}

/* The depth of a call in the drawing: 0 for the call that the step is in, and for outermost
 * calls. A parent precedes its calls. */
static uint32_t
depth_of(const struct outline *outline, const uint32_t *depths, uint32_t call)
{
    uint32_t parent = parent_of(outline->builder, call);

    if (outline->builder->root != FLOW_NONE &&
        outline->builder->units[outline->builder->root].call == call) {
        return 0;
    }
    return parent == FLOW_NONE ? 0 : depths[parent] + 1;
}

uint64_t flow_callee_of(const struct flow_builder *builder, uint32_t call)
{
    const struct reading_call *item = &builder->calls[call];

    return flow_mix(number_map_key(item->module, item->function), item->class_name);
}

static bool is_opened(const struct flow_builder *builder, uint32_t call)
{
    const struct flow_options *options = builder->options;
    uint64_t callee = options->opened_count == 0 ? 0 : flow_callee_of(builder, call);

    for (uint32_t i = 0; i < options->opened_count; i++) {
        if (options->opened[i] == callee) {
            return true;
        }
    }
    return false;
}

static bool find_closed(struct outline *outline, uint32_t *depths)
{
    struct flow_builder *builder = outline->builder;

    for (uint32_t i = 0; i < builder->call_count; i++) {
        uint32_t parent = parent_of(builder, i);
        bool is_deep;

        depths[i] = depth_of(outline, depths, i);
        is_deep = builder->options->has_depth && parent != FLOW_NONE &&
                  depths[i] > builder->options->depth && !is_opened(builder, i);
        outline->closed_of[i] = FLOW_NONE;
        if (outline->is_inside != NULL && !outline->is_inside[builder->calls[i].unit]) {
            continue;
        }
        if (parent != FLOW_NONE && outline->closed_of[parent] != FLOW_NONE &&
            (!builder->calls[i].is_wanted ||
             outline->closed[outline->closed_of[parent]].is_deep)) {
            outline->closed_of[i] = outline->closed_of[parent];
        } else if ((is_deep || builder->calls[i].is_between) &&
                   !add_closed(outline, i, is_deep)) {
            return false;
        }
        if (outline->closed_of[i] != FLOW_NONE) {
            outline->closed[outline->closed_of[i]].call_count++;
        }
    }
    return true;
}

static struct closed_call *closed_of_raw(const struct outline *outline, uint32_t raw)
{
    assert(raw < outline->builder->raw_count);

    uint32_t closed = outline->closed_of[outline->builder->raws[raw].call];

    return closed == FLOW_NONE ? NULL : &outline->closed[closed];
}

/* Finds the edges into and out of closed calls. A call without result is represented by the
 * first node that has an edge out of it. */
static void find_ways(struct outline *outline)
{
    struct flow_builder *builder = outline->builder;

    for (uint32_t i = 0; i < builder->edge_count; i++) {
        const struct reading_edge *edge = &builder->edges[i];
        struct closed_call *from = closed_of_raw(outline, edge->source);
        struct closed_call *to = closed_of_raw(outline, edge->target);

        if (from == to) {
            continue;
        }
        if (to != NULL && !builder->raws[edge->source].is_hidden) {
            to->has_in = true;
        }
        if (from != NULL && !builder->raws[edge->target].is_hidden) {
            from->has_out = true;
            from->raw = from->raw == FLOW_NONE ? edge->source : from->raw;
        }
    }
    for (uint32_t i = 0; i < outline->closed_count; i++) {
        struct closed_call *closed = &outline->closed[i];
        const struct reading_call *call = &builder->calls[closed->call];

        if (call->result_count > 0) {
            closed->raw = call->first_result;
        }
        closed->is_shown = closed->raw != FLOW_NONE &&
                           (closed->is_deep ? closed->has_in || closed->has_out
                                            : closed->has_in && closed->has_out);
    }
}

/* Merges the node of a call with the name that its statement gives the result, as in `x =
 * block(x)`, if the result has no other edges. */
static void merge_names(struct outline *outline, uint32_t *closed_of_raws)
{
    struct flow_builder *builder = outline->builder;

    for (uint32_t i = 0; i < outline->closed_count; i++) {
        outline->closed[i].named = FLOW_NONE;
    }
    for (uint32_t i = 0; i < builder->edge_count; i++) {
        const struct reading_edge *edge = &builder->edges[i];
        struct closed_call *from = closed_of_raw(outline, edge->source);
        const struct flow_raw *target = &builder->raws[edge->target];

        if (from == NULL || from == closed_of_raw(outline, edge->target) ||
            target->is_hidden) {
            continue;
        }
        if (from->named == FLOW_NONE && edge->kind == GRAPH_SAME &&
            edge->source == from->raw &&
            flow_site_of(builder, target)->line == builder->calls[from->call].line &&
            target->call == parent_of(builder, from->call)) {
            from->named = edge->target;
        } else if (from->named != edge->target) {
            from->has_others = true;
        }
    }
    for (uint32_t i = 0; i < outline->closed_count; i++) {
        struct closed_call *closed = &outline->closed[i];

        if (closed->is_shown && closed->is_deep && !closed->has_others &&
            closed->named != FLOW_NONE && closed_of_raws[closed->named] == FLOW_NONE) {
            builder->raws[closed->named].is_hidden = true;
            closed_of_raws[closed->named] = i;
        }
    }
}

/* The name `Block`, or `g(…)`. */
static bool name_closed(struct flow_builder *builder,
                        const struct reading_call *call,
                        uint32_t *name)
{
    const struct site_table *table = flow_table_of(builder, call);
    struct buffer text = BUFFER_INIT;
    bool is_done;

    if (is_module_call(builder, (uint32_t)(call - builder->calls)) &&
        slice_equal(slice_last_part(table->functions[call->function].name, '.'),
                    SLICE("forward"))) {
        return flow_text(builder,
                         slice_last_part(flow_text_of(builder, call->class_name), '.'),
                         name);
    }
    buffer_add(&text, table->functions[call->function].name);
    buffer_add(&text, SLICE("(\xE2\x80\xA6)"));
    is_done = !text.has_failed ? flow_text(builder, buffer_slice(&text), name)
                               : flow_out_of_memory(builder);
    buffer_release(&text);
    return is_done;
}

/* Makes the node represent the whole call, in the caller's box. */
static bool close_call(struct outline *outline, struct closed_call *closed)
{
    struct flow_builder *builder = outline->builder;
    const struct reading_call *call = &builder->calls[closed->call];
    struct flow_raw *node = &builder->raws[closed->raw];
    uint32_t name;

    if (!name_closed(builder, call, &name)) {
        return false;
    }
    node->is_hidden = false;
    node->is_promoted = false;
    node->flags = FLOW_NODE_CALL;
    node->name = name;
    node->path = 0;
    node->inside = FLOW_NONE;
    node->closed_call = closed->call;
    node->inside_values = closed->value_count;
    node->call = call->parent;
    node->unit = builder->units[call->unit].parent;
    assert(node->unit != FLOW_NONE);
    return true;
}

/* ---- remaining edges and nodes ---- */

/* The node that represents a raw node: itself, or the node of the closed call that it is in. */
static uint32_t
stands_for(const struct outline *outline, const uint32_t *closed_of_raws, uint32_t raw)
{
    uint32_t closed = closed_of_raws[raw];

    if (closed == FLOW_NONE || !outline->closed[closed].is_shown) {
        return raw;
    }
    return outline->closed[closed].raw;
}

static bool is_argument(const struct flow_builder *builder, uint32_t raw)
{
    assert(raw < builder->raw_count);
    return (builder->raws[raw].flags & FLOW_NODE_ARGUMENT) != 0;
}

/* Moves the ends of edges to the nodes of closed calls. A hidden source that a shown node reads
 * becomes visible. */
static void move_edges(struct outline *outline, const uint32_t *closed_of_raws)
{
    struct flow_builder *builder = outline->builder;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < builder->edge_count; i++) {
        struct reading_edge edge = builder->edges[i];
        struct flow_raw *source;

        bool is_given = is_argument(builder, edge.target);

        edge.source = stands_for(outline, closed_of_raws, edge.source);
        edge.target = stands_for(outline, closed_of_raws, edge.target);
        source = &builder->raws[edge.source];
        if (source->is_hidden && builder->raws[edge.target].closed_call != FLOW_NONE &&
            !is_given) {
            continue; /* a weight of the module: the call's node includes it */
        }
        if (edge.source == edge.target || builder->raws[edge.target].is_hidden) {
            continue;
        }
        if (source->is_hidden) {
            make_source(builder, source);
        }
        builder->edges[kept++] = edge;
    }
    builder->edge_count = kept;
}

static bool close_calls(struct outline *outline, uint32_t *closed_of_raws)
{
    struct flow_builder *builder = outline->builder;

    for (uint32_t i = 0; i < builder->raw_count; i++) {
        struct flow_raw *node = &builder->raws[i];

        closed_of_raws[i] = outline->closed_of[node->call];
        if (closed_of_raws[i] != FLOW_NONE) {
            struct closed_call *closed = &outline->closed[closed_of_raws[i]];

            closed->value_count += !node->is_read && !node->is_promoted;
            node->is_hidden = true;
            node->inside = closed->is_shown ? closed->raw : FLOW_NONE;
        }
    }
    merge_names(outline, closed_of_raws);
    for (uint32_t i = 0; i < outline->closed_count; i++) {
        if (outline->closed[i].is_shown && !close_call(outline, &outline->closed[i])) {
            return false;
        }
        builder->graph->step.closed_count += outline->closed[i].is_shown;
    }
    move_edges(outline, closed_of_raws);
    return true;
}

/* Whether the node is an item of a container under another name, such as of
 * `optimizer.param_groups`. */
static bool is_item(const struct flow_raw *node)
{
    return node->path != 0 && !node->is_hidden &&
           (node->flags & (FLOW_NODE_ARGUMENT | FLOW_NODE_RESULT | FLOW_NODE_CALL)) ==
               0;
}

/* Hides items that nothing was made from and that were not made in the step. A single step has
 * many of them, and they connect nothing. */
static bool hide_items(struct flow_builder *builder)
{
    bool *is_needed = memory_allocate_zeroed(builder->raw_count, sizeof *is_needed);
    uint32_t kept = 0;

    if (is_needed == NULL) {
        return flow_out_of_memory(builder);
    }
    for (uint32_t i = 0; i < builder->edge_count; i++) {
        is_needed[builder->edges[i].source] = true;
        is_needed[builder->edges[i].target] |=
            builder->edges[i].kind != GRAPH_SAME &&
            !builder->raws[builder->edges[i].source].is_promoted;
    }
    for (uint32_t i = 0; i < builder->raw_count; i++) {
        struct flow_raw *node = &builder->raws[i];

        if (is_item(node) && !is_needed[i]) {
            node->is_hidden = true;
            builder->graph->left_out.beside++;
        }
    }
    for (uint32_t i = 0; i < builder->edge_count; i++) {
        if (!builder->raws[builder->edges[i].target].is_hidden) {
            builder->edges[kept++] = builder->edges[i];
        }
    }
    builder->edge_count = kept;
    memory_free(is_needed);
    return true;
}

static bool close_outline(struct outline *outline)
{
    struct flow_builder *builder = outline->builder;
    uint32_t *depths = memory_allocate(builder->call_count, sizeof *depths);
    uint32_t *closed_of_raws =
        memory_allocate(builder->raw_count, sizeof *closed_of_raws);
    bool is_done;

    outline->closed_of =
        memory_allocate(builder->call_count, sizeof *outline->closed_of);
    if (depths == NULL || closed_of_raws == NULL || outline->closed_of == NULL) {
        is_done = flow_out_of_memory(builder);
    } else {
        is_done = find_closed(outline, depths);
        if (is_done) {
            find_ways(outline);
            is_done = close_calls(outline, closed_of_raws);
        }
    }
    memory_free(depths);
    memory_free(closed_of_raws);
    memory_free(outline->closed_of);
    memory_free(outline->closed);
    return is_done;
}

bool flow_outline(struct flow_builder *builder)
{
    const struct flow_options *options = builder->options;
    struct outline outline = {.builder = builder};
    bool is_done;

    if (builder->raw_count == 0 ||
        (!options->has_step && !options->has_depth &&
         (options->filter == NULL || event_filter_is_empty(options->filter)))) {
        return true;
    }
    if (options->has_step && !choose_root(&outline)) {
        return false;
    }
    if (builder->root != FLOW_NONE && !hide_other_steps(&outline)) {
        return false;
    }
    is_done =
        close_outline(&outline) && (builder->root == FLOW_NONE || hide_items(builder));
    memory_free(outline.is_inside);
    return is_done;
}
