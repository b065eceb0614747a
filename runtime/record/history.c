/* What was last seen of leaves, objects and storages, and what happened since. */
#include "runtime/record/history.h"

#include "runtime/base/memory.h"

#include <string.h>

#define SET_COUNT 2048 /* a power of two */
/* An address has so many places, whose addresses lie side by side in a line of the processor's
 * cache: with one alone, two of a few hundred objects would share it, and where programs lie in
 * memory would decide what is known of them. */
#define WAY_COUNT 8

/* Who wrote to a storage last. */
struct writing {
    uint64_t event;
    uint32_t site;
};

struct history {
    uint64_t written[SET_COUNT]
                    [WAY_COUNT]; /* storages; 0: free, and so are those behind it */
    uint64_t held[SET_COUNT][WAY_COUNT]; /* objects; the same */
    struct writing writings[SET_COUNT][WAY_COUNT];
    struct name_state holdings[SET_COUNT]
                              [WAY_COUNT]; /* by the event that held it last */
    uint64_t since[SET_COUNT]
                  [WAY_COUNT]; /* the event from which on it is the same object */
};

static size_t set_of(uint64_t address)
{
    return (size_t)((address * 0x9e3779b97f4a7c15u) >> 53);
}

_Static_assert(SET_COUNT == 1 << (64 - 53), "set_of gives an index of the tables");

/* The way that has the address, or the free one that it may take; WAY_COUNT: all are taken. */
static size_t find_way(const uint64_t *addresses, uint64_t address)
{
    size_t way = 0;

    while (way < WAY_COUNT && addresses[way] != address && addresses[way] != 0) {
        way++;
    }
    return way;
}

/* What was last heard of the address, or the place for it: that of the oldest, in a full set. */
static struct name_state *find_holding(struct history *history, uint64_t object)
{
    size_t set = set_of(object);
    struct name_state *holdings = history->holdings[set];
    size_t way = find_way(history->held[set], object);

    if (way == WAY_COUNT) {
        way = 0;
        for (size_t i = 1; i < WAY_COUNT; i++) {
            way = holdings[i].event < holdings[way].event ? i : way;
        }
    }
    history->held[set][way] = object;
    return &holdings[way];
}

/* NULL: nobody is known to have written there. */
static const struct writing *find_writing(const struct history *history,
                                          uint64_t storage)
{
    size_t set = set_of(storage);
    size_t way = find_way(history->written[set], storage);

    return way < WAY_COUNT && history->written[set][way] == storage && storage != 0
               ? &history->writings[set][way]
               : NULL;
}

static void
note_writing(struct history *history, uint64_t storage, struct writing writing)
{
    size_t set = set_of(storage);
    size_t way = find_way(history->written[set], storage);

    if (way == WAY_COUNT) {
        way = 0;
        for (size_t i = 1; i < WAY_COUNT; i++) {
            way = history->writings[set][i].event < history->writings[set][way].event
                      ? i
                      : way;
        }
    }
    history->written[set][way] = storage;
    history->writings[set][way] = writing;
}

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
    memory_free(states->items);
    number_map_release(&states->places);
    *states = (struct leaf_states){0};
}

struct name_state *
leaf_states_get(struct leaf_states *states, uint32_t name, uint32_t path)
{
    uint64_t key = number_map_key(name, path);
    uint32_t place = number_map_get(&states->places, key);
    void *items = states->items;

    if (place != NUMBER_MAP_NONE) {
        return &states->items[place];
    }
    if (states->count >= NUMBER_MAP_NONE ||
        !memory_grow_zeroed(&items, &states->capacity, states->count + 1,
                            sizeof *states->items)) {
        return NULL;
    }
    states->items = items;
    if (!number_map_put(&states->places, key, (uint32_t)states->count)) {
        return NULL;
    }
    return &states->items[states->count++];
}

void told_containers_release(struct told_container **first)
{
    while (*first != NULL) {
        struct told_container *told = *first;
        *first = told->next;
        memory_free(told);
    }
}

struct told_container *told_containers_get(struct told_container **first, uint32_t name)
{
    struct told_container *told = *first;

    while (told != NULL && told->name != name) {
        told = told->next;
    }
    if (told == NULL) {
        told = memory_allocate_zeroed(1, sizeof *told);
        if (told != NULL) {
            told->name = name;
            told->next = *first;
            *first = told;
        }
    }
    return told;
}

uint64_t history_first_event(const struct history *history, uint64_t object)
{
    size_t set = set_of(object);
    size_t way = find_way(history->held[set], object);

    return way < WAY_COUNT && history->held[set][way] == object && object != 0
               ? history->since[set][way] + 1
               : 0;
}

/* The last event that held the very object that is seen now, before it is written over. An
 * address that another object has taken since is told by its data or its values. */
static uint64_t find_origin(const struct name_state *then, const struct name_state *now)
{
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
    struct name_state *holding = find_holding(history, now->object);
    const struct writing *writing;

    verdict.origin = find_origin(holding, now);
    if (verdict.origin == 0) {
        (&history->since[0][0])[holding - &history->holdings[0][0]] = now->event;
    }
    *holding = *now;
    if (before->object != 0) {
        verdict.differs_in_values =
            before->has_hash && now->has_hash && before->hash != now->hash;
        /* A counter that went back belongs to another object at the same address. */
        if (before->object != now->object || before->kind != now->kind ||
            before->version > now->version) {
            verdict.change = CHANGE_REBOUND;
        } else if (!is_written(before, now)) {
            verdict.change = CHANGE_SAME;
        } else if (!sighting->is_write &&
                   (writing = find_writing(history, sighting->storage)) != NULL &&
                   writing->event > before->event) {
            verdict.change = CHANGE_ALIASED;
            verdict.alias_site = writing->site;
        } else {
            verdict.change = CHANGE_MUTATED;
        }
    }
    if (sighting->storage != 0 &&
        (verdict.change == CHANGE_MUTATED || sighting->is_write)) {
        note_writing(history, sighting->storage,
                     (struct writing){now->event, sighting->site});
    }
    return verdict;
}
