/* Numbers by numbers, and numbers for texts: tables with open addressing. */
#include "runtime/view/flow_map.h"

#include "runtime/base/hash.h"
#include "runtime/base/memory.h"

#define FIRST_CAPACITY 64

void flow_map_init(struct flow_map *map)
{
    *map = (struct flow_map){0};
}

void flow_map_release(struct flow_map *map)
{
    memory_free(map->entries);
    *map = (struct flow_map){0};
}

/* Keys may come from an untrusted trace, but an ill-chosen set of them makes this slow at
 * worst: a multiplication by itself would let low bits alone collide. */
static size_t slot_of(uint64_t key, size_t capacity)
{
    key ^= key >> 32;
    key *= 0x9e3779b97f4a7c15u;
    key ^= key >> 29;
    key *= 0xbf58476d1ce4e5b9u;
    key ^= key >> 32;
    return (size_t)key & (capacity - 1);
}

/* The entry of `key`, or the free one where it belongs. */
static struct flow_map_entry *
find_entry(struct flow_map_entry *entries, size_t capacity, uint64_t key)
{
    size_t i = slot_of(key, capacity);

    while (entries[i].value != FLOW_MAP_NONE && entries[i].key != key) {
        i = (i + 1) & (capacity - 1);
    }
    return &entries[i];
}

static bool grow_map(struct flow_map *map)
{
    size_t capacity = map->capacity == 0 ? FIRST_CAPACITY : map->capacity * 2;
    struct flow_map_entry *entries = memory_allocate(capacity, sizeof *entries);

    if (entries == NULL) {
        return false;
    }
    for (size_t i = 0; i < capacity; i++) {
        entries[i] = (struct flow_map_entry){0, FLOW_MAP_NONE};
    }
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->entries[i].value != FLOW_MAP_NONE) {
            *find_entry(entries, capacity, map->entries[i].key) = map->entries[i];
        }
    }
    memory_free(map->entries);
    map->entries = entries;
    map->capacity = capacity;
    return true;
}

uint32_t flow_map_get(const struct flow_map *map, uint64_t key)
{
    if (map->count == 0) {
        return FLOW_MAP_NONE;
    }
    return find_entry(map->entries, map->capacity, key)->value;
}

bool flow_map_put(struct flow_map *map, uint64_t key, uint32_t value)
{
    struct flow_map_entry *entry;

    if (map->count * 4 >= map->capacity * 3 && !grow_map(map)) {
        return false;
    }
    entry = find_entry(map->entries, map->capacity, key);
    map->count += entry->value == FLOW_MAP_NONE;
    *entry = (struct flow_map_entry){key, value};
    return true;
}

/* ---- texts ---- */

bool flow_texts_init(struct flow_texts *texts)
{
    void *items = NULL;

    *texts = (struct flow_texts){0};
    if (!memory_grow(&items, &texts->capacity, 1, sizeof *texts->texts)) {
        return false;
    }
    texts->texts = items;
    texts->texts[0] = SLICE("");
    texts->count = 1;
    return true;
}

void flow_texts_release(struct flow_texts *texts)
{
    for (uint32_t i = 1; i < texts->count; i++) {
        memory_free((char *)texts->texts[i].bytes);
    }
    memory_free(texts->texts);
    memory_free(texts->slots);
    *texts = (struct flow_texts){0};
}

/* The slot of the text, or the free one where it belongs. */
static uint32_t *find_slot(const struct flow_texts *texts, struct slice text)
{
    size_t i = (size_t)hash_64(text) & (texts->slot_count - 1);

    while (texts->slots[i] != 0 && !slice_equal(texts->texts[texts->slots[i]], text)) {
        i = (i + 1) & (texts->slot_count - 1);
    }
    return &texts->slots[i];
}

static bool grow_slots(struct flow_texts *texts)
{
    size_t count = texts->slot_count == 0 ? FIRST_CAPACITY : texts->slot_count * 2;
    uint32_t *slots = memory_allocate_zeroed(count, sizeof *slots);

    if (slots == NULL) {
        return false;
    }
    memory_free(texts->slots);
    texts->slots = slots;
    texts->slot_count = count;
    for (uint32_t i = 1; i < texts->count; i++) {
        *find_slot(texts, texts->texts[i]) = i;
    }
    return true;
}

uint32_t flow_texts_find(const struct flow_texts *texts, struct slice text)
{
    uint32_t number;

    if (text.size == 0) {
        return 0;
    }
    number = texts->slot_count == 0 ? 0 : *find_slot(texts, text);
    return number == 0 ? FLOW_MAP_NONE : number;
}

bool flow_texts_add(struct flow_texts *texts, struct slice text, uint32_t *number)
{
    uint32_t known = flow_texts_find(texts, text);
    void *items = texts->texts;
    char *bytes;

    if (known != FLOW_MAP_NONE) {
        *number = known;
        return true;
    }
    if ((size_t)texts->count * 4 >= texts->slot_count * 3 && !grow_slots(texts)) {
        return false;
    }
    if (!memory_grow(&items, &texts->capacity, (size_t)texts->count + 1,
                     sizeof *texts->texts)) {
        return false;
    }
    texts->texts = items;
    bytes = memory_allocate(text.size, 1);
    if (bytes == NULL) {
        return false;
    }
    memcpy(bytes, text.bytes, text.size);
    *find_slot(texts, text) = texts->count;
    texts->texts[texts->count] = (struct slice){bytes, text.size};
    *number = texts->count++;
    return true;
}
