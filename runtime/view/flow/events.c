/* The first reading of a trace: each value becomes a raw node, bound to its name. */
#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"
#include "runtime/view/flow/build.h"

#define PROGRESS_STEP 65536

/* ---- what was read ---- */

bool flow_is_unchanged(const struct flow_raw *then, const struct flow_raw *now)
{
    return then->storage == now->storage && then->version == now->version &&
           !(then->has_hash && now->has_hash && then->hash != now->hash);
}

/* The node that the name stands for, where another event than this has told the same object as it
 * still is: the name's own, if it has it, else the last that held it. FLOW_NONE: there is none. */
static uint32_t find_repeated(struct flow_builder *builder,
                              uint32_t index,
                              uint32_t origin,
                              uint32_t raw)
{
    const struct flow_raw *node = &builder->raws[raw];
    uint32_t known;

    if (origin == FLOW_NONE || !flow_is_unchanged(&builder->raws[origin], node)) {
        return FLOW_NONE;
    }
    known = flow_find_previous(builder, node->path, &builder->bindings[index]);
    return known != FLOW_NONE &&
                   builder->raws[known].object == builder->raws[origin].object
               ? known
               : origin;
}

/* The name stands for a node that another event has. */
static bool join_repeated(struct flow_builder *builder,
                          const struct log_event_view *event,
                          uint32_t index,
                          uint32_t path,
                          uint32_t seen)
{
    if (!flow_bind_value(builder, index) ||
        !flow_content_put(builder, builder->bindings[index].content, path, seen)) {
        return false;
    }
    return number_map_put(&builder->repeated, event->number, seen) ||
           flow_out_of_memory(builder);
}

/* The number of the text of a name and a place in it. */
static bool whole_name(struct flow_builder *builder,
                       const struct log_event_view *event,
                       uint32_t *name)
{
    struct buffer text = BUFFER_INIT;
    bool is_done;

    buffer_add(&text, event->name);
    buffer_add(&text, event->path);
    is_done = text.has_failed ? flow_out_of_memory(builder)
                              : flow_text(builder, buffer_slice(&text), name);
    buffer_release(&text);
    return is_done;
}

/* A weight of a module that this visit's statement used: `self.lin.weight` of `self.lin(x)`. It is
 * what this visit read, and no value of the name `self`. */
static bool add_weight(struct flow_builder *builder,
                       const struct log_event_view *event,
                       uint32_t raw)
{
    uint32_t origin = flow_origin_of(builder, event);
    bool is_reported = origin != FLOW_NONE &&
                       flow_is_unchanged(&builder->raws[origin], &builder->raws[raw]);
    struct flow_source source = {.raw = is_reported ? origin : raw,
                                 .read = FLOW_NONE,
                                 .node = FLOW_NONE,
                                 .from = FLOW_FROM_WEIGHT};

    if (!whole_name(builder, event, &source.name)) {
        return false;
    }
    if (is_reported) {
        builder->raw_count--;
        return flow_source_add(builder, &source) &&
               (number_map_put(&builder->repeated, event->number, origin) ||
                flow_out_of_memory(builder));
    }
    if (!flow_edges_of_read(builder, raw, FLOW_NONE, origin)) {
        return false;
    }
    return flow_source_add(builder, &source) && flow_raw_note_storage(builder, raw);
}

/* A value that is told because it is read: it was there before. */
static bool add_read(struct flow_builder *builder,
                     const struct log_event_view *event,
                     uint32_t name,
                     uint32_t raw)
{
    uint32_t index = flow_binding_of_read(builder, builder->visit.call, event, name);
    uint32_t origin = flow_origin_of(builder, event);
    uint32_t seen;

    if (index == FLOW_NONE) {
        return false;
    }
    seen = find_repeated(builder, index, origin, raw);
    if (seen != FLOW_NONE) {
        uint32_t path = builder->raws[raw].path;

        builder->raw_count--;
        return join_repeated(builder, event, index, path, seen);
    }
    return flow_edges_of_read(builder, raw, index, origin) &&
           flow_bind_leaf(builder, index, raw) && flow_raw_note_storage(builder, raw);
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
    uint32_t path = text_table_find(&builder->texts, event->path);
    uint32_t previous = FLOW_NONE;

    if (index == FLOW_NONE) {
        return false;
    }
    if (path != NUMBER_MAP_NONE) {
        previous = find_unwritten(builder, event, index, path);
    }
    *is_passed = previous != FLOW_NONE;
    if (!*is_passed) {
        return true;
    }
    builder->raws[previous].version = event->tensor.version;
    builder->graph->left_out.unchanged += !is_hidden;
    if (!flow_bind_value(builder, index) ||
        !flow_content_put(builder, builder->bindings[index].content, path, previous)) {
        return false;
    }
    return number_map_put(&builder->repeated, event->number, previous) ||
           flow_out_of_memory(builder);
}

static bool add_array(struct flow_builder *builder,
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

    if (!flow_raw_add(builder, event, name, is_hidden)) {
        return false;
    }
    if ((event->flags & LOG_EVENT_READ) != 0) {
        return slice_starts(event->path, SLICE(".")) && builder->visit.container != name
                   ? add_weight(builder, event, raw)
                   : add_read(builder, event, name, raw);
    }
    index = flow_binding_of_write(builder, builder->visit.call, name);
    if (index == FLOW_NONE) {
        return false;
    }
    if (event->site->kind == SITE_ENTER) {
        flow_judge_argument(builder, raw, event);
    } else if (!flow_edges_of_value(builder, raw, index, event)) {
        return false;
    }
    if (!flow_bind_leaf(builder, index, raw) ||
        !flow_bind_attribute(builder, builder->visit.call, raw)) {
        return false;
    }
    if (!flow_note_subscript(builder, index, event)) {
        return false;
    }
    flow_hold(builder, raw);
    flow_raw_note_in_call(builder, raw);
    return flow_raw_note_storage(builder, raw);
}

/* A value that is no node: its name no longer stands for those that it had. */
static bool add_other(struct flow_builder *builder,
                      const struct log_event_view *event,
                      uint32_t name)
{
    bool is_read = (event->flags & LOG_EVENT_READ) != 0;
    uint32_t index;

    if (is_read && event->path.size == 0) {
        builder->visit.container = name;
    }
    if (event->path.size > 0 || (is_read && event->kind != VALUE_CONTAINER)) {
        return true;
    }
    index = is_read ? flow_binding_of_read(builder, builder->visit.call, event, name)
                    : flow_binding_of_write(builder, builder->visit.call, name);
    if (index == FLOW_NONE) {
        return false;
    }
    if (event->kind == VALUE_CONTAINER || event->kind == VALUE_OBJECT) {
        return flow_bind_object(builder, index, event) &&
               (event->kind != VALUE_OBJECT || event->site->kind == SITE_ENTER ||
                flow_carry(builder, builder->bindings[index].content, event));
    }
    return flow_bind_value(builder, index) &&
           flow_note_subscript(builder, index, event);
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

static bool split_value(struct flow_builder *builder,
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
    if (is_array || ((builder->options->has_scalars || is_guessed) &&
                     flow_is_scalar(event->kind))) {
        left_out->filtered += !is_old && !is_wanted;
        return add_array(
            builder, event, name,
            is_old || !(is_wanted || builder->calls[builder->visit.call].is_between));
    }
    if (event->kind != VALUE_CONTAINER && event->kind != VALUE_MISSING && !is_old) {
        left_out->filtered += !is_wanted;
        left_out->scalars += is_wanted;
    }
    return add_other(builder, event, name);
}

/* A name that was written, with a value that is not in the trace: what it had is gone. */
static bool add_unknown(struct flow_builder *builder,
                        const struct log_event_view *event)
{
    uint32_t name;
    uint32_t index;

    if (event->site->kind != SITE_ASSIGN || event->name.size == 0 ||
        (event->flags & LOG_EVENT_READ) != 0) {
        return true;
    }
    if (!flow_text(builder, event->name, &name)) {
        return false;
    }
    index = flow_binding_of_write(builder, builder->visit.call, name);
    if (index == FLOW_NONE) {
        return false;
    }
    return flow_bind_value(builder, index);
}

static bool add_event(struct flow_builder *builder, const struct log_event_view *event)
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
    if (event->kind == VALUE_NOTHING) {
        return add_unknown(builder, event);
    }
    return split_value(builder, event, is_old,
                       options->filter == NULL ||
                           event_filter_match(options->filter, open, event));
}

static bool add_item(struct flow_builder *builder, const struct log_item *item)
{
    switch (item->kind) {
    case LOG_CALL:
        return flow_call_begin(builder, &item->call);
    case LOG_END:
        flow_call_end(builder, item->end.call);
        return true;
    case LOG_EVENT:
        return add_event(builder, &item->event);
    case LOG_NOTE:
        return flow_add_note(builder, item);
    default:
        return true;
    }
}

bool flow_report_progress(struct flow_builder *builder, uint64_t events)
{
    const struct flow_options *options = builder->options;

    if (options->progress == NULL || events % PROGRESS_STEP != 0 ||
        options->progress(options->progress_context, events)) {
        return true;
    }
    error_set(builder->error, ERROR_USAGE,
              "the graph was interrupted after %llu events",
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
            if (!flow_report_progress(builder, count)) {
                return false;
            }
        }
        if (!add_item(builder, &item)) {
            return false;
        }
    }
    return flow_edges_of_last_calls(builder);
}
