/* The reading of a trace: its state from start to end, and the result that is kept. */
#include "runtime/view/graph/reading.h"

#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"
#include "runtime/view/graph/build.h"

#include <assert.h>
#include <string.h>

#define PROGRESS_STEP 65536

bool graph_out_of_memory(struct graph_builder *builder)
{
    return error_set_memory(builder->error);
}

bool graph_grow(struct graph_builder *builder,
                void **items,
                size_t *capacity,
                uint32_t count,
                size_t size)
{
    if (count == UINT32_MAX || !memory_grow(items, capacity, (size_t)count + 1, size)) {
        return graph_out_of_memory(builder);
    }
    return true;
}

bool graph_text_add(struct graph_builder *builder, struct slice text, uint32_t *number)
{
    return text_table_add(&builder->texts, text, number) ||
           graph_out_of_memory(builder);
}

bool reading_report_progress(const struct reading_options *options,
                             uint64_t events,
                             struct error *error)
{
    if (options->progress == NULL || events % PROGRESS_STEP != 0 ||
        options->progress(options->progress_context, events)) {
        return true;
    }
    error_set(error, ERROR_USAGE, "the graph was interrupted after %llu events",
              (unsigned long long)events);
    return false;
}

/* ---- the state ---- */

bool graph_builder_init(struct graph_builder *builder)
{
    builder->first_over = GRAPH_NONE;
    open_calls_init(&builder->open_calls);
    arena_init(&builder->term_arena);
    return text_table_init(&builder->texts) || graph_out_of_memory(builder);
}

static void release_maps(struct graph_builder *builder)
{
    number_map_release(&builder->call_index);
    number_map_release(&builder->binding_index);
    number_map_release(&builder->scope_index);
    number_map_release(&builder->content_index);
    number_map_release(&builder->leaf_index);
    number_map_release(&builder->writings);
    number_map_release(&builder->storages);
    number_map_release(&builder->memory_index);
    number_map_release(&builder->repeated);
    number_map_release(&builder->term_index);
    number_map_release(&builder->name_scopes);
}

/* Releases all state that the result does not keep. */
static void release_state(struct graph_builder *builder)
{
    release_maps(builder);
    open_calls_release(&builder->open_calls);
    arena_release(&builder->term_arena);
    memory_free(builder->terms);
    memory_free(builder->uses);
    memory_free(builder->scopes);
    memory_free(builder->bindings);
    memory_free(builder->contents);
    memory_free(builder->leaves);
    memory_free(builder->guesses);
    memory_free(builder->threads);
    memory_free(builder->carried);
    memory_free(builder->sources);
    memory_free(builder->memories);
    graph_updates_release(&builder->updates);
}

void graph_builder_release(struct graph_builder *builder)
{
    release_state(builder);
    text_table_release(&builder->texts);
    number_map_release(&builder->written_sites);
    graph_modules_release(builder);
    memory_free(builder->calls);
    memory_free(builder->units);
    memory_free(builder->raws);
    memory_free(builder->arguments);
    memory_free(builder->edges);
}

/* ---- the result ---- */

static struct reading_value value_of(const struct graph_builder *builder,
                                     const struct graph_raw *raw)
{
    return (struct reading_value){
        .event = raw->event,
        .object = raw->object,
        .site = raw->site,
        .call = raw->call,
        .unit = raw->unit,
        .name = raw->name,
        .path = raw->path,
        .guess = graph_argument_of(builder, raw)->guess,
        .alias_site = raw->alias_site,
        .flags = raw->flags,
        .kind = raw->kind,
        .dtype = raw->dtype,
        .change = raw->change,
        .difference = raw->difference,
        .is_read = raw->is_read,
        .is_hidden = raw->is_hidden,
        .is_promoted = raw->is_promoted,
        .has_nan = raw->has_nan,
    };
}

static struct reading_call call_of(const struct graph_raw_call *call)
{
    return (struct reading_call){
        .number = call->number,
        .parent = call->parent,
        .module = call->module,
        .function = call->function,
        .line = call->line,
        .path = call->path,
        .class_name = call->class_name,
        .unit = call->unit,
        .first_result = call->first_result,
        .result_count = call->result_count,
        .thread = call->thread,
        .is_wanted = call->is_wanted,
        .is_between = call->is_between,
    };
}

static struct reading_edge edge_of(const struct graph_raw_edge *edge)
{
    return (struct reading_edge){
        .source = edge->source,
        .target = edge->target,
        .name = edge->name,
        .kind = (uint8_t)edge->kind,
        .is_unsure = edge->is_unsure,
    };
}

/* Shrinks the array to `count` items, one at least. */
static void *shrink(void *items, uint32_t count, size_t size)
{
    void *smaller = memory_resize(items, (size_t)count + 1, size);

    return smaller == NULL ? items : smaller;
}

/* Converts the items in place, from first to last, so that no second array is needed. Copies
 * bytes, because the same memory holds items of two types. */
static void keep_values(struct reading *reading, struct graph_builder *builder)
{
    char *bytes = (char *)builder->raws;

    static_assert(sizeof(struct reading_value) <= sizeof(struct graph_raw), "in place");
    for (uint32_t i = 0; i < builder->raw_count; i++) {
        struct graph_raw raw;
        struct reading_value value;

        memcpy(&raw, bytes + i * sizeof raw, sizeof raw);
        value = value_of(builder, &raw);
        memcpy(bytes + i * sizeof value, &value, sizeof value);
    }
    builder->raws = NULL;
    reading->values = shrink(bytes, builder->raw_count, sizeof *reading->values);
    reading->value_count = builder->raw_count;
}

static void keep_calls(struct reading *reading, struct graph_builder *builder)
{
    char *bytes = (char *)builder->calls;

    static_assert(sizeof(struct reading_call) <= sizeof(struct graph_raw_call),
                  "in place");
    for (uint32_t i = 0; i < builder->call_count; i++) {
        struct graph_raw_call raw;
        struct reading_call call;

        memcpy(&raw, bytes + i * sizeof raw, sizeof raw);
        call = call_of(&raw);
        memcpy(bytes + i * sizeof call, &call, sizeof call);
    }
    builder->calls = NULL;
    reading->calls = shrink(bytes, builder->call_count, sizeof *reading->calls);
    reading->call_count = builder->call_count;
}

static void keep_edges(struct reading *reading, struct graph_builder *builder)
{
    char *bytes = (char *)builder->edges;

    static_assert(sizeof(struct reading_edge) <= sizeof(struct graph_raw_edge),
                  "in place");
    for (uint32_t i = 0; i < builder->edge_count; i++) {
        struct graph_raw_edge raw;
        struct reading_edge edge;

        memcpy(&raw, bytes + i * sizeof raw, sizeof raw);
        edge = edge_of(&raw);
        memcpy(bytes + i * sizeof edge, &edge, sizeof edge);
    }
    builder->edges = NULL;
    reading->edges = shrink(bytes, builder->edge_count, sizeof *reading->edges);
    reading->edge_count = builder->edge_count;
}

static bool keep_modules(struct reading *reading, struct graph_builder *builder)
{
    reading->modules =
        memory_allocate((size_t)builder->module_count + 1, sizeof *reading->modules);
    if (reading->modules == NULL) {
        return graph_out_of_memory(builder);
    }
    for (uint32_t i = 0; i < builder->module_count; i++) {
        reading->modules[i] = builder->modules[i].module;
    }
    reading->module_count = builder->module_count;
    return true;
}

static bool is_number_of(uint32_t number, uint32_t count)
{
    return number == GRAPH_NONE || number < count;
}

/* Whether the value's numbers are in range and the values are in the order of their events. For
 * asserts. */
static __attribute__((unused)) bool is_sound_value(const struct reading *reading,
                                                   uint32_t index)
{
    const struct reading_value *value = &reading->values[index];
    uint64_t before = index == 0 ? 0 : reading->values[index - 1].event;

    return value->call < reading->call_count && value->unit < reading->unit_count &&
           value->name < reading->texts.count && value->path < reading->texts.count &&
           value->guess < reading->texts.count && value->object <= index &&
           (index == 0 || before < value->event ||
            (before == value->event && (value->flags & GRAPH_UPDATE) != 0));
}

/* Whether the same holds for calls and turns, and parents precede their children. For asserts. */
static __attribute__((unused)) bool are_sound_units(const struct reading *reading)
{
    for (uint32_t i = 0; i < reading->unit_count; i++) {
        const struct reading_unit *unit = &reading->units[i];

        if (!is_number_of(unit->parent, i) || unit->call >= reading->call_count) {
            return false;
        }
    }
    for (uint32_t i = 0; i < reading->call_count; i++) {
        const struct reading_call *call = &reading->calls[i];

        if (!is_number_of(call->parent, i) || call->unit >= reading->unit_count ||
            call->module >= reading->module_count ||
            call->path >= reading->texts.count ||
            call->class_name >= reading->texts.count) {
            return false;
        }
    }
    return true;
}

/* Whether all numbers in the tables are in range. For asserts. */
static __attribute__((unused)) bool is_sound(const struct reading *reading)
{
    for (uint32_t i = 0; i < reading->value_count; i++) {
        if (!is_sound_value(reading, i)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < reading->edge_count; i++) {
        const struct reading_edge *edge = &reading->edges[i];

        if (edge->source >= reading->value_count ||
            edge->target >= reading->value_count ||
            edge->name >= reading->texts.count) {
            return false;
        }
    }
    return are_sound_units(reading);
}

/* Moves the result into `reading`. Releases the builder in any case. */
static bool keep_all(struct reading *reading, struct graph_builder *builder)
{
    *reading = (struct reading){.left_out = builder->left_out,
                                .has_updates = builder->has_updates};
    if (!keep_modules(reading, builder)) {
        graph_builder_release(builder);
        return false;
    }
    reading->updates = builder->updates.items;
    reading->update_count = builder->updates.count;
    builder->updates.items = NULL;
    release_state(builder);
    keep_values(reading, builder);
    keep_calls(reading, builder);
    keep_edges(reading, builder);
    memory_free(builder->arguments);
    graph_modules_release(builder);
    reading->units =
        shrink(builder->units, builder->unit_count, sizeof *reading->units);
    reading->unit_count = builder->unit_count;
    reading->texts = builder->texts;
    reading->written_sites = builder->written_sites;
    assert(is_sound(reading));
    return true;
}

bool reading_read(struct reading *reading,
                  struct log_reader *reader,
                  const struct reading_options *options,
                  struct error *error)
{
    struct graph_builder builder = {
        .reader = reader,
        .options = options,
        .error = error,
    };

    if (!graph_builder_init(&builder) || !graph_read(&builder)) {
        graph_builder_release(&builder);
        return false;
    }
    return keep_all(reading, &builder);
}

void reading_release(struct reading *reading)
{
    memory_free(reading->values);
    memory_free(reading->edges);
    memory_free(reading->calls);
    memory_free(reading->units);
    memory_free(reading->modules);
    memory_free(reading->updates);
    if (reading->texts.texts != NULL) {
        text_table_release(&reading->texts);
    }
    number_map_release(&reading->written_sites);
    *reading = (struct reading){.values = NULL};
}

/* ---- lookups ---- */

static bool has_site(const struct log_module *module, uint32_t site)
{
    return module != NULL && site - module->first_site < module->table.site_count;
}

const struct log_module *reading_module_of(const struct reading *reading,
                                           uint32_t call,
                                           uint32_t site,
                                           uint32_t *number)
{
    assert(call < reading->call_count);
    *number = reading->calls[call].module;
    if (!has_site(reading->modules[*number], site)) {
        *number = 0;
        while (!has_site(reading->modules[*number], site)) {
            ++*number;
            assert(*number < reading->module_count);
        }
    }
    return reading->modules[*number];
}

const struct site *
reading_site_of(const struct reading *reading, uint32_t call, uint32_t site)
{
    uint32_t number;
    const struct log_module *module = reading_module_of(reading, call, site, &number);

    return &module->table.sites[site - module->first_site];
}

static bool is_update_before(const void *items, size_t place, uint64_t value)
{
    return ((const struct reading_update *)items)[place].value < value;
}

const struct reading_update *reading_update_of(const struct reading *reading,
                                               uint32_t value)
{
    size_t place =
        sorted_place(reading->updates, reading->update_count, is_update_before, value);

    assert(place < reading->update_count && reading->updates[place].value == value);
    return &reading->updates[place];
}

static bool is_before(const void *values, size_t place, uint64_t event)
{
    return ((const struct reading_value *)values)[place].event < event;
}

uint32_t reading_find(const struct reading *reading, uint64_t event)
{
    size_t place =
        sorted_place(reading->values, reading->value_count, is_before, event);

    /* An update has the number of the event before it, and follows that event's value. */
    return place < reading->value_count && reading->values[place].event == event &&
                   (reading->values[place].flags & GRAPH_UPDATE) == 0
               ? (uint32_t)place
               : GRAPH_NONE;
}
