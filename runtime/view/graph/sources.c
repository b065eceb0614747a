/* Sources: the values that a statement reads, found by its terms. */
#include "runtime/view/graph/build.h"

#include "runtime/view/graph/paths.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* The steps of paths. */

static void set_parts(struct graph_path *path, const struct slice *parts, size_t count)
{
    char bytes[GRAPH_PATH_SIZE];
    size_t size = 0;

    for (size_t i = 0; i < count; i++) {
        if (parts[i].size > sizeof bytes - size) {
            path->size = 0;
            return;
        }
        if (parts[i].size > 0) {
            memcpy(bytes + size, parts[i].bytes, parts[i].size);
        }
        size += parts[i].size;
    }
    memcpy(path->bytes, bytes, size);
    path->size = (uint32_t)size;
}

void graph_path_set(struct graph_path *path, struct slice first, struct slice then)
{
    struct slice parts[] = {first, then};

    set_parts(path, parts, 2);
}

void graph_path_set_item(struct graph_path *path, uint32_t number, struct slice then)
{
    char text[16];

    snprintf(text, sizeof text, "[%u]", number);
    graph_path_set(path, slice_of(text), then);
}

void graph_path_set_last(struct graph_path *path, uint32_t number, struct slice then)
{
    char text[16];

    snprintf(text, sizeof text, "[-%u]", number);
    graph_path_set(path, slice_of(text), then);
}

void graph_path_set_key(struct graph_path *path, struct slice key, struct slice then)
{
    struct slice parts[] = {SLICE("['"), key, SLICE("']"), then};

    set_parts(path, parts, 4);
}

static void
graph_path_set_attribute(struct graph_path *path, struct slice name, struct slice then)
{
    struct slice parts[] = {SLICE("."), name, then};

    set_parts(path, parts, 3);
}

size_t graph_path_step(struct slice path)
{
    size_t end = 1;

    if (path.size == 0) {
        return 0;
    }
    if (slice_starts(path, SLICE("['"))) {
        end = slice_find(path, SLICE("']"), 2);
        return end < path.size ? end + 2 : path.size;
    }
    if (path.bytes[0] == '[') {
        end = slice_find(path, SLICE("]"), 1);
        return end < path.size ? end + 1 : path.size;
    }
    while (end < path.size && path.bytes[end] != '.' && path.bytes[end] != '[') {
        end++;
    }
    return end;
}

struct slice graph_path_behind(struct slice path)
{
    return slice_part(path, graph_path_step(path), path.size);
}

bool graph_path_number(struct slice path, uint32_t *number)
{
    uint64_t value = 0;
    size_t at = 1;

    if (path.size < 3 || path.bytes[0] != '[') {
        return false;
    }
    while (at < path.size && path.bytes[at] >= '0' && path.bytes[at] <= '9' &&
           value < UINT32_MAX) {
        value = value * 10 + (uint64_t)(path.bytes[at++] - '0');
    }
    *number = (uint32_t)value;
    return at > 1 && at < path.size && path.bytes[at] == ']' && value < UINT32_MAX;
}

/* The name in `.name` or `['name']`; any other step unchanged. */
static struct slice name_of(struct slice step)
{
    if (slice_starts(step, SLICE("['")) && step.size >= 4) {
        return slice_part(step, 2, step.size - 2);
    }
    return step.size > 0 && step.bytes[0] == '.' ? slice_part(step, 1, step.size)
                                                 : step;
}

bool graph_path_has_key(struct slice path, struct slice key)
{
    return path.size > 0 &&
           slice_equal(name_of(slice_part(path, 0, graph_path_step(path))), key);
}

static bool steps_fit(struct slice step, struct slice wanted)
{
    return slice_equal(wanted, SLICE("[*]")) || slice_equal(step, SLICE("[*]")) ||
           slice_equal(name_of(step), name_of(wanted));
}

bool graph_path_fits(struct slice path, struct slice wanted, struct slice *rest)
{
    while (path.size > 0 && wanted.size > 0) {
        size_t end = graph_path_step(path);
        size_t wanted_end = graph_path_step(wanted);

        if (!steps_fit(slice_part(path, 0, end), slice_part(wanted, 0, wanted_end))) {
            return false;
        }
        path = slice_part(path, end, path.size);
        wanted = slice_part(wanted, wanted_end, wanted.size);
    }
    *rest = path;
    return true;
}

/* Replaces a first step such as `[-1]` by the index that it means in a container of that length,
 * or by `[*]` if the length is not known (UINT32_MAX). */
static void graph_path_resolve_last(struct graph_path *path, uint32_t length)
{
    struct slice text = graph_path_slice(path);
    uint64_t back = 0;

    if (!slice_starts(text, SLICE("[-"))) {
        return;
    }
    for (size_t i = 2; i < text.size && text.bytes[i] != ']' && back < UINT32_MAX;
         i++) {
        back = back * 10 + (uint64_t)(text.bytes[i] - '0');
    }
    if (length == UINT32_MAX || back == 0 || back > length) {
        graph_path_set(path, SLICE("[*]"), graph_path_behind(text));
    } else {
        graph_path_set_item(path, length - (uint32_t)back, graph_path_behind(text));
    }
}

/* ---- the list of sources ---- */

static bool is_full(const struct graph_builder *builder)
{
    return builder->visit.source_count >=
           (builder->edge_count < GRAPH_PLENTY ? GRAPH_SOURCES_MAX : GRAPH_SOURCES_FEW);
}

bool graph_input_add(struct graph_builder *builder, const struct graph_input *source)
{
    void *items = builder->sources;

    if (is_full(builder)) {
        return true;
    }
    if (!graph_grow(builder, &items, &builder->source_capacity,
                    builder->visit.source_count, sizeof *builder->sources)) {
        return false;
    }
    builder->sources = items;
    builder->sources[builder->visit.source_count++] = *source;
    return true;
}

bool graph_is_covered(const struct graph_builder *builder,
                      const struct graph_raw *value,
                      const struct graph_raw *write)
{
    const struct graph_memory *part = graph_memory_of(builder, value);
    const struct graph_memory *all = graph_memory_of(builder, write);

    return (value->address != 0 && value->address == write->address) ||
           (all->extent > 0 && part->extent > 0 && all->data <= part->data &&
            all->extent >= part->extent &&
            part->data - all->data <= all->extent - part->extent);
}

/* Adds the value and the later writes to its memory through other names, newest first. Stops at
 * a write that covers the value's memory; the value itself is not added then. */
static bool add_value(struct graph_builder *builder, struct graph_input source)
{
    uint32_t raw = source.raw;
    uint64_t storage = graph_storage_of(builder, &builder->raws[raw]);
    uint32_t writing =
        storage == 0 ? NUMBER_MAP_NONE : number_map_get(&builder->writings, storage);

    for (uint32_t i = 0;
         i < GRAPH_WRITINGS_MAX && writing != GRAPH_NONE && writing > raw; i++) {
        const struct graph_raw *write = &builder->raws[writing];

        source.raw = writing;
        if (!write->is_hidden && !graph_input_add(builder, &source)) {
            return false;
        }
        if (!write->is_hidden &&
            graph_is_covered(builder, &builder->raws[raw], write)) {
            return true;
        }
        writing = write->written;
    }
    source.raw = raw;
    return graph_input_add(builder, &source);
}

/* ---- the values of a read ---- */

/* A part of a binding's value that is read. */
struct wanted {
    struct graph_input source; /* everything but the value itself */
    struct slice path;         /* path of the read part */
};

static struct slice text_of(const struct graph_builder *builder, uint32_t number)
{
    assert(number < builder->texts.count);
    return builder->texts.texts[number];
}

/* Adds the value at exactly that path if it is a leaf: no other can be meant. */
static bool add_leaf(struct graph_builder *builder,
                     uint32_t content,
                     struct wanted *wanted,
                     bool *is_added)
{
    uint32_t path = text_table_find(&builder->texts, wanted->path);
    uint32_t raw = path == NUMBER_MAP_NONE ? GRAPH_NONE
                                           : graph_content_find(builder, content, path);

    *is_added = raw != GRAPH_NONE;
    if (raw == GRAPH_NONE) {
        return true;
    }
    wanted->source.raw = raw;
    wanted->source.rest = 0;
    return add_value(builder, wanted->source);
}

/* Adds the leaves that the path fits. Sets `*is_added` if there is one. */
static bool add_leaves(struct graph_builder *builder,
                       uint32_t index,
                       struct wanted *wanted,
                       bool *is_added)
{
    assert(index < builder->content_count);

    struct graph_leaves leaves = builder->contents[index].now;

    *is_added = false;
    for (uint32_t i = 0; i < leaves.count && !is_full(builder); i++) {
        struct graph_leaf leaf = builder->leaves[leaves.first + i];
        struct slice rest;

        if (!graph_path_fits(text_of(builder, leaf.path), wanted->path, &rest)) {
            continue;
        }
        *is_added = true;
        wanted->source.raw = leaf.raw;
        if (!graph_text_add(builder, rest, &wanted->source.rest) ||
            !add_value(builder, wanted->source)) {
            return false;
        }
    }
    return true;
}

/* Adds the values that an object without known contents was made from. */
static bool
add_carried(struct graph_builder *builder, uint32_t index, struct wanted *wanted)
{
    assert(index < builder->content_count);

    struct graph_content content = builder->contents[index];
    struct graph_input source = wanted->source;

    for (uint32_t i = 0; i < content.carried_count; i++) {
        struct graph_carried carried = builder->carried[content.carried + i];

        source.raw = carried.raw;
        source.rest = 0;
        source.is_carried = true;
        source.is_form = wanted->source.is_form || carried.is_form;
        source.is_unsure = wanted->source.is_unsure || carried.is_unsure;
        if (!add_value(builder, source)) {
            return false;
        }
    }
    return true;
}

static bool
add_content(struct graph_builder *builder, uint32_t index, struct wanted *wanted)
{
    bool is_added;

    if (!add_leaf(builder, index, wanted, &is_added)) {
        return false;
    }
    if (!is_added && !add_leaves(builder, index, wanted, &is_added)) {
        return false;
    }
    if (!is_added && wanted->path.size > 0) {
        /* The item is not known, so it may be any. */
        struct wanted all = *wanted;

        all.path = SLICE("");
        all.source.is_unsure = true;
        if (!add_leaves(builder, index, &all, &is_added)) {
            return false;
        }
    }
    return add_carried(builder, index, wanted);
}

/* Adds the values of a site's read. `part`: the start of its name that the binding has. */
static bool add_read(struct graph_builder *builder,
                     uint32_t binding,
                     struct slice name,
                     struct slice part,
                     struct wanted *wanted)
{
    assert(binding < builder->binding_count);

    uint32_t content = builder->bindings[binding].content;
    struct slice attribute = slice_part(name, part.size, name.size);
    struct graph_path path;

    if (content == GRAPH_NONE) {
        return true;
    }
    graph_path_set(&path, attribute, wanted->path);
    graph_path_resolve_last(&path, builder->contents[content].length);
    wanted->path = graph_path_slice(&path);
    if (wanted->source.node != GRAPH_NONE) {
        builder->uses[wanted->source.node].content = content;
        builder->uses[wanted->source.node].is_container =
            builder->contents[content].length != GRAPH_NONE && attribute.size == 0;
    }
    /* The edge is named without the attribute: it starts at the value that has the attribute. */
    return graph_text_add(builder, part, &wanted->source.name) &&
           add_content(builder, content, wanted);
}

/* Whether the attribute that `found` holds is outdated because its root was bound to another
 * object later. */
static bool is_rebound(const struct graph_builder *builder,
                       uint32_t index,
                       enum site_scope kind,
                       struct slice root,
                       uint32_t found)
{
    uint32_t name = text_table_find(&builder->texts, root);
    uint32_t scope;
    uint32_t around = name == NUMBER_MAP_NONE
                          ? GRAPH_NONE
                          : graph_find_plain(builder, index, kind, name, &scope);

    assert(found < builder->binding_count);
    return around != GRAPH_NONE &&
           builder->bindings[around].serial > builder->bindings[found].serial;
}

/* Adds the values of a dotted name: the attribute's last write, or else a part of the value of
 * the longest prefix that is bound. */
static bool resolve_read(struct graph_builder *builder,
                         const struct site_read *read,
                         struct wanted *wanted)
{
    uint32_t index = builder->visit.call;
    struct slice root = graph_root_of(read->name);
    struct slice part = read->name;

    while (part.size > 0) {
        struct graph_place place;
        uint32_t found;

        graph_find_place(builder, index, read->scope, part, &place);
        found = graph_find_at(builder, &place);
        if (found != GRAPH_NONE && place.is_attribute &&
            builder->bindings[found].is_ambiguous) {
            found = GRAPH_NONE;
        }
        if (found != GRAPH_NONE &&
            (part.size == root.size || place.is_attribute ||
             !is_rebound(builder, index, read->scope, root, found))) {
            return add_read(builder, found, read->name, part, wanted);
        }
        while (part.size > 0 && part.bytes[part.size - 1] != '.') {
            part.size--;
        }
        part.size -= part.size > 0;
    }
    return true;
}

/* ---- names that are subscripts ---- */

/* Whether recording skipped visits of a site of the module that writes the name: its value is
 * not known then. */
static bool is_left_out(const struct graph_builder *builder, struct slice name)
{
    uint32_t number = builder->calls[builder->visit.call].module;
    const struct log_module *module = builder->modules[number].module;
    size_t count = log_reader_left_out_count(builder->reader);

    for (size_t i = 0; i < count; i++) {
        uint32_t site =
            log_reader_left_out(builder->reader, i)->site - module->first_site;

        if (site < module->table.site_count &&
            site_writes(&module->table.sites[site], name)) {
            return true;
        }
    }
    return log_reader_header(builder->reader)->last != 0;
}

bool graph_note_subscript(struct graph_builder *builder,
                          uint32_t index,
                          const struct log_event_view *event)
{
    uint32_t number = 0;

    assert(index < builder->binding_count);
    if (event->path.size > 0) {
        return true;
    }
    if (event->kind == VALUE_TEXT && event->text.size == (uint64_t)event->integer) {
        if (!graph_text_add(builder, event->text, &number)) {
            return false;
        }
        builder->bindings[index].subscript = GRAPH_SUBSCRIPT_TEXT;
        builder->bindings[index].number = number;
    } else if (event->kind == VALUE_INT && event->integer >= 0 &&
               event->integer <= UINT32_MAX) {
        builder->bindings[index].subscript = GRAPH_SUBSCRIPT_NUMBER;
        builder->bindings[index].number = (uint32_t)event->integer;
    }
    return true;
}

/* Sets the path's step for a subscript that is the read's value. */
static void set_named(const struct graph_builder *builder,
                      const struct site_read *read,
                      struct graph_path *path,
                      struct slice then)
{
    struct graph_place place;
    uint32_t found;
    const struct graph_binding *binding;

    graph_find_place(builder, builder->visit.call, read->scope, read->name, &place);
    found = graph_find_at(builder, &place);
    binding = found == GRAPH_NONE || is_left_out(builder, read->name)
                  ? NULL
                  : &builder->bindings[found];
    if (binding != NULL && binding->subscript == GRAPH_SUBSCRIPT_TEXT) {
        graph_path_set_key(path, text_of(builder, binding->number), then);
    } else if (binding != NULL && binding->subscript == GRAPH_SUBSCRIPT_NUMBER) {
        graph_path_set_item(path, binding->number, then);
    } else {
        graph_path_set(path, SLICE("[*]"), then);
    }
}

/* ---- terms ---- */

uint32_t graph_term_inner(const struct term *term, uint32_t node)
{
    assert(node < term->node_count);
    switch (term->nodes[node].kind) {
    case TERM_FORM:
    case TERM_ITEM:
    case TERM_LAST:
    case TERM_KEY:
    case TERM_NAMED:
    case TERM_ATTRIBUTE:
        return node + 1;
    case TERM_CHOSEN:
        return term->nodes[node + 1].next;
    default:
        return GRAPH_NONE;
    }
}

void graph_term_step(const struct graph_builder *builder,
                     const struct site *site,
                     const struct term_node *node,
                     struct graph_path *path,
                     struct slice then)
{
    switch (node->kind) {
    case TERM_ITEM:
        graph_path_set_item(path, node->number, then);
        break;
    case TERM_LAST:
        graph_path_set_last(path, node->number, then);
        break;
    case TERM_KEY:
        graph_path_set_key(path, node->key, then);
        break;
    case TERM_NAMED:
        set_named(builder, &site->reads[node->number], path, then);
        break;
    case TERM_ATTRIBUTE:
        graph_path_set_attribute(path, node->key, then);
        break;
    case TERM_CHOSEN:
        graph_path_set(path, SLICE("[*]"), then);
        break;
    default:
        graph_path_set(path, SLICE(""), then);
    }
}

/* Marks the items that a computed subscript may mean as unsure if there are several. */
static void mark_unsure(struct graph_builder *builder, const struct graph_use *use)
{
    for (uint32_t i = 0; i < use->count && use->is_container && use->count > 1; i++) {
        builder->sources[use->first + i].is_unsure = true;
    }
}

/* Adds the values of a read with its subscripts and attributes: `parts[0]`, `x.shape`. */
static bool resolve_chain(struct graph_builder *builder,
                          const struct site *site,
                          const struct term *term,
                          uint32_t top)
{
    struct graph_use *use = &builder->uses[top];
    struct wanted wanted = {.source = {.node = top}};
    struct graph_path path = {.size = 0};
    uint32_t node = top;

    for (uint32_t inner; (inner = graph_term_inner(term, node)) != GRAPH_NONE;
         node = inner) {
        struct graph_path then = path;

        wanted.source.is_form |= term->nodes[node].kind == TERM_FORM;
        graph_term_step(builder, site, &term->nodes[node], &path,
                        graph_path_slice(&then));
    }
    *use = (struct graph_use){.first = builder->visit.source_count,
                              .content = GRAPH_NONE,
                              .first_call = GRAPH_NONE,
                              .is_chain = true};
    wanted.source.read = term->nodes[node].number;
    wanted.path = graph_path_slice(&path);
    if (!resolve_read(builder, &site->reads[wanted.source.read], &wanted)) {
        return false;
    }
    assert(builder->uses[top].first <= builder->visit.source_count);
    builder->uses[top].count = builder->visit.source_count - builder->uses[top].first;
    if (slice_find(graph_path_slice(&path), SLICE("[*]"), 0) < path.size) {
        mark_unsure(builder, &builder->uses[top]);
    }
    return true;
}

/* Whether the term is a chain: its inner terms end in a read. */
static bool is_chain(const struct term *term, uint32_t node)
{
    for (uint32_t inner; (inner = graph_term_inner(term, node)) != GRAPH_NONE;
         node = inner) {}
    return term->nodes[node].kind == TERM_READ;
}

/* Resolves each chain once, from its outermost term. */
static bool resolve_term(struct graph_builder *builder,
                         const struct site *site,
                         const struct term *term)
{
    for (uint32_t i = 0; i < term->node_count; i++) {
        builder->uses[i] =
            (struct graph_use){.content = GRAPH_NONE, .first_call = GRAPH_NONE};
    }
    for (uint32_t i = 0; i < term->node_count; i++) {
        if (builder->uses[i].is_inner || !is_chain(term, i)) {
            continue;
        }
        for (uint32_t inner = graph_term_inner(term, i); inner != GRAPH_NONE;
             inner = graph_term_inner(term, inner)) {
            builder->uses[inner].is_inner = true;
        }
        if (!resolve_chain(builder, site, term, i)) {
            return false;
        }
    }
    return true;
}

/* ---- removed items ---- */

void graph_term_item(const struct graph_builder *builder,
                     const struct term *term,
                     uint32_t method,
                     struct graph_path *path,
                     struct slice then)
{
    assert(method < term->node_count);

    const struct graph_use *object = &builder->uses[method + 1];
    uint32_t argument = term_sibling(term, method, method + 1);
    const struct term_node *place = &term->nodes[argument];
    struct slice name = term->nodes[method].key;

    if (slice_equal(name, SLICE("popleft"))) {
        graph_path_set_item(path, 0, then);
    } else if (argument == 0 && slice_equal(name, SLICE("pop"))) {
        graph_path_set_last(path, 1, then);
    } else if (argument != 0 && place->kind == TERM_NUMBER) {
        graph_path_set_item(path, place->number, then);
    } else if (argument != 0 && place->kind == TERM_FROM_END) {
        graph_path_set_last(path, place->number, then);
    } else if (argument != 0 && place->kind == TERM_TEXT) {
        graph_path_set_key(path, place->key, then);
    } else {
        graph_path_set(path, SLICE("[*]"), then);
    }
    if (object->is_container) {
        graph_path_resolve_last(path, builder->contents[object->content].length);
    }
}

/* Sets the path of the item that `parts.pop()` removes from its container. Returns false if it
 * is not known. */
static bool set_removed(const struct graph_builder *builder,
                        const struct term *term,
                        uint32_t method,
                        struct graph_path *path)
{
    assert(method < term->node_count);

    struct slice name = term->nodes[method].key;

    if (!slice_equal(name, SLICE("pop")) && !slice_equal(name, SLICE("popleft"))) {
        return false;
    }
    graph_term_item(builder, term, method, path, SLICE(""));
    return !slice_starts(graph_path_slice(path), SLICE("[*]"));
}

/* Notes an item that the statement removes from a container: for certain, or only if it turns
 * out to be the statement's value. */
static bool note_removed(struct graph_builder *builder, const struct term *term)
{
    struct graph_visit *visit = &builder->visit;

    for (uint32_t i = 0; i < term->node_count; i++) {
        const struct graph_use *use = &builder->uses[i + 1];
        struct graph_path path;

        if (term->nodes[i].kind != TERM_METHOD || !use->is_chain ||
            !use->is_container || term->nodes[i + 1].kind != TERM_READ ||
            !set_removed(builder, term, i, &path)) {
            continue;
        }
        visit->removed = use->content;
        if (!graph_text_add(builder, graph_path_slice(&path), &visit->removed_path)) {
            return false;
        }
        if (graph_term_is_in(term, i, TERM_ONE) ||
            graph_term_is_in(term, i, TERM_EACH) ||
            graph_term_is_in(term, i, TERM_SOME)) {
            visit->removed_raw =
                graph_content_find(builder, use->content, visit->removed_path);
            visit->removed =
                visit->removed_raw == GRAPH_NONE ? GRAPH_NONE : visit->removed;
        }
        return true;
    }
    return true;
}

static bool has_read(const struct term *term, uint32_t read)
{
    for (uint32_t i = 0; i < term->node_count; i++) {
        if (term->nodes[i].kind == TERM_READ && term->nodes[i].number == read) {
            return true;
        }
    }
    return false;
}

/* Adds the values that a statement reads outside of its term, as `i` of `x[i] = y`. Without a
 * term these are all its reads. */
static bool resolve_others(struct graph_builder *builder,
                           const struct site *site,
                           const struct term *term)
{
    for (uint32_t i = 0; i < site->read_count; i++) {
        struct wanted wanted = {
            .source = {.node = GRAPH_NONE, .read = i, .from = GRAPH_FROM_BESIDE},
            .path = SLICE("")};

        if (!has_read(term, i) && !resolve_read(builder, &site->reads[i], &wanted)) {
            return false;
        }
    }
    return true;
}

static bool reserve_uses(struct graph_builder *builder, const struct term *term)
{
    void *items = builder->uses;

    if (!graph_grow(builder, &items, &builder->use_capacity, term->node_count,
                    sizeof *builder->uses)) {
        return false;
    }
    builder->uses = items;
    return true;
}

bool graph_resolve(struct graph_builder *builder, const struct site *site)
{
    const struct term *term = graph_term_of(builder, builder->visit.site, site);

    if (term == NULL) {
        return false;
    }
    builder->visit.term = term;
    return reserve_uses(builder, term) && resolve_term(builder, site, term) &&
           (site->write_count == 0 || note_removed(builder, term)) &&
           resolve_others(builder, site, term);
}

/* ---- terms of sites ---- */

/* Each term has its own memory in the arena, so it stays in place when others are added. */
const struct term *
graph_term_of(struct graph_builder *builder, uint32_t number, const struct site *site)
{
    uint32_t known = number_map_get(&builder->term_index, number);
    void *items = builder->terms;
    struct term *term;

    if (known != NUMBER_MAP_NONE) {
        return builder->terms[known];
    }
    if (!graph_grow(builder, &items, &builder->term_capacity, builder->term_count,
                    sizeof(struct term *))) {
        return NULL;
    }
    builder->terms = items;
    term = arena_allocate(&builder->term_arena, 1, sizeof *term);
    if (term == NULL ||
        !term_read(term, site->term, site->read_count, &builder->term_arena) ||
        !number_map_put(&builder->term_index, number, builder->term_count)) {
        graph_out_of_memory(builder);
        return NULL;
    }
    builder->terms[builder->term_count++] = term;
    return term;
}
