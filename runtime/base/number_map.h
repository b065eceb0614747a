/* Numbers by keys: a hash table. The items with these numbers are in a list of the caller's. */
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

/* NUMBER_MAP_NONE where the key has no number. */
uint32_t number_map_get(const struct number_map *map, uint64_t key);
/* Gives the key that number, which is not NUMBER_MAP_NONE. false: out of memory. */
bool number_map_put(struct number_map *map, uint64_t key, uint32_t number);

/* A key of two numbers. */
static inline uint64_t number_map_key(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* Where the key is but a hash of the item in the list, several may go by one: number_map_add keeps
 * those that the key has, and a search visits all of them. Nothing may be added in between.
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
/* Sets `number`; false where there is no other. */
bool number_map_next(struct number_map_search *search);

#endif
