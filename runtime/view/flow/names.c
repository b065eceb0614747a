/* What names stand for: the values last bound to them, in the scope that they live in. */
#include "runtime/view/flow/build.h"

/* An object is taken for made from so many values at most. */
#define CARRIED_MAX 64

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

/* ---- reads ---- */

static bool is_full(const struct flow_builder *builder)
{
    return builder->visit.source_count >=
           (builder->edge_count < FLOW_PLENTY ? FLOW_SOURCES_MAX : FLOW_SOURCES_FEW);
}

bool flow_source_add(struct flow_builder *builder,
                     const struct flow_source *source,
                     bool is_form)
{
    struct flow_raw *node = &builder->raws[source->raw];
    void *items = builder->sources;

    if (node->seen == builder->visit.serial) {
        node->is_form = node->is_form && is_form;
        return true;
    }
    if (is_full(builder)) {
        return true;
    }
    if (!flow_grow(builder, &items, &builder->source_capacity,
                   builder->visit.source_count, sizeof *builder->sources)) {
        return false;
    }
    builder->sources = items;
    builder->sources[builder->visit.source_count++] = *source;
    node->seen = builder->visit.serial;
    node->is_form = is_form;
    return true;
}

/* A name that a statement reads, as far as it is a part of what a binding stands for. */
struct wanted_part {
    uint32_t read;
    uint32_t name;                  /* text */
    struct slice rest;              /* of a dotted name, behind the binding's */
    const struct flow_parts *parts; /* NULL: all */
    bool is_form;                   /* each use asks for the form alone */
};

bool flow_is_covered(const struct flow_raw *value, const struct flow_raw *write)
{
    return (value->address != 0 && value->address == write->address) ||
           (write->extent > 0 && value->extent > 0 && write->data <= value->data &&
            write->extent >= value->extent &&
            value->data - write->data <= write->extent - value->extent);
}

/* The value, unless it was written over under another name; and what was written into its memory
 * since, the newest first, up to what covers it. */
static bool add_value(struct flow_builder *builder,
                      uint32_t raw,
                      const struct wanted_part *wanted,
                      bool is_form)
{
    struct flow_source source = {raw, wanted->read, wanted->name};
    uint64_t storage = builder->raws[raw].storage;
    uint32_t writing =
        storage == 0 ? NUMBER_MAP_NONE : number_map_get(&builder->writings, storage);

    for (uint32_t i = 0; i < FLOW_WRITINGS_MAX && writing != FLOW_NONE && writing > raw;
         i++) {
        const struct flow_raw *write = &builder->raws[writing];

        source.raw = writing;
        if (!write->is_hidden && !flow_source_add(builder, &source, is_form)) {
            return false;
        }
        if (!write->is_hidden && flow_is_covered(&builder->raws[raw], write)) {
            return true;
        }
        writing = write->written;
    }
    source.raw = raw;
    return flow_source_add(builder, &source, is_form);
}

/* Whether a leaf stands at `rest` in its container: `.logits`, which may be a key too. */
static bool path_is_at(struct slice path, struct slice rest)
{
    struct slice key = slice_part(rest, 1, rest.size);

    return slice_starts(path, rest) ||
           (slice_starts(path, SLICE("['")) &&
            slice_starts(slice_part(path, 2, path.size), key) &&
            slice_starts(slice_part(path, 2 + key.size, path.size), SLICE("']")));
}

static bool is_wanted_part(const struct flow_builder *builder,
                           const struct wanted_part *wanted,
                           uint32_t path)
{
    return (wanted->rest.size == 0 ||
            path_is_at(builder->texts.texts[path], wanted->rest)) &&
           (wanted->parts == NULL || flow_is_part(builder, wanted->parts, path));
}

/* Adds the parts where each of them is a leaf itself: no other can be one of them. */
static bool add_leaves(struct flow_builder *builder,
                       uint32_t content,
                       const struct wanted_part *wanted,
                       bool *is_added)
{
    const struct flow_parts *parts = wanted->parts;

    *is_added = parts != NULL && parts->count > 0;
    for (uint32_t i = 0; *is_added && i < parts->count; i++) {
        *is_added = flow_content_find(builder, content, parts->texts[i]) != FLOW_NONE;
    }
    for (uint32_t i = 0; *is_added && i < parts->count; i++) {
        uint32_t raw = flow_content_find(builder, content, parts->texts[i]);

        if (!add_value(builder, raw, wanted, wanted->is_form)) {
            return false;
        }
    }
    return true;
}

/* Adds what the content holds; all of it where none of its leaves is a wanted one. */
static bool add_content(struct flow_builder *builder,
                        uint32_t index,
                        const struct wanted_part *wanted)
{
    struct flow_content content = builder->contents[index];
    bool has_part = false;
    bool is_form;

    for (uint32_t i = 0; i < content.now.count && !has_part; i++) {
        has_part = is_wanted_part(builder, wanted,
                                  builder->leaves[content.now.first + i].path);
    }
    is_form = wanted->is_form ||
              (!(has_part && wanted->rest.size > 0) && flow_is_form(wanted->rest));
    for (uint32_t i = 0; i < content.now.count && !is_full(builder); i++) {
        struct flow_leaf leaf = builder->leaves[content.now.first + i];

        if ((!has_part || is_wanted_part(builder, wanted, leaf.path)) &&
            !add_value(builder, leaf.raw, wanted, is_form)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < content.carried_count; i++) {
        struct flow_carried carried = builder->carried[content.carried + i];

        if (!add_value(builder, carried.raw, wanted, is_form || carried.is_form)) {
            return false;
        }
    }
    return true;
}

/* The same, of the site's read; `part` of its name is what the binding is bound to. */
static bool add_read(struct flow_builder *builder,
                     uint32_t index,
                     const struct site *site,
                     uint32_t read,
                     struct slice part)
{
    struct slice name = site->reads[read].name;
    struct wanted_part wanted = {.read = read,
                                 .rest = slice_part(name, part.size, name.size)};
    uint32_t content = builder->bindings[index].content;
    struct flow_parts parts;
    bool is_added;

    if (content == FLOW_NONE) {
        return true;
    }
    /* The attribute of a value is another value: the name is that of what the edge comes from. */
    if (!flow_text(builder, part, &wanted.name) ||
        !flow_form_read(builder, site, read, &wanted.is_form)) {
        return false;
    }
    if (builder->contents[content].length != FLOW_NONE && wanted.rest.size == 0) {
        if (!flow_parts_of(builder, site, read, content, &parts)) {
            return false;
        }
        if (parts.is_unused) {
            return true;
        }
        wanted.parts = &parts;
        if (parts.is_used && parts.texts[0] != 0 && site->write_count > 0) {
            builder->visit.removed = content;
            builder->visit.removed_path = parts.texts[0];
        }
    }
    if (!add_leaves(builder, content, &wanted, &is_added)) {
        return false;
    }
    return is_added || add_content(builder, content, &wanted);
}

/* Whether `name`, written before, was forgotten because its root was bound to another object. */
static bool is_rebound(const struct flow_builder *builder,
                       uint32_t index,
                       enum site_scope kind,
                       struct slice root,
                       uint32_t found)
{
    uint32_t name = text_table_find(&builder->texts, root);
    uint32_t scope;
    uint32_t around = name == NUMBER_MAP_NONE
                          ? FLOW_NONE
                          : flow_find_plain(builder, index, kind, name, &scope);

    return around != FLOW_NONE &&
           builder->bindings[around].serial > builder->bindings[found].serial;
}

/* What a dotted name stands for: the attribute's last write, or a part of what stands before
 * the dots. */
static bool resolve_read(struct flow_builder *builder,
                         uint32_t index,
                         const struct site *site,
                         uint32_t number)
{
    const struct site_read *read = &site->reads[number];
    struct slice root = flow_root_of(read->name);
    struct slice part = read->name;

    while (part.size > 0) {
        struct flow_place place;
        uint32_t found;

        flow_find_place(builder, index, read->scope, part, &place);
        found = flow_find_at(builder, &place);
        if (found != FLOW_NONE && place.is_attribute &&
            builder->bindings[found].is_ambiguous) {
            found = FLOW_NONE;
        }
        if (found != FLOW_NONE &&
            (part.size == root.size || place.is_attribute ||
             !is_rebound(builder, index, read->scope, root, found))) {
            return add_read(builder, found, site, number, part);
        }
        while (part.size > 0 && part.bytes[part.size - 1] != '.') {
            part.size--;
        }
        part.size -= part.size > 0;
    }
    return true;
}

bool flow_resolve(struct flow_builder *builder, const struct site *site, uint32_t call)
{
    for (uint32_t i = 0; i < site->read_count; i++) {
        if (!resolve_read(builder, call, site, i)) {
            return false;
        }
    }
    builder->visit.read_count = builder->visit.source_count;
    return true;
}

bool flow_carry(struct flow_builder *builder, uint32_t index)
{
    struct flow_content *content = &builder->contents[index];
    uint32_t count = builder->visit.source_count;
    void *items = builder->carried;

    count = count > CARRIED_MAX ? CARRIED_MAX : count;
    if (!flow_grow(builder, &items, &builder->carried_capacity,
                   builder->carried_count + count, sizeof *builder->carried)) {
        return false;
    }
    builder->carried = items;
    content->carried = builder->carried_count;
    content->carried_count = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t raw = builder->sources[i].raw;

        builder->carried[builder->carried_count++] =
            (struct flow_carried){raw, builder->raws[raw].is_form};
    }
    return true;
}
