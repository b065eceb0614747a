/* What was last seen of leaves, objects and storages, and what happened since. */
#include "runtime/trace/history.h"

#include "runtime/base/memory.h"

#include <string.h>

#define TABLE_SIZE 16384 /* a power of two */

/* Who wrote to a storage last. */
struct writing {
    uint64_t storage; /* 0: free */
    uint64_t event;
    uint32_t site;
};

/* Which event held an object last. */
struct holding {
    struct name_state state; /* object 0: free */
};

struct history {
    struct writing writings[TABLE_SIZE];
    struct holding holdings[TABLE_SIZE];
};

static size_t slot_of(uint64_t address)
{
    return (size_t)((address * 0x9e3779b97f4a7c15u) >> 50);
}

_Static_assert(TABLE_SIZE == 1 << (64 - 50), "slot_of gives an index of the tables");

struct history *history_new(void)
{
    return memory_allocate_zeroed(1, sizeof(struct history));
}

void history_free(struct history *history)
{
    memory_free(history);
}

void history_clear(struct history *history)
{
    memset(history, 0, sizeof(*history));
}

void leaf_states_release(struct leaf_states *states)
{
    memory_free(states->entries);
    *states = (struct leaf_states){0};
}

/* The entry of `key`, or the free one where it belongs. */
static struct leaf_state *
find_leaf(struct leaf_state *entries, size_t capacity, uint64_t key)
{
    size_t i = (size_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (capacity - 1);

    while (entries[i].key != 0 && entries[i].key != key) {
        i = (i + 1) & (capacity - 1);
    }
    return &entries[i];
}

static bool grow_leaves(struct leaf_states *states)
{
    size_t capacity = states->capacity == 0 ? 16 : states->capacity * 2;
    struct leaf_state *entries =
        memory_allocate_zeroed(capacity, sizeof(struct leaf_state));

    if (entries == NULL) {
        return false;
    }
    for (size_t i = 0; i < states->capacity; i++) {
        if (states->entries[i].key != 0) {
            *find_leaf(entries, capacity, states->entries[i].key) = states->entries[i];
        }
    }
    memory_free(states->entries);
    states->entries = entries;
    states->capacity = capacity;
    return true;
}

struct name_state *
leaf_states_get(struct leaf_states *states, uint32_t name, uint32_t path)
{
    uint64_t key = (uint64_t)name << 32 | path;

    if (states->count * 4 >= states->capacity * 3 && !grow_leaves(states)) {
        return NULL;
    }
    struct leaf_state *entry = find_leaf(states->entries, states->capacity, key);
    if (entry->key == 0) {
        entry->key = key;
        states->count++;
    }
    return &entry->state;
}

/* The last event that held the very object that is seen now, before it is written over. An
 * address that another object has taken since is told by its data or its values. */
static uint64_t find_origin(const struct holding *holding, const struct name_state *now)
{
    const struct name_state *then = &holding->state;

    if (then->object != now->object || then->data != now->data ||
        then->kind != now->kind || then->version > now->version) {
        return 0;
    }
    if (then->version == now->version && then->has_hash && now->has_hash &&
        then->hash != now->hash) {
        return 0;
    }
    return then->event + 1;
}

static bool is_written(const struct name_state *before, const struct name_state *now)
{
    if (before->version != now->version) {
        return true;
    }
    return before->has_hash && now->has_hash && before->hash != now->hash;
}

struct verdict history_judge(struct history *history,
                             const struct name_state *before,
                             const struct sighting *sighting)
{
    const struct name_state *now = &sighting->state;
    struct verdict verdict = {CHANGE_NEW, UINT32_MAX, 0, false};
    struct holding *holding = &history->holdings[slot_of(now->object)];
    struct writing *writing = &history->writings[slot_of(sighting->storage)];
    bool is_known = writing->storage == sighting->storage;

    verdict.origin = find_origin(holding, now);
    holding->state = *now;
    if (before->object != 0) {
        verdict.differs_in_values =
            before->has_hash && now->has_hash && before->hash != now->hash;
        /* A counter that went back belongs to another object at the same address. */
        if (before->object != now->object || before->kind != now->kind ||
            before->version > now->version) {
            verdict.change = CHANGE_REBOUND;
        } else if (!is_written(before, now)) {
            verdict.change = CHANGE_SAME;
        } else if (!sighting->is_write && is_known && writing->event > before->event) {
            verdict.change = CHANGE_ALIASED;
            verdict.alias_site = writing->site;
        } else {
            verdict.change = CHANGE_MUTATED;
        }
    }
    if (sighting->storage != 0 &&
        (verdict.change == CHANGE_MUTATED || sighting->is_write)) {
        *writing = (struct writing){sighting->storage, now->event, sighting->site};
    }
    return verdict;
}
