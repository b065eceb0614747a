/* Facts about the graph's nodes that the graph does not hold. They are read from the trace a
 * second time. */
#include "runtime/view/why/why.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"
#include "runtime/view/list/tree_log.h"
#include "runtime/view/walk/open_calls.h"
#include "runtime/view/words/value_text.h"

#include <assert.h>
#include <math.h>

/* Objects of torch.nn classes, by the names that the trace has for them: which object a
 * statement calls, and which statement made it. */

/* ---- during the first reading of the trace ---- */

static uint64_t owner_of(const struct why *why, uint32_t call)
{
    uint32_t place = number_map_get(&why->owners, call);

    return place == NUMBER_MAP_NONE ? 0 : why->owner_addresses[place];
}

/* Stores the object whose method the call runs. */
static bool note_owner(struct why *why, const struct log_event_view *event)
{
    void *addresses = why->owner_addresses;

    if (!memory_grow(&addresses, &why->owner_capacity, (size_t)why->owner_count + 1,
                     sizeof *why->owner_addresses)) {
        return false;
    }
    why->owner_addresses = addresses;
    why->owner_addresses[why->owner_count] = event->object;
    return number_map_put(&why->owners, event->call, why->owner_count++);
}

/* Whether the name was noted for an object before: it may now have another value. */
static bool is_noted(const struct why *why, struct slice name)
{
    return number_map_get(&why->object_names, hash_64(name)) != NUMBER_MAP_NONE;
}

static bool add_object(struct why *why,
                       const struct log_event_view *event,
                       struct slice name,
                       struct slice class_name)
{
    void *objects = why->objects;

    if (!memory_grow(&objects, &why->object_capacity, (size_t)why->object_count + 1,
                     sizeof *why->objects)) {
        return false;
    }
    why->objects = objects;
    why->objects[why->object_count++] = (struct why_noted_object){
        .event = event->number,
        .address = event->object,
        .owner = owner_of(why, event->call),
        .call = event->call,
        .module = event->module_number,
        .site = event->site_number - event->module->first_site,
        .name = name,
        .class_name = class_name,
    };
    return number_map_put(&why->object_names, hash_64(name), 0);
}

/* Notes the object that the event assigns to a name. Returns false if memory runs out. */
static bool why_note_object(struct why *why, const struct log_event_view *event)
{
    struct slice class_name = SLICE("");
    struct slice name = SLICE("");

    if (event->path.size > 0 || event->name.size == 0 || event->kind == VALUE_NOTHING) {
        return true;
    }
    if (event->kind == VALUE_OBJECT) {
        class_name = why_class_of(event->type);
        if (event->site->kind == SITE_ENTER &&
            slice_equal(event->name, SLICE("self")) && event->object != 0) {
            return note_owner(why, event);
        }
    }
    if (class_name.size == 0 &&
        (why->object_count == 0 || (event->flags & LOG_EVENT_READ) != 0 ||
         !is_noted(why, event->name))) {
        return true;
    }
    /* The table's copy of the name lives as long as the reader. */
    for (uint32_t i = 0; i < event->site->write_count && name.size == 0; i++) {
        if (slice_equal(event->site->writes[i].name, event->name)) {
            name = event->site->writes[i].name;
        }
    }
    for (uint32_t i = 0; i < event->site->read_count && name.size == 0; i++) {
        if (slice_equal(event->site->reads[i].name, event->name)) {
            name = event->site->reads[i].name;
        }
    }
    return name.size == 0 || add_object(why, event, name, class_name);
}

/* ---- the objects that a statement calls ---- */

static const struct site *site_of(const struct why *why, uint32_t module, uint32_t site)
{
    return &log_reader_module(why->reader, module)->table.sites[site];
}

/* The statement's read of the name, or of the name's first part: a call of `self.criterion` is
 * recorded only as a read of `self`. NULL if the statement has none. */
static const struct site_read *find_read(const struct site *site, struct slice name)
{
    struct slice root = slice_part(name, 0, slice_find(name, SLICE("."), 0));

    for (uint32_t i = 0; i < site->read_count; i++) {
        if (slice_equal(site->reads[i].name, name) ||
            slice_equal(site->reads[i].name, root)) {
            return &site->reads[i];
        }
    }
    return NULL;
}

/* Whether the name refers to the noted object where the statement reads it. */
static bool is_read(const struct why *why,
                    const struct why_noted_object *noted,
                    const struct why_value *value)
{
    const struct site_read *read =
        find_read(site_of(why, value->module, value->site), noted->name);

    if (read == NULL) {
        return false;
    }
    if (noted->call == value->call && noted->module == value->module) {
        return true;
    }
    if (slice_starts(noted->name, SLICE("self."))) {
        return noted->owner != 0 && noted->owner == owner_of(why, value->call);
    }
    return read->scope == SITE_SCOPE_GLOBAL && noted->module == value->module &&
           site_of(why, noted->module, noted->site)->function == 0;
}

/* The statement that made the object: the newest earlier one that calls its class for an object
 * of the same address. "" if it is not recorded. */
static struct slice find_maker(struct why *why, uint32_t index)
{
    assert(index < why->object_count);

    const struct why_noted_object *object = &why->objects[index];

    for (uint32_t i = index + 1; i-- > 0 && object->address != 0;) {
        const struct why_noted_object *other = &why->objects[i];
        uint32_t line = site_of(why, other->module, other->site)->line;
        struct slice statement;

        if (other->address != object->address ||
            !slice_equal(other->class_name, object->class_name) ||
            site_of(why, other->module, other->site)->kind != SITE_ASSIGN) {
            continue;
        }
        statement = why_statement(why, other->module, line);
        if (slice_find(statement, object->class_name, 0) < statement.size) {
            return statement;
        }
    }
    return (struct slice){"", 0};
}

static bool
has_name(const struct why_object *objects, uint32_t count, struct slice name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (slice_equal(objects[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* For each name the newest assignment is used, even if it holds another kind of object. */
uint32_t why_find_objects(struct why *why,
                          uint32_t node,
                          struct slice statement,
                          struct why_object *objects)
{
    const struct why_value *value = why_value(why, node);
    uint64_t event = value->event;
    uint32_t count = 0;

    for (uint32_t i = why->object_count; i-- > 0 && count < WHY_OBJECTS_MAX;) {
        const struct why_noted_object *noted = &why->objects[i];

        if (noted->event < event &&
            slice_find(statement, noted->name, 0) < statement.size &&
            !has_name(objects, count, noted->name) && is_read(why, noted, value)) {
            objects[count++] =
                (struct why_object){noted->name, noted->class_name, find_maker(why, i)};
        }
    }
    return count;
}

bool why_out_of_memory(struct error *error)
{
    return error_set_memory(error);
}

static unsigned hold_of(double number)
{
    if (isnan(number)) {
        return WHY_NAN;
    }
    return isinf(number) ? (number > 0 ? WHY_POSINF : WHY_NEGINF) : 0;
}

unsigned why_holds(const struct statistics *statistics)
{
    return (statistics->nan_count > 0 ? WHY_NAN : 0u) |
           (statistics->posinf_count > 0 ? WHY_POSINF : 0u) |
           (statistics->neginf_count > 0 ? WHY_NEGINF : 0u);
}

static unsigned holds(const struct log_event_view *event)
{
    switch (event->kind) {
    case VALUE_TENSOR:
        return event->has_statistics ? why_holds(&event->statistics) : 0;
    case VALUE_FLOAT:
        return hold_of(event->real);
    case VALUE_COMPLEX:
        return hold_of(event->real) | hold_of(event->imaginary);
    default:
        return 0;
    }
}

/* ---- reading one event ---- */

/* Reads the event. Returns false if it cannot be read. */
static bool read_event(struct why *why, uint64_t event, struct log_item *item)
{
    struct error ignored = ERROR_INIT;

    if (why->lookup == NULL) {
        why->lookup = log_reader_new(why->path, &ignored);
    }
    if (why->lookup == NULL) {
        why->arena.has_failed = true;
        return false;
    }
    log_reader_show_parameters(why->lookup, true);
    log_reader_go_to_event(why->lookup, event);
    while (log_reader_next(why->lookup, item)) {
        if (item->kind == LOG_EVENT) {
            return item->event.number == event;
        }
    }
    return false;
}

static struct slice keep_text(struct why *why, struct slice text)
{
    struct slice kept = text.size == 0 ? SLICE("") : arena_copy(&why->arena, text);

    return kept.bytes == NULL ? SLICE("") : kept;
}

/* The name with its path, such as `out[0]['logits']`. */
static struct slice name_of(struct why *why, const struct graph_node *node)
{
    struct slice name = graph_text(&why->graph, node->name);
    struct slice path = graph_text(&why->graph, node->path);
    struct buffer whole = BUFFER_INIT;
    struct slice kept;

    if (path.size == 0) {
        return name;
    }
    buffer_add(&whole, name);
    buffer_add(&whole, path);
    why->arena.has_failed |= whole.has_failed;
    kept = keep_text(why, buffer_slice(&whole));
    buffer_release(&whole);
    return kept;
}

static void
set_array(struct why *why, struct why_value *value, const struct log_event_view *event)
{
    const struct log_shape *shape = event->shape;
    uint32_t count = shape->dimension_count;
    int64_t *sizes = arena_allocate(&why->arena, count, sizeof *sizes);

    value->origin = event->tensor.origin;
    value->data = event->tensor.data;
    value->alias_site = event->tensor.alias_site;
    value->dtype = shape->dtype;
    value->dtype_text = keep_text(why, shape->dtype_text);
    value->note = keep_text(why, shape->note);
    value->has_statistics = event->has_statistics;
    if (event->has_statistics) {
        value->statistics = event->statistics;
    }
    if (sizes != NULL && count > 0) {
        memcpy(sizes, shape->shape, count * sizeof *sizes);
    }
    value->shape = sizes;
    value->dimension_count = sizes == NULL ? 0 : count;
}

static void
set_other(struct why *why, struct why_value *value, const struct log_event_view *event)
{
    struct buffer text = BUFFER_INIT;

    value_text_add(&text, event, false);
    why->arena.has_failed |= text.has_failed;
    value->text = keep_text(why, buffer_slice(&text));
    buffer_release(&text);
    if (event->kind == VALUE_FLOAT) {
        value->number = event->real;
        value->is_number = true;
    } else if (event->kind == VALUE_INT || event->kind == VALUE_BOOL) {
        value->number = (double)event->integer;
        value->is_number = true;
    }
}

/* The module that holds the site of the trace. */
static uint32_t module_of_site(const struct why *why, uint32_t site)
{
    uint32_t count = log_reader_module_count(why->reader);

    for (uint32_t i = 0; i < count; i++) {
        const struct log_module *module = log_reader_module(why->reader, i);

        if (site >= module->first_site &&
            site - module->first_site < module->table.site_count) {
            return i;
        }
    }
    assert(false);
    return 0;
}

/* Sets the fields that come from the graph and from the sources of the node's module. */
static void
set_place(struct why *why, struct why_value *value, const struct graph_node *node)
{
    const struct graph_call *call = &why->graph.calls[node->call];
    const struct site_table *called =
        &log_reader_module(why->reader, call->module)->table;
    const struct log_module *module;

    value->module = module_of_site(why, node->site);
    module = log_reader_module(why->reader, value->module);
    value->site = node->site - module->first_site;
    assert(value->site < module->table.site_count);
    assert(call->function < called->function_count);
    value->file = module->table.path;
    value->line = module->table.sites[value->site].line;
    value->call = call->number;
    value->function = called->functions[call->function].name;
    value->code = keep_text(
        why, flow_statement(source_lines_get(&why->sources, value->module, value->line),
                            &module->table, value->site));
    if (module->table.sites[value->site].kind == SITE_ENTER &&
        call->parent != GRAPH_NONE) {
        value->from_module = why->graph.calls[call->parent].module;
        value->from_line = call->line;
    }
}

/* In a damaged trace the event may not be found by its number; its figures are unknown then. */
static void set_value(struct why *why, struct why_value *value, uint32_t index)
{
    assert(index < why->graph.node_count);

    const struct graph_node *node = &why->graph.nodes[index];
    struct log_item item;
    bool is_found = read_event(why, node->event, &item);

    *value = (struct why_value){
        .event = node->event,
        .flags = node->flags,
        .name = name_of(why, node),
        .kind = (enum value_kind)node->kind,
        .alias_site = UINT32_MAX,
    };
    set_place(why, value, node);
    if (!is_found || item.event.kind != value->kind) {
        /* In an undamaged trace the event exists, so memory has run out. */
        why->arena.has_failed |= log_reader_damage_count(why->reader) == 0;
        return;
    }
    value->visit = item.event.visit;
    if (value->kind == VALUE_TENSOR) {
        set_array(why, value, &item.event);
    } else {
        set_other(why, value, &item.event);
    }
}

/* A new entry for the node. NULL if memory runs out. */
static struct why_value *add_value(struct why *why, uint32_t node)
{
    void *items = why->values;
    struct why_value *value = arena_allocate(&why->arena, 1, sizeof *value);

    if (value == NULL ||
        !memory_grow(&items, &why->value_capacity, (size_t)why->value_place_count + 1,
                     sizeof(struct why_value *))) {
        return NULL;
    }
    why->values = items;
    if (!number_map_put(&why->value_places, node, why->value_place_count)) {
        return NULL;
    }
    why->values[why->value_place_count++] = value;
    return value;
}

/* The value of the node, read once and then kept. */
static struct why_value *value_of(struct why *why, uint32_t node)
{
    uint32_t place = number_map_get(&why->value_places, node);
    struct why_value *value;

    assert(node < why->graph.node_count);
    if (place != NUMBER_MAP_NONE) {
        return why->values[place];
    }
    value = add_value(why, node);
    if (value != NULL) {
        set_value(why, value, node);
    }
    return value;
}

const struct why_value *why_value(const struct why *why, uint32_t node)
{
    static const struct why_value nothing = {.name = {"", 0},
                                             .file = {"", 0},
                                             .code = {"", 0},
                                             .function = {"", 0},
                                             .text = {"", 0},
                                             .words = {"", 0},
                                             .dtype_text = {"", 0},
                                             .note = {"", 0}};
    struct why *keeper = (struct why *)(uintptr_t)why;
    const struct why_value *value;

    if (node == why->graph.node_count) {
        return &nothing;
    }
    value = value_of(keeper, node);
    keeper->arena.has_failed |= value == NULL;
    return value == NULL ? &nothing : value;
}

/* Sets the words of the current value, such as `value 0 since train.py:20`. */
static void keep_current(struct why *why,
                         const struct log_event_view *event,
                         struct why_current *current)
{
    struct buffer text = BUFFER_INIT;

    value_text_add(&text, event, why->ask.has_color);
    buffer_add(&text, SLICE(" since "));
    buffer_add(&text, slice_last_part(event->module->table.path, '/'));
    buffer_add_byte(&text, ':');
    buffer_add_number(&text, event->site->line);
    why->arena.has_failed |= text.has_failed;
    current->words = keep_text(why, buffer_slice(&text));
    buffer_release(&text);
}

bool why_read_current(struct why *why,
                      uint32_t node,
                      uint64_t before,
                      struct why_current *current)
{
    assert(node < why->graph.node_count);

    const struct training *training = &why->backwards.training;
    uint64_t event = why->graph.nodes[node].event;
    struct log_item item;
    uint32_t newest;

    if ((why->graph.nodes[node].flags & GRAPH_PARAMETER) == 0 ||
        training->record_count == 0 || !read_event(why, event, &item) ||
        item.event.kind != VALUE_TENSOR) {
        return false;
    }
    newest = training_find_value(training, item.event.tensor.object, before);
    if (newest == TRAINING_NONE || training->records[newest].event <= event ||
        !read_event(why, training->records[newest].event, &item) ||
        item.event.kind != VALUE_TENSOR || !item.event.has_statistics) {
        return false;
    }
    current->statistics = item.event.statistics;
    keep_current(why, &item.event, current);
    return true;
}

struct slice why_writer(struct why *why, uint32_t node)
{
    uint32_t site = why_value(why, node)->alias_site;
    struct buffer text = BUFFER_INIT;
    struct slice kept = SLICE("");

    for (uint32_t i = why->graph.node_count; i-- > 0 && site != UINT32_MAX;) {
        if (why->graph.nodes[i].site == site) {
            buffer_add(&text, slice_last_part(why_value(why, i)->file, '/'));
            buffer_add_byte(&text, ':');
            buffer_add_number(&text, why_value(why, i)->line);
            buffer_add(&text, SLICE(" by "));
            buffer_add(&text, graph_text(&why->graph, why->graph.nodes[i].name));
            break;
        }
    }
    why->arena.has_failed |= text.has_failed;
    kept = keep_text(why, buffer_slice(&text));
    buffer_release(&text);
    return kept;
}

/* ---- reading all events ---- */

/* A reading of the stream in parallel to the graph's nodes, which have the same order. */
struct walk {
    struct why *why;
    struct open_calls calls;
    struct number_map step_sites; /* owned: site -> whether its line calls step() */
    uint32_t node;
    bool has_failed;
};

/* Returns the call of an event, and updates the open calls when a call begins or ends. NULL if
 * the item is no event. */
static struct open_call *follow(struct walk *walk, const struct log_item *item)
{
    struct open_call *call = NULL;
    bool is_new;

    switch (item->kind) {
    case LOG_CALL:
        walk->has_failed |=
            open_calls_begin(&walk->calls, &item->call, &is_new) == NULL;
        return NULL;
    case LOG_EVENT:
        call = open_calls_of_event(&walk->calls, &item->event, &is_new);
        walk->has_failed |= call == NULL;
        return call;
    case LOG_END:
        open_calls_end(&walk->calls, open_calls_find(&walk->calls, item->end.call));
        return NULL;
    default:
        return NULL;
    }
}

/* The node of an event; FLOW_NONE if it has none. */
static uint32_t node_of(struct walk *walk, uint64_t event)
{
    const struct graph *graph = &walk->why->graph;

    while (walk->node < graph->node_count && graph->nodes[walk->node].event < event) {
        walk->node++;
    }
    return walk->node < graph->node_count && graph->nodes[walk->node].event == event
               ? walk->node
               : FLOW_NONE;
}

void why_count(struct why *why)
{
    struct log_item item;
    uint64_t next = 0; /* the number of the next event */

    log_reader_show_parameters(why->reader, true);
    while (log_reader_next(why->reader, &item)) {
        bool is_parameter =
            (item.kind == LOG_EVENT) && (item.event.flags & LOG_EVENT_PARAMETER) != 0;

        why->arena.has_failed |=
            !backwards_add(&why->backwards, why->reader, &item, next) ||
            !training_add(&why->backwards.training, &item, next);
        next = item.kind == LOG_EVENT ? item.event.number + 1 : next;
        if (item.kind == LOG_EVENT && !is_parameter) {
            if (why->event_count++ == 0) {
                why->first_event = item.event.number;
            }
            why->value_count += item.event.kind != VALUE_NOTHING;
            why->nonfinite_count += value_has_nonfinite(&item.event);
        }
    }
    log_reader_show_parameters(why->reader, false);
    log_reader_rewind(why->reader);
}

/* Whether the site's line calls `step()` of an object. Computed once for each site. */
static bool is_step(struct walk *walk, const struct log_event_view *event)
{
    uint32_t known = number_map_get(&walk->step_sites, event->site_number);

    if (known == NUMBER_MAP_NONE) {
        struct slice line = source_lines_get(&walk->why->sources, event->module_number,
                                             event->site->line);

        known = slice_find(line, SLICE(".step("), 0) < line.size;
        walk->has_failed |=
            !number_map_put(&walk->step_sites, event->site_number, known);
    }
    return known != 0;
}

/* Notes an optimizer's step, which writes to parameters without an event for each of them. */
static void note_step(struct walk *walk, const struct log_event_view *event)
{
    struct why *why = walk->why;
    void *steps = why->steps;

    if (event->site->kind != SITE_MUTATE || (event->flags & LOG_EVENT_READ) != 0 ||
        !is_step(walk, event)) {
        return;
    }
    if (!memory_grow(&steps, &why->step_capacity, (size_t)why->step_count + 1,
                     sizeof *why->steps)) {
        walk->has_failed = true;
        return;
    }
    why->steps = steps;
    why->steps[why->step_count++] =
        (struct why_step){event->number, event->module_number, event->site->line};
}

static bool is_before(const void *steps, size_t place, uint64_t event)
{
    return ((const struct why_step *)steps)[place].event < event;
}

const struct why_step *why_last_step(const struct why *why, uint64_t event)
{
    size_t place = sorted_place(why->steps, why->step_count, is_before, event);

    return place == 0 ? NULL : &why->steps[place - 1];
}

bool why_read_facts(struct why *why, struct error *error)
{
    struct walk walk = {.why = why};
    struct log_item item;

    why->facts =
        memory_allocate_zeroed((size_t)why->graph.node_count + 1, sizeof *why->facts);
    if (why->facts == NULL) {
        return why_out_of_memory(error);
    }
    number_map_init(&walk.step_sites);
    log_reader_rewind(why->reader);
    while (!walk.has_failed && log_reader_next(why->reader, &item)) {
        uint32_t node;

        if (item.kind != LOG_EVENT) {
            continue;
        }
        node = node_of(&walk, item.event.number);
        if (node != FLOW_NONE) {
            why->facts[node].holds = (uint8_t)holds(&item.event);
            why->facts[node].is_read = (item.event.flags & LOG_EVENT_READ) != 0;
        }
        note_step(&walk, &item.event);
        walk.has_failed |= !why_note_object(why, &item.event);
    }
    number_map_release(&walk.step_sites);
    return !walk.has_failed || why_out_of_memory(error);
}

/* ---- counts of infinities ---- */

static bool add_figures(struct why *why, uint32_t node, const struct statistics *found)
{
    void *items = why->figures;

    if (!memory_grow(&items, &why->figures_capacity, (size_t)why->figures_count + 1,
                     sizeof *why->figures)) {
        return false;
    }
    why->figures = items;
    why->figures[why->figures_count++] = (struct why_figures){
        node, found->count, found->posinf_count + found->neginf_count};
    return true;
}

bool why_read_figures(struct why *why, struct error *error)
{
    struct walk walk = {.why = why};
    struct log_item item;

    why->figures_count = 0;
    log_reader_rewind(why->reader);
    while (log_reader_next(why->reader, &item)) {
        uint32_t node;

        if (item.kind != LOG_EVENT || !item.event.has_statistics) {
            continue;
        }
        node = node_of(&walk, item.event.number);
        if (node != FLOW_NONE && why->facts[node].is_counted &&
            !add_figures(why, node, &item.event.statistics)) {
            return why_out_of_memory(error);
        }
    }
    return true;
}

static bool is_figure_before(const void *figures, size_t place, uint64_t node)
{
    return ((const struct why_figures *)figures)[place].node < node;
}

/* The figures of a node. NULL if the node was not marked, or has none. */
static const struct why_figures *figures_of(const struct why *why, uint32_t node)
{
    size_t place =
        sorted_place(why->figures, why->figures_count, is_figure_before, node);

    return place < why->figures_count && why->figures[place].node == node
               ? &why->figures[place]
               : NULL;
}

bool why_has_more(const struct why *why, uint32_t node)
{
    const struct why_figures *target = figures_of(why, node);
    uint32_t end = target == NULL ? 0 : why_end_edge(why, node);
    bool has_equal = false;

    for (uint32_t i = why_first_edge(why, node); i < end; i++) {
        const struct graph_edge *edge = &why->graph.edges[i];
        const struct why_figures *source =
            edge->kind == GRAPH_SHAPE ? NULL : figures_of(why, edge->source);

        if (source != NULL && source->count == target->count) {
            has_equal = true;
            if (source->infinity_count >= target->infinity_count) {
                return false;
            }
        }
    }
    return has_equal && target->infinity_count > 0;
}

/* ---- texts ---- */

static struct slice keep(struct why *why, struct buffer *text)
{
    struct slice kept;

    why->arena.has_failed |= text->has_failed;
    kept = arena_copy(&why->arena, buffer_slice(text));
    text->size = 0;
    return kept;
}

/* The chain of calls in the form of `show`, without its last line end. */
static struct slice
keep_calls(struct why *why, struct open_call *call, struct buffer *text)
{
    struct tree_log tree;

    for (struct open_call *one = call; one != NULL; one = one->parent) {
        one->is_shown = false;
    }
    tree_log_init(&tree, why->reader, &why->sources);
    tree.has_color = why->ask.has_color;
    tree_log_add_call(&tree, call, text);
    why->arena.has_failed |= tree.has_failed;
    tree_log_release(&tree);
    return keep(why, text);
}

static void report(struct why *why,
                   uint32_t node,
                   const struct log_event_view *event,
                   struct open_call *call,
                   struct buffer *text)
{
    struct why_value *value = value_of(why, node);

    value_text_add(text, event, why->ask.has_color);
    if (value == NULL) {
        why->arena.has_failed = true;
        return;
    }
    value->words = keep(why, text);
    for (uint32_t i = 0; i < why->producer_count; i++) {
        struct open_call *around = call;

        if (why->producers[i].node != node) {
            continue;
        }
        if (event->site->kind == SITE_ENTER && why_value(why, node)->from_line != 0 &&
            why->producers[i].how == WHY_MADE) {
            around = call->parent; /* the caller's line made it */
        }
        why->calls[i] = keep_calls(why, around, text);
    }
    if (node == why->target) {
        why->target_call = keep_calls(why, call, text);
    }
}

bool why_read_texts(struct why *why, struct error *error)
{
    struct walk walk = {.why = why};
    struct buffer text = BUFFER_INIT;
    struct log_item item;

    why->calls = arena_allocate(&why->arena, WHY_PRODUCERS_MAX, sizeof *why->calls);
    if (why->calls == NULL) {
        return why_out_of_memory(error);
    }
    for (uint32_t i = 0; i < WHY_PRODUCERS_MAX; i++) {
        why->calls[i] = SLICE("");
    }
    open_calls_init(&walk.calls);
    log_reader_rewind(why->reader);
    while (!walk.has_failed && log_reader_next(why->reader, &item)) {
        struct open_call *call = follow(&walk, &item);
        uint32_t node = call == NULL ? FLOW_NONE : node_of(&walk, item.event.number);

        if (node != FLOW_NONE && why->facts[node].is_reported) {
            report(why, node, &item.event, call, &text);
        }
    }
    open_calls_release(&walk.calls);
    buffer_release(&text);
    return (!walk.has_failed && !why->arena.has_failed && !why->sources.has_failed) ||
           why_out_of_memory(error);
}
