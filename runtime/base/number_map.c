/* Number maps: hash tables with open addressing. */
#include "runtime/base/number_map.h"

#include "runtime/base/memory.h"

#include <assert.h>

#define FIRST_CAPACITY 16

void number_map_init(struct number_map *map)
{
    *map = (struct number_map){0};
}

void number_map_release(struct number_map *map)
{
    memory_free(map->entries);
    *map = (struct number_map){0};
}

/* Mixes all bits of the key: after a multiplication alone, keys with the same low bits would
 * collide. Keys may come from an untrusted trace; a malicious set of keys can only make this
 * slow. */
static size_t place_of(uint64_t key, size_t capacity)
{
    key ^= key >> 32;
    key *= 0x9e3779b97f4a7c15u;
    key ^= key >> 29;
    key *= 0xbf58476d1ce4e5b9u;
    key ^= key >> 32;
    return (size_t)key & (capacity - 1);
}

static void fill_free_place(struct number_map *map, struct number_map_entry entry)
{
    size_t place = place_of(entry.key, map->capacity);

    /* A search ends at a free entry. */
    assert(entry.number != NUMBER_MAP_NONE && map->count < map->capacity);
    while (map->entries[place].number != NUMBER_MAP_NONE) {
        place = (place + 1) & (map->capacity - 1);
    }
    map->entries[place] = entry;
}

static bool grow(struct number_map *map)
{
    struct number_map larger = {
        .capacity = map->capacity == 0 ? FIRST_CAPACITY : map->capacity * 2,
        .count = map->count,
    };

    larger.entries = memory_allocate(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL) {
        return false;
    }
    for (size_t i = 0; i < larger.capacity; i++) {
        larger.entries[i] = (struct number_map_entry){0, NUMBER_MAP_NONE};
    }
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->entries[i].number != NUMBER_MAP_NONE) {
            fill_free_place(&larger, map->entries[i]);
        }
    }
    assert((larger.capacity & (larger.capacity - 1)) == 0);
    memory_free(map->entries);
    *map = larger;
    return true;
}

bool number_map_add(struct number_map *map, uint64_t key, uint32_t number)
{
    if (map->count * 4 >= map->capacity * 3 && !grow(map)) {
        return false;
    }
    fill_free_place(map, (struct number_map_entry){key, number});
    map->count++;
    assert(map->count <= map->capacity / 4 * 3);
    return true;
}

/* The first entry with that key, from that place on. NULL if there is none. */
static struct number_map_entry *
find_entry(const struct number_map *map, uint64_t key, size_t place)
{
    if (map->capacity == 0) {
        return NULL;
    }
    assert(place < map->capacity);
    while (map->entries[place].number != NUMBER_MAP_NONE) {
        if (map->entries[place].key == key) {
            return &map->entries[place];
        }
        place = (place + 1) & (map->capacity - 1);
    }
    return NULL;
}

uint32_t number_map_get(const struct number_map *map, uint64_t key)
{
    const struct number_map_entry *entry =
        find_entry(map, key, place_of(key, map->capacity));

    return entry == NULL ? NUMBER_MAP_NONE : entry->number;
}

bool number_map_put(struct number_map *map, uint64_t key, uint32_t number)
{
    struct number_map_entry *entry = find_entry(map, key, place_of(key, map->capacity));

    if (entry == NULL) {
        return number_map_add(map, key, number);
    }
    entry->number = number;
    return true;
}

struct number_map_search number_map_search(const struct number_map *map, uint64_t key)
{
    return (struct number_map_search){
        .map = map,
        .key = key,
        .place = place_of(key, map->capacity),
        .number = NUMBER_MAP_NONE,
    };
}

bool number_map_next(struct number_map_search *search)
{
    const struct number_map *map = search->map;
    const struct number_map_entry *entry = find_entry(map, search->key, search->place);

    if (entry == NULL) {
        return false;
    }
    search->number = entry->number;
    search->place = (size_t)(entry - map->entries + 1) & (map->capacity - 1);
    return true;
}
