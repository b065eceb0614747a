/* Bindings: what names stand for. A name is found in its scope, and has a content: the values that it
 * or a container holds, by their paths. A container is known by its address as long as a name has it,
 * so that a value put into it under one name is found under the others. */
#include "runtime/view/flow/build.h"

#include "runtime/base/memory.h"
#include "runtime/view/flow/paths.h"

/* Which scope a name of a function belongs to, as Python looks it up. */

/* How far up the calls the one of an enclosing function is looked for: beyond, its newest. */
#define ANCESTORS_MAX 64

/* The function that is called. */
static const struct flow_function *flow_function_of(const struct flow_builder *builder,
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

/* The binding of a name in that scope; NUMBER_MAP_NONE: none. */
static uint32_t
flow_find_in_scope(const struct flow_builder *builder, uint32_t scope, uint32_t name)
{
    uint32_t found =
        number_map_get(&builder->binding_index, number_map_key(scope, name));

    return found == NUMBER_MAP_NONE || builder->bindings[found].is_forgotten ? FLOW_NONE
                                                                             : found;
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
        /* The enclosing calls are not in the trace: what this one reads is its own. */
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

/* The object's attributes get a scope. */
static bool flow_object_scope(struct flow_builder *builder, uint32_t content)
{
    const struct flow_call *call = &builder->calls[builder->visit.call];
    bool is_module = call->class_name != 0 && call->path != 0;
    uint32_t *attributes = &builder->contents[content].attributes;

    /* Its making is not recorded: the module at that path is the same one. */
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

/* ---- scopes ---- */

bool flow_scope_add(struct flow_builder *builder, uint32_t *scope)
{
    void *items = builder->scopes;

    if (!flow_grow(builder, &items, &builder->scope_capacity, builder->scope_count,
                   sizeof *builder->scopes)) {
        return false;
    }
    builder->scopes = items;
    builder->scopes[builder->scope_count] = (struct flow_scope){FLOW_NONE, FLOW_NONE};
    *scope = builder->scope_count++;
    return true;
}

static struct flow_function *function_of_call(struct flow_builder *builder,
                                              const struct flow_call *call)
{
    return &builder->functions[builder->modules[call->module].first_function +
                               call->function];
}

bool flow_scope_begin(struct flow_builder *builder, struct flow_call *call)
{
    struct flow_function *function = function_of_call(builder, call);

    call->is_forgotten = false;
    if (call->function == 0) {
        call->scope = builder->modules[call->module].globals;
        return true;
    }
    if (function->free_scope == FLOW_NONE) {
        return flow_scope_add(builder, &call->scope);
    }
    call->scope = function->free_scope;
    function->free_scope = builder->scopes[call->scope].next_free;
    return true;
}

/* A generator may go on, and inner functions may read the names of the one around them. */
void flow_scope_note_over(struct flow_builder *builder, uint32_t index)
{
    struct flow_call *call = &builder->calls[index];

    if (call->is_ended && call->function != 0 && !call->is_generator &&
        !call->is_forgotten && !function_of_call(builder, call)->is_enclosing) {
        call->next_over = builder->first_over;
        builder->first_over = index;
    }
}

/* The name holds nothing; the room for what it held stays. */
static void binding_forget(struct flow_builder *builder, struct flow_binding *binding)
{
    if (binding->own != FLOW_NONE) {
        struct flow_content *own = &builder->contents[binding->own];

        own->now.count = 0;
        own->before.count = 0;
        own->serial = 0;
        own->carried_count = 0;
        own->binding = FLOW_NONE;
    }
    binding->content = FLOW_NONE;
    binding->previous = FLOW_NONE;
    binding->serial = 0;
    binding->subscript = FLOW_SUBSCRIPT_NONE;
    binding->is_init = false;
    binding->is_ambiguous = false;
    binding->is_forgotten = true;
}

void flow_scopes_forget(struct flow_builder *builder, uint32_t visiting)
{
    uint32_t next;

    for (uint32_t i = builder->first_over; i != FLOW_NONE; i = next) {
        struct flow_call *call = &builder->calls[i];
        struct flow_scope *scope = &builder->scopes[call->scope];
        struct flow_function *function = function_of_call(builder, call);

        next = call->next_over;
        call->next_over = FLOW_NONE;
        if (i == visiting) {
            continue;
        }
        for (uint32_t k = scope->first_binding; k != FLOW_NONE;
             k = builder->bindings[k].next_in_scope) {
            binding_forget(builder, &builder->bindings[k]);
        }
        scope->next_free = function->free_scope;
        function->free_scope = call->scope;
        call->is_forgotten = true;
    }
    builder->first_over = FLOW_NONE;
}

/* Bindings: names, in the scopes that they live in. */

/* ---- bindings ---- */

static uint32_t binding_get(struct flow_builder *builder, uint32_t scope, uint32_t name)
{
    uint32_t known =
        number_map_get(&builder->binding_index, number_map_key(scope, name));
    void *items = builder->bindings;

    if (known != NUMBER_MAP_NONE) {
        builder->bindings[known].is_forgotten = false;
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
                              .next_in_scope = FLOW_NONE,
                              .writer = FLOW_NONE};
    if (!number_map_put(&builder->binding_index, number_map_key(scope, name),
                        builder->binding_count)) {
        flow_out_of_memory(builder);
        return FLOW_NONE;
    }
    if (scope < builder->scope_count) { /* `self` of a plain function has none */
        builder->bindings[builder->binding_count].next_in_scope =
            builder->scopes[scope].first_binding;
        builder->scopes[scope].first_binding = builder->binding_count;
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

/* So many leaves are searched one by one; those behind them are found by a map. */
#define LEAVES_SEARCHED 64

/* ---- leaves ---- */

static bool leaves_reserve(struct flow_builder *builder, struct flow_leaves *leaves)
{
    uint32_t capacity = leaves->capacity == 0 ? 1 : leaves->capacity * 2;
    void *items = builder->leaves;

    if (leaves->count < leaves->capacity) {
        return true;
    }
    if (capacity > UINT32_MAX / 2 || builder->leaf_count > UINT32_MAX / 2 ||
        !memory_grow(&items, &builder->leaf_capacity,
                     (size_t)builder->leaf_count + capacity, sizeof *builder->leaves)) {
        return flow_out_of_memory(builder);
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

/* The leaf's place among them; their count where there is none at that path. */
static uint32_t leaves_find(const struct flow_builder *builder,
                            const struct flow_leaves *leaves,
                            uint32_t content,
                            uint32_t path)
{
    const struct flow_leaf *items =
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

bool flow_content_put(struct flow_builder *builder,
                      uint32_t index,
                      uint32_t path,
                      uint32_t raw)
{
    struct flow_leaves *leaves = &builder->contents[index].now;
    uint32_t place = leaves_find(builder, leaves, index, path);

    if (place == leaves->count) {
        if (!leaves_reserve(builder, leaves)) {
            return false;
        }
        if (place >= LEAVES_SEARCHED &&
            !number_map_put(&builder->leaf_index, number_map_key(index, path), place)) {
            return flow_out_of_memory(builder);
        }
        leaves->count++;
    }
    builder->leaves[leaves->first + place] = (struct flow_leaf){path, raw};
    return true;
}

static uint32_t raw_at(const struct flow_builder *builder,
                       const struct flow_leaves *leaves,
                       uint32_t content,
                       uint32_t path)
{
    uint32_t place = leaves_find(builder, leaves, content, path);

    return place == leaves->count ? FLOW_NONE
                                  : builder->leaves[leaves->first + place].raw;
}

uint32_t
flow_content_find(const struct flow_builder *builder, uint32_t index, uint32_t path)
{
    return raw_at(builder, &builder->contents[index].now, index, path);
}

/* ---- contents ---- */

static bool content_add(struct flow_builder *builder, uint64_t address, uint32_t *index)
{
    void *items = builder->contents;

    if (!flow_grow(builder, &items, &builder->content_capacity, builder->content_count,
                   sizeof *builder->contents)) {
        return false;
    }
    builder->contents = items;
    builder->contents[builder->content_count] =
        (struct flow_content){.address = address,
                              .binding = FLOW_NONE,
                              .length = FLOW_NONE,
                              .attributes = FLOW_NONE};
    *index = builder->content_count++;
    if (address != 0 && !number_map_put(&builder->content_index, address, *index)) {
        return flow_out_of_memory(builder);
    }
    return true;
}

/* The content is what the visit's events say from now on. */
static void content_begin(struct flow_builder *builder, struct flow_content *content)
{
    struct flow_leaves before = content->now;

    if (content->serial == builder->visit.serial) {
        return;
    }
    content->now = content->before;
    content->now.count = 0;
    content->before = before;
    content->serial = builder->visit.serial;
    content->carried_count = 0;
}

/* `[12]` of `[12]['k']`; false where the path begins with something else. */
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

/* A container that has become shorter has no leaves behind its end. */
static void content_cut(struct flow_builder *builder, struct flow_content *content)
{
    struct flow_leaves *leaves = &content->now;
    uint32_t kept = 0;
    uint64_t index;

    for (uint32_t i = 0; i < leaves->count; i++) {
        struct flow_leaf leaf = builder->leaves[leaves->first + i];

        if (!read_index(builder->texts.texts[leaf.path], &index) ||
            index < content->length) {
            builder->leaves[leaves->first + kept++] = leaf;
        }
    }
    leaves->count = kept;
}

/* The content goes on: leaves that do not follow stay. */
static void content_continue(struct flow_builder *builder,
                             struct flow_content *content,
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

/* The text of a path whose first index is less by one. */
static bool
move_up(struct flow_builder *builder, uint32_t path, uint64_t index, uint32_t *moved)
{
    struct slice text = builder->texts.texts[path];
    size_t end = slice_find(text, SLICE("]"), 0);
    struct buffer built = BUFFER_INIT;
    bool is_done;

    buffer_add_byte(&built, '[');
    buffer_add_number(&built, index - 1);
    buffer_add(&built, slice_part(text, end, text.size));
    is_done = !built.has_failed && flow_text(builder, buffer_slice(&built), moved);
    buffer_release(&built);
    return is_done || flow_out_of_memory(builder);
}

/* The leaf stands at that place from now on. */
static bool leaf_set(struct flow_builder *builder,
                     uint32_t index,
                     uint32_t place,
                     struct flow_leaf leaf)
{
    builder->leaves[builder->contents[index].now.first + place] = leaf;
    if (builder->raws[leaf.raw].content == index) {
        builder->raws[leaf.raw].place = leaf.path;
    }
    return place < LEAVES_SEARCHED ||
           number_map_put(&builder->leaf_index, number_map_key(index, leaf.path),
                          place) ||
           flow_out_of_memory(builder);
}

/* So many leaves at most move up when one in their middle is taken out. */
#define LEAVES_MOVED_MAX 1024

static bool has_places(const struct flow_builder *builder, uint32_t index)
{
    struct slice type = builder->texts.texts[builder->contents[index].type];

    return slice_equal(type, SLICE("list")) ||
           slice_equal(type, SLICE("collections.deque"));
}

bool flow_content_remove(struct flow_builder *builder, uint32_t index, uint32_t path)
{
    struct flow_leaves *leaves = &builder->contents[index].now;
    uint32_t removed = leaves_find(builder, leaves, index, path);
    uint32_t kept = removed;
    uint64_t number = 0;
    uint64_t other;
    bool is_moved =
        read_index(builder->texts.texts[path], &number) && has_places(builder, index);

    /* Recorded since: it is known without. */
    if (builder->contents[index].serial == builder->visit.serial) {
        return true;
    }
    if (builder->contents[index].length != FLOW_NONE &&
        builder->contents[index].length > 0) {
        builder->contents[index].length--;
    }
    if (removed == leaves->count || leaves->count - removed > LEAVES_MOVED_MAX) {
        return true;
    }
    for (uint32_t i = removed + 1; i < leaves->count; i++) {
        struct flow_leaf leaf = builder->leaves[leaves->first + i];

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

/* Whether a name has the content still, as the visiting call's thread can tell. */
static bool is_live(const struct flow_builder *builder, uint32_t index)
{
    const struct flow_content *content = &builder->contents[index];
    const struct flow_binding *binding;
    const struct flow_call *call;

    if (content->binding == FLOW_NONE) {
        return false;
    }
    binding = &builder->bindings[content->binding];
    call = &builder->calls[binding->writer];
    return binding->content == index &&
           !(call->is_ended && call->function != 0 && binding->scope == call->scope);
}

/* What another thread holds is held: in which order the events of two threads stand is a matter
 * of chance, and the graph must not depend on it. */
bool flow_is_held(const struct flow_builder *builder, uint32_t raw)
{
    const struct flow_raw *node = &builder->raws[raw];
    const struct flow_call *call = &builder->calls[node->call];
    const struct flow_content *content;

    if (node->content == FLOW_NONE) {
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

/* ---- which content ---- */

/* Whether the name that had the content belongs to a call that the visited statement made: what
 * that returned is the same object. */
static bool is_made_here(const struct flow_builder *builder,
                         const struct flow_content *content)
{
    return content->binding != FLOW_NONE &&
           builder->calls[builder->bindings[content->binding].writer].made ==
               builder->visit.serial;
}

/* Whether `self` is the object that another `__init__`, which called this one, has begun. */
static bool is_begun_above(const struct flow_builder *builder, uint32_t content)
{
    uint32_t above = builder->calls[builder->visit.call].parent;

    return above != FLOW_NONE &&
           flow_function_of(builder, &builder->calls[above])->is_init &&
           builder->contents[content].binding != FLOW_NONE &&
           builder->bindings[builder->contents[content].binding].writer == above;
}

static bool is_constructed(const struct flow_builder *builder,
                           const struct log_event_view *event)
{
    const struct flow_call *call = &builder->calls[builder->visit.call];

    return event->site->kind == SITE_ENTER && event->kind == VALUE_OBJECT &&
           flow_function_of(builder, call)->is_init && event->site->write_count > 0 &&
           slice_equal(event->name, event->site->writes[0].name);
}

/* The content of the container or object at that address. An address may have been used again: it
 * is the same one where a name has it still, where the statement has just made it, and where every
 * new object of its class would have been seen in `__init__`. */
static bool find_content(struct flow_builder *builder,
                         const struct log_event_view *event,
                         const struct flow_binding *binding,
                         uint32_t type,
                         uint32_t *index)
{
    uint32_t known = number_map_get(&builder->content_index, event->object);
    bool is_same = false;

    if (known != NUMBER_MAP_NONE && is_constructed(builder, event)) {
        is_same = is_begun_above(builder, known);
    } else if (known != NUMBER_MAP_NONE) {
        const struct flow_content *content = &builder->contents[known];
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

static void bind_content(struct flow_builder *builder, uint32_t index, uint32_t content)
{
    struct flow_binding *binding = &builder->bindings[index];

    if (binding->serial != builder->visit.serial) {
        binding->previous = binding->content;
    }
    binding->content = content;
    binding->serial = builder->visit.serial;
    binding->writer = builder->visit.call;
    binding->subscript = FLOW_SUBSCRIPT_NONE;
    if (!is_live(builder, content)) {
        builder->contents[content].binding = index;
    }
}

bool flow_bind_value(struct flow_builder *builder, uint32_t index)
{
    struct flow_binding *binding = &builder->bindings[index];
    uint32_t own = binding->own;

    if (binding->serial == builder->visit.serial) {
        return true;
    }
    if (own == FLOW_NONE && !content_add(builder, 0, &own)) {
        return false;
    }
    builder->bindings[index].own = own;
    bind_content(builder, index, own);
    content_begin(builder, &builder->contents[own]);
    return true;
}

bool flow_bind_object(struct flow_builder *builder,
                      uint32_t index,
                      const struct log_event_view *event)
{
    bool is_container = event->kind == VALUE_CONTAINER;
    struct flow_content *content;
    uint32_t length;
    uint32_t found;
    uint32_t type;

    if (event->object == 0) {
        return flow_bind_value(builder, index);
    }
    if (!flow_text(builder, event->type, &type) ||
        !find_content(builder, event, &builder->bindings[index], type, &found)) {
        return false;
    }
    content = &builder->contents[found];
    content->type = type;
    content->is_initialised |= is_constructed(builder, event);
    if (!is_container && content->attributes == FLOW_NONE &&
        !flow_object_scope(builder, found)) {
        return false;
    }
    length = content->length;
    content->length = event->integer >= 0 && event->integer < FLOW_NONE && is_container
                          ? (uint32_t)event->integer
                          : FLOW_NONE;
    bind_content(builder, index, found);
    if ((event->flags & LOG_EVENT_CONTINUED) != 0) {
        content_continue(builder, content, length);
    } else if (is_container) {
        content_begin(builder, content);
    }
    return true;
}

bool flow_bind_leaf(struct flow_builder *builder, uint32_t index, uint32_t raw)
{
    uint32_t path = builder->raws[raw].path;

    if (!flow_bind_value(builder, index)) {
        return false;
    }
    builder->raws[raw].content = builder->bindings[index].content;
    builder->raws[raw].place = path;
    return flow_content_put(builder, builder->bindings[index].content, path, raw);
}

bool flow_bind_attribute(struct flow_builder *builder, uint32_t call, uint32_t raw)
{
    struct slice name = builder->texts.texts[builder->raws[raw].name];
    struct slice root = flow_root_of(name);
    uint32_t root_name = text_table_find(&builder->texts, root);
    struct flow_path path;
    uint32_t scope, found, content, number;

    if (root.size == name.size || root_name == NUMBER_MAP_NONE) {
        return true;
    }
    found = flow_find_plain(builder, call, SITE_SCOPE_LOCAL, root_name, &scope);
    content = found == FLOW_NONE ? FLOW_NONE : builder->bindings[found].content;
    if (content == FLOW_NONE || builder->contents[content].length == FLOW_NONE) {
        return true;
    }
    flow_path_set(&path, slice_part(name, root.size, name.size),
                  builder->texts.texts[builder->raws[raw].path]);
    if (!flow_text(builder, flow_path_slice(&path), &number) ||
        !flow_content_put(builder, content, number, raw)) {
        return false;
    }
    /* The container has it longer than the name that it was written by. */
    builder->raws[raw].content = content;
    builder->raws[raw].place = number;
    return true;
}

/* The value that the name had before this visit, at the same place in it. */
uint32_t flow_find_previous(const struct flow_builder *builder,
                            uint32_t path,
                            const struct flow_binding *binding)
{
    bool is_bound = binding->serial == builder->visit.serial;
    uint32_t index = is_bound ? binding->previous : binding->content;
    const struct flow_content *content;
    uint32_t found = FLOW_NONE;

    if (index == FLOW_NONE) {
        return FLOW_NONE;
    }
    content = &builder->contents[index];
    if (content->serial == builder->visit.serial) {
        found = raw_at(builder, &content->before, index, path);
    }
    return found != FLOW_NONE ? found : raw_at(builder, &content->now, index, path);
}
