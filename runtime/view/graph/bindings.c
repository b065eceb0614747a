/* Bindings: the values that names stand for. A name is found in its scope and has a content: the
 * values that the name or its container holds, by their paths. A container is found by its
 * address as long as a name holds it, so a value that is put into it under one name is found
 * under its other names too. */
#include "runtime/view/graph/build.h"

#include "runtime/base/memory.h"
#include "runtime/view/graph/paths.h"

#include <assert.h>
#include <string.h>

/* The scope that a name of a function belongs to, found as Python looks names up. */

/* An enclosing function's call is searched among this many callers; after that its newest call
 * counts. */
#define ANCESTORS_MAX 64

/* The function of the call. */
static const struct graph_function *
graph_function_of(const struct graph_builder *builder,
                  const struct graph_raw_call *call)
{
    return &builder->functions[builder->modules[call->module].first_function +
                               call->function];
}

/* The call of the enclosing function `function`: the nearest caller that is one, else the newest
 * call. GRAPH_NONE: none. */
static uint32_t
find_enclosing(const struct graph_builder *builder, uint32_t index, uint32_t function)
{
    assert(index < builder->call_count);

    uint32_t module = builder->calls[index].module;
    uint32_t above = builder->calls[index].parent;

    for (int i = 0; i < ANCESTORS_MAX && above != GRAPH_NONE; i++) {
        const struct graph_raw_call *call = &builder->calls[above];

        if (call->module == module && call->function == function) {
            return above;
        }
        above = call->parent;
    }
    return builder->functions[builder->modules[module].first_function + function]
        .last_call;
}

/* The binding of a name in that scope. GRAPH_NONE: none. */
static uint32_t
graph_find_in_scope(const struct graph_builder *builder, uint32_t scope, uint32_t name)
{
    uint32_t found =
        number_map_get(&builder->binding_index, number_map_key(scope, name));

    return found == NUMBER_MAP_NONE || builder->bindings[found].is_forgotten
               ? GRAPH_NONE
               : found;
}

/* Finds a name of an enclosing function: the innermost that binds it. Sets `scope` to the scope
 * that has it, or that would have it. */
static uint32_t find_free(const struct graph_builder *builder,
                          uint32_t index,
                          uint32_t name,
                          uint32_t *scope)
{
    assert(index < builder->call_count);

    const struct graph_raw_call *call = &builder->calls[index];
    uint32_t first = builder->modules[call->module].first_function;
    uint32_t function = graph_function_of(builder, call)->enclosing;

    *scope = GRAPH_NONE;
    /* An enclosing function precedes its inner ones in the table, so this loop ends. */
    while (function != GRAPH_NONE) {
        uint32_t around = find_enclosing(builder, index, function);

        if (around != GRAPH_NONE) {
            uint32_t found =
                graph_find_in_scope(builder, builder->calls[around].scope, name);

            *scope = *scope == GRAPH_NONE ? builder->calls[around].scope : *scope;
            if (found != GRAPH_NONE) {
                *scope = builder->calls[around].scope;
                return found;
            }
        }
        function = builder->functions[first + function].enclosing;
    }
    if (*scope == GRAPH_NONE) {
        /* The trace has no enclosing call: the name counts as one of this call. */
        *scope = call->scope;
    }
    return graph_find_in_scope(builder, *scope, name);
}

uint32_t graph_find_plain(const struct graph_builder *builder,
                          uint32_t index,
                          enum site_scope kind,
                          uint32_t name,
                          uint32_t *scope)
{
    assert(index < builder->call_count);

    const struct graph_raw_call *call = &builder->calls[index];

    switch (kind) {
    case SITE_SCOPE_FREE:
        return find_free(builder, index, name, scope);
    case SITE_SCOPE_GLOBAL:
        *scope = builder->modules[call->module].globals;
        break;
    default:
        *scope = call->scope;
    }
    return graph_find_in_scope(builder, *scope, name);
}

struct slice graph_root_of(struct slice name)
{
    const char *dot = memchr(name.bytes, '.', name.size);

    return dot == NULL ? name : slice_part(name, 0, (size_t)(dot - name.bytes));
}

/* The content of the object that the binding stands for. GRAPH_NONE: its attributes are not
 * known. */
static uint32_t object_of(const struct graph_builder *builder, uint32_t binding)
{
    uint32_t content =
        binding == GRAPH_NONE ? GRAPH_NONE : builder->bindings[binding].content;

    return content == GRAPH_NONE || builder->contents[content].attributes == GRAPH_NONE
               ? GRAPH_NONE
               : content;
}

/* Gives the object's attributes a scope. */
static bool graph_object_scope(struct graph_builder *builder, uint32_t content)
{
    assert(content < builder->content_count);

    const struct graph_raw_call *call = &builder->calls[builder->visit.call];
    bool is_module = call->class_name != 0 && call->path != 0;
    uint32_t *attributes = &builder->contents[content].attributes;

    /* The object's construction is not recorded: its attributes are those of the module at that
     * path. */
    if (is_module && builder->visit.is_entered &&
        !builder->contents[content].is_initialised) {
        *attributes = call->owner;
        return true;
    }
    return graph_scope_of(builder, UINT32_MAX, content, attributes);
}

static uint32_t text_of(const struct graph_builder *builder, struct slice name)
{
    return text_table_find(&builder->texts, name);
}

uint32_t graph_find_at(const struct graph_builder *builder,
                       const struct graph_place *place)
{
    uint32_t name;

    if (place->is_searched) {
        return place->found;
    }
    name = text_of(builder, place->name);
    return name == NUMBER_MAP_NONE ? GRAPH_NONE
                                   : graph_find_in_scope(builder, place->scope, name);
}

/* Follows attributes from object to object as far as these are known: `.block.scale` of an
 * object is `.scale` of its `.block`. */
static void follow_dots(const struct graph_builder *builder,
                        uint32_t content,
                        struct graph_place *place)
{
    place->is_attribute = true;
    while (content != GRAPH_NONE) {
        struct graph_place inner;
        size_t dot = slice_find(place->name, SLICE("."), 1);

        place->scope = builder->contents[content].attributes;
        if (dot >= place->name.size) {
            return;
        }
        inner = (struct graph_place){.scope = place->scope,
                                     .name = slice_part(place->name, 0, dot),
                                     .is_attribute = true};
        content = object_of(builder, graph_find_at(builder, &inner));
        if (content != GRAPH_NONE) {
            place->name = slice_part(place->name, dot, place->name.size);
        }
    }
}

void graph_find_place(const struct graph_builder *builder,
                      uint32_t index,
                      enum site_scope kind,
                      struct slice name,
                      struct graph_place *place)
{
    struct slice root = graph_root_of(name);
    uint32_t text = text_of(builder, root);
    uint32_t found = GRAPH_NONE;
    uint32_t content;

    assert(index < builder->call_count);
    *place = (struct graph_place){.scope = builder->calls[index].scope, .name = name};
    if (text != NUMBER_MAP_NONE) {
        found = graph_find_plain(builder, index, kind, text, &place->scope);
    } else if (kind == SITE_SCOPE_GLOBAL) {
        place->scope = builder->modules[builder->calls[index].module].globals;
    }
    if (root.size == name.size) {
        place->is_searched = place->scope != GRAPH_NONE;
        place->found = found;
    }
    place->scope =
        place->scope == GRAPH_NONE ? builder->calls[index].scope : place->scope;
    if (root.size == name.size) {
        return;
    }
    content = object_of(builder, found);
    if (content != GRAPH_NONE) {
        place->name = slice_part(name, root.size, name.size);
        follow_dots(builder, content, place);
    } else if (slice_equal(root, SLICE("self"))) {
        uint32_t method = found == GRAPH_NONE ? index : builder->bindings[found].writer;

        place->scope = builder->calls[method].owner;
        place->is_attribute = true;
    }
}

/* ---- scopes ---- */

bool graph_scope_add(struct graph_builder *builder, uint32_t *scope)
{
    void *items = builder->scopes;

    if (!graph_grow(builder, &items, &builder->scope_capacity, builder->scope_count,
                    sizeof *builder->scopes)) {
        return false;
    }
    builder->scopes = items;
    builder->scopes[builder->scope_count] =
        (struct graph_scope){GRAPH_NONE, GRAPH_NONE};
    *scope = builder->scope_count++;
    return true;
}

static struct graph_function *function_of_call(struct graph_builder *builder,
                                               const struct graph_raw_call *call)
{
    return &builder->functions[builder->modules[call->module].first_function +
                               call->function];
}

bool graph_scope_begin(struct graph_builder *builder, struct graph_raw_call *call)
{
    struct graph_function *function = function_of_call(builder, call);

    call->is_forgotten = false;
    if (call->function == 0) {
        call->scope = builder->modules[call->module].globals;
        return true;
    }
    if (function->free_scope == GRAPH_NONE) {
        return graph_scope_add(builder, &call->scope);
    }
    call->scope = function->free_scope;
    function->free_scope = builder->scopes[call->scope].next_free;
    return true;
}

/* Not for generators, which may be resumed, nor for functions whose inner functions may still
 * read their names. */
void graph_scope_note_over(struct graph_builder *builder, uint32_t index)
{
    assert(index < builder->call_count);

    struct graph_raw_call *call = &builder->calls[index];

    if (call->is_ended && call->function != 0 && !call->is_generator &&
        !call->is_forgotten && !function_of_call(builder, call)->is_enclosing) {
        call->next_over = builder->first_over;
        builder->first_over = index;
    }
}

/* Empties the binding, and keeps the memory of its content for reuse. */
static void binding_forget(struct graph_builder *builder, struct graph_binding *binding)
{
    if (binding->own != GRAPH_NONE) {
        struct graph_content *own = &builder->contents[binding->own];

        own->now.count = 0;
        own->before.count = 0;
        own->serial = 0;
        own->carried_count = 0;
        own->binding = GRAPH_NONE;
    }
    binding->content = GRAPH_NONE;
    binding->previous = GRAPH_NONE;
    binding->serial = 0;
    binding->subscript = GRAPH_SUBSCRIPT_NONE;
    binding->is_init = false;
    binding->is_ambiguous = false;
    binding->is_forgotten = true;
}

void graph_scopes_forget(struct graph_builder *builder, uint32_t visiting)
{
    uint32_t next;

    for (uint32_t i = builder->first_over; i != GRAPH_NONE; i = next) {
        struct graph_raw_call *call = &builder->calls[i];
        struct graph_scope *scope = &builder->scopes[call->scope];
        struct graph_function *function = function_of_call(builder, call);

        next = call->next_over;
        call->next_over = GRAPH_NONE;
        if (i == visiting) {
            continue;
        }
        for (uint32_t k = scope->first_binding; k != GRAPH_NONE;
             k = builder->bindings[k].next_in_scope) {
            binding_forget(builder, &builder->bindings[k]);
        }
        scope->next_free = function->free_scope;
        function->free_scope = call->scope;
        call->is_forgotten = true;
    }
    builder->first_over = GRAPH_NONE;
}

/* Bindings of names in their scopes. */

/* ---- bindings ---- */

static uint32_t
binding_get(struct graph_builder *builder, uint32_t scope, uint32_t name)
{
    uint32_t known =
        number_map_get(&builder->binding_index, number_map_key(scope, name));
    void *items = builder->bindings;

    if (known != NUMBER_MAP_NONE) {
        builder->bindings[known].is_forgotten = false;
        return known;
    }
    if (!graph_grow(builder, &items, &builder->binding_capacity, builder->binding_count,
                    sizeof *builder->bindings)) {
        return GRAPH_NONE;
    }
    builder->bindings = items;
    builder->bindings[builder->binding_count] =
        (struct graph_binding){.content = GRAPH_NONE,
                               .own = GRAPH_NONE,
                               .previous = GRAPH_NONE,
                               .scope = scope,
                               .next_in_scope = GRAPH_NONE,
                               .writer = GRAPH_NONE};
    if (!number_map_put(&builder->binding_index, number_map_key(scope, name),
                        builder->binding_count)) {
        graph_out_of_memory(builder);
        return GRAPH_NONE;
    }
    if (scope < builder->scope_count) { /* a `self` without a class has none */
        builder->bindings[builder->binding_count].next_in_scope =
            builder->scopes[scope].first_binding;
        builder->scopes[scope].first_binding = builder->binding_count;
    }
    return builder->binding_count++;
}

/* The binding of a name, created if there is none. GRAPH_NONE: out of memory. */
static uint32_t
bind(struct graph_builder *builder, uint32_t index, enum site_scope kind, uint32_t name)
{
    struct graph_place place;
    uint32_t text;

    assert(name < builder->texts.count);
    graph_find_place(builder, index, kind, builder->texts.texts[name], &place);
    if (place.is_searched && place.found != GRAPH_NONE) {
        return place.found;
    }
    return graph_text_add(builder, place.name, &text)
               ? binding_get(builder, place.scope, text)
               : GRAPH_NONE;
}

uint32_t
graph_binding_of_write(struct graph_builder *builder, uint32_t index, uint32_t name)
{
    assert(name < builder->texts.count);

    const struct graph_raw_call *call = &builder->calls[index];
    struct slice root = graph_root_of(builder->texts.texts[name]);
    uint32_t root_name = text_table_find(&builder->texts, root);
    uint32_t kind = NUMBER_MAP_NONE;
    uint32_t found;
    struct graph_binding *binding;

    assert(index < builder->call_count);
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
    if (found != GRAPH_NONE) {
        bool is_init = graph_function_of(builder, call)->is_init;

        binding = &builder->bindings[found];
        binding->is_ambiguous =
            is_init &&
            (binding->is_ambiguous || (binding->is_init && binding->writer != index));
        binding->is_init = is_init;
    }
    return found;
}

uint32_t graph_binding_of_read(struct graph_builder *builder,
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
    if (found != GRAPH_NONE) {
        builder->bindings[found].is_ambiguous = false;
        builder->bindings[found].is_init = false;
    }
    return found;
}

/* A path is compared with this many leaves one by one; later leaves are found through a map. */
#define LEAVES_SEARCHED 64

/* ---- leaves ---- */

static bool leaves_reserve(struct graph_builder *builder, struct graph_leaves *leaves)
{
    uint32_t capacity = leaves->capacity == 0 ? 1 : leaves->capacity * 2;
    void *items = builder->leaves;

    if (leaves->count < leaves->capacity) {
        return true;
    }
    if (capacity > UINT32_MAX / 2 || builder->leaf_count > UINT32_MAX / 2 ||
        !memory_grow(&items, &builder->leaf_capacity,
                     (size_t)builder->leaf_count + capacity, sizeof *builder->leaves)) {
        return graph_out_of_memory(builder);
    }
    builder->leaves = items;
    if (leaves->count > 0) {
        memcpy(&builder->leaves[builder->leaf_count], &builder->leaves[leaves->first],
               leaves->count * sizeof *builder->leaves);
    }
    leaves->first = builder->leaf_count;
    leaves->capacity = capacity;
    builder->leaf_count += capacity;
    return true;
}

/* The leaf's place among the leaves, or their count if none has that path. */
static uint32_t leaves_find(const struct graph_builder *builder,
                            const struct graph_leaves *leaves,
                            uint32_t content,
                            uint32_t path)
{
    const struct graph_leaf *items =
        leaves->count == 0 ? NULL : &builder->leaves[leaves->first];
    uint32_t known;

    for (uint32_t i = 0; i < leaves->count && i < LEAVES_SEARCHED; i++) {
        if (items[i].path == path) {
            return i;
        }
    }
    if (leaves->count <= LEAVES_SEARCHED) {
        return leaves->count;
    }
    known = number_map_get(&builder->leaf_index, number_map_key(content, path));
    return known < leaves->count && items[known].path == path ? known : leaves->count;
}

bool graph_content_put(struct graph_builder *builder,
                       uint32_t index,
                       uint32_t path,
                       uint32_t raw)
{
    assert(index < builder->content_count);

    struct graph_leaves *leaves = &builder->contents[index].now;
    uint32_t place = leaves_find(builder, leaves, index, path);

    if (place == leaves->count) {
        if (!leaves_reserve(builder, leaves)) {
            return false;
        }
        if (place >= LEAVES_SEARCHED &&
            !number_map_put(&builder->leaf_index, number_map_key(index, path), place)) {
            return graph_out_of_memory(builder);
        }
        leaves->count++;
    }
    builder->leaves[leaves->first + place] = (struct graph_leaf){path, raw};
    return true;
}

static uint32_t raw_at(const struct graph_builder *builder,
                       const struct graph_leaves *leaves,
                       uint32_t content,
                       uint32_t path)
{
    uint32_t place = leaves_find(builder, leaves, content, path);

    return place == leaves->count ? GRAPH_NONE
                                  : builder->leaves[leaves->first + place].raw;
}

uint32_t
graph_content_find(const struct graph_builder *builder, uint32_t index, uint32_t path)
{
    assert(index < builder->content_count);
    return raw_at(builder, &builder->contents[index].now, index, path);
}

/* ---- contents ---- */

static bool
content_add(struct graph_builder *builder, uint64_t address, uint32_t *index)
{
    void *items = builder->contents;

    if (!graph_grow(builder, &items, &builder->content_capacity, builder->content_count,
                    sizeof *builder->contents)) {
        return false;
    }
    builder->contents = items;
    builder->contents[builder->content_count] =
        (struct graph_content){.address = address,
                               .binding = GRAPH_NONE,
                               .length = GRAPH_NONE,
                               .attributes = GRAPH_NONE};
    *index = builder->content_count++;
    if (address != 0 && !number_map_put(&builder->content_index, address, *index)) {
        return graph_out_of_memory(builder);
    }
    return true;
}

/* Starts the content anew: the events of this visit fill it. The old leaves are kept in
 * `before`. */
static void content_begin(struct graph_builder *builder, struct graph_content *content)
{
    struct graph_leaves before = content->now;

    if (content->serial == builder->visit.serial) {
        return;
    }
    content->now = content->before;
    content->now.count = 0;
    content->before = before;
    content->serial = builder->visit.serial;
    content->carried_count = 0;
}

/* Reads `[12]` of `[12]['k']`. Returns false if the path starts with something else. */
static bool read_index(struct slice path, uint64_t *index)
{
    size_t at = 1;

    *index = 0;
    if (path.size < 3 || path.bytes[0] != '[') {
        return false;
    }
    while (at < path.size && path.bytes[at] >= '0' && path.bytes[at] <= '9' &&
           *index < UINT32_MAX) {
        *index = *index * 10 + (uint64_t)(path.bytes[at++] - '0');
    }
    return at > 1 && at < path.size && path.bytes[at] == ']';
}

/* Removes the leaves that are past the end of a container that became shorter. */
static void content_cut(struct graph_builder *builder, struct graph_content *content)
{
    struct graph_leaves *leaves = &content->now;
    uint32_t kept = 0;
    uint64_t index;

    for (uint32_t i = 0; i < leaves->count; i++) {
        struct graph_leaf leaf = builder->leaves[leaves->first + i];

        if (!read_index(builder->texts.texts[leaf.path], &index) ||
            index < content->length) {
            builder->leaves[leaves->first + kept++] = leaf;
        }
    }
    leaves->count = kept;
}

/* Continues the content: leaves that this visit does not record stay. */
static void content_continue(struct graph_builder *builder,
                             struct graph_content *content,
                             uint32_t length)
{
    if (content->serial != builder->visit.serial) {
        content->serial = builder->visit.serial;
        content->before.count = 0;
        if (length > content->length) {
            content_cut(builder, content);
        }
    }
}

/* The text of a path with its first index decreased by one. */
static bool
move_up(struct graph_builder *builder, uint32_t path, uint64_t index, uint32_t *moved)
{
    assert(path < builder->texts.count);

    struct slice text = builder->texts.texts[path];
    size_t end = slice_find(text, SLICE("]"), 0);
    struct buffer built = BUFFER_INIT;
    bool is_done;

    buffer_add_byte(&built, '[');
    buffer_add_number(&built, index - 1);
    buffer_add(&built, slice_part(text, end, text.size));
    is_done = !built.has_failed && graph_text_add(builder, buffer_slice(&built), moved);
    buffer_release(&built);
    return is_done || graph_out_of_memory(builder);
}

/* Puts the leaf at that place. */
static bool leaf_set(struct graph_builder *builder,
                     uint32_t index,
                     uint32_t place,
                     struct graph_leaf leaf)
{
    assert(index < builder->content_count);
    builder->leaves[builder->contents[index].now.first + place] = leaf;
    if (builder->raws[leaf.raw].content == index) {
        builder->raws[leaf.raw].place = leaf.path;
    }
    return place < LEAVES_SEARCHED ||
           number_map_put(&builder->leaf_index, number_map_key(index, leaf.path),
                          place) ||
           graph_out_of_memory(builder);
}

/* Removing an item renumbers at most this many leaves after it. */
#define LEAVES_MOVED_MAX 1024

static bool has_places(const struct graph_builder *builder, uint32_t index)
{
    assert(index < builder->content_count);

    struct slice type = builder->texts.texts[builder->contents[index].type];

    return slice_equal(type, SLICE("list")) ||
           slice_equal(type, SLICE("collections.deque"));
}

bool graph_content_remove(struct graph_builder *builder, uint32_t index, uint32_t path)
{
    assert(path < builder->texts.count);

    struct graph_leaves *leaves = &builder->contents[index].now;
    uint32_t removed = leaves_find(builder, leaves, index, path);
    uint32_t kept = removed;
    uint64_t number = 0;
    uint64_t other;
    bool is_moved =
        read_index(builder->texts.texts[path], &number) && has_places(builder, index);

    assert(index < builder->content_count);
    /* The visit recorded the container afterwards, so the leaves are right already. */
    if (builder->contents[index].serial == builder->visit.serial) {
        return true;
    }
    if (builder->contents[index].length != GRAPH_NONE &&
        builder->contents[index].length > 0) {
        builder->contents[index].length--;
    }
    if (removed == leaves->count || leaves->count - removed > LEAVES_MOVED_MAX) {
        return true;
    }
    for (uint32_t i = removed + 1; i < leaves->count; i++) {
        struct graph_leaf leaf = builder->leaves[leaves->first + i];

        if (is_moved && read_index(builder->texts.texts[leaf.path], &other) &&
            other > number && !move_up(builder, leaf.path, other, &leaf.path)) {
            return false;
        }
        if (!leaf_set(builder, index, kept++, leaf)) {
            return false;
        }
    }
    leaves->count = kept;
    return true;
}

/* Whether a name still has the content: it was not bound anew, and is no local of a call that
 * ended. */
static bool is_live(const struct graph_builder *builder, uint32_t index)
{
    assert(index < builder->content_count);

    const struct graph_content *content = &builder->contents[index];
    const struct graph_binding *binding;
    const struct graph_raw_call *call;

    if (content->binding == GRAPH_NONE) {
        return false;
    }
    binding = &builder->bindings[content->binding];
    call = &builder->calls[binding->writer];
    return binding->content == index &&
           !(call->is_ended && call->function != 0 && binding->scope == call->scope);
}

/* Values of other threads count as held: the order of two threads' events is random, and the
 * graph must not depend on it. */
bool graph_is_held(const struct graph_builder *builder, uint32_t raw)
{
    assert(raw < builder->raw_count);

    const struct graph_raw *node = &builder->raws[raw];
    const struct graph_raw_call *call = &builder->calls[node->call];
    const struct graph_content *content;

    if (node->content == GRAPH_NONE) {
        return false;
    }
    if (call->thread != builder->calls[builder->visit.call].thread) {
        return true;
    }
    content = &builder->contents[node->content];
    if (!is_live(builder, node->content)) {
        return false;
    }
    return raw_at(builder, &content->now, node->content, node->place) == raw ||
           (content->serial == builder->visit.serial &&
            raw_at(builder, &content->before, node->content, node->place) == raw);
}

/* ---- contents of objects and containers ---- */

/* Whether a name that had the content belongs to a call that the visited statement made: the
 * call returned the same object. */
static bool is_made_here(const struct graph_builder *builder,
                         const struct graph_content *content)
{
    return content->binding != GRAPH_NONE &&
           builder->calls[builder->bindings[content->binding].writer].made ==
               builder->visit.serial;
}

/* Whether `self` is the object of another `__init__` that is running and called this one. */
static bool is_begun_above(const struct graph_builder *builder, uint32_t content)
{
    uint32_t above = builder->calls[builder->visit.call].parent;

    assert(content < builder->content_count);
    return above != GRAPH_NONE &&
           graph_function_of(builder, &builder->calls[above])->is_init &&
           builder->contents[content].binding != GRAPH_NONE &&
           builder->bindings[builder->contents[content].binding].writer == above;
}

static bool is_constructed(const struct graph_builder *builder,
                           const struct log_event_view *event)
{
    const struct graph_raw_call *call = &builder->calls[builder->visit.call];

    return event->site->kind == SITE_ENTER && event->kind == VALUE_OBJECT &&
           graph_function_of(builder, call)->is_init && event->site->write_count > 0 &&
           slice_equal(event->name, event->site->writes[0].name);
}

/* Finds the content of the container or object at that address. An address may have been reused.
 * It is the same object if a name still has it, if the visited statement made it, or if its
 * `__init__` was recorded, because that of a new object of its class would be recorded too. */
static bool find_content(struct graph_builder *builder,
                         const struct log_event_view *event,
                         const struct graph_binding *binding,
                         uint32_t type,
                         uint32_t *index)
{
    uint32_t known = number_map_get(&builder->content_index, event->object);
    bool is_same = false;

    if (known != NUMBER_MAP_NONE && is_constructed(builder, event)) {
        is_same = is_begun_above(builder, known);
    } else if (known != NUMBER_MAP_NONE) {
        const struct graph_content *content = &builder->contents[known];
        bool is_rebound =
            event->change == CHANGE_NEW || event->change == CHANGE_REBOUND;

        is_same = is_live(builder, known) ||
                  (binding->content == known && !is_rebound) ||
                  is_made_here(builder, content) ||
                  (content->is_initialised && content->type == type);
    }
    *index = known;
    return is_same || content_add(builder, event->object, index);
}

/* ---- names ---- */

static void
bind_content(struct graph_builder *builder, uint32_t index, uint32_t content)
{
    assert(index < builder->binding_count);

    struct graph_binding *binding = &builder->bindings[index];

    if (binding->serial != builder->visit.serial) {
        binding->previous = binding->content;
    }
    binding->content = content;
    binding->serial = builder->visit.serial;
    binding->writer = builder->visit.call;
    binding->subscript = GRAPH_SUBSCRIPT_NONE;
    if (!is_live(builder, content)) {
        builder->contents[content].binding = index;
    }
}

bool graph_bind_value(struct graph_builder *builder, uint32_t index)
{
    assert(index < builder->binding_count);

    struct graph_binding *binding = &builder->bindings[index];
    uint32_t own = binding->own;

    if (binding->serial == builder->visit.serial) {
        return true;
    }
    if (own == GRAPH_NONE && !content_add(builder, 0, &own)) {
        return false;
    }
    builder->bindings[index].own = own;
    bind_content(builder, index, own);
    content_begin(builder, &builder->contents[own]);
    return true;
}

bool graph_bind_object(struct graph_builder *builder,
                       uint32_t index,
                       const struct log_event_view *event)
{
    bool is_container = event->kind == VALUE_CONTAINER;
    struct graph_content *content;
    uint32_t length;
    uint32_t found;
    uint32_t type;

    assert(index < builder->binding_count);
    if (event->object == 0) {
        return graph_bind_value(builder, index);
    }
    if (!graph_text_add(builder, event->type, &type) ||
        !find_content(builder, event, &builder->bindings[index], type, &found)) {
        return false;
    }
    content = &builder->contents[found];
    content->type = type;
    content->is_initialised |= is_constructed(builder, event);
    if (!is_container && content->attributes == GRAPH_NONE &&
        !graph_object_scope(builder, found)) {
        return false;
    }
    length = content->length;
    content->length = event->integer >= 0 && event->integer < GRAPH_NONE && is_container
                          ? (uint32_t)event->integer
                          : GRAPH_NONE;
    bind_content(builder, index, found);
    if ((event->flags & LOG_EVENT_CONTINUED) != 0) {
        content_continue(builder, content, length);
    } else if (is_container) {
        content_begin(builder, content);
    }
    return true;
}

bool graph_bind_leaf(struct graph_builder *builder, uint32_t index, uint32_t raw)
{
    assert(raw < builder->raw_count);

    uint32_t path = builder->raws[raw].path;

    assert(index < builder->binding_count);
    if (!graph_bind_value(builder, index)) {
        return false;
    }
    builder->raws[raw].content = builder->bindings[index].content;
    builder->raws[raw].place = path;
    return graph_content_put(builder, builder->bindings[index].content, path, raw);
}

bool graph_bind_attribute(struct graph_builder *builder, uint32_t call, uint32_t raw)
{
    assert(raw < builder->raw_count);

    struct slice name = builder->texts.texts[builder->raws[raw].name];
    struct slice root = graph_root_of(name);
    uint32_t root_name = text_table_find(&builder->texts, root);
    struct graph_path path;
    uint32_t scope, found, content, number;

    if (root.size == name.size || root_name == NUMBER_MAP_NONE) {
        return true;
    }
    found = graph_find_plain(builder, call, SITE_SCOPE_LOCAL, root_name, &scope);
    content = found == GRAPH_NONE ? GRAPH_NONE : builder->bindings[found].content;
    if (content == GRAPH_NONE || builder->contents[content].length == GRAPH_NONE) {
        return true;
    }
    graph_path_set(&path, slice_part(name, root.size, name.size),
                   builder->texts.texts[builder->raws[raw].path]);
    if (!graph_text_add(builder, graph_path_slice(&path), &number) ||
        !graph_content_put(builder, content, number, raw)) {
        return false;
    }
    /* The container may hold the value longer than the name that it was written by. */
    builder->raws[raw].content = content;
    builder->raws[raw].place = number;
    return true;
}

/* The value that the name had before this visit, at the same path. GRAPH_NONE: none. */
uint32_t graph_find_previous(const struct graph_builder *builder,
                             uint32_t path,
                             const struct graph_binding *binding)
{
    bool is_bound = binding->serial == builder->visit.serial;
    uint32_t index = is_bound ? binding->previous : binding->content;
    const struct graph_content *content;
    uint32_t found = GRAPH_NONE;

    if (index == GRAPH_NONE) {
        return GRAPH_NONE;
    }
    content = &builder->contents[index];
    if (content->serial == builder->visit.serial) {
        found = raw_at(builder, &content->before, index, path);
    }
    return found != GRAPH_NONE ? found : raw_at(builder, &content->now, index, path);
}
