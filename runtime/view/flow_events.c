/* The first reading of a trace: each value becomes a raw node, bound to its name. */
#include "runtime/view/flow_build.h"

#include "runtime/base/memory.h"

#define PROGRESS_STEP  65536
#define LIMIT_OF_NODES (UINT32_MAX / 2)

/* ---- nodes ---- */

static bool is_scalar(enum value_kind kind)
{
    switch (kind) {
    case VALUE_NONE:
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_BIG_INT:
    case VALUE_FLOAT:
    case VALUE_COMPLEX:
    case VALUE_TEXT:
    case VALUE_BYTES:
        return true;
    default:
        return false;
    }
}

static unsigned flags_of(const struct log_event_view *event)
{
    unsigned flags = 0;

    if ((event->flags & LOG_EVENT_READ) != 0) {
        flags |= FLOW_NODE_SOURCE;
    } else if (event->site->kind == SITE_ENTER) {
        flags |= FLOW_NODE_ARGUMENT;
    } else if (event->site->kind == SITE_RETURN) {
        flags |= FLOW_NODE_RESULT;
    }
    if (event->kind == VALUE_TENSOR &&
        (event->shape->flags & LOG_FORM_PARAMETER) != 0) {
        flags |= FLOW_NODE_PARAMETER;
    }
    if (event->change == CHANGE_MUTATED) {
        flags |= FLOW_NODE_IN_PLACE;
    } else if (event->change == CHANGE_ALIASED) {
        flags |= FLOW_NODE_ALIAS;
    }
    return flags;
}

/* Where the memory begins that the value lies in. */
static uint64_t storage_of(const struct log_event_view *event)
{
    if (event->kind != VALUE_TENSOR || event->tensor.data == 0) {
        return 0;
    }
    return event->tensor.data -
           (uint64_t)event->tensor.offset * dtype_size(event->shape->dtype);
}

static enum flow_mark mark_of(const struct flow_builder *builder, uint64_t event)
{
    const struct flow_options *options = builder->options;

    return options->mark == NULL ? FLOW_MARK_NONE
                                 : options->mark(options->mark_context, event);
}

static bool raw_add(struct flow_builder *builder,
                    const struct log_event_view *event,
                    uint32_t name,
                    bool is_hidden)
{
    void *items = builder->raws;
    struct flow_raw node = {
        .event = event->number,
        .storage = storage_of(event),
        .address = event->tensor.object,
        .hash = event->hash,
        .has_hash = event->has_hash,
        .version = event->tensor.version,
        .same_as = FLOW_NONE,
        .object = builder->raw_count,
        .holder = builder->raw_count,
        .maybe = FLOW_NONE,
        .base = FLOW_NONE,
        .module = event->module_number,
        .site = event->site_number,
        .line = event->site->line,
        .call = builder->visit.call,
        .unit = builder->calls[builder->visit.call].open_unit,
        .name = name,
        .binding = FLOW_NONE,
        .serial = builder->visit.serial,
        .next_leaf = FLOW_NONE,
        .alias_site =
            event->kind == VALUE_TENSOR ? event->tensor.alias_site : UINT32_MAX,
        .cluster = FLOW_NONE,
        .flags = (uint16_t)flags_of(event),
        .kind = (uint8_t)event->kind,
        .dtype = event->shape == NULL ? 0 : (uint8_t)event->shape->dtype,
        .change = (uint8_t)event->change,
        .difference = (uint8_t)event->difference,
        .mark = (uint8_t)mark_of(builder, event->number),
        .is_read = (event->flags & LOG_EVENT_READ) != 0,
        .is_hidden = is_hidden,
    };

    if (builder->raw_count >= LIMIT_OF_NODES) {
        error_set(builder->error, ERROR_INPUT,
                  "a graph of more than %u values cannot be made: choose functions, "
                  "lines or names",
                  LIMIT_OF_NODES);
        return false;
    }
    if (!flow_text(builder, event->path, &node.path) ||
        !flow_grow(builder, &items, &builder->raw_capacity, builder->raw_count,
                   sizeof *builder->raws)) {
        return false;
    }
    builder->raws = items;
    builder->raws[builder->raw_count++] = node;
    return true;
}

/* A value in memory: found again by where it lies. */
static bool note_storage(struct flow_builder *builder, uint32_t raw)
{
    const struct flow_raw *node = &builder->raws[raw];

    if ((node->storage != 0 && !flow_map_put(&builder->storages, node->storage, raw)) ||
        (node->storage != 0 &&
         (node->change == CHANGE_MUTATED || (node->flags & FLOW_NODE_IN_PLACE) != 0) &&
         !flow_map_put(&builder->writings, node->storage, raw)) ||
        !flow_map_put(&builder->written_sites, node->site, raw)) {
        return flow_out_of_memory(builder);
    }
    return true;
}

/* ---- arguments, results ---- */

/* Arguments and results of one call stand one behind the other, as a visit's events do. */
static void extend(uint32_t *first, uint32_t *count, uint32_t raw)
{
    if (*count == 0) {
        *first = raw;
    }
    if (*first + *count == raw) {
        ++*count;
    }
}

static void note_in_call(struct flow_builder *builder, uint32_t raw)
{
    const struct flow_raw *node = &builder->raws[raw];
    struct flow_call *call = &builder->calls[node->call];

    if ((node->flags & FLOW_NODE_ARGUMENT) != 0) {
        extend(&call->first_argument, &call->argument_count, raw);
        flow_take_guess(builder, raw);
    } else if ((node->flags & FLOW_NODE_RESULT) != 0) {
        /* A generator may be at the same return twice: the newest value counts. */
        if (call->result_count > 0 &&
            builder->raws[call->first_result].serial != node->serial) {
            call->result_count = 0;
        }
        extend(&call->first_result, &call->result_count, raw);
    }
}

/* ---- what was read ---- */

bool flow_is_unchanged(const struct flow_raw *then, const struct flow_raw *now)
{
    return then->storage == now->storage && then->version == now->version &&
           !(then->has_hash && now->has_hash && then->hash != now->hash);
}

/* The node that the name stands for, where another event than this has told the same object as it
 * still is: the name's own, if it has it, else the last that held it. FLOW_NONE: there is none. */
static uint32_t
find_told(struct flow_builder *builder, uint32_t index, uint32_t origin, uint32_t raw)
{
    const struct flow_binding *binding = &builder->bindings[index];
    const struct flow_raw *node = &builder->raws[raw];

    if (origin == FLOW_NONE || !flow_is_unchanged(&builder->raws[origin], node)) {
        return FLOW_NONE;
    }
    if (binding->count > 0 &&
        builder->raws[binding->first].object == builder->raws[origin].object) {
        return binding->first;
    }
    return binding->count > 0 && binding->serial == node->serial ? FLOW_NONE : origin;
}

/* The name stands for a node that has been told, which may be one of another name's leaves. */
static bool join_told(struct flow_builder *builder,
                      const struct log_event_view *event,
                      uint32_t index,
                      uint32_t told)
{
    struct flow_binding *binding = &builder->bindings[index];

    if (binding->count == 0 || binding->first != told) {
        flow_begin_binding(builder, index);
        binding->first = told;
        binding->last = told;
        binding->count = 1;
    }
    return flow_map_put(&builder->told_again, event->number, told) ||
           flow_out_of_memory(builder);
}

/* A value that is told because it is read: it was there before. */
static bool take_read(struct flow_builder *builder,
                      const struct log_event_view *event,
                      uint32_t name,
                      uint32_t raw)
{
    uint32_t index = flow_binding_of_read(builder, builder->visit.call, event, name);
    uint32_t origin = flow_origin_of(builder, event);
    uint32_t told;

    if (index == FLOW_NONE) {
        return false;
    }
    told = find_told(builder, index, origin, raw);
    if (told != FLOW_NONE) {
        builder->raw_count--;
        return join_told(builder, event, index, told);
    }
    builder->raws[raw].binding = index;
    flow_append_leaf(builder, index, raw);
    if (origin != FLOW_NONE && !builder->raws[origin].is_hidden) {
        builder->raws[raw].object = builder->raws[origin].object;
        if (!flow_edge_add(builder, FLOW_EDGE_WRITE, origin, raw)) {
            return false;
        }
    }
    return note_storage(builder, raw);
}

/* ---- events ---- */

/* Whether a line that may have written to the value did not: `loss.backward()`, or one of
 * several names of one memory. What the name had before tells that value. */
static uint32_t find_unwritten(const struct flow_builder *builder,
                               const struct log_event_view *event,
                               uint32_t index,
                               uint32_t path)
{
    uint32_t previous;
    const struct flow_raw *node;

    if (event->site->kind != SITE_MUTATE) {
        return FLOW_NONE;
    }
    previous = flow_find_previous(builder, path, &builder->bindings[index]);
    if (previous == FLOW_NONE || event->change == CHANGE_SAME) {
        return previous;
    }
    node = &builder->raws[previous];
    return event->site->write_count > 1 && event->change == CHANGE_MUTATED &&
                   event->difference == 0 && event->has_hash && node->has_hash &&
                   event->hash == node->hash
               ? previous
               : FLOW_NONE;
}

/* Tells whether the event tells nothing new: the name keeps the node that it has. */
static bool pass_over(struct flow_builder *builder,
                      const struct log_event_view *event,
                      uint32_t name,
                      bool is_hidden,
                      bool *is_passed)
{
    uint32_t index = flow_binding_of_write(builder, builder->visit.call, name);
    uint32_t path = flow_texts_find(&builder->texts, event->path);
    uint32_t previous = FLOW_NONE;

    if (index == FLOW_NONE) {
        return false;
    }
    if (path != FLOW_MAP_NONE) {
        previous = find_unwritten(builder, event, index, path);
    }
    *is_passed = previous != FLOW_NONE;
    if (!*is_passed) {
        return true;
    }
    builder->raws[previous].version = event->tensor.version;
    builder->graph->left_out.unchanged += !is_hidden;
    return flow_map_put(&builder->told_again, event->number, previous) ||
           flow_out_of_memory(builder);
}

static bool take_array(struct flow_builder *builder,
                       const struct log_event_view *event,
                       uint32_t name,
                       bool is_hidden)
{
    uint32_t raw = builder->raw_count;
    bool is_passed = false;
    uint32_t index;

    if (event->site->kind == SITE_MUTATE && (event->flags & LOG_EVENT_READ) == 0 &&
        !pass_over(builder, event, name, is_hidden, &is_passed)) {
        return false;
    }
    if (is_passed) {
        return true;
    }

    if (!raw_add(builder, event, name, is_hidden)) {
        return false;
    }
    if ((event->flags & LOG_EVENT_READ) != 0) {
        return take_read(builder, event, name, raw);
    }
    index = flow_binding_of_write(builder, builder->visit.call, name);
    if (index == FLOW_NONE) {
        return false;
    }
    builder->raws[raw].binding = index;
    if (event->site->kind == SITE_ENTER) {
        flow_judge_argument(builder, raw, event);
    } else if (!flow_edges_of_value(builder, raw, index, event)) {
        return false;
    }
    flow_append_leaf(builder, index, raw);
    flow_hold(builder, raw);
    note_in_call(builder, raw);
    return note_storage(builder, raw);
}

/* A value that is no node: its name no longer stands for those that it had. */
static bool take_other(struct flow_builder *builder,
                       const struct log_event_view *event,
                       uint32_t name)
{
    uint32_t index;

    if ((event->flags & LOG_EVENT_READ) != 0 || event->path.size > 0) {
        return true;
    }
    index = flow_binding_of_write(builder, builder->visit.call, name);
    if (index == FLOW_NONE) {
        return false;
    }
    flow_begin_binding(builder, index);
    return event->kind != VALUE_OBJECT || event->site->kind == SITE_ENTER ||
           flow_carry(builder, index);
}

/* A container that the recorder did not walk to its end, if values in it are shown. */
static void count_part(struct flow_builder *builder,
                       const struct log_event_view *event,
                       bool is_shown)
{
    bool is_leaf = event->path.size > 0;

    if (is_leaf && builder->is_in_part && is_shown && event->kind == VALUE_TENSOR) {
        builder->graph->left_out.in_part++;
        builder->is_in_part = false;
    }
    if (!is_leaf) {
        builder->is_in_part =
            event->kind == VALUE_CONTAINER && (event->flags & LOG_EVENT_MORE) != 0;
    }
}

static bool take_value(struct flow_builder *builder,
                       const struct log_event_view *event,
                       bool is_old,
                       bool is_wanted)
{
    struct flow_left_out *left_out = &builder->graph->left_out;
    bool is_array = event->kind == VALUE_TENSOR;
    bool is_guessed;
    struct slice text = event->name;
    uint32_t name;

    count_part(builder, event, !is_old && is_wanted);
    if (text.size == 0 && event->site->kind == SITE_RETURN) {
        text = SLICE("return");
    }
    if (!flow_text(builder, text, &name)) {
        return false;
    }
    /* What was made up is shown, whatever it is, so that nobody takes it for data. */
    is_guessed = event->site->kind == SITE_ENTER &&
                 flow_find_guess(builder, builder->visit.call, name) != NULL;
    if (is_array ||
        ((builder->options->has_scalars || is_guessed) && is_scalar(event->kind))) {
        left_out->filtered += !is_old && !is_wanted;
        return take_array(builder, event, name, is_old || !is_wanted);
    }
    if (event->kind != VALUE_CONTAINER && event->kind != VALUE_MISSING && !is_old) {
        left_out->filtered += !is_wanted;
        left_out->scalars += is_wanted;
    }
    return take_other(builder, event, name);
}

static bool take_event(struct flow_builder *builder, const struct log_event_view *event)
{
    const struct flow_options *options = builder->options;
    bool is_old = event->number < options->first_event;
    struct open_call *open;
    uint32_t call;
    uint32_t serial = builder->visit.serial;

    if (!flow_call_of_event(builder, event, &open, &call) ||
        !flow_follow_visit(builder, event, call)) {
        return false;
    }
    if (event->site->kind != SITE_ENTER && builder->visit.serial != serial &&
        builder->guess_count > 0) {
        flow_drop_guesses(builder, &builder->calls[call]);
    }
    if ((event->flags & LOG_EVENT_READ) == 0 && !flow_resolve_visit(builder, event)) {
        return false;
    }
    return event->kind == VALUE_NOTHING ||
           take_value(builder, event, is_old,
                      options->filter == NULL ||
                          event_filter_match(options->filter, open, event));
}

static bool take_item(struct flow_builder *builder, const struct log_item *item)
{
    switch (item->kind) {
    case LOG_CALL:
        return flow_call_begin(builder, &item->call);
    case LOG_END:
        flow_call_end(builder, item->end.call);
        return true;
    case LOG_EVENT:
        return take_event(builder, &item->event);
    case LOG_NOTE:
        return flow_take_note(builder, item);
    default:
        return true;
    }
}

bool flow_tell_progress(struct flow_builder *builder, uint64_t events)
{
    const struct flow_options *options = builder->options;

    if (options->progress == NULL || events % PROGRESS_STEP != 0 ||
        options->progress(options->progress_context, events)) {
        return true;
    }
    error_set(builder->error, ERROR_USAGE, "the graph was given up after %llu events",
              (unsigned long long)events);
    return false;
}

bool flow_read(struct flow_builder *builder)
{
    struct log_item item;
    uint64_t count = 0;
    uint64_t last = 0;
    struct flow_left_out *left_out = &builder->graph->left_out;

    left_out->lost_events = log_reader_header(builder->reader)->lost_count;
    while (log_reader_next(builder->reader, &item)) {
        if (item.kind == LOG_EVENT) {
            /* In a damaged trace numbers may go back: what is found by them must not. */
            if (count > 0 && item.event.number <= last) {
                continue;
            }
            last = item.event.number;
            if (count == 0 && item.event.number > builder->options->first_event) {
                /* A ring has dropped what was before its first event. */
                left_out->older_nodes =
                    item.event.number - builder->options->first_event;
            }
            count++;
            if (!flow_tell_progress(builder, count)) {
                return false;
            }
        }
        if (!take_item(builder, &item)) {
            return false;
        }
    }
    return flow_edges_of_last_calls(builder);
}
