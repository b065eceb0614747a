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

/* A name of a function, in the table of all (function, name). */
struct numbered_name {
    struct slice name;
    uint32_t function;
    uint32_t number; /* + 1; 0: free */
};

struct name_table {
    struct numbered_name *entries;
    size_t capacity; /* a power of two */
};

static uint32_t number_name(struct recorded_module *module,
                            struct name_table *seen,
                            uint32_t function,
                            struct slice name)
{
    size_t slot = (hash_64(name) + function) & (seen->capacity - 1);
    struct numbered_name *entry = &seen->entries[slot];

    while (entry->number != 0 &&
           !(entry->function == function && slice_equal(entry->name, name))) {
        slot = (slot + 1) & (seen->capacity - 1);
        entry = &seen->entries[slot];
    }
    if (entry->number == 0) {
        *entry = (struct numbered_name){name, function,
                                        ++module->functions[function].name_count};
    }
    return entry->number - 1;
}

/* Numbers the different names that each function writes, and those that it reads. */
static bool
number_names(struct recorded_module *module, size_t name_count, bool has_reads)
{
    struct name_table seen = {.capacity = 16};
    uint32_t next = 0;

    while (seen.capacity < name_count * 2) {
        seen.capacity *= 2;
    }
    seen.entries = memory_allocate_zeroed(seen.capacity, sizeof(*seen.entries));
    if (seen.entries == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < module->table.site_count; i++) {
        const struct site *site = &module->table.sites[i];

        module->sites[i].names = next;
        for (uint32_t j = 0; j < site->write_count; j++) {
            module->names[next++] =
                number_name(module, &seen, site->function, site->writes[j].name);
        }
        for (uint32_t j = 0; j < site->read_count; j++) {
            struct slice name = site->reads[j].name;

            module->names[next++] =
                has_reads && site->kind != SITE_ENTER
                    ? number_name(module, &seen, site->function, name)
                    : SITE_NONE;
        }
    }
    memory_free(seen.entries);
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
    if (arena->has_failed || !number_names(module, name_count, has_reads)) {
        return false;
    }
    number_sites(module);
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
