/* Bindings: names, in the scopes that they live in. */
#include "runtime/view/flow/build.h"

/* ---- bindings ---- */

static uint32_t binding_get(struct flow_builder *builder, uint32_t scope, uint32_t name)
{
    uint32_t known = flow_find_in_scope(builder, scope, name);
    void *items = builder->bindings;

    if (known != FLOW_NONE) {
        return known;
    }
    if (!flow_grow(builder, &items, &builder->binding_capacity, builder->binding_count,
                   sizeof *builder->bindings)) {
        return FLOW_NONE;
    }
    builder->bindings = items;
    builder->bindings[builder->binding_count] =
        (struct flow_binding){.content = FLOW_NONE,
                              .own = FLOW_NONE,
                              .previous = FLOW_NONE,
                              .scope = scope,
                              .writer = FLOW_NONE};
    if (!number_map_put(&builder->binding_index, number_map_key(scope, name),
                        builder->binding_count)) {
        flow_out_of_memory(builder);
        return FLOW_NONE;
    }
    return builder->binding_count++;
}

/* The binding of a name, made where there is none. FLOW_NONE: out of memory. */
static uint32_t
bind(struct flow_builder *builder, uint32_t index, enum site_scope kind, uint32_t name)
{
    struct flow_place place;
    uint32_t text;

    flow_find_place(builder, index, kind, builder->texts.texts[name], &place);
    return flow_text(builder, place.name, &text)
               ? binding_get(builder, place.scope, text)
               : FLOW_NONE;
}

uint32_t
flow_binding_of_write(struct flow_builder *builder, uint32_t index, uint32_t name)
{
    const struct flow_call *call = &builder->calls[index];
    struct slice root = flow_root_of(builder->texts.texts[name]);
    uint32_t root_name = text_table_find(&builder->texts, root);
    uint32_t kind = NUMBER_MAP_NONE;
    uint32_t found;
    struct flow_binding *binding;

    if (root_name != NUMBER_MAP_NONE) {
        kind = number_map_get(
            &builder->name_scopes,
            number_map_key(builder->modules[call->module].first_function +
                               call->function,
                           root_name));
    }
    found =
        bind(builder, index,
             kind == NUMBER_MAP_NONE ? SITE_SCOPE_LOCAL : (enum site_scope)kind, name);
    if (found != FLOW_NONE) {
        bool is_init = flow_function_of(builder, call)->is_init;

        binding = &builder->bindings[found];
        binding->is_ambiguous =
            is_init &&
            (binding->is_ambiguous || (binding->is_init && binding->writer != index));
        binding->is_init = is_init;
    }
    return found;
}

uint32_t flow_binding_of_read(struct flow_builder *builder,
                              uint32_t index,
                              const struct log_event_view *event,
                              uint32_t name)
{
    enum site_scope kind = SITE_SCOPE_LOCAL;
    uint32_t found;

    for (uint32_t i = 0; i < event->site->read_count; i++) {
        if (slice_equal(event->site->reads[i].name, event->name)) {
            kind = event->site->reads[i].scope;
        }
    }
    found = bind(builder, index, kind, name);
    if (found != FLOW_NONE) {
        builder->bindings[found].is_ambiguous = false;
        builder->bindings[found].is_init = false;
    }
    return found;
}
