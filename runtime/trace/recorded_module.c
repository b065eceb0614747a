/* A module of a recording: its sites, names and loops, numbered for quick visits. */
#include "runtime/trace/recorded_module.h"

#include "runtime/base/hash.h"
#include "runtime/base/memory.h"

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

/* Numbers the different names that each function writes, by a table of all (function, name). */
static bool number_names(struct recorded_module *module, uint32_t write_count)
{
    size_t capacity = 16;
    while (capacity < (size_t)write_count * 2) {
        capacity *= 2;
    }
    struct {
        struct slice name;
        uint32_t function;
        uint32_t number; /* + 1; 0: free */
    } *seen = memory_allocate_zeroed(capacity, sizeof(*seen));
    if (seen == NULL) {
        return false;
    }
    uint32_t next = 0;
    for (uint32_t i = 0; i < module->table.site_count; i++) {
        const struct site *site = &module->table.sites[i];
        module->sites[i].names = next;
        for (uint32_t j = 0; j < site->write_count; j++) {
            struct slice name = site->writes[j].name;
            size_t slot = (hash_64(name) + site->function) & (capacity - 1);
            while (seen[slot].number != 0 && !(seen[slot].function == site->function &&
                                               slice_equal(seen[slot].name, name))) {
                slot = (slot + 1) & (capacity - 1);
            }
            if (seen[slot].number == 0) {
                seen[slot].name = name;
                seen[slot].function = site->function;
                seen[slot].number = ++module->functions[site->function].name_count;
            }
            module->names[next] = seen[slot].number - 1;
            next++;
        }
    }
    memory_free(seen);
    return true;
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

    for (uint32_t i = 0; i < table->site_count; i++) {
        struct call_function *function = &module->functions[table->sites[i].function];
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

static bool prepare(struct recorded_module *module)
{
    const struct site_table *table = &module->table;
    struct arena *arena = &module->arena;
    uint32_t write_count = 0;
    uint32_t repeat_count = 0;

    for (uint32_t i = 0; i < table->site_count; i++) {
        write_count += table->sites[i].write_count;
        repeat_count += table->sites[i].repeats;
    }
    module->sites =
        allocate_zeroed(arena, table->site_count, sizeof(struct recorded_site));
    module->names = allocate_zeroed(arena, write_count, sizeof(uint32_t));
    module->functions =
        allocate_zeroed(arena, table->function_count, sizeof(struct call_function));
    module->repeating =
        allocate_zeroed(arena, repeat_count, sizeof(struct repeating_site));
    module->first_repeating =
        allocate_zeroed(arena, table->function_count, sizeof(uint32_t));
    if (arena->has_failed || !number_names(module, write_count)) {
        return false;
    }
    number_sites(module);
    return true;
}

struct recorded_module *recorded_module_new(const struct module_text *text,
                                            struct error *error)
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
    if (!prepare(module)) {
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
