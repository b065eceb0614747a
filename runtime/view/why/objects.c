/* Objects of torch.nn's classes, by the names that a trace has for them: which one a statement calls,
 * and the statement that made it. */
#include "runtime/view/why/why.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

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

bool why_note_object(struct why *why, const struct log_event_view *event)
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
