/* Which scope a name of a function belongs to, as Python looks it up. */
#include "runtime/view/flow_build.h"

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

uint32_t flow_find_method(const struct flow_builder *builder,
                          uint32_t index,
                          enum site_scope kind)
{
    uint32_t scope;
    uint32_t binding =
        flow_find_plain(builder, index, kind, builder->self_name, &scope);

    return binding == FLOW_NONE ? index : builder->bindings[binding].writer;
}

uint32_t
flow_find_attribute(const struct flow_builder *builder, uint32_t method, uint32_t name)
{
    const struct flow_call *call = &builder->calls[method];
    uint32_t found = flow_find_in_scope(builder, call->owner, name);
    uint32_t scope;

    if (found == FLOW_NONE && call->path != 0 && !call->has_object) {
        scope =
            number_map_get(&builder->scope_index, number_map_key(call->class_name, 0));
        found = scope == NUMBER_MAP_NONE ? FLOW_NONE
                                         : flow_find_in_scope(builder, scope, name);
    }
    return found != FLOW_NONE && builder->bindings[found].is_ambiguous ? FLOW_NONE
                                                                       : found;
}
