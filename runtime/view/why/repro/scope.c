/* Definitions of the names that the script's statements read: recorded values, imports and
 * definitions of the source file, and objects that a recorded statement made. */
#include "runtime/view/why/repro/private.h"

#include "runtime/view/words/value_text.h"

#include <string.h>

static struct slice keep(struct repro *repro, struct slice text)
{
    struct slice kept = text.size == 0 ? SLICE("") : arena_copy(&repro->arena, text);

    return kept.bytes == NULL ? SLICE("") : kept;
}

static void note_missing(struct repro *repro, struct slice name)
{
    for (uint32_t i = 0; i < repro->missing_count; i++) {
        if (slice_equal(repro->missing[i], name)) {
            return;
        }
    }
    if (repro->missing_count < MISSING_MAX) {
        repro->missing[repro->missing_count++] = keep(repro, name);
    }
}

/* ---- bindings ---- */

static struct binding *find_binding(struct script_scope *scope, struct slice name)
{
    for (uint32_t i = 0; i < scope->binding_count; i++) {
        if (slice_equal(scope->bindings[i].name, name)) {
            return &scope->bindings[i];
        }
    }
    return NULL;
}

/* Whether the script defined the name, a name that it is an attribute of, or one of its
 * attributes. */
static bool is_bound(struct script_scope *scope, struct slice name)
{
    for (uint32_t i = 0; i < scope->binding_count; i++) {
        if (name_is_of(name, scope->bindings[i].name) ||
            name_is_of(scope->bindings[i].name, name)) {
            return true;
        }
    }
    return false;
}

void script_note(struct script_scope *scope, struct slice name, uint32_t node)
{
    struct binding *binding = find_binding(scope, name);

    if (binding != NULL) {
        binding->node = node;
    } else if (scope->binding_count < BINDINGS_MAX) {
        scope->bindings[scope->binding_count++] =
            (struct binding){keep(scope->repro, name), node};
    }
}

void script_add_owners(struct script_scope *scope, struct slice name)
{
    for (size_t at = slice_find(name, SLICE("."), 0); at < name.size;
         at = slice_find(name, SLICE("."), at + 1)) {
        struct slice owner = slice_part(name, 0, at);

        bool is_there = false;

        for (uint32_t i = 0; i < scope->binding_count && !is_there; i++) {
            is_there = name_is_of(scope->bindings[i].name, owner);
        }
        if (!is_there) {
            buffer_add(&scope->text, slice_of(scope->indent));
            buffer_add(&scope->text, owner);
            buffer_add(&scope->text, SLICE(" = types.SimpleNamespace()\n"));
        }
    }
}

static void
add_comment(struct script_scope *scope, uint32_t node, const struct script_value *value)
{
    const struct why_value *known = why_value(scope->repro->why, node);

    buffer_add(&scope->text, SLICE("  # "));
    if (value->source == SCRIPT_SUBSTITUTE) {
        buffer_add(&scope->text, SLICE("substitute of "));
    }
    buffer_add_printable(&scope->text, buffer_slice(&value->shown));
    buffer_add(&scope->text, SLICE(" (line "));
    buffer_add_number(&scope->text, known->line);
    buffer_add(&scope->text, SLICE(", #"));
    buffer_add_number(&scope->text, known->event);
    buffer_add(&scope->text, SLICE(")\n"));
}

static void count_input(struct repro *repro, const struct script_value *value)
{
    repro->report.input_count += value->source != SCRIPT_PLAIN;
    repro->report.substitute_count += value->source == SCRIPT_SUBSTITUTE;
}

/* Appends the expression of the value. For a script with a backward, wraps it in `leaf` if
 * autograd follows the value. */
static void add_value(struct script_scope *scope,
                      struct slice name,
                      const struct script_value *value)
{
    bool is_leaf = value->is_followed && scope->repro->is_backward;

    if (is_leaf) {
        buffer_add(&scope->text, SLICE("leaf("));
        script_add_text(&scope->text, name);
        buffer_add(&scope->text, SLICE(", "));
    }
    buffer_add(&scope->text, buffer_slice(&value->text));
    buffer_add(&scope->text, is_leaf ? SLICE(")") : SLICE(""));
}

static bool is_dotted_name(struct slice name)
{
    struct names names = NAMES_OF(name);
    struct slice found;

    return names_next(&names, &found) && slice_equal(found, name);
}

void script_bind(struct script_scope *scope, struct slice name, uint32_t node)
{
    const struct binding *binding = find_binding(scope, name);
    struct script_value value;

    if ((binding != NULL && binding->node == node) || !is_dotted_name(name)) {
        return;
    }
    script_value_read(scope->repro->reader, scope->repro->why->graph.nodes[node].event,
                      0, &value);
    if (value.source == SCRIPT_NONE) {
        note_missing(scope->repro, name);
    } else {
        script_add_owners(scope, name);
        buffer_add(&scope->text, slice_of(scope->indent));
        buffer_add(&scope->text, name);
        buffer_add(&scope->text, SLICE(" = "));
        add_value(scope, name, &value);
        add_comment(scope, node, &value);
        count_input(scope->repro, &value);
    }
    scope->text.has_failed |= value.text.has_failed || value.shown.has_failed;
    script_note(scope, name, node);
    script_value_release(&value);
}

/* ---- recorded values of names ---- */

/* The address of the call's `self`; 0 if it is not known. */
static uint64_t owner_of(const struct why *why, uint32_t number)
{
    uint32_t place = number_map_get(&why->owners, number);

    return place == NUMBER_MAP_NONE ? 0 : why->owner_addresses[place];
}

/* Whether code in call `from` sees a name of `call`: `call` is the same call, one around it in
 * the same file, or the lines at module level. An attribute of `self` is also visible in other
 * methods of the object. */
static bool
is_visible(const struct repro *repro, uint32_t from, uint32_t call, struct slice name)
{
    const struct graph *graph = &repro->why->graph;
    const struct graph_call *calls = graph->calls;

    if (call == from ||
        (calls[call].function == 0 && calls[call].module == calls[from].module)) {
        return true;
    }
    if (slice_starts(name, SLICE("self."))) {
        uint64_t owner = owner_of(repro->why, calls[from].number);

        return owner != 0 && owner == owner_of(repro->why, calls[call].number);
    }
    for (uint32_t i = calls[from].parent; i != GRAPH_NONE; i = calls[i].parent) {
        if (i == call) {
            return calls[i].module == calls[from].module &&
                   !slice_equal(name_root(name), SLICE("self"));
        }
    }
    return false;
}

/* The newest value of the name, or GRAPH_NONE. A value of the call itself is preferred. */
static uint32_t find_value(const struct script_scope *scope, struct slice name)
{
    const struct graph *graph = &scope->repro->why->graph;
    uint32_t text = text_table_find(&graph->texts, name);
    uint32_t found = GRAPH_NONE;

    if (text == NUMBER_MAP_NONE) {
        return GRAPH_NONE;
    }
    for (uint32_t i = graph->node_count; i-- > 0;) {
        const struct graph_node *node = &graph->nodes[i];

        if (node->event >= scope->event || node->name != text ||
            graph_text(graph, node->path).size > 0 ||
            !is_visible(scope->repro, scope->call, node->call, name)) {
            continue;
        }
        if (node->call == scope->call) {
            return i;
        }
        found = found == GRAPH_NONE ? i : found;
    }
    return found;
}

/* Defines the longest part of the name that has a recorded value: `self.scale` for
 * `self.scale.mean`. */
static bool bind_recorded(struct script_scope *scope, struct slice name)
{
    while (name.size > 0) {
        uint32_t node = find_value(scope, name);

        if (node != GRAPH_NONE) {
            script_bind(scope, name, node);
            return true;
        }
        while (name.size > 0 && name.bytes[name.size - 1] != '.') {
            name.size--;
        }
        name.size -= name.size > 0;
    }
    return false;
}

/* ---- the source file ---- */

static bool is_known(const struct repro *repro, struct slice root)
{
    for (uint32_t i = 0; i < repro->known_count; i++) {
        if (slice_equal(repro->known[i], root)) {
            return true;
        }
    }
    return false;
}

static void note_known(struct repro *repro, struct slice root)
{
    if (repro->known_count < BINDINGS_MAX) {
        repro->known[repro->known_count++] = keep(repro, root);
    }
}

static bool add_constant(struct repro *repro, struct slice root, unsigned depth);

static bool add_import(struct repro *repro, struct slice root)
{
    struct slice statement = source_find_import(repro->source, root);

    if (statement.size == 0 || slice_starts(statement, SLICE("from ."))) {
        return false;
    }
    note_known(repro, root);
    if (!slice_equal(statement, SLICE("import torch")) &&
        !slice_equal(statement, SLICE("import math"))) {
        buffer_add(&repro->imports, statement);
        buffer_add_byte(&repro->imports, '\n');
    }
    return true;
}

/* The depth of definitions that use each other. */
#define DEFINITION_DEPTH_MAX 8

/* Adds the function or class of that name from the source, after the definitions that it uses.
 * Returns false if there is none. */
static bool add_definition(struct repro *repro, struct slice root, unsigned depth)
{
    struct slice statement = source_find_definition(repro->source, root);
    struct names names = NAMES_OF(statement);
    struct slice name;

    if (statement.size == 0 || depth == DEFINITION_DEPTH_MAX ||
        definition_is_assignment(statement, root)) {
        return false;
    }
    note_known(repro, root);
    while (names_next(&names, &name)) {
        root = name_root(name);
        (void)(name_is_builtin(root) || is_known(repro, root) ||
               add_import(repro, root) || add_definition(repro, root, depth + 1) ||
               add_constant(repro, root, depth + 1));
    }
    buffer_add(&repro->definitions, statement);
    buffer_add(&repro->definitions, SLICE("\n\n\n"));
    return true;
}

/* Adds the source's assignment to that name. Returns false if there is none, or if it calls
 * functions of the program. */
static bool add_constant(struct repro *repro, struct slice root, unsigned depth)
{
    struct slice statement = source_find_definition(repro->source, root);
    struct names names = NAMES_OF(statement);
    struct slice name;

    if (statement.size == 0 || depth == DEFINITION_DEPTH_MAX ||
        !definition_is_assignment(statement, root)) {
        return false;
    }
    names.at = root.size;
    while (names_next(&names, &name)) {
        struct slice part = name_root(name);

        if (!name_is_builtin(part) && !is_known(repro, part) &&
            !add_import(repro, part) && !add_constant(repro, part, depth + 1)) {
            return false;
        }
    }
    note_known(repro, root);
    buffer_add(&repro->definitions, statement);
    buffer_add(&repro->definitions, SLICE("  # as the source has it\n\n\n"));
    return true;
}

/* ---- objects ---- */

/* The recorded statement that made an object. */
struct maker {
    uint64_t address; /* 0: not recorded */
    uint64_t event;
    uint32_t call; /* index in the graph */
    uint32_t module;
    uint32_t line;
    bool is_made; /* the line calls the object's class */
};

static uint32_t find_call(const struct graph *graph, uint32_t number)
{
    for (uint32_t i = 0; i < graph->call_count; i++) {
        if (graph->calls[i].number == number) {
            return i;
        }
    }
    return GRAPH_NONE;
}

/* The text after the first `=` of an assignment; "" if the statement is none. */
static struct slice assigned(struct slice statement)
{
    size_t at = slice_find(statement, SLICE(" = "), 0);

    return at + 3 <= statement.size
               ? slice_trim(slice_part(statement, at + 3, statement.size))
               : SLICE("");
}

/* Whether the event's statement calls the object's class and assigns the result to a name. */
static bool is_maker(struct repro *repro, const struct log_event_view *event)
{
    struct slice type = slice_last_part(event->type, '.');
    struct slice value;

    if (event->site->kind != SITE_ASSIGN) {
        return false;
    }
    value =
        assigned(why_statement(repro->why, event->module_number, event->site->line));
    return slice_find(value, type, 0) < slice_find(value, SLICE("("), 0);
}

/* Finds the newest object of that name if `maker->address` is 0. Otherwise finds the newest
 * statement that made an object at that address. */
static void
find_object(struct script_scope *scope, struct slice name, struct maker *maker)
{
    struct repro *repro = scope->repro;
    uint64_t address = maker->address;
    struct log_item item;

    log_reader_rewind(repro->reader);
    while (log_reader_next(repro->reader, &item)) {
        const struct log_event_view *event = &item.event;
        uint32_t call;

        if (item.kind != LOG_EVENT || event->kind != VALUE_OBJECT ||
            event->path.size > 0) {
            continue;
        }
        if (event->number >= scope->event) {
            break;
        }
        if (address != 0 ? event->object != address : !slice_equal(event->name, name)) {
            continue;
        }
        call = find_call(&repro->why->graph, event->call);
        if (call != GRAPH_NONE &&
            (address != 0 ? is_maker(repro, event)
                          : is_visible(repro, scope->call, call, name))) {
            *maker = (struct maker){
                event->object,        event->number,     call,
                event->module_number, event->site->line, is_maker(repro, event)};
        }
    }
}

/* Finds the statement that made the object of that name. Returns false if it is not recorded. */
static bool
find_maker(struct script_scope *scope, struct slice name, struct maker *maker)
{
    *maker = (struct maker){.address = 0};
    find_object(scope, name, maker);
    if (!maker->is_made && maker->address != 0) {
        find_object(scope, name, maker);
    }
    return maker->is_made && maker->module == scope->repro->module;
}

/* Tensors of an object, each with the event whose value the script uses. */
struct held_tensors {
    struct slice names[BINDINGS_MAX]; /* `proj.weight`; in the arena */
    uint64_t events[BINDINGS_MAX];
    uint32_t count;
};

/* The tensor's name inside the object: the rest of a parameter's name after the module's `path`,
 * or of the program's name after `name`. "" if the event is not a parameter of the object. */
static struct slice
name_in_object(const struct log_event_view *event, struct slice path, struct slice name)
{
    bool is_parameter = (event->flags & LOG_EVENT_PARAMETER) != 0;
    struct slice owner = is_parameter ? path : name;

    if (event->kind != VALUE_TENSOR || event->path.size > 0 ||
        (event->shape->flags & LOG_FORM_PARAMETER) == 0) {
        return SLICE("");
    }
    if (owner.size == 0) {
        return event->name;
    }
    return slice_starts(event->name, owner) && event->name.size > owner.size + 1 &&
                   event->name.bytes[owner.size] == '.'
               ? slice_part(event->name, owner.size + 1, event->name.size)
               : SLICE("");
}

/* Finds the object's tensors. The events are the last ones before the scope's event, or the
 * first ones after it, since a parameter is recorded after the line that reads it first. */
static void find_held(struct script_scope *scope,
                      struct slice path,
                      struct slice name,
                      struct held_tensors *held)
{
    struct log_item item;

    held->count = 0;
    log_reader_rewind(scope->repro->reader);
    while (log_reader_next(scope->repro->reader, &item)) {
        struct slice rest = item.kind == LOG_EVENT
                                ? name_in_object(&item.event, path, name)
                                : SLICE("");
        uint32_t at = 0;

        if (rest.size == 0 ||
            (item.event.number >= scope->event && value_has_nonfinite(&item.event))) {
            continue;
        }
        while (at < held->count && !slice_equal(held->names[at], rest)) {
            at++;
        }
        if (at == held->count && at < BINDINGS_MAX) {
            held->names[at] = keep(scope->repro, rest);
            held->events[at] = item.event.number;
            held->count++;
        } else if (at < held->count && item.event.number < scope->event) {
            held->events[at] = item.event.number;
        }
    }
}

static void add_parameter(struct script_scope *scope,
                          struct slice object,
                          struct slice name,
                          uint64_t event)
{
    struct script_value value;

    script_value_read(scope->repro->reader, event, 0, &value);
    if (value.source == SCRIPT_WHOLE || value.source == SCRIPT_SUBSTITUTE) {
        buffer_add(&scope->text, slice_of(scope->indent));
        buffer_add(&scope->text, SLICE("fill("));
        buffer_add(&scope->text, object);
        buffer_add(&scope->text, SLICE(", "));
        script_add_text(&scope->text, name);
        buffer_add(&scope->text, SLICE(", "));
        buffer_add(&scope->text, buffer_slice(&value.text));
        buffer_add(&scope->text, value.source == SCRIPT_SUBSTITUTE
                                     ? SLICE(")  # substitute\n")
                                     : SLICE(")\n"));
        count_input(scope->repro, &value);
    }
    script_value_release(&value);
}

static void add_parameters(struct script_scope *scope, struct slice name)
{
    struct repro *repro = scope->repro;
    const struct graph *graph = &repro->why->graph;
    struct slice path = graph_text(graph, graph->calls[scope->call].path);
    struct held_tensors *held = memory_allocate(1, sizeof *held);
    struct buffer whole = BUFFER_INIT;

    if (held == NULL) {
        repro->arena.has_failed = true;
        return;
    }
    if (slice_starts(name, SLICE("self."))) {
        buffer_add(&whole, path);
        buffer_add(&whole, path.size > 0 ? SLICE(".") : SLICE(""));
        buffer_add(&whole, slice_part(name, strlen("self."), name.size));
    }
    find_held(scope, buffer_slice(&whole), name, held);
    for (uint32_t i = 0; i < held->count; i++) {
        add_parameter(scope, name, held->names[i], held->events[i]);
    }
    repro->arena.has_failed |= whole.has_failed;
    buffer_release(&whole);
    memory_free(held);
}

/* Adds a function to the script that makes the object as the program's statement did, with the
 * values that its names had there. */
static bool
add_maker(struct script_scope *scope, struct slice name, const struct maker *maker)
{
    struct repro *repro = scope->repro;
    struct slice value =
        assigned(why_statement(repro->why, maker->module, maker->line));
    struct script_scope *inner = memory_allocate(1, sizeof *inner);
    unsigned number = ++repro->maker_count;

    if (inner == NULL) {
        repro->arena.has_failed = true;
        return false;
    }
    *inner = (struct script_scope){.repro = repro,
                                   .call = maker->call,
                                   .event = maker->event,
                                   .depth = scope->depth + 1,
                                   .indent = "    ",
                                   .text = BUFFER_INIT};
    script_resolve(inner, value);
    buffer_add_format(&repro->definitions, "def make_%u():\n", number);
    buffer_add(&repro->definitions, buffer_slice(&inner->text));
    buffer_add(&repro->definitions, SLICE("    return "));
    buffer_add(&repro->definitions, value);
    buffer_add_format(&repro->definitions, "  # line %u\n\n\n", (unsigned)maker->line);
    script_add_owners(scope, name);
    buffer_add(&scope->text, slice_of(scope->indent));
    buffer_add(&scope->text, name);
    buffer_add_format(&scope->text, " = make_%u()\n", number);
    repro->definitions.has_failed |= inner->text.has_failed;
    buffer_release(&inner->text);
    memory_free(inner);
    return true;
}

/* Makes the object that the name, or the longest part of it, refers to. Returns false if its
 * statement is not recorded. */
static bool bind_object(struct script_scope *scope, struct slice name)
{
    struct repro *repro = scope->repro;

    while (name.size > 0 && scope->depth < SCOPE_DEPTH_MAX) {
        struct maker maker;

        if (find_maker(scope, name, &maker)) {
            if (!add_maker(scope, name, &maker)) {
                return false;
            }
            script_note(scope, name, GRAPH_NONE);
            add_parameters(scope, name);
            if (repro->object_count < BINDINGS_MAX && scope->depth == 0) {
                repro->objects[repro->object_count++] = keep(repro, name);
            }
            return true;
        }
        while (name.size > 0 && name.bytes[name.size - 1] != '.') {
            name.size--;
        }
        name.size -= name.size > 0;
    }
    return false;
}

bool script_import_all(struct script_scope *scope, struct slice text)
{
    struct repro *repro = scope->repro;
    struct names names = NAMES_OF(text);
    struct slice name;

    while (names_next(&names, &name)) {
        name = name_root(name);
        if (!name_is_builtin(name) && !is_known(repro, name) &&
            !add_import(repro, name)) {
            return false;
        }
    }
    return true;
}

void script_resolve(struct script_scope *scope, struct slice text)
{
    struct names names = NAMES_OF(text);
    struct slice name;

    while (names_next(&names, &name)) {
        struct repro *repro = scope->repro;
        struct slice root = name_root(name);

        if (!is_bound(scope, name) && !bind_recorded(scope, name) &&
            !name_is_builtin(root) && !is_known(repro, root) &&
            !add_import(repro, root) && !add_definition(repro, root, 0) &&
            !bind_object(scope, name) && !add_constant(repro, root, 0)) {
            note_missing(repro, name);
        }
    }
}
