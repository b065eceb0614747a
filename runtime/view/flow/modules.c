/* What the site tables of a trace's modules say before anything ran: functions, the bodies of loops,
 * where names live. */
#include "runtime/view/flow/build.h"

#include "runtime/base/memory.h"

/* The function that `name` is written in: `f` of `f.<locals>.g`. */
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

/* What stands before the last dot: `Net` of `Net.forward`. */
static struct slice class_of(struct slice name)
{
    size_t end = name.size;

    while (end > 0 && name.bytes[end - 1] != '.') {
        end--;
    }
    return slice_part(name, 0, end == 0 ? 0 : end - 1);
}

bool flow_scope_of(struct flow_builder *builder,
                   uint32_t high,
                   uint32_t low,
                   uint32_t *scope)
{
    uint32_t known = number_map_get(&builder->scope_index, number_map_key(high, low));

    if (known == NUMBER_MAP_NONE) {
        known = builder->scope_count++;
        if (!number_map_put(&builder->scope_index, number_map_key(high, low), known)) {
            return flow_out_of_memory(builder);
        }
    }
    *scope = known;
    return true;
}

static bool fill_function(struct flow_builder *builder,
                          const struct flow_module *known,
                          uint32_t index,
                          struct number_map *by_name)
{
    struct slice name = known->module->table.functions[index].name;
    struct slice class_name = class_of(name);
    struct flow_function *function = &builder->functions[known->first_function + index];
    uint32_t text, class_text, enclosing;

    if (!flow_text(builder, name, &text) ||
        !flow_text(builder, enclosing_name(name), &enclosing) ||
        !flow_text(builder, class_name, &class_text)) {
        return false;
    }
    *function = (struct flow_function){
        .enclosing = number_map_get(by_name, enclosing),
        .last_call = FLOW_NONE,
        .owner = FLOW_NONE,
        .is_init = slice_ends(name, SLICE(".__init__")),
    };
    /* Scopes of classes are told from those of modules' paths by the highest bit. */
    return (class_name.size == 0 || flow_scope_of(builder, known->globals | 1u << 31,
                                                  class_text, &function->owner)) &&
           number_map_put(by_name, text, index);
}

static bool add_functions(struct flow_builder *builder, struct flow_module *known)
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
    return is_done || flow_out_of_memory(builder);
}

/* Sites stand in the order of the text, so each function's lines grow. */
static void find_next_lines(struct flow_module *known, uint32_t *lines, uint32_t *above)
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

/* A loop's body ends where a statement of the function stands no further to the right. */
static void find_ends(struct flow_module *known, uint32_t *open)
{
    const struct site_table *table = &known->module->table;
    uint32_t count = 0;

    for (uint32_t i = 0; i < table->site_count; i++) {
        const struct site *site = &table->sites[i];
        uint32_t kept = 0;

        known->ends[i] = table->site_count;
        /* Those of the functions around stay open in the insides of inner ones. */
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
        /* Nested deeper than anyone writes: what is beyond has the function's end. */
        if (site->kind == SITE_LOOP && count < 128) {
            open[count++] = i;
        }
    }
}

static bool add_sites(struct flow_builder *builder, struct flow_module *known)
{
    const struct site_table *table = &known->module->table;
    size_t count = table->function_count;
    uint32_t *room = memory_allocate(2 * count + 128, sizeof *room);

    known->next_lines = memory_allocate(table->site_count, sizeof *known->next_lines);
    known->ends = memory_allocate(table->site_count, sizeof *known->ends);
    if (room == NULL || known->next_lines == NULL || known->ends == NULL) {
        memory_free(room);
        return flow_out_of_memory(builder);
    }
    find_next_lines(known, room, room + count);
    find_ends(known, room);
    memory_free(room);
    return true;
}

/* Where each function's names live that are not its own, as its reads tell. */
static bool add_name_scopes(struct flow_builder *builder,
                            const struct flow_module *known)
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
            if (!flow_text(builder, read->name, &name) ||
                !number_map_put(
                    &builder->name_scopes,
                    number_map_key(known->first_function + site->function, name),
                    (uint32_t)read->scope)) {
                return flow_out_of_memory(builder);
            }
        }
    }
    return true;
}

bool flow_module_get(struct flow_builder *builder,
                     const struct log_module *module,
                     uint32_t number)
{
    void *items = builder->modules;
    struct flow_module *known;

    if (number < builder->module_count && builder->modules[number].module != NULL) {
        return true;
    }
    if (!memory_grow(&items, &builder->module_capacity, (size_t)number + 1,
                     sizeof *builder->modules)) {
        return flow_out_of_memory(builder);
    }
    builder->modules = items;
    while (builder->module_count <= number) {
        builder->modules[builder->module_count++] = (struct flow_module){0};
    }
    known = &builder->modules[number];
    known->module = module;
    known->globals = builder->scope_count++;
    return add_functions(builder, known) && add_sites(builder, known) &&
           add_name_scopes(builder, known);
}

void flow_modules_release(struct flow_builder *builder)
{
    for (uint32_t i = 0; i < builder->module_count; i++) {
        memory_free(builder->modules[i].next_lines);
        memory_free(builder->modules[i].ends);
    }
    memory_free(builder->modules);
    memory_free(builder->functions);
}
