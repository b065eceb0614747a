/* Events: the first reading of a trace. Each value becomes a raw node that is bound to its name. */
#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"
#include "runtime/view/graph/build.h"

#include <assert.h>

/* Visits of sites, in their order. The sources of a visit are resolved before its names are
 * bound. */

/* Notes the thread's newest visit. Sets `before` to the one before it. */
static bool follow_thread(struct graph_builder *builder,
                          uint16_t thread,
                          uint32_t serial,
                          uint32_t *before)
{
    void *items = builder->threads;

    if (thread >= builder->thread_count) {
        if (!graph_grow(builder, &items, &builder->thread_capacity, thread,
                        sizeof *builder->threads)) {
            return false;
        }
        builder->threads = items;
        while (builder->thread_count <= thread) {
            builder->threads[builder->thread_count++] = (struct graph_thread){0};
        }
    }
    *before = builder->threads[thread].now;
    builder->threads[thread].now = serial;
    return true;
}

/* Starts a new visit if the event belongs to another one. Serials count from 1, so 0 is no
 * visit. */
static bool graph_follow_visit(struct graph_builder *builder,
                               const struct log_event_view *event,
                               uint32_t call)
{
    struct graph_visit *visit = &builder->visit;
    uint32_t serial = visit->serial + 1;
    uint32_t before;

    if (visit->serial != 0 && visit->call == call &&
        visit->site == event->site_number && visit->number == event->visit) {
        return true;
    }
    if (visit->serial != 0 && visit->removed != GRAPH_NONE &&
        visit->removed_raw == GRAPH_NONE &&
        !graph_content_remove(builder, visit->removed, visit->removed_path)) {
        return false;
    }
    graph_scopes_forget(builder, call);
    if (!follow_thread(builder, event->thread, serial, &before)) {
        return false;
    }
    *visit = (struct graph_visit){
        .call = call,
        .site = event->site_number,
        .number = event->visit,
        .serial = serial,
        .before = before,
        .removed = GRAPH_NONE,
        .removed_raw = GRAPH_NONE,
        .is_entered = event->site->kind == SITE_ENTER,
        .edges_left =
            builder->edge_count < GRAPH_PLENTY ? GRAPH_SOURCES_MAX : GRAPH_EDGES_FEW,
    };
    return graph_turns_follow(builder, event, call);
}

/* Resolves the visit's sources once, at its first event that is not a read. */
static bool graph_resolve_visit(struct graph_builder *builder,
                                const struct log_event_view *event)
{
    struct graph_visit *visit = &builder->visit;

    if (visit->is_resolved) {
        return true;
    }
    visit->is_resolved = true;
    if (event->site->kind == SITE_ENTER ||
        (event->site->write_count == 0 &&
         builder->calls[visit->call].first_pending == GRAPH_NONE)) {
        return true;
    }
    return graph_resolve(builder, event->site) &&
           graph_edges_of_calls(builder, event->site);
}

/* Arguments that monitorch.run made up. The notes on them precede the call that gets them. */

#define GUESSES_MAX 1024

/* The note on how the argument was made up. NULL: it is an ordinary argument. */
static const struct graph_guess *
graph_find_guess(const struct graph_builder *builder, uint32_t index, uint32_t name)
{
    assert(index < builder->call_count);

    const struct graph_raw_call *call = &builder->calls[index];
    const struct site_table *table = &builder->modules[call->module].module->table;
    uint32_t function;

    if (builder->guess_count == 0) {
        return NULL;
    }
    function = text_table_find(&builder->texts, table->functions[call->function].name);
    for (uint32_t i = builder->guess_count; i-- > 0;) {
        const struct graph_guess *guess = &builder->guesses[i];

        if (guess->function == function && guess->parameter == name) {
            return guess;
        }
    }
    return NULL;
}

static bool graph_use_guess(struct graph_builder *builder, uint32_t raw)
{
    assert(raw < builder->raw_count);

    struct graph_raw *node = &builder->raws[raw];
    const struct graph_guess *guess = graph_find_guess(builder, node->call, node->name);

    if (guess != NULL) {
        struct graph_argument *argument = graph_argument_set(builder, raw);

        if (argument == NULL) {
            return false;
        }
        node->flags |= GRAPH_GUESSED;
        argument->guess = guess->how;
    }
    return true;
}

/* Drops the notes that the call used: they are valid for one call of the function. */
static void graph_drop_guesses(struct graph_builder *builder,
                               const struct graph_raw_call *call)
{
    const struct site_table *table = &builder->modules[call->module].module->table;
    uint32_t function =
        text_table_find(&builder->texts, table->functions[call->function].name);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < builder->guess_count; i++) {
        if (builder->guesses[i].function != function) {
            builder->guesses[kept++] = builder->guesses[i];
        }
    }
    builder->guess_count = kept;
}

static bool graph_add_note(struct graph_builder *builder, const struct log_item *item)
{
    struct slice text = item->note.text;
    size_t first = slice_find(text, SLICE("\t"), 0);
    size_t second =
        first < text.size ? slice_find(text, SLICE("\t"), first + 1) : first;
    void *items = builder->guesses;
    struct graph_guess guess;

    if (item->note.tag != LOG_NOTE_GUESS || second >= text.size ||
        builder->guess_count >= GUESSES_MAX) {
        return true;
    }
    if (!graph_text_add(builder, slice_part(text, 0, first), &guess.function) ||
        !graph_text_add(builder, slice_part(text, first + 1, second),
                        &guess.parameter) ||
        !graph_text_add(builder, slice_part(text, second + 1, text.size), &guess.how) ||
        !graph_grow(builder, &items, &builder->guess_capacity, builder->guess_count,
                    sizeof *builder->guesses)) {
        return false;
    }
    builder->guesses = items;
    builder->guesses[builder->guess_count++] = guess;
    return true;
}

/* Raw nodes: the facts of a value's event. */

#define LIMIT_OF_NODES (UINT32_MAX / 2)

/* ---- nodes ---- */

/* Whether the value is a number, a text or the like, and no array. */
static bool graph_is_scalar(enum value_kind kind)
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
        flags |= GRAPH_SOURCE;
    } else if (event->site->kind == SITE_ENTER) {
        flags |= GRAPH_ARGUMENT;
    } else if (event->site->kind == SITE_RETURN) {
        flags |= GRAPH_RESULT;
    }
    if (event->kind == VALUE_TENSOR &&
        (event->shape->flags & LOG_FORM_PARAMETER) != 0) {
        flags |= GRAPH_PARAMETER;
    }
    if (event->change == CHANGE_MUTATED) {
        flags |= GRAPH_IN_PLACE;
    } else if (event->change == CHANGE_ALIASED) {
        flags |= GRAPH_ALIASED;
    }
    return flags;
}

/* The address where the value's storage starts; 0: not known. */
static uint64_t storage_of(const struct log_event_view *event)
{
    if (event->kind != VALUE_TENSOR || event->tensor.data == 0) {
        return 0;
    }
    return event->tensor.data -
           (uint64_t)event->tensor.offset * dtype_size(event->shape->dtype);
}

/* The size of the value in bytes, if its elements are contiguous and in order; else 0. */
static uint64_t extent_of(const struct log_event_view *event)
{
    const struct log_shape *shape = event->shape;
    struct array array;
    uint64_t count = 1;

    if (event->kind != VALUE_TENSOR || event->tensor.data == 0 ||
        shape->strides == NULL) {
        return 0;
    }
    array = (struct array){.dtype = shape->dtype,
                           .dimension_count = shape->dimension_count,
                           .shape = shape->shape};
    if (array_count(&array) >= UINT32_MAX) {
        return 0;
    }
    for (uint32_t i = shape->dimension_count; i-- > 0;) {
        uint64_t stride =
            count * (shape->strides_are_bytes ? dtype_size(shape->dtype) : 1);

        if (shape->shape[i] != 1 && shape->strides[i] != (int64_t)stride) {
            return 0;
        }
        count *= (uint64_t)shape->shape[i];
    }
    return count * dtype_size(shape->dtype);
}

/* Sets the number of the value's memory. Values in the same memory have the same number. */
static bool memory_add(struct graph_builder *builder,
                       const struct log_event_view *event,
                       uint32_t *number)
{
    struct graph_memory memory = {.storage = storage_of(event),
                                  .data = event->tensor.data,
                                  .extent = extent_of(event)};
    uint64_t hash = (memory.data * 31 + memory.storage) * 31 + memory.extent;
    struct number_map_search search = number_map_search(&builder->memory_index, hash);
    void *items = builder->memories;

    *number = 0;
    if (event->kind != VALUE_TENSOR || event->tensor.data == 0) {
        return true;
    }
    while (number_map_next(&search)) {
        const struct graph_memory *known = &builder->memories[search.number];

        if (known->storage == memory.storage && known->data == memory.data &&
            known->extent == memory.extent) {
            *number = search.number;
            return true;
        }
    }
    if (!graph_grow(builder, &items, &builder->memory_capacity, builder->memory_count,
                    sizeof *builder->memories)) {
        return false;
    }
    builder->memories = items;
    builder->memories[builder->memory_count] = memory;
    *number = builder->memory_count++;
    return number_map_add(&builder->memory_index, hash, *number) ||
           graph_out_of_memory(builder);
}

struct graph_argument *graph_argument_set(struct graph_builder *builder, uint32_t raw)
{
    assert(raw < builder->raw_count);

    void *items = builder->arguments;
    uint32_t *number = &builder->raws[raw].argument;

    if (*number == 0) {
        if (!graph_grow(builder, &items, &builder->argument_capacity,
                        builder->argument_count, sizeof *builder->arguments)) {
            return NULL;
        }
        builder->arguments = items;
        *number = builder->argument_count++;
        builder->arguments[*number] = builder->arguments[0];
    }
    return &builder->arguments[*number];
}

/* Adds the items 0: no memory, and no facts as an argument. */
static bool begin_tables(struct graph_builder *builder)
{
    void *memories = NULL;
    void *arguments = NULL;

    if (!graph_grow(builder, &memories, &builder->memory_capacity, 0,
                    sizeof *builder->memories)) {
        return false;
    }
    builder->memories = memories;
    builder->memories[builder->memory_count++] = (struct graph_memory){0, 0, 0};
    if (!graph_grow(builder, &arguments, &builder->argument_capacity, 0,
                    sizeof *builder->arguments)) {
        return false;
    }
    builder->arguments = arguments;
    builder->arguments[builder->argument_count++] =
        (struct graph_argument){GRAPH_NONE, GRAPH_NONE, 0};
    return true;
}

/* Adds a raw node of the event. Returns false if memory runs out or there are too many. */
static bool graph_raw_add(struct graph_builder *builder,
                          const struct log_event_view *event,
                          uint32_t name,
                          bool is_hidden)
{
    void *items = builder->raws;
    struct graph_raw node = {
        .event = event->number,
        .address = event->tensor.object,
        .hash = event->hash,
        .has_hash = event->has_hash,
        .version = event->tensor.version,
        .same_as = GRAPH_NONE,
        .object = builder->raw_count,
        .holder = builder->raw_count,
        .older = GRAPH_NONE,
        .site = event->site_number,
        .call = builder->visit.call,
        .unit = builder->calls[builder->visit.call].open_unit,
        .name = name,
        .content = GRAPH_NONE,
        .serial = builder->visit.serial,
        .written = GRAPH_NONE,
        .alias_site =
            event->kind == VALUE_TENSOR ? event->tensor.alias_site : UINT32_MAX,
        .flags = (uint16_t)flags_of(event),
        .kind = (uint8_t)event->kind,
        .dtype = event->shape == NULL ? 0 : (uint8_t)event->shape->dtype,
        .change = (uint8_t)event->change,
        .difference = (uint8_t)event->difference,
        .is_read = (event->flags & LOG_EVENT_READ) != 0,
        .is_hidden = is_hidden,
        .has_nan = event->has_statistics && event->statistics.nan_count > 0,
        .has_finite =
            !event->has_statistics || statistics_finite_count(&event->statistics) > 0,
    };

    if (builder->raw_count >= LIMIT_OF_NODES) {
        error_set(builder->error, ERROR_INPUT,
                  "a graph of more than %u values cannot be made: choose functions, "
                  "lines or names",
                  LIMIT_OF_NODES);
        return false;
    }
    if (!graph_text_add(builder, event->path, &node.path) ||
        !memory_add(builder, event, &node.memory) ||
        !graph_grow(builder, &items, &builder->raw_capacity, builder->raw_count,
                    sizeof *builder->raws)) {
        return false;
    }
    builder->raws = items;
    builder->raws[builder->raw_count++] = node;
    return true;
}

/* Whether the site wrote to the value's memory, and did not only bind a name to it. */
static bool is_writing(const struct graph_builder *builder,
                       const struct graph_raw *node)
{
    const struct site *site = graph_site_of(builder, node);

    return node->change == CHANGE_MUTATED || (node->flags & GRAPH_IN_PLACE) != 0 ||
           (site->kind == SITE_MUTATE && site->write_count == 1 && node->path == 0 &&
            node->same_as == GRAPH_NONE && !node->is_read);
}

/* Notes the value by its storage, so that later values in the same memory find it. */
static bool graph_raw_note_storage(struct graph_builder *builder, uint32_t raw)
{
    assert(raw < builder->raw_count);

    struct graph_raw *node = &builder->raws[raw];
    uint64_t storage = graph_storage_of(builder, node);

    if (storage != 0 && !number_map_put(&builder->storages, storage, raw)) {
        return graph_out_of_memory(builder);
    }
    if (storage != 0 && is_writing(builder, node)) {
        node->written = number_map_get(&builder->writings, storage);
        if (!number_map_put(&builder->writings, storage, raw)) {
            return graph_out_of_memory(builder);
        }
    }
    return number_map_put(&builder->written_sites, node->site, raw) ||
           graph_out_of_memory(builder);
}

/* ---- arguments and results ---- */

/* Extends the range by `raw` if it follows the range. A visit's events are consecutive, so a
 * call's arguments are, and so are its results. */
static void extend(uint32_t *first, uint32_t *count, uint32_t raw)
{
    if (*count == 0) {
        *first = raw;
    }
    if (*first + *count == raw) {
        ++*count;
    }
}

/* Adds an argument or result to its call. */
static bool graph_raw_note_in_call(struct graph_builder *builder, uint32_t raw)
{
    assert(raw < builder->raw_count);

    const struct graph_raw *node = &builder->raws[raw];
    struct graph_raw_call *call = &builder->calls[node->call];

    if ((node->flags & GRAPH_ARGUMENT) != 0) {
        extend(&call->first_argument, &call->argument_count, raw);
        return graph_use_guess(builder, raw);
    } else if ((node->flags & GRAPH_RESULT) != 0) {
        /* A generator may visit a return more than once: the newest visit counts. */
        if (call->result_count > 0 &&
            builder->raws[call->first_result].serial != node->serial) {
            call->result_count = 0;
        }
        extend(&call->first_result, &call->result_count, raw);
    }
    return true;
}

/* ---- values that were read ---- */

bool graph_is_unchanged(const struct graph_builder *builder,
                        const struct graph_raw *then,
                        const struct graph_raw *now)
{
    return graph_storage_of(builder, then) == graph_storage_of(builder, now) &&
           then->version == now->version &&
           !(then->has_hash && now->has_hash && then->hash != now->hash);
}

/* The node that already has the read value, unchanged since: the name's own node if it has the
 * object, else the origin. GRAPH_NONE: none. */
static uint32_t find_repeated(struct graph_builder *builder,
                              uint32_t index,
                              uint32_t origin,
                              uint32_t raw)
{
    assert(raw < builder->raw_count);

    const struct graph_raw *node = &builder->raws[raw];
    uint32_t known;

    assert(index < builder->binding_count);
    if (origin == GRAPH_NONE ||
        !graph_is_unchanged(builder, &builder->raws[origin], node)) {
        return GRAPH_NONE;
    }
    known = graph_find_previous(builder, node->path, &builder->bindings[index]);
    return known != GRAPH_NONE &&
                   builder->raws[known].object == builder->raws[origin].object
               ? known
               : origin;
}

/* Binds the name to a node of an earlier event. */
static bool join_repeated(struct graph_builder *builder,
                          const struct log_event_view *event,
                          uint32_t index,
                          uint32_t path,
                          uint32_t seen)
{
    assert(index < builder->binding_count);
    if (!graph_bind_value(builder, index) ||
        !graph_content_put(builder, builder->bindings[index].content, path, seen)) {
        return false;
    }
    return number_map_put(&builder->repeated, event->number, seen) ||
           graph_out_of_memory(builder);
}

/* Sets the number of the text of a name with its path. */
static bool whole_name(struct graph_builder *builder,
                       const struct log_event_view *event,
                       uint32_t *name)
{
    struct buffer text = BUFFER_INIT;
    bool is_done;

    buffer_add(&text, event->name);
    buffer_add(&text, event->path);
    is_done = text.has_failed ? graph_out_of_memory(builder)
                              : graph_text_add(builder, buffer_slice(&text), name);
    buffer_release(&text);
    return is_done;
}

/* Adds a weight of a module that the visit's statement called, as `self.lin.weight` of
 * `self.lin(x)`. It is a source of the visit, and is not bound to the name `self`. */
static bool add_weight(struct graph_builder *builder,
                       const struct log_event_view *event,
                       uint32_t raw)
{
    assert(raw < builder->raw_count);

    uint32_t origin = graph_origin_of(builder, event);
    bool is_reported =
        origin != GRAPH_NONE &&
        graph_is_unchanged(builder, &builder->raws[origin], &builder->raws[raw]);
    struct graph_input source = {.raw = is_reported ? origin : raw,
                                 .read = GRAPH_NONE,
                                 .node = GRAPH_NONE,
                                 .from = GRAPH_FROM_WEIGHT};

    if (!whole_name(builder, event, &source.name)) {
        return false;
    }
    if (is_reported) {
        builder->raw_count--;
        return graph_input_add(builder, &source) &&
               (number_map_put(&builder->repeated, event->number, origin) ||
                graph_out_of_memory(builder));
    }
    if (!graph_edges_of_read(builder, raw, GRAPH_NONE, origin)) {
        return false;
    }
    return graph_input_add(builder, &source) && graph_raw_note_storage(builder, raw);
}

/* Adds a value that was recorded because it is read: it existed before. */
static bool add_read(struct graph_builder *builder,
                     const struct log_event_view *event,
                     uint32_t name,
                     uint32_t raw)
{
    uint32_t index = graph_binding_of_read(builder, builder->visit.call, event, name);
    uint32_t origin = graph_origin_of(builder, event);
    uint32_t seen;

    assert(raw < builder->raw_count);
    if (index == GRAPH_NONE) {
        return false;
    }
    seen = find_repeated(builder, index, origin, raw);
    if (seen != GRAPH_NONE) {
        uint32_t path = builder->raws[raw].path;

        builder->raw_count--;
        return join_repeated(builder, event, index, path, seen);
    }
    return graph_edges_of_read(builder, raw, index, origin) &&
           graph_bind_leaf(builder, index, raw) && graph_raw_note_storage(builder, raw);
}

/* ---- events ---- */

/* The previous value of the name, if a line that may have written to it did not:
 * `loss.backward()`, or a line with several names of one memory. GRAPH_NONE: it was written to. */
static uint32_t find_unwritten(const struct graph_builder *builder,
                               const struct log_event_view *event,
                               uint32_t index,
                               uint32_t path)
{
    uint32_t previous;
    const struct graph_raw *node;

    assert(index < builder->binding_count);
    if (event->site->kind != SITE_MUTATE) {
        return GRAPH_NONE;
    }
    previous = graph_find_previous(builder, path, &builder->bindings[index]);
    if (previous == GRAPH_NONE || event->change == CHANGE_SAME) {
        return previous;
    }
    node = &builder->raws[previous];
    return event->site->write_count > 1 && event->change == CHANGE_MUTATED &&
                   event->difference == 0 && event->has_hash && node->has_hash &&
                   event->hash == node->hash
               ? previous
               : GRAPH_NONE;
}

/* Sets `*is_passed` if the event repeats the value that the name has; the name keeps its node
 * then. Returns false if memory runs out. */
static bool pass_over(struct graph_builder *builder,
                      const struct log_event_view *event,
                      uint32_t name,
                      bool is_hidden,
                      bool *is_passed)
{
    uint32_t index = graph_binding_of_write(builder, builder->visit.call, name);
    uint32_t path = text_table_find(&builder->texts, event->path);
    uint32_t previous = GRAPH_NONE;

    if (index == GRAPH_NONE) {
        return false;
    }
    if (path != NUMBER_MAP_NONE) {
        previous = find_unwritten(builder, event, index, path);
    }
    *is_passed = previous != GRAPH_NONE;
    if (!*is_passed) {
        return true;
    }
    builder->raws[previous].version = event->tensor.version;
    builder->left_out.unchanged += !is_hidden;
    if (!graph_bind_value(builder, index) ||
        !graph_content_put(builder, builder->bindings[index].content, path, previous)) {
        return false;
    }
    return number_map_put(&builder->repeated, event->number, previous) ||
           graph_out_of_memory(builder);
}

static bool add_array(struct graph_builder *builder,
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

    if (!graph_raw_add(builder, event, name, is_hidden)) {
        return false;
    }
    if ((event->flags & LOG_EVENT_READ) != 0) {
        return slice_starts(event->path, SLICE(".")) && builder->visit.container != name
                   ? add_weight(builder, event, raw)
                   : add_read(builder, event, name, raw);
    }
    index = graph_binding_of_write(builder, builder->visit.call, name);
    if (index == GRAPH_NONE) {
        return false;
    }
    if (event->site->kind == SITE_ENTER) {
        if (!graph_judge_argument(builder, raw, event)) {
            return false;
        }
    } else if (!graph_edges_of_value(builder, raw, index, event)) {
        return false;
    }
    if (!graph_bind_leaf(builder, index, raw) ||
        !graph_bind_attribute(builder, builder->visit.call, raw)) {
        return false;
    }
    if (!graph_note_subscript(builder, index, event) ||
        !graph_update_join(builder, raw)) {
        return false;
    }
    graph_hold(builder, raw);
    return graph_raw_note_in_call(builder, raw) && graph_raw_note_storage(builder, raw);
}

/* Handles a value that is no node: binds its name to a container, an object or nothing. */
static bool add_other(struct graph_builder *builder,
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
    index = is_read ? graph_binding_of_read(builder, builder->visit.call, event, name)
                    : graph_binding_of_write(builder, builder->visit.call, name);
    if (index == GRAPH_NONE) {
        return false;
    }
    if (event->kind == VALUE_CONTAINER || event->kind == VALUE_OBJECT) {
        return graph_bind_object(builder, index, event) &&
               (event->kind != VALUE_OBJECT || event->site->kind == SITE_ENTER ||
                graph_carry(builder, builder->bindings[index].content, event));
    }
    return graph_bind_value(builder, index) &&
           graph_note_subscript(builder, index, event);
}

/* Counts a container that the recorder did not record completely, if a value in it is shown. */
static void count_part(struct graph_builder *builder,
                       const struct log_event_view *event,
                       bool is_shown)
{
    bool is_leaf = event->path.size > 0;

    if (is_leaf && builder->is_in_part && is_shown && event->kind == VALUE_TENSOR) {
        builder->left_out.in_part++;
        builder->is_in_part = false;
    }
    if (!is_leaf) {
        builder->is_in_part =
            event->kind == VALUE_CONTAINER && (event->flags & LOG_EVENT_MORE) != 0;
    }
}

static bool split_value(struct graph_builder *builder,
                        const struct log_event_view *event,
                        bool is_old,
                        bool is_wanted)
{
    struct reading_left_out *left_out = &builder->left_out;
    bool is_array = event->kind == VALUE_TENSOR;
    bool is_guessed;
    struct slice text = event->name;
    uint32_t name;

    count_part(builder, event, !is_old && is_wanted);
    if (text.size == 0 && event->site->kind == SITE_RETURN) {
        text = SLICE("return");
    }
    if (!graph_text_add(builder, text, &name)) {
        return false;
    }
    /* An argument that was made up is always shown, so that nobody mistakes it for data. */
    is_guessed = event->site->kind == SITE_ENTER &&
                 graph_find_guess(builder, builder->visit.call, name) != NULL;
    if (is_array || ((builder->options->has_scalars || is_guessed) &&
                     graph_is_scalar(event->kind))) {
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

/* Empties a name that was assigned a value that is not in the trace. */
static bool add_unknown(struct graph_builder *builder,
                        const struct log_event_view *event)
{
    uint32_t name;
    uint32_t index;

    if (event->site->kind != SITE_ASSIGN || event->name.size == 0 ||
        (event->flags & LOG_EVENT_READ) != 0) {
        return true;
    }
    if (!graph_text_add(builder, event->name, &name)) {
        return false;
    }
    index = graph_binding_of_write(builder, builder->visit.call, name);
    if (index == GRAPH_NONE) {
        return false;
    }
    return graph_bind_value(builder, index);
}

static bool is_chosen(const struct reading_options *options,
                      const struct open_call *call,
                      const struct log_event_view *event)
{
    return !(options->hides_reported &&
             site_table_is_reported(&event->module->table)) &&
           (options->filter == NULL ||
            event_filter_match(options->filter, call, event));
}

static bool add_event(struct graph_builder *builder, const struct log_event_view *event)
{
    const struct reading_options *options = builder->options;
    bool is_old = event->number < options->first_event;
    struct open_call *open;
    uint32_t call;
    uint32_t serial = builder->visit.serial;

    if (!graph_call_of_event(builder, event, &open, &call) ||
        !graph_follow_visit(builder, event, call)) {
        return false;
    }
    if (event->site->kind != SITE_ENTER && builder->visit.serial != serial &&
        builder->guess_count > 0) {
        graph_drop_guesses(builder, &builder->calls[call]);
    }
    if ((event->flags & LOG_EVENT_READ) == 0 && !graph_resolve_visit(builder, event)) {
        return false;
    }
    if (event->kind == VALUE_NOTHING) {
        return add_unknown(builder, event);
    }
    return split_value(builder, event, is_old, is_chosen(options, open, event));
}

/* Adds a record of a training: a step, a gradient or a parameter. */
static bool
add_update(struct graph_builder *builder, const struct log_item *item, uint64_t last)
{
    switch (item->kind) {
    case LOG_STEP:
        return graph_update_begin(builder, &item->step, last);
    case LOG_GRADIENT:
        return graph_update_gradient(builder, &item->event);
    default:
        return graph_update_parameter(builder, &item->event);
    }
}

static bool is_update(const struct log_item *item)
{
    return item->kind == LOG_STEP || item->kind == LOG_GRADIENT ||
           (item->kind == LOG_EVENT && (item->event.flags & LOG_EVENT_PARAMETER) != 0);
}

static bool
add_item(struct graph_builder *builder, const struct log_item *item, uint64_t last)
{
    if (is_update(item)) {
        return !builder->has_updates || add_update(builder, item, last);
    }
    switch (item->kind) {
    case LOG_CALL:
        return graph_call_begin(builder, &item->call);
    case LOG_END:
        graph_call_end(builder, item->end.call);
        return true;
    case LOG_EVENT:
        return add_event(builder, &item->event);
    case LOG_NOTE:
        return graph_add_note(builder, item);
    default:
        return true;
    }
}

static bool read_items(struct graph_builder *builder)
{
    struct log_item item;
    uint64_t count = 0;
    uint64_t last = 0;
    struct reading_left_out *left_out = &builder->left_out;

    while (log_reader_next(builder->reader, &item)) {
        if (item.kind == LOG_EVENT) {
            /* Event numbers may decrease in a damaged trace. Such events are skipped, because
             * lookups need ascending numbers. */
            if (count > 0 && item.event.number <= last) {
                continue;
            }
            last = item.event.number;
            if (count == 0 && item.event.number > builder->options->first_event) {
                /* The ring has dropped the events before its first one. */
                left_out->dropped = item.event.number - builder->options->first_event;
            }
            count++;
            if (!reading_report_progress(builder->options, count, builder->error)) {
                return false;
            }
        }
        if (!add_item(builder, &item, last)) {
            return false;
        }
    }
    return true;
}

bool graph_read(struct graph_builder *builder)
{
    const struct reading_options *options = builder->options;
    bool is_done;

    if (!begin_tables(builder)) {
        return false;
    }
    /* Not with a filter: an update is made from values that the filter may leave out. */
    builder->has_updates =
        options->has_updates &&
        (options->filter == NULL || event_filter_is_empty(options->filter));
    builder->left_out.lost = log_reader_header(builder->reader)->lost_count;
    log_reader_show_parameters(builder->reader, builder->has_updates);
    is_done = read_items(builder);
    log_reader_show_parameters(builder->reader, false);
    return is_done && graph_edges_of_last_calls(builder);
}
