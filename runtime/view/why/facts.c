/* Facts of the graph's nodes that the graph does not hold: read from the trace once more. */
#include "runtime/view/why/why.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"
#include "runtime/view/list/tree_log.h"
#include "runtime/view/walk/open_calls.h"
#include "runtime/view/words/value_text.h"

#include <math.h>

/* Objects of torch.nn's classes, by the names that a trace has for them: which one a statement calls,
 * and the statement that made it. */

/* ---- as the trace is read ---- */

static uint64_t owner_of(const struct why *why, uint32_t call)
{
    uint32_t place = number_map_get(&why->owners, call);

    return place == NUMBER_MAP_NONE ? 0 : why->owner_addresses[place];
}

/* The object whose method the call is. */
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

/* Whether the name stood for such an object before: it may stand for another now. */
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

/* Notes what the event gives a name. false: out of memory. */
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
    /* The table's own text lives as long as the reader. */
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

/* ---- what a statement calls ---- */

static const struct site *site_of(const struct why *why, uint32_t module, uint32_t site)
{
    return &log_reader_module(why->reader, module)->table.sites[site];
}

/* The read of the name, or of what its first part is: `self` for `self.criterion`, of which a call alone
 * is no read of its own. NULL: the statement has none. */
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

/* Whether the name stands for the noted object where the statement reads it. */
static bool is_read(const struct why *why,
                    const struct why_noted_object *noted,
                    const struct why_fact *fact)
{
    const struct site_read *read =
        find_read(site_of(why, fact->module, fact->site), noted->name);

    if (read == NULL) {
        return false;
    }
    if (noted->call == fact->call && noted->module == fact->module) {
        return true;
    }
    if (slice_starts(noted->name, SLICE("self."))) {
        return noted->owner != 0 && noted->owner == owner_of(why, fact->call);
    }
    return read->scope == SITE_SCOPE_GLOBAL && noted->module == fact->module &&
           site_of(why, noted->module, noted->site)->function == 0;
}

/* The statement that made the object: the newest one before that calls its class, of objects at its
 * address. "": not recorded. */
static struct slice find_maker(struct why *why, uint32_t index)
{
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

/* The newest of each name counts, whatever it is. */
uint32_t why_find_objects(struct why *why,
                          uint32_t node,
                          struct slice statement,
                          struct why_object *objects)
{
    const struct why_fact *fact = &why->facts[node];
    uint64_t event = why->graph.nodes[node].event;
    uint32_t count = 0;

    for (uint32_t i = why->object_count; i-- > 0 && count < WHY_OBJECTS_MAX;) {
        const struct why_noted_object *noted = &why->objects[i];

        if (noted->event < event &&
            slice_find(statement, noted->name, 0) < statement.size &&
            !has_name(objects, count, noted->name) && is_read(why, noted, fact)) {
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

static void fill(struct why_fact *fact,
                 const struct log_event_view *event,
                 const struct open_call *call)
{
    *fact = (struct why_fact){
        .origin = event->kind == VALUE_TENSOR ? event->tensor.origin : 0,
        .data = event->kind == VALUE_TENSOR ? event->tensor.data : 0,
        .visit = event->visit,
        .call = event->call,
        .site = event->site_number - event->module->first_site,
        .module = event->module_number,
        .holds = (uint8_t)holds(event),
        .is_read = (event->flags & LOG_EVENT_READ) != 0,
    };
    if (event->kind == VALUE_FLOAT) {
        fact->number = event->real;
        fact->is_number = true;
    } else if (event->kind == VALUE_INT || event->kind == VALUE_BOOL) {
        fact->number = (double)event->integer;
        fact->is_number = true;
    }
    if (event->site->kind == SITE_ENTER && call->parent != NULL) {
        fact->from_module = call->parent->module_number;
        fact->from_line = call->line;
    }
}

/* The reading of the stream beside the graph's nodes, which are in its order. */
struct walk {
    struct why *why;
    struct open_calls calls;
    struct number_map step_sites; /* owned: site -> whether its line runs a step */
    uint32_t node;
    bool has_failed;
};

/* The call of an event; calls that begin and end are followed. NULL: no event. */
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

/* The node of an event; FLOW_NONE: it has none. */
static uint32_t node_of(struct walk *walk, uint64_t event)
{
    const struct flow_graph *graph = &walk->why->graph;

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

    while (log_reader_next(why->reader, &item)) {
        why->arena.has_failed |=
            !backwards_add(&why->backwards, why->reader, &item, next);
        if (item.kind == LOG_EVENT) {
            next = item.event.number + 1;
            if (why->event_count++ == 0) {
                why->first_event = item.event.number;
            }
            why->value_count += item.event.kind != VALUE_NOTHING;
            why->nonfinite_count += value_has_nonfinite(&item.event);
        }
    }
    log_reader_rewind(why->reader);
}

/* Whether the site's line calls `step()` of something: asked once for each site. */
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

/* An optimizer's step writes to parameters, and no event says so. */
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

    why->facts = arena_allocate(&why->arena, (size_t)why->graph.node_count + 1,
                                sizeof *why->facts);
    if (why->facts == NULL) {
        return why_out_of_memory(error);
    }
    memset(why->facts, 0, why->graph.node_count * sizeof *why->facts);
    open_calls_init(&walk.calls);
    number_map_init(&walk.step_sites);
    log_reader_rewind(why->reader);
    while (!walk.has_failed && log_reader_next(why->reader, &item)) {
        struct open_call *call = follow(&walk, &item);
        uint32_t node;

        if (call == NULL) {
            continue;
        }
        node = node_of(&walk, item.event.number);
        if (node != FLOW_NONE) {
            fill(&why->facts[node], &item.event, call);
        }
        note_step(&walk, &item.event);
        walk.has_failed |= !why_note_object(why, &item.event);
    }
    number_map_release(&walk.step_sites);
    open_calls_release(&walk.calls);
    return !walk.has_failed || why_out_of_memory(error);
}

/* ---- in words ---- */

static struct slice keep(struct why *why, struct buffer *text)
{
    struct slice kept;

    why->arena.has_failed |= text->has_failed;
    kept = arena_copy(&why->arena, buffer_slice(text));
    text->size = 0;
    return kept;
}

/* The chain of calls, as `show` tells it, without its last line end. */
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
    value_text_add(text, event, why->ask.has_color);
    why->values[node] = keep(why, text);
    for (uint32_t i = 0; i < why->producer_count; i++) {
        struct open_call *around = call;

        if (why->producers[i].node != node) {
            continue;
        }
        if (event->site->kind == SITE_ENTER && why->facts[node].from_line != 0 &&
            why->producers[i].how == WHY_MADE) {
            around = call->parent; /* it was made on the caller's line */
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

    why->values = arena_allocate(&why->arena, (size_t)why->graph.node_count + 1,
                                 sizeof *why->values);
    why->calls = arena_allocate(&why->arena, WHY_PRODUCERS_MAX, sizeof *why->calls);
    if (why->values == NULL || why->calls == NULL) {
        return why_out_of_memory(error);
    }
    memset(why->values, 0, why->graph.node_count * sizeof *why->values);
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
