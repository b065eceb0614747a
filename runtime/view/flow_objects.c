/* The objects whose attributes a trace tells: each address with its type is one, from the
 * `__init__` that made it on. Two instances of one class are two, whatever their class says. */
#include "runtime/view/flow_build.h"

/* So many calls up an `__init__` that called this one is searched for: `super().__init__()`. */
#define ANCESTORS_MAX 64
/* Longer names of attributes are not followed. */
#define NAME_MAX_SIZE 256

/* Whether a call of `__init__` around this one is of the same object. */
static bool
is_being_made(const struct flow_builder *builder, uint32_t index, uint32_t scope)
{
    uint32_t above = builder->calls[index].parent;

    for (int i = 0; i < ANCESTORS_MAX && above != FLOW_NONE; i++) {
        const struct flow_call *call = &builder->calls[above];

        if (call->owner == scope && !call->is_ended &&
            flow_function_of(builder, call)->is_init) {
            return true;
        }
        above = call->parent;
    }
    return false;
}

static bool add_object(struct flow_builder *builder,
                       uint64_t address,
                       uint32_t type,
                       struct flow_object **object)
{
    uint32_t known = number_map_get(&builder->object_index, address);
    void *items = builder->objects;

    if (known != NUMBER_MAP_NONE) {
        *object = &builder->objects[known];
        return true;
    }
    if (!flow_grow(builder, &items, &builder->object_capacity, builder->object_count,
                   sizeof *builder->objects)) {
        return false;
    }
    builder->objects = items;
    if (!number_map_put(&builder->object_index, address, builder->object_count)) {
        return flow_out_of_memory(builder);
    }
    *object = &builder->objects[builder->object_count++];
    **object = (struct flow_object){.type = type, .scope = builder->scope_count++};
    return true;
}

bool flow_object_of(struct flow_builder *builder,
                    const struct log_event_view *event,
                    uint32_t index,
                    uint32_t *scope)
{
    bool is_self = event->site->kind == SITE_ENTER &&
                   slice_equal(event->name, SLICE("self")) && event->path.size == 0;
    struct flow_call *call = &builder->calls[index];
    struct flow_object *object = NULL;
    uint32_t type;

    *scope = FLOW_NONE;
    if (event->kind != VALUE_OBJECT || event->tensor.object == 0) {
        return true;
    }
    if (!flow_text(builder, event->type, &type) ||
        !add_object(builder, event->tensor.object, type, &object)) {
        return false;
    }
    /* The address may have been another object's before. */
    if (object->type != type || (is_self && flow_function_of(builder, call)->is_init &&
                                 !is_being_made(builder, index, object->scope))) {
        *object = (struct flow_object){.type = type, .scope = builder->scope_count++};
    }
    *scope = object->scope;
    if (is_self) {
        call->owner = object->scope;
        call->has_object = true;
    }
    return true;
}

/* The number of the text `self` and what stands behind it: how scopes of objects name their
 * attributes. NUMBER_MAP_NONE: no such text, or it is too long. */
static uint32_t
attribute_text(struct flow_builder *builder, struct slice rest, bool is_new)
{
    char bytes[NAME_MAX_SIZE];
    struct slice name = {bytes, 4 + rest.size};
    uint32_t number = NUMBER_MAP_NONE;

    if (name.size > sizeof bytes) {
        return NUMBER_MAP_NONE;
    }
    memcpy(bytes, "self", 4);
    memcpy(bytes + 4, rest.bytes, rest.size);
    if (!is_new) {
        return text_table_find(&builder->texts, name);
    }
    return flow_text(builder, name, &number) ? number : NUMBER_MAP_NONE;
}

/* The end of the first name in `rest`, which begins with a dot. */
static size_t first_end(struct slice rest)
{
    return slice_find(rest, SLICE("."), 1);
}

bool flow_object_find(struct flow_builder *builder,
                      uint32_t index,
                      enum site_scope kind,
                      struct slice name,
                      bool is_new,
                      struct flow_attribute *attribute)
{
    struct slice root = flow_root_of(name);
    struct slice rest = slice_part(name, root.size, name.size);
    uint32_t number = text_table_find(&builder->texts, root);
    uint32_t found = FLOW_NONE;
    uint32_t ignored;

    if (rest.size == 0 || number == NUMBER_MAP_NONE) {
        return false;
    }
    found = flow_find_plain(builder, index, kind, number, &ignored);
    /* Down to the object that has the last name: `self.norm` of `self.norm.eps`. */
    while (found != FLOW_NONE && builder->bindings[found].object != FLOW_NONE) {
        uint32_t scope = builder->bindings[found].object;
        size_t end = first_end(rest);

        if (end == rest.size) {
            attribute->scope = scope;
            attribute->name = attribute_text(builder, rest, is_new);
            return attribute->name != NUMBER_MAP_NONE;
        }
        number = attribute_text(builder, slice_part(rest, 0, end), false);
        found = number == NUMBER_MAP_NONE ? FLOW_NONE
                                          : flow_find_in_scope(builder, scope, number);
        rest = slice_part(rest, end, rest.size);
    }
    return false;
}
