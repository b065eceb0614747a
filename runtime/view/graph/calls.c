/* The calls and turns of loops that a trace's events belong to, and the facts that site tables
 * hold about functions and loops. */
#include "runtime/view/graph/build.h"

#include "runtime/base/memory.h"

#include <assert.h>

/* Facts of the site tables that are known before any code ran: functions, bodies of loops,
 * scopes of names. */

/* The function that encloses `name`: `f` of `f.<locals>.g`. */
static struct slice enclosing_name(struct slice name)
{
    struct slice mark = SLICE(".<locals>.");

    for (size_t end = name.size; end > mark.size; end--) {
        struct slice part = slice_part(name, 0, end);

        if (slice_ends(part, mark)) {
            return slice_part(name, 0, end - mark.size);
        }
    }
    return (struct slice){"", 0};
}

/* The part before the last dot: `Net` of `Net.forward`. */
static struct slice class_of(struct slice name)
{
    size_t end = name.size;

    while (end > 0 && name.bytes[end - 1] != '.') {
        end--;
    }
    return slice_part(name, 0, end == 0 ? 0 : end - 1);
}

bool graph_scope_of(struct graph_builder *builder,
                    uint32_t high,
                    uint32_t low,
                    uint32_t *scope)
{
    uint32_t known = number_map_get(&builder->scope_index, number_map_key(high, low));

    if (known == NUMBER_MAP_NONE) {
        if (!graph_scope_add(builder, &known)) {
            return false;
        }
        if (!number_map_put(&builder->scope_index, number_map_key(high, low), known)) {
            return graph_out_of_memory(builder);
        }
    }
    *scope = known;
    return true;
}

static bool fill_function(struct graph_builder *builder,
                          const struct graph_module *known,
                          uint32_t index,
                          struct number_map *by_name)
{
    assert(index < known->module->table.function_count);

    struct slice name = known->module->table.functions[index].name;
    struct slice class_name = class_of(name);
    struct graph_function *function =
        &builder->functions[known->first_function + index];
    uint32_t text, class_text, enclosing;

    if (!graph_text_add(builder, name, &text) ||
        !graph_text_add(builder, enclosing_name(name), &enclosing) ||
        !graph_text_add(builder, class_name, &class_text)) {
        return false;
    }
    *function = (struct graph_function){
        .enclosing = number_map_get(by_name, enclosing),
        .last_call = GRAPH_NONE,
        .owner = GRAPH_NONE,
        .free_scope = GRAPH_NONE,
        .is_init = slice_ends(name, SLICE(".__init__")),
    };
    if (function->enclosing != NUMBER_MAP_NONE) {
        assert(function->enclosing < index);
        builder->functions[known->first_function + function->enclosing].is_enclosing =
            true;
    }
    /* The highest bit keeps scopes of classes apart from scopes of modules' paths. */
    return (class_name.size == 0 || graph_scope_of(builder, known->globals | 1u << 31,
                                                   class_text, &function->owner)) &&
           number_map_put(by_name, text, index);
}

static bool add_functions(struct graph_builder *builder, struct graph_module *known)
{
    const struct site_table *table = &known->module->table;
    void *items = builder->functions;
    struct number_map by_name;
    bool is_done = false;

    number_map_init(&by_name);
    known->first_function = builder->function_count;
    if (!memory_grow(&items, &builder->function_capacity,
                     (size_t)builder->function_count + table->function_count,
                     sizeof *builder->functions)) {
        goto out;
    }
    builder->functions = items;
    for (uint32_t i = 0; i < table->function_count; i++) {
        if (!fill_function(builder, known, i, &by_name)) {
            goto out;
        }
    }
    builder->function_count += table->function_count;
    is_done = true;
out:
    number_map_release(&by_name);
    return is_done || graph_out_of_memory(builder);
}

/* Fills `next_lines`. Sites are in the order of the source, so the lines of a function only
 * grow. */
static void
find_next_lines(struct graph_module *known, uint32_t *lines, uint32_t *above)
{
    const struct site_table *table = &known->module->table;

    for (uint32_t i = 0; i < table->function_count; i++) {
        lines[i] = UINT32_MAX;
        above[i] = UINT32_MAX;
    }
    for (uint32_t i = table->site_count; i-- > 0;) {
        const struct site *site = &table->sites[i];
        uint32_t function = site->function;

        if (site->line != lines[function]) {
            above[function] = lines[function];
            lines[function] = site->line;
        }
        known->next_lines[i] = above[function];
    }
}

/* Finds the end of each loop's body: the next statement of the function that is indented no
 * further than the loop. */
static void find_ends(struct graph_module *known, uint32_t *open)
{
    const struct site_table *table = &known->module->table;
    uint32_t count = 0;

    for (uint32_t i = 0; i < table->site_count; i++) {
        const struct site *site = &table->sites[i];
        uint32_t kept = 0;

        known->ends[i] = table->site_count;
        /* Loops of enclosing functions stay open while the sites are those of inner functions. */
        for (uint32_t k = 0; k < count; k++) {
            const struct site *loop = &table->sites[open[k]];

            if (loop->function == site->function && site->line > loop->line &&
                site->column <= loop->column) {
                known->ends[open[k]] = i;
            } else {
                open[kept++] = open[k];
            }
        }
        count = kept;
        /* Loops nested deeper than 128 levels get the end of the table as their end. */
        if (site->kind == SITE_LOOP && count < 128) {
            open[count++] = i;
        }
    }
}

static bool add_sites(struct graph_builder *builder, struct graph_module *known)
{
    const struct site_table *table = &known->module->table;
    size_t count = table->function_count;
    uint32_t *room = memory_allocate(2 * count + 128, sizeof *room);

    known->next_lines = memory_allocate(table->site_count, sizeof *known->next_lines);
    known->ends = memory_allocate(table->site_count, sizeof *known->ends);
    if (room == NULL || known->next_lines == NULL || known->ends == NULL) {
        memory_free(room);
        return graph_out_of_memory(builder);
    }
    find_next_lines(known, room, room + count);
    find_ends(known, room);
    memory_free(room);
    return true;
}

/* Adds the scope of each name that a function reads and that is not its local. */
static bool add_name_scopes(struct graph_builder *builder,
                            const struct graph_module *known)
{
    const struct site_table *table = &known->module->table;

    for (uint32_t i = 0; i < table->site_count; i++) {
        const struct site *site = &table->sites[i];

        for (uint32_t k = 0; k < site->read_count; k++) {
            const struct site_read *read = &site->reads[k];
            uint32_t name;

            if (read->scope == SITE_SCOPE_LOCAL) {
                continue;
            }
            if (!graph_text_add(builder, read->name, &name) ||
                !number_map_put(
                    &builder->name_scopes,
                    number_map_key(known->first_function + site->function, name),
                    (uint32_t)read->scope)) {
                return graph_out_of_memory(builder);
            }
        }
    }
    return true;
}

static bool graph_module_get(struct graph_builder *builder,
                             const struct log_module *module,
                             uint32_t number)
{
    void *items = builder->modules;
    struct graph_module *known;

    if (number < builder->module_count && builder->modules[number].module != NULL) {
        return true;
    }
    if (!memory_grow(&items, &builder->module_capacity, (size_t)number + 1,
                     sizeof *builder->modules)) {
        return graph_out_of_memory(builder);
    }
    builder->modules = items;
    while (builder->module_count <= number) {
        builder->modules[builder->module_count++] = (struct graph_module){0};
    }
    known = &builder->modules[number];
    known->module = module;
    if (!graph_scope_add(builder, &known->globals)) {
        known->module = NULL;
        return false;
    }
    return add_functions(builder, known) && add_sites(builder, known) &&
           add_name_scopes(builder, known);
}

static bool has_site(const struct log_module *module, uint32_t site)
{
    return module != NULL && site - module->first_site < module->table.site_count;
}

const struct log_module *graph_module_of(const struct graph_builder *builder,
                                         const struct graph_raw *raw,
                                         uint32_t *number)
{
    *number = builder->calls[raw->call].module;
    if (!has_site(builder->modules[*number].module, raw->site)) {
        *number = 0;
        while (!has_site(builder->modules[*number].module, raw->site)) {
            ++*number;
            assert(*number < builder->module_count);
        }
    }
    return builder->modules[*number].module;
}

const struct site *graph_site_of(const struct graph_builder *builder,
                                 const struct graph_raw *raw)
{
    uint32_t number;
    const struct log_module *module = graph_module_of(builder, raw, &number);

    return &module->table.sites[raw->site - module->first_site];
}

void graph_modules_release(struct graph_builder *builder)
{
    for (uint32_t i = 0; i < builder->module_count; i++) {
        memory_free(builder->modules[i].next_lines);
        memory_free(builder->modules[i].ends);
    }
    memory_free(builder->modules);
    memory_free(builder->functions);
}

/* ---- turns of loops ---- */

static bool unit_add(struct graph_builder *builder,
                     uint32_t parent,
                     uint32_t call,
                     uint32_t loop,
                     uint32_t *unit)
{
    void *items = builder->units;

    if (!graph_grow(builder, &items, &builder->unit_capacity, builder->unit_count,
                    sizeof *builder->units)) {
        return false;
    }
    builder->units = items;
    builder->units[builder->unit_count] = (struct reading_unit){parent, call, loop};
    *unit = builder->unit_count++;
    return true;
}

/* Whether the site is in the loop's body, or is the loop's own. */
static bool
loop_has_site(const struct graph_module *module, uint32_t loop, uint32_t site)
{
    return site >= loop && site < module->ends[loop];
}

static bool
loop_has_line(const struct graph_module *module, uint32_t loop, uint32_t line)
{
    const struct site_table *table = &module->module->table;
    uint32_t end = module->ends[loop];

    assert(loop < table->site_count);
    return line == 0 || (line >= table->sites[loop].line &&
                         (end == table->site_count || line < table->sites[end].line ||
                          table->sites[end].function != table->sites[loop].function));
}

bool graph_turns_follow(struct graph_builder *builder,
                        const struct log_event_view *event,
                        uint32_t index)
{
    assert(index < builder->call_count);

    struct graph_raw_call *call = &builder->calls[index];
    const struct graph_module *module = &builder->modules[event->module_number];
    uint32_t first = event->module->first_site;
    uint32_t site = event->site_number - first;
    uint32_t unit = call->open_unit;

    if (event->module_number != call->module) {
        return true;
    }
    while (builder->units[unit].loop != GRAPH_NONE) {
        uint32_t loop = builder->units[unit].loop - first;

        if (loop != site && loop_has_site(module, loop, site)) {
            break;
        }
        unit = builder->units[unit].parent;
    }
    if (event->site->kind == SITE_LOOP &&
        !unit_add(builder, unit, index, event->site_number, &unit)) {
        return false;
    }
    builder->calls[index].open_unit = unit;
    return true;
}

void graph_turns_follow_line(struct graph_builder *builder,
                             struct graph_raw_call *call,
                             uint32_t line)
{
    const struct graph_module *module = &builder->modules[call->module];
    uint32_t first = module->module->first_site;

    while (builder->units[call->open_unit].loop != GRAPH_NONE &&
           !loop_has_line(module, builder->units[call->open_unit].loop - first, line)) {
        call->open_unit = builder->units[call->open_unit].parent;
    }
}

/* ---- calls ---- */

static bool call_has_module(const struct graph_builder *builder,
                            const struct graph_raw_call *call)
{
    return call->class_name != 0 && builder->texts.texts[call->class_name].size > 0;
}

static bool find_scopes(struct graph_builder *builder, struct graph_raw_call *call)
{
    const struct graph_module *module = &builder->modules[call->module];

    if (!graph_scope_begin(builder, call)) {
        return false;
    }
    call->owner = builder->functions[module->first_function + call->function].owner;
    if (call_has_module(builder, call)) {
        return graph_scope_of(builder, call->class_name, call->path, &call->owner);
    }
    return true;
}

static void put_pending(struct graph_builder *builder, uint32_t index)
{
    assert(index < builder->call_count);

    struct graph_raw_call *call = &builder->calls[index];
    struct graph_raw_call *parent = &builder->calls[call->parent];

    call->is_pending = true;
    if (parent->first_pending == GRAPH_NONE) {
        parent->first_pending = index;
    } else {
        builder->calls[parent->last_pending].next_pending = index;
    }
    parent->last_pending = index;
}

static bool
call_add(struct graph_builder *builder, const struct open_call *open, uint32_t *index)
{
    void *items = builder->calls;
    uint32_t parent = number_map_get(&builder->call_index, open->parent_number);
    struct graph_raw_call call = {
        .number = open->call,
        .parent = open->parent_number == 0 ? GRAPH_NONE : parent,
        .module = open->module_number,
        .function = open->function,
        .line = open->line,
        .first_pending = GRAPH_NONE,
        .last_pending = GRAPH_NONE,
        .next_pending = GRAPH_NONE,
        .first_argument = GRAPH_NONE,
        .first_result = GRAPH_NONE,
        .thread = open->thread,
        .next_over = GRAPH_NONE,
        .is_generator = open->is_generator,
        .is_joined = open->is_joined || !open->is_begun,
        .term_node = GRAPH_NONE,
        .next_at_term = GRAPH_NONE,
        .is_wanted = open->is_wanted,
    };
    uint32_t parent_unit = GRAPH_NONE;

    if (call.parent != GRAPH_NONE && !call.is_wanted) {
        const struct graph_raw_call *caller = &builder->calls[call.parent];

        call.is_between = caller->is_wanted || caller->is_between;
    }
    if (!graph_text_add(builder, open->path, &call.path) ||
        !graph_text_add(builder, open->class_name, &call.class_name) ||
        !find_scopes(builder, &call)) {
        return false;
    }
    if (call.parent != GRAPH_NONE) {
        graph_turns_follow_line(builder, &builder->calls[call.parent], call.line);
        parent_unit = builder->calls[call.parent].open_unit;
    }
    if (!graph_grow(builder, &items, &builder->call_capacity, builder->call_count,
                    sizeof *builder->calls)) {
        return false;
    }
    builder->calls = items;
    *index = builder->call_count;
    if (!unit_add(builder, parent_unit, *index, GRAPH_NONE, &call.unit)) {
        return false;
    }
    call.open_unit = call.unit;
    if (!number_map_put(&builder->call_index, call.number, *index)) {
        return graph_out_of_memory(builder);
    }
    builder->calls[builder->call_count++] = call;
    builder->functions[builder->modules[call.module].first_function + call.function]
        .last_call = *index;
    if (call.parent != GRAPH_NONE) {
        put_pending(builder, *index);
    }
    return true;
}

bool graph_call_begin(struct graph_builder *builder, const struct log_call_view *view)
{
    bool is_new;
    uint32_t index;
    struct open_call *open = open_calls_begin(&builder->open_calls, view, &is_new);

    if (open == NULL) {
        return graph_out_of_memory(builder);
    }
    if (!is_new) {
        return true;
    }
    if (builder->options->filter != NULL) {
        event_filter_judge(builder->options->filter, open, builder->reader);
    } else {
        open->is_wanted = true;
    }
    return graph_module_get(builder, view->module, view->module_number) &&
           call_add(builder, open, &index);
}

bool graph_call_of_event(struct graph_builder *builder,
                         const struct log_event_view *event,
                         struct open_call **open,
                         uint32_t *index)
{
    bool is_new;

    *open = open_calls_of_event(&builder->open_calls, event, &is_new);
    if (*open == NULL) {
        return graph_out_of_memory(builder);
    }
    if (!graph_module_get(builder, event->module, event->module_number)) {
        return false;
    }
    if (is_new) {
        (*open)->is_wanted = true;
        if (builder->options->filter != NULL) {
            event_filter_judge(builder->options->filter, *open, builder->reader);
        }
        return call_add(builder, *open, index);
    }
    *index = number_map_get(&builder->call_index, event->call);
    return !builder->calls[*index].is_forgotten ||
           graph_scope_begin(builder, &builder->calls[*index]);
}

void graph_call_end(struct graph_builder *builder, uint32_t number)
{
    uint32_t index = number_map_get(&builder->call_index, number);

    open_calls_end(&builder->open_calls, open_calls_find(&builder->open_calls, number));
    if (index != NUMBER_MAP_NONE) {
        builder->calls[index].is_ended = true;
    }
}
