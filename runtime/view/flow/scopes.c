/* Which scope a name of a function belongs to, as Python looks it up. */
#include "runtime/view/flow/build.h"

/* How far up the calls the one of an enclosing function is looked for: beyond, its newest. */
#define ANCESTORS_MAX 64

const struct flow_function *flow_function_of(const struct flow_builder *builder,
                                             const struct flow_call *call)
{
    return &builder->functions[builder->modules[call->module].first_function +
                               call->function];
}

/* The call of that function around this one: made from it, or else the newest. */
static uint32_t
find_enclosing(const struct flow_builder *builder, uint32_t index, uint32_t function)
{
    uint32_t module = builder->calls[index].module;
    uint32_t above = builder->calls[index].parent;

    for (int i = 0; i < ANCESTORS_MAX && above != FLOW_NONE; i++) {
        const struct flow_call *call = &builder->calls[above];

        if (call->module == module && call->function == function) {
            return above;
        }
        above = call->parent;
    }
    return builder->functions[builder->modules[module].first_function + function]
        .last_call;
}

uint32_t
flow_find_in_scope(const struct flow_builder *builder, uint32_t scope, uint32_t name)
{
    return number_map_get(&builder->binding_index, number_map_key(scope, name));
}

/* A name of an enclosing function: the nearest that has it. `scope`: where it is, or where it
 * would be. */
static uint32_t find_free(const struct flow_builder *builder,
                          uint32_t index,
                          uint32_t name,
                          uint32_t *scope)
{
    const struct flow_call *call = &builder->calls[index];
    uint32_t first = builder->modules[call->module].first_function;
    uint32_t function = flow_function_of(builder, call)->enclosing;

    *scope = FLOW_NONE;
    /* A function's enclosing one stands before it, so this ends. */
    while (function != FLOW_NONE) {
        uint32_t around = find_enclosing(builder, index, function);

        if (around != FLOW_NONE) {
            uint32_t found =
                flow_find_in_scope(builder, builder->calls[around].scope, name);

            *scope = *scope == FLOW_NONE ? builder->calls[around].scope : *scope;
            if (found != FLOW_NONE) {
                *scope = builder->calls[around].scope;
                return found;
            }
        }
        function = builder->functions[first + function].enclosing;
    }
    if (*scope == FLOW_NONE) {
        /* The enclosing calls are not in the trace: what this one was told to read is its own. */
        *scope = call->scope;
    }
    return flow_find_in_scope(builder, *scope, name);
}

uint32_t flow_find_plain(const struct flow_builder *builder,
                         uint32_t index,
                         enum site_scope kind,
                         uint32_t name,
                         uint32_t *scope)
{
    const struct flow_call *call = &builder->calls[index];

    switch (kind) {
    case SITE_SCOPE_FREE:
        return find_free(builder, index, name, scope);
    case SITE_SCOPE_GLOBAL:
        *scope = builder->modules[call->module].globals;
        break;
    default:
        *scope = call->scope;
    }
    return flow_find_in_scope(builder, *scope, name);
}

struct slice flow_root_of(struct slice name)
{
    return slice_part(name, 0, slice_find(name, SLICE("."), 0));
}

/* The content of the object that the binding stands for, where its attributes are known;
 * FLOW_NONE. */
static uint32_t object_of(const struct flow_builder *builder, uint32_t binding)
{
    uint32_t content =
        binding == FLOW_NONE ? FLOW_NONE : builder->bindings[binding].content;

    return content == FLOW_NONE || builder->contents[content].attributes == FLOW_NONE
               ? FLOW_NONE
               : content;
}

bool flow_object_scope(struct flow_builder *builder, uint32_t content)
{
    const struct flow_call *call = &builder->calls[builder->visit.call];
    bool is_module = call->class_name != 0 && call->path != 0;
    uint32_t *attributes = &builder->contents[content].attributes;

    /* Nobody has seen its making: what stands at that path is the same module. */
    if (is_module && builder->visit.is_entered &&
        !builder->contents[content].is_initialised) {
        *attributes = call->owner;
        return true;
    }
    return flow_scope_of(builder, UINT32_MAX, content, attributes);
}

static uint32_t text_of(const struct flow_builder *builder, struct slice name)
{
    return text_table_find(&builder->texts, name);
}

uint32_t flow_find_at(const struct flow_builder *builder,
                      const struct flow_place *place)
{
    uint32_t name = text_of(builder, place->name);

    return name == NUMBER_MAP_NONE ? FLOW_NONE
                                   : flow_find_in_scope(builder, place->scope, name);
}

/* From object to object, as far as they are known: `.block.scale` of one is `.scale` of the one
 * that is its `.block`. */
static void follow_dots(const struct flow_builder *builder,
                        uint32_t content,
                        struct flow_place *place)
{
    place->is_attribute = true;
    while (content != FLOW_NONE) {
        struct flow_place inner;
        size_t dot = slice_find(place->name, SLICE("."), 1);

        place->scope = builder->contents[content].attributes;
        if (dot >= place->name.size) {
            return;
        }
        inner =
            (struct flow_place){place->scope, slice_part(place->name, 0, dot), true};
        content = object_of(builder, flow_find_at(builder, &inner));
        if (content != FLOW_NONE) {
            place->name = slice_part(place->name, dot, place->name.size);
        }
    }
}

void flow_find_place(const struct flow_builder *builder,
                     uint32_t index,
                     enum site_scope kind,
                     struct slice name,
                     struct flow_place *place)
{
    struct slice root = flow_root_of(name);
    uint32_t text = text_of(builder, root);
    uint32_t found = FLOW_NONE;
    uint32_t content;

    *place = (struct flow_place){builder->calls[index].scope, name, false};
    if (text != NUMBER_MAP_NONE) {
        found = flow_find_plain(builder, index, kind, text, &place->scope);
    } else if (kind == SITE_SCOPE_GLOBAL) {
        place->scope = builder->modules[builder->calls[index].module].globals;
    }
    place->scope =
        place->scope == FLOW_NONE ? builder->calls[index].scope : place->scope;
    content = object_of(builder, found);
    if (root.size == name.size) {
        return;
    }
    if (content != FLOW_NONE) {
        place->name = slice_part(name, root.size, name.size);
        follow_dots(builder, content, place);
    } else if (slice_equal(root, SLICE("self"))) {
        uint32_t method = found == FLOW_NONE ? index : builder->bindings[found].writer;

        place->scope = builder->calls[method].owner;
        place->is_attribute = true;
    }
}
