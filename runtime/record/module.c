/* A module of a recording: its sites, names and loops, numbered for quick visits. */
#include "runtime/record/module.h"

#include "runtime/base/memory.h"
#include "runtime/base/number_map.h"
#include "runtime/base/text_table.h"

#include <string.h>

static bool copy_texts(struct recorded_module *module, const struct module_text *text)
{
    struct arena *arena = &module->arena;

    module->text.table = arena_copy(arena, text->table);
    module->text.name = arena_copy(arena, text->name);
    module->text.file = arena_copy(arena, text->file);
    module->text.source = arena_copy(arena, text->source);
    module->text.source_tag = text->source_tag;
    return !arena->has_failed;
}

static void *allocate_zeroed(struct arena *arena, size_t count, size_t size)
{
    void *block = arena_allocate(arena, count > 0 ? count : 1, size);

    if (block != NULL) {
        memset(block, 0, count * size);
    }
    return block;
}

/* The numbers that names of functions have got. */
struct name_numbers {
    struct text_table names;
    struct number_map numbers; /* by function and name */
};

static bool number_name(struct recorded_module *module,
                        struct name_numbers *seen,
                        uint32_t function,
                        struct slice name,
                        uint32_t *number)
{
    uint32_t text;
    uint64_t key;

    if (!text_table_add(&seen->names, name, &text)) {
        return false;
    }
    key = number_map_key(function, text);
    *number = number_map_get(&seen->numbers, key);
    if (*number != NUMBER_MAP_NONE) {
        return true;
    }
    *number = module->functions[function].name_count++;
    return number_map_put(&seen->numbers, key, *number);
}

static bool number_names_of(struct recorded_module *module,
                            struct name_numbers *seen,
                            uint32_t number,
                            bool has_reads)
{
    const struct site *site = &module->table.sites[number];
    uint32_t *names = &module->names[module->sites[number].names];

    for (uint32_t i = 0; i < site->write_count; i++) {
        if (!number_name(module, seen, site->function, site->writes[i].name, names++)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < site->read_count; i++, names++) {
        *names = SITE_NONE;
        if (has_reads && site->kind != SITE_ENTER &&
            !number_name(module, seen, site->function, site->reads[i].name, names)) {
            return false;
        }
    }
    return true;
}

/* Numbers the different names that each function writes, and those that it reads. */
static bool number_names(struct recorded_module *module, bool has_reads)
{
    struct name_numbers seen;
    uint32_t next = 0;
    bool is_done;

    number_map_init(&seen.numbers);
    is_done = text_table_init(&seen.names);
    for (uint32_t i = 0; is_done && i < module->table.site_count; i++) {
        const struct site *site = &module->table.sites[i];

        module->sites[i].names = next;
        next += site->write_count + site->read_count;
        is_done = number_names_of(module, &seen, i, has_reads);
    }
    number_map_release(&seen.numbers);
    text_table_release(&seen.names);
    return is_done;
}

/* The first loop of the function at or after its header's record. */
static uint32_t find_loop(const struct site_table *table, uint32_t header)
{
    for (uint32_t i = header + 1; i < table->site_count; i++) {
        if (table->sites[i].kind == SITE_LOOP &&
            table->sites[i].function == table->sites[header].function) {
            return i;
        }
    }
    return SITE_NONE;
}

static void number_sites(struct recorded_module *module)
{
    const struct site_table *table = &module->table;

    for (uint32_t f = 0; f < table->function_count; f++) {
        module->functions[f].enter = SITE_NONE;
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        struct call_function *function = &module->functions[table->sites[i].function];
        if (table->sites[i].kind == SITE_ENTER && function->enter == SITE_NONE) {
            function->enter = i;
        }
        module->sites[i].local = function->site_count++;
        module->sites[i].repeat =
            table->sites[i].repeats ? function->repeat_count++ : SITE_NONE;
    }
    uint32_t next = 0;
    for (uint32_t f = 0; f < table->function_count; f++) {
        module->functions[f].index = f;
        module->first_repeating[f] = next;
        next += module->functions[f].repeat_count;
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        if (table->sites[i].repeats) {
            uint32_t first = module->first_repeating[table->sites[i].function];
            module->repeating[first + module->sites[i].repeat] =
                (struct repeating_site){i, find_loop(table, i)};
        }
    }
}

/* A loop's body are the sites that follow it in its function and stand further to the right. */
static void find_loops(struct recorded_module *module, uint32_t *open)
{
    const struct site_table *table = &module->table;

    for (uint32_t f = 0; f < table->function_count; f++) {
        open[f] = SITE_NONE;
        module->functions[f].first_loop = SITE_NONE;
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        const struct site *site = &table->sites[i];
        uint32_t *loop = &open[site->function];

        while (*loop != SITE_NONE && site->column <= table->sites[*loop].column &&
               site->line > table->sites[*loop].line) {
            module->sites[*loop].last_line = site->line - 1;
            *loop = module->sites[*loop].loop;
        }
        module->sites[i].loop = *loop;
        module->sites[i].last_line = UINT32_MAX;
        module->sites[i].next_loop = SITE_NONE;
        if (site->kind == SITE_LOOP) {
            *loop = i;
            module->sites[i].next_loop = module->functions[site->function].first_loop;
            module->functions[site->function].first_loop = i;
        }
    }
}

static bool prepare(struct recorded_module *module, bool has_reads)
{
    const struct site_table *table = &module->table;
    struct arena *arena = &module->arena;
    size_t name_count = 0;
    uint32_t repeat_count = 0;

    for (uint32_t i = 0; i < table->site_count; i++) {
        name_count += (size_t)table->sites[i].write_count + table->sites[i].read_count;
        repeat_count += table->sites[i].repeats;
    }
    module->sites =
        allocate_zeroed(arena, table->site_count, sizeof(struct recorded_site));
    module->names = allocate_zeroed(arena, name_count, sizeof(uint32_t));
    module->functions =
        allocate_zeroed(arena, table->function_count, sizeof(struct call_function));
    module->repeating =
        allocate_zeroed(arena, repeat_count, sizeof(struct repeating_site));
    module->first_repeating =
        allocate_zeroed(arena, table->function_count, sizeof(uint32_t));
    uint32_t *open = allocate_zeroed(arena, table->function_count, sizeof(uint32_t));
    if (arena->has_failed || !number_names(module, has_reads)) {
        return false;
    }
    number_sites(module);
    find_loops(module, open);
    return true;
}

struct recorded_module *
recorded_module_new(const struct module_text *text, bool has_reads, struct error *error)
{
    struct recorded_module *module = memory_allocate_zeroed(1, sizeof(*module));

    if (module == NULL) {
        error_set_memory(error);
        return NULL;
    }
    arena_init(&module->arena);
    if (!copy_texts(module, text)) {
        error_set_memory(error);
        recorded_module_free(module);
        return NULL;
    }
    if (!site_table_read(&module->table, module->text.table, &module->arena, error)) {
        recorded_module_free(module);
        return NULL;
    }
    if (!prepare(module, has_reads)) {
        error_set_memory(error);
        recorded_module_free(module);
        return NULL;
    }
    return module;
}

void recorded_module_free(struct recorded_module *module)
{
    if (module == NULL) {
        return;
    }
    for (uint32_t i = 0; module->functions != NULL && i < module->table.function_count;
         i++) {
        call_function_release(&module->functions[i]);
    }
    arena_release(&module->arena);
    memory_free(module);
}
