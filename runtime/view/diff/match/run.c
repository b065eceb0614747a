/* The values of one trace in compact arrays. */
#include "runtime/view/diff/match/run.h"

#include "runtime/array/sample.h"
#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"
#include "runtime/site/statement_text.h"
#include "runtime/view/graph/graph.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The maximum number of items of one container that a statement is assumed to read. If the graph
 * has more, the statement reads only some of them, and nothing shows which. */
#define SURE_ITEMS_MAX 8

/* ---- values ---- */

static double number_of(const struct log_event_view *event)
{
    return event->kind == VALUE_FLOAT ? event->real : (double)event->integer;
}

static bool is_number(enum value_kind kind)
{
    return kind == VALUE_FLOAT || kind == VALUE_INT || kind == VALUE_BOOL;
}

/* Whether the path is a key of a state dict, which has a dot: `['layers.0.weight']`. */
static bool is_weight_path(struct slice path)
{
    return path.size > 4 && path.bytes[0] == '[' && path.bytes[1] == '\'' &&
           slice_find(path, SLICE("."), 0) < path.size && slice_ends(path, SLICE("']"));
}

static bool note_text(struct match_run *run, const struct log_event_view *event)
{
    void *items = run->texts;

    if (event->path.size > 0 || event->name.size == 0) {
        return true;
    }
    if (!memory_grow(&items, &run->text_capacity, run->text_count + 1,
                     sizeof *run->texts)) {
        return false;
    }
    run->texts = items;
    run->texts[run->text_count++] = (struct match_text){
        .name = event->name,
        .text = arena_copy(&run->arena, event->text),
        .call = number_map_get(&run->call_places, event->call),
        .value = (uint32_t)run->value_count,
    };
    return !run->arena.has_failed;
}

static const struct statistics no_figures = {.count = 0};

/* The event's figures. Shares those of the newest value with the same hash if they are equal, as
 * an argument's are. */
static const struct statistics *keep_figures(struct match_run *run,
                                             const struct log_event_view *event)
{
    uint32_t *recent = &run->recent[event->hash % MATCH_RECENT];
    const struct match_value *other =
        *recent < run->value_count ? &run->values[*recent] : NULL;
    struct statistics *kept;

    if (!event->has_statistics) {
        return &no_figures;
    }
    *recent = event->has_hash ? (uint32_t)run->value_count : *recent;
    if (other != NULL && event->has_hash && other->has_hash &&
        other->hash == event->hash &&
        memcmp(other->statistics, &event->statistics, sizeof event->statistics) == 0) {
        return other->statistics;
    }
    kept = arena_allocate(&run->arena, 1, sizeof *kept);
    if (kept == NULL) {
        return &no_figures; /* the arena has failed */
    }
    *kept = event->statistics;
    return kept;
}

static bool add_value(struct match_run *run, const struct log_event_view *event)
{
    void *items = run->values;
    bool is_tensor = event->kind == VALUE_TENSOR;
    struct match_value value = {
        .event = event->number,
        .shape = is_tensor ? event->shape : NULL,
        .name = event->name,
        .path = event->path,
        .site = event->site_number,
        .module = event->module_number,
        .line = event->site->line,
        .call = number_map_get(&run->call_places, event->call),
        .visit = event->visit,
        .content = MATCH_NONE,
        .statistics = &no_figures,
        .is_argument = event->site->kind == SITE_ENTER,
    };

    if (!is_tensor && !is_number(event->kind)) {
        return event->kind != VALUE_TEXT || note_text(run, event);
    }
    if (!memory_grow(&items, &run->value_capacity, run->value_count + 1,
                     sizeof *run->values)) {
        return false;
    }
    run->values = items;
    if (is_tensor) {
        value.statistics = keep_figures(run, event);
        value.has_hash = event->has_hash;
        value.hash = event->hash;
        value.has_sample = event->grid.count > 0;
        value.is_weight = is_weight_path(event->path);
        run->tensor_count++;
    } else {
        value.number = number_of(event);
        value.is_integer = event->kind != VALUE_FLOAT;
    }
    run->values[run->value_count++] = value;
    return !run->arena.has_failed;
}

/* ---- calls ---- */

static bool
add_call(struct match_run *run, uint32_t number, const struct match_call *call)
{
    void *items = run->calls;

    if (number_map_get(&run->call_places, number) != NUMBER_MAP_NONE) {
        return true;
    }
    if (!memory_grow(&items, &run->call_capacity, run->call_count + 1,
                     sizeof *run->calls)) {
        return false;
    }
    run->calls = items;
    run->calls[run->call_count] = *call;
    return number_map_put(&run->call_places, number, (uint32_t)run->call_count++);
}

static bool note_call(struct match_run *run, const struct log_call_view *view)
{
    struct match_call call = {
        .number = view->call,
        .parent = number_map_get(&run->call_places, view->parent),
        .module = view->module_number,
        .function = (uint32_t)(view->function - view->module->table.functions),
        .line = view->line,
        .path = view->path,
    };

    if (call.parent == NUMBER_MAP_NONE) {
        call.parent = MATCH_NONE;
    }
    return add_call(run, view->call, &call);
}

static bool note_event(struct match_run *run, const struct log_event_view *event)
{
    struct match_call call = {
        .number = event->call,
        .parent = MATCH_NONE,
        .module = event->module_number,
        .function = event->site->function,
        .path = SLICE(""),
    };

    run->event_count++;
    return add_call(run, event->call, &call) && add_value(run, event);
}

static bool read_values(struct match_run *run)
{
    struct log_item item;
    bool is_done = true;

    log_reader_rewind(run->reader);
    while (is_done && log_reader_next(run->reader, &item)) {
        if (item.kind == LOG_CALL) {
            is_done = note_call(run, &item.call);
        } else if (item.kind == LOG_EVENT) {
            is_done = note_event(run, &item.event);
        }
    }
    return is_done;
}

/* ---- edges ---- */

void match_links_release(struct match_links *links)
{
    memory_free(links->first);
    memory_free(links->items);
    *links = (struct match_links){.first = NULL};
}

static bool links_allocate(struct match_links *links, size_t link_count, size_t count)
{
    links->first = memory_allocate_zeroed(count + 1, sizeof *links->first);
    links->items = memory_allocate(link_count, sizeof *links->items);
    return links->first != NULL && links->items != NULL;
}

/* Counting sort: the counts become places; then each link fills the last free place of its key. */
static void links_fill(struct match_links *links,
                       const struct match_link *pairs,
                       size_t link_count,
                       size_t count,
                       bool is_by_target)
{
    for (size_t i = 0; i < link_count; i++) {
        links->first[is_by_target ? pairs[i].target : pairs[i].source]++;
    }
    for (size_t i = 0, sum = 0; i <= count; i++) {
        sum += links->first[i];
        links->first[i] = (uint32_t)sum;
    }
    for (size_t i = link_count; i-- > 0;) {
        uint32_t key = is_by_target ? pairs[i].target : pairs[i].source;

        links->items[--links->first[key]] =
            is_by_target ? pairs[i].source : pairs[i].target;
    }
    assert(count == 0 || links->first[count] == link_count);
}

bool match_links_make(struct match_links *in,
                      struct match_links *out,
                      const struct match_link *links,
                      size_t link_count,
                      size_t count)
{
    if (!links_allocate(in, link_count, count) ||
        !links_allocate(out, link_count, count)) {
        return false;
    }
    links_fill(in, links, link_count, count, true);
    links_fill(out, links, link_count, count, false);
    return true;
}

struct edge_list {
    struct match_link *links; /* owned */
    size_t count, capacity;
    size_t sorted_count; /* links sorted by target, at the beginning */
};

static bool add_link(struct edge_list *list, uint32_t source, uint32_t target)
{
    void *items = list->links;

    if (!memory_grow(&items, &list->capacity, list->count + 1, sizeof *list->links)) {
        return false;
    }
    list->links = items;
    list->links[list->count++] = (struct match_link){source, target};
    return true;
}

static bool is_value_before(const void *list, size_t place, uint64_t event)
{
    return ((const struct match_value *)list)[place].event < event;
}

static uint32_t find_value(const struct match_run *run, uint64_t event)
{
    size_t place = sorted_place(run->values, run->value_count, is_value_before, event);

    return place < run->value_count && run->values[place].event == event
               ? (uint32_t)place
               : MATCH_NONE;
}

static bool is_same_figures(const struct match_value *a, const struct match_value *b)
{
    return a->shape != NULL && b->shape != NULL && a->has_hash && b->has_hash &&
           a->hash == b->hash;
}

/* Counts the edges from items of the same container. */
static uint32_t count_items(const struct match_run *run,
                            const struct match_link *links,
                            size_t count,
                            const struct match_value *item)
{
    uint32_t found = 0;

    for (size_t i = 0; i < count; i++) {
        const struct match_value *source = &run->values[links[i].source];

        found += source->path.size > 0 && slice_equal(source->name, item->name);
    }
    return found;
}

/* Removes, of the edges of one target, those from containers with too many items. Returns the
 * number kept. */
static size_t
leave_unsure(const struct match_run *run, struct match_link *links, size_t count)
{
    size_t kept = 0;
    const struct match_value *target = &run->values[links[0].target];

    if (count <= SURE_ITEMS_MAX) {
        return count;
    }
    for (size_t i = 0; i < count; i++) {
        const struct match_value *source = &run->values[links[i].source];
        bool is_item = source->path.size > 0 && source->shape != NULL;

        if (!is_item || is_same_figures(source, target) ||
            count_items(run, links, count < 4096 ? count : 4096, source) <=
                SURE_ITEMS_MAX) {
            links[kept++] = links[i];
        }
    }
    return kept;
}

/* Keeps the edges that are sure, for each target. */
static void keep_sure(const struct match_run *run, struct edge_list *list)
{
    size_t kept = 0;

    for (size_t first = 0, end; first < list->count; first = end) {
        size_t sure;

        for (end = first; end < list->count &&
                          list->links[end].target == list->links[first].target;) {
            end++;
        }
        sure = leave_unsure(run, list->links + first, end - first);
        memmove(list->links + kept, list->links + first, sure * sizeof *list->links);
        kept += sure;
    }
    list->count = kept;
}

/* Adds the graph's edges between values. */
static bool
copy_edges(struct match_run *run, const struct graph *graph, struct edge_list *list)
{
    for (uint32_t i = 0; i < run->value_count; i++) {
        struct graph_sources sources = graph_sources_of(graph, run->values[i].event);
        struct graph_source edge;

        while (graph_sources_next(&sources, &edge)) {
            uint32_t source =
                edge.kind == GRAPH_SHAPE ? MATCH_NONE : find_value(run, edge.event);

            if (source != MATCH_NONE && !add_link(list, source, i)) {
                return false;
            }
        }
    }
    keep_sure(run, list);
    list->sorted_count = list->count;
    return true;
}

/* ---- weights that a statement used through a module ---- */

/* The items of state dicts, by each dotted prefix of their keys. */
struct weight_keys {
    struct number_map map; /* hash of a prefix -> places in entries, chained */
    struct weight_entry {
        uint32_t value;
        uint32_t next; /* MATCH_NONE: none */
        struct slice key;
    } * entries; /* owned */
    size_t count, capacity;
    struct buffer text; /* owned: the key to find */
};

static struct slice key_of(const struct match_value *value)
{
    return slice_part(value->path, 2, value->path.size - 2);
}

static bool add_prefix(struct weight_keys *keys,
                       struct slice prefix,
                       struct slice key,
                       uint32_t value)
{
    uint64_t hash = hash_64(prefix);
    uint32_t first = number_map_get(&keys->map, hash);
    void *items = keys->entries;

    for (uint32_t i = first == NUMBER_MAP_NONE ? MATCH_NONE : first; i != MATCH_NONE;
         i = keys->entries[i].next) {
        if (slice_equal(keys->entries[i].key, key)) {
            keys->entries[i].value = value;
            return true;
        }
    }
    if (!memory_grow(&items, &keys->capacity, keys->count + 1, sizeof *keys->entries)) {
        return false;
    }
    keys->entries = items;
    keys->entries[keys->count] = (struct weight_entry){
        .value = value,
        .next = first == NUMBER_MAP_NONE ? MATCH_NONE : first,
        .key = key,
    };
    return number_map_put(&keys->map, hash, (uint32_t)keys->count++);
}

static bool
note_weight(struct weight_keys *keys, const struct match_value *value, uint32_t number)
{
    struct slice key = key_of(value);

    for (size_t i = 1; i <= key.size; i++) {
        if ((i == key.size || key.bytes[i] == '.') &&
            !add_prefix(keys, slice_part(key, 0, i), key, number)) {
            return false;
        }
    }
    return true;
}

/* The first link of the target among the sorted ones. */
static size_t place_of_target(const struct edge_list *list, uint32_t target)
{
    size_t first = 0, end = list->sorted_count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;

        if (list->links[middle].target < target) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first;
}

/* Marks the link from the value that the constructor gave to the attribute: it is outdated,
 * because the weight was loaded later. */
static void forget_attribute(const struct match_run *run,
                             struct edge_list *list,
                             uint32_t target,
                             struct slice name)
{
    size_t first = place_of_target(list, target);

    for (; first < list->sorted_count && list->links[first].target == target; first++) {
        struct match_link *link = &list->links[first];

        if (link->source != MATCH_NONE &&
            slice_equal(run->values[link->source].name, name)) {
            link->source = MATCH_NONE;
        }
    }
}

static void drop_forgotten(struct edge_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (list->links[i].source != MATCH_NONE) {
            list->links[kept++] = list->links[i];
        }
    }
    list->count = kept;
}

/* The parameter of a method call: keys->text ends with a method of it, as `self.token.expand`.
 * Removes the method from `name`. NUMBER_MAP_NONE: none. */
static uint32_t find_parameter(const struct weight_keys *keys, struct slice *name)
{
    size_t method = slice_last_part(*name, '.').size + 1;
    struct slice key = buffer_slice(&keys->text);
    uint32_t entry;

    if (name->size <= method + 5) {
        return NUMBER_MAP_NONE;
    }
    key.size -= method;
    entry = number_map_get(&keys->map, hash_64(key));
    if (entry == NUMBER_MAP_NONE || !slice_equal(keys->entries[entry].key, key)) {
        return NUMBER_MAP_NONE;
    }
    name->size -= method;
    return entry;
}

/* Links the weights below `self.name` of the value's module. Returns false if out of memory. */
static bool link_read(struct match_run *run,
                      struct weight_keys *keys,
                      uint32_t number,
                      const struct match_attribute *attribute,
                      struct edge_list *list)
{
    assert(number < run->value_count);

    const struct match_value *value = &run->values[number];
    const struct match_call *call = &run->calls[value->call];
    struct slice name = attribute->name;
    uint32_t entry;

    if (value->is_argument && call->parent != MATCH_NONE && call->line != 0) {
        call = &run->calls[call->parent];
    }

    keys->text.size = 0;
    if (call->path.size > 0) {
        buffer_add(&keys->text, call->path);
        buffer_add_byte(&keys->text, '.');
    }
    buffer_add(&keys->text, slice_part(name, 5, name.size));
    entry = number_map_get(&keys->map, hash_64(buffer_slice(&keys->text)));
    if (entry == NUMBER_MAP_NONE && attribute->is_called) {
        entry = find_parameter(keys, &name);
    }
    entry = entry == NUMBER_MAP_NONE ? MATCH_NONE : entry;
    if (entry != MATCH_NONE) {
        forget_attribute(run, list, number, name);
    }
    for (; entry != MATCH_NONE; entry = keys->entries[entry].next) {
        if (!add_link(list, keys->entries[entry].value, number)) {
            return false;
        }
    }
    return !keys->text.has_failed;
}

/* ---- items that a statement reads under a computed key ---- */

/* The newest items of containers, by their names and keys. */
struct item_map {
    struct number_map map;
    struct buffer key; /* owned */
};

static uint64_t hash_of_item(struct slice name, struct slice key)
{
    return hash_64(name) * 31 + hash_64(key);
}

static bool note_item(struct item_map *items, const struct match_run *run, uint32_t i)
{
    const struct match_value *value = &run->values[i];

    return value->path.size < 5 || value->path.bytes[1] != '\'' ||
           !slice_ends(value->path, SLICE("']")) ||
           number_map_put(&items->map, hash_of_item(value->name, key_of(value)), i);
}

/* Marks the statement's other links from the container: they come from items that it does not
 * read. */
static void forget_items(const struct match_run *run,
                         struct edge_list *list,
                         uint32_t target,
                         struct slice name)
{
    size_t place = place_of_target(list, target);

    for (; place < list->sorted_count && list->links[place].target == target; place++) {
        struct match_link *link = &list->links[place];

        if (link->source != MATCH_NONE && run->values[link->source].path.size > 0 &&
            slice_equal(run->values[link->source].name, name)) {
            link->source = MATCH_NONE;
        }
    }
}

/* Links the item under the computed key. Skips arguments: nothing shows which of the statement's
 * items an argument is. */
static bool link_item(struct match_run *run,
                      struct item_map *items,
                      uint32_t number,
                      const struct match_attribute *attribute,
                      struct edge_list *list)
{
    const struct match_value *value = &run->values[number];
    uint32_t item;

    if (value->is_argument) {
        return true;
    }
    items->key.size = 0;
    if (!match_key_add(run, attribute->key, value->call, number, &items->key)) {
        return !items->key.has_failed;
    }
    item = number_map_get(&items->map,
                          hash_of_item(attribute->name, buffer_slice(&items->key)));
    if (item == NUMBER_MAP_NONE || item >= number ||
        !slice_equal(key_of(&run->values[item]), buffer_slice(&items->key))) {
        return true;
    }
    forget_items(run, list, number, attribute->name);
    return add_link(list, item, number);
}

static bool link_weights_of(struct match_run *run,
                            struct weight_keys *keys,
                            struct item_map *items,
                            uint32_t number,
                            struct edge_list *list)
{
    assert(number < run->value_count);

    const struct match_value *value = &run->values[number];
    const struct match_attribute *attribute;
    uint32_t module, line;

    if (value->shape == NULL || value->is_weight) {
        return true;
    }
    match_place(run, value, &module, &line);
    if (!match_attributes_find(&run->attributes, module, line, &attribute)) {
        return false;
    }
    for (; attribute != NULL; attribute = attribute->next) {
        if (attribute->key.size > 0 ? !link_item(run, items, number, attribute, list)
                                    : !link_read(run, keys, number, attribute, list)) {
            return false;
        }
    }
    return true;
}

static bool link_weights(struct match_run *run, struct edge_list *list)
{
    struct weight_keys keys = {.count = 0, .text = BUFFER_INIT};
    struct item_map items = {.key = BUFFER_INIT};
    bool is_done = true;

    number_map_init(&keys.map);
    number_map_init(&items.map);
    for (uint32_t i = 0; is_done && i < run->value_count; i++) {
        is_done = note_item(&items, run, i);
        if (is_done && run->values[i].is_weight) {
            is_done = note_weight(&keys, &run->values[i], i);
        } else if (is_done && keys.count + items.map.count > 0) {
            is_done = link_weights_of(run, &keys, &items, i, list);
        }
    }
    drop_forgotten(list);
    number_map_release(&keys.map);
    number_map_release(&items.map);
    memory_free(keys.entries);
    buffer_release(&keys.text);
    buffer_release(&items.key);
    return is_done;
}

/* ---- the whole ---- */

static bool make_links(struct match_run *run, const struct graph *graph)
{
    struct edge_list list = {.count = 0};
    bool is_made =
        copy_edges(run, graph, &list) && link_weights(run, &list) &&
        match_links_make(&run->in, &run->out, list.links, list.count, run->value_count);

    memory_free(list.links);
    return is_made;
}

static bool read_graph(struct match_run *run, struct error *error)
{
    struct graph_build_options options = {.progress = NULL};
    struct graph graph;
    bool is_done;

    graph_init(&graph);
    is_done = graph_build(&graph, run->reader, &options, error);
    if (is_done && (!read_values(run) || !make_links(run, &graph))) {
        is_done = error_set_memory(error);
    }
    graph_release(&graph);
    return is_done;
}

bool match_run_read(struct match_run *run,
                    const char *path,
                    source_strip strip,
                    struct error *error)
{
    *run = (struct match_run){.reader = log_reader_new(path, error)};
    arena_init(&run->arena);
    number_map_init(&run->call_places);
    run->samples = memory_allocate_zeroed(1, sizeof *run->samples);
    if (run->samples == NULL) {
        return run->reader != NULL && error_set_memory(error);
    }
    arena_init(&run->samples->arena);
    number_map_init(&run->samples->places);
    if (run->reader == NULL) {
        return false;
    }
    source_lines_init(&run->sources, run->reader, strip);
    match_attributes_init(&run->attributes, &run->sources);
    return read_graph(run, error);
}

void match_run_release(struct match_run *run)
{
    if (run->reader != NULL) {
        source_lines_release(&run->sources);
        match_attributes_release(&run->attributes);
    }
    log_reader_free(run->reader);
    memory_free(run->values);
    memory_free(run->calls);
    memory_free(run->texts);
    number_map_release(&run->call_places);
    match_links_release(&run->in);
    match_links_release(&run->out);
    arena_release(&run->arena);
    if (run->samples != NULL) {
        arena_release(&run->samples->arena);
        number_map_release(&run->samples->places);
        memory_free(run->samples->items);
    }
    memory_free(run->samples);
}

/* ---- lookups ---- */

/* A copy of the sample, because the reader's is valid only until its next item. */
static const void *read_sample(const struct match_run *run, uint64_t number)
{
    struct log_item item;
    struct slice bytes = {.bytes = NULL};

    log_reader_go_to_event(run->reader, number);
    while (log_reader_next(run->reader, &item) && item.kind != LOG_EVENT) {}
    if (item.kind == LOG_EVENT && item.event.number == number &&
        item.event.grid.count > 0) {
        bytes.bytes = item.event.sample;
        bytes.size =
            (size_t)item.event.grid.count * dtype_size(item.event.shape->dtype);
        bytes = arena_copy(&run->samples->arena, bytes);
    }
    return bytes.bytes;
}

const void *match_run_sample(const struct match_run *run,
                             const struct match_value *value)
{
    uint32_t place =
        number_map_get(&run->samples->places, (uint64_t)(value - run->values));

    return place == NUMBER_MAP_NONE ? NULL : run->samples->items[place];
}

static bool keep_sample(const struct match_run *run, uint32_t value)
{
    struct match_samples *samples = run->samples;
    const void *sample = read_sample(run, run->values[value].event);
    void *items = samples->items;

    if (sample == NULL || !memory_grow(&items, &samples->capacity, samples->count + 1,
                                       sizeof *samples->items)) {
        return false;
    }
    samples->items = items;
    samples->items[samples->count] = sample;
    return number_map_put(&samples->places, value, (uint32_t)samples->count++);
}

struct sample_grid match_run_grid(const struct match_run *run,
                                  const struct match_value *value)
{
    struct sample_grid grid = {.count = 0};
    struct match_value *own = &run->values[value - run->values];

    assert(value >= run->values && value < run->values + run->value_count);
    if (own->has_sample && match_run_sample(run, own) == NULL) {
        own->has_sample = keep_sample(run, (uint32_t)(own - run->values));
    }
    if (own->has_sample) {
        sample_grid_init(&grid, value->shape->shape, value->shape->dimension_count,
                         log_reader_header(run->reader)->sample);
    }
    return grid;
}

void match_place(const struct match_run *run,
                 const struct match_value *value,
                 uint32_t *module,
                 uint32_t *line)
{
    const struct match_call *call = &run->calls[value->call];

    *module = value->module;
    *line = value->line;
    if (value->is_argument && call->parent != MATCH_NONE && call->line != 0) {
        *module = run->calls[call->parent].module;
        *line = call->line;
    }
}

const struct site *match_run_site(const struct match_run *run,
                                  const struct match_value *value)
{
    const struct log_module *module = log_reader_module(run->reader, value->module);

    assert(module != NULL);
    if (value->site < module->first_site ||
        value->site - module->first_site >= module->table.site_count) {
        return NULL;
    }
    return &module->table.sites[value->site - module->first_site];
}

uint32_t match_newest_dict(const struct match_run *run)
{
    for (size_t i = run->value_count; i-- > 0;) {
        if (run->values[i].is_weight && !run->values[i].is_argument) {
            return (uint32_t)i;
        }
    }
    return MATCH_NONE;
}

bool match_is_beside(const struct match_value *value, const struct match_value *other)
{
    return value->is_weight && value->site == other->site &&
           value->call == other->call && value->visit == other->visit;
}
