#include "runtime/base/text_table.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

#include <assert.h>

bool text_table_init(struct text_table *table)
{
    void *texts = NULL;

    *table = (struct text_table){0};
    if (!memory_grow(&texts, &table->capacity, 1, sizeof *table->texts)) {
        return false;
    }
    table->texts = texts;
    table->texts[0] = SLICE("");
    table->count = 1;
    arena_init(&table->arena);
    number_map_init(&table->numbers);
    return true;
}

void text_table_release(struct text_table *table)
{
    memory_free(table->texts);
    arena_release(&table->arena);
    number_map_release(&table->numbers);
    *table = (struct text_table){0};
}

static uint32_t find(const struct text_table *table, struct slice text, uint64_t hash)
{
    struct number_map_search search = number_map_search(&table->numbers, hash);

    while (number_map_next(&search)) {
        assert(search.number < table->count);
        if (slice_equal(table->texts[search.number], text)) {
            return search.number;
        }
    }
    return NUMBER_MAP_NONE;
}

/* The slot for the number of a text at that address. It may hold the number of another text. */
static size_t recent_place(struct slice text)
{
    uintptr_t address = (uintptr_t)text.bytes;

    return (address ^ address >> 8 ^ text.size) % TEXT_TABLE_RECENT;
}

uint32_t text_table_find(const struct text_table *table, struct slice text)
{
    uint32_t recent = table->recent[recent_place(text)];

    if (slice_equal(table->texts[recent], text)) {
        return recent;
    }
    return text.size == 0 ? 0 : find(table, text, hash_64(text));
}

bool text_table_add(struct text_table *table, struct slice text, uint32_t *number)
{
    uint32_t *recent = &table->recent[recent_place(text)];
    uint64_t hash;
    uint32_t known;
    void *texts = table->texts;
    struct slice copy;

    assert(*recent < table->count);
    if (slice_equal(table->texts[*recent], text)) {
        *number = *recent;
        return true;
    }
    hash = hash_64(text);
    known = text.size == 0 ? 0 : find(table, text, hash);
    if (known != NUMBER_MAP_NONE) {
        *number = *recent = known;
        return true;
    }
    if (!memory_grow(&texts, &table->capacity, (size_t)table->count + 1,
                     sizeof *table->texts)) {
        return false;
    }
    table->texts = texts;
    copy = arena_copy(&table->arena, text);
    if (copy.bytes == NULL || !number_map_add(&table->numbers, hash, table->count)) {
        return false;
    }
    assert(table->count < table->capacity);
    table->texts[table->count] = copy;
    *number = *recent = table->count++;
    return true;
}
