/* Number maps: hash tables from keys to numbers, usually indices of items in a list of the
 * caller. */
#ifndef MONITORCH_BASE_NUMBER_MAP_H
#define MONITORCH_BASE_NUMBER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_MAP_NONE UINT32_MAX

struct number_map_entry {
    uint64_t key;
    uint32_t number; /* NUMBER_MAP_NONE: the entry is free */
};

struct number_map {
    struct number_map_entry *entries; /* owned; may be NULL */
    size_t capacity;                  /* a power of two, or 0 */
    size_t count;
};

void number_map_init(struct number_map *map);
void number_map_release(struct number_map *map);

/* The number of the key, or NUMBER_MAP_NONE. */
uint32_t number_map_get(const struct number_map *map, uint64_t key);
/* Sets the number of the key, which must not be NUMBER_MAP_NONE. Returns false if memory runs
 * out. */
bool number_map_put(struct number_map *map, uint64_t key, uint32_t number);

/* Makes a key of two numbers. */
static inline uint64_t number_map_key(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* Iterates over all numbers of a key. If keys are hashes of items, several items can share a key:
 * number_map_add keeps the numbers that the key has already. Nothing may be added during a search.
 *
 *     struct number_map_search search = number_map_search(&list->map, hash_64(name));
 *
 *     while (number_map_next(&search)) {
 *         if (slice_equal(list->items[search.number].name, name)) {
 *             return &list->items[search.number];
 *         }
 *     } */
struct number_map_search {
    const struct number_map *map; /* borrowed */
    uint64_t key;
    size_t place;
    uint32_t number;
};

bool number_map_add(struct number_map *map, uint64_t key, uint32_t number);
struct number_map_search number_map_search(const struct number_map *map, uint64_t key);
/* Sets `number`. Returns false if there are no more. */
bool number_map_next(struct number_map_search *search);

#endif
