/* Small tables for what makes the graph: numbers by numbers, and numbers for texts. */
#ifndef MONITORCH_VIEW_FLOW_MAP_H
#define MONITORCH_VIEW_FLOW_MAP_H

#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLOW_MAP_NONE UINT32_MAX

struct flow_map_entry {
    uint64_t key;
    uint32_t value; /* FLOW_MAP_NONE: the entry is free */
};

struct flow_map {
    struct flow_map_entry *entries; /* owned; may be NULL */
    size_t capacity;                /* a power of two, or 0 */
    size_t count;
};

void flow_map_init(struct flow_map *map);
void flow_map_release(struct flow_map *map);

/* FLOW_MAP_NONE where the key has no value. */
uint32_t flow_map_get(const struct flow_map *map, uint64_t key);
/* `value` is not FLOW_MAP_NONE. false: out of memory. */
bool flow_map_put(struct flow_map *map, uint64_t key, uint32_t value);

static inline uint64_t flow_key(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* Equal texts have equal numbers. Number 0 is the empty text. */
struct flow_texts {
    struct slice *texts; /* owned, and the bytes */
    size_t capacity;
    uint32_t count;
    uint32_t *slots; /* owned: numbers, by the texts' hashes; 0: free */
    size_t slot_count;
};

bool flow_texts_init(struct flow_texts *texts);
void flow_texts_release(struct flow_texts *texts);

/* Gives the text's number, a new one where it has none. false: out of memory. */
bool flow_texts_add(struct flow_texts *texts, struct slice text, uint32_t *number);
/* FLOW_MAP_NONE where it has none. */
uint32_t flow_texts_find(const struct flow_texts *texts, struct slice text);

#endif
