#include "runtime/record/site_module.h"

#include "runtime/base/memory.h"

#include <assert.h>
#include <stdatomic.h>

static atomic_ullong last_number;

static bool copy_texts(struct site_module *module, const struct module_text *text)
{
    struct arena *arena = &module->arena;

    module->text = (struct module_text){
        .table = arena_copy(arena, text->table),
        .name = arena_copy(arena, text->name),
        .file = arena_copy(arena, text->file),
        .source = arena_copy(arena, text->source),
        .source_tag = text->source_tag,
    };
    return !arena->has_failed;
}

static void site_module_free(struct site_module *module)
{
    arena_release(&module->arena);
    memory_free(module);
}

struct site_module *site_module_new(const struct module_text *text, struct error *error)
{
    struct site_module *module = memory_allocate_zeroed(1, sizeof(*module));

    if (module == NULL) {
        error_set_memory(error);
        return NULL;
    }
    arena_init(&module->arena);
    if (!copy_texts(module, text)) {
        error_set_memory(error);
        site_module_free(module);
        return NULL;
    }
    if (!site_table_read(&module->table, module->text.table, &module->arena, error)) {
        site_module_free(module);
        return NULL;
    }
    module->user_count = 1;
    return module;
}

void site_module_number(struct site_module *module)
{
    assert(module->number == 0);
    module->number = atomic_fetch_add(&last_number, 1) + 1;
}

struct site_module *site_module_use(struct site_module *module)
{
    assert(module->user_count > 0);
    module->user_count++;
    return module;
}

void site_module_leave(struct site_module *module)
{
    if (module == NULL) {
        return;
    }
    assert(module->user_count > 0);
    module->user_count--;
    if (module->user_count == 0) {
        site_module_free(module);
    }
}
