/* The history: the last seen state of leaves, objects and storages, and the change since then. */
#include "runtime/record/history.h"

#include "runtime/array/sample.h"
#include "runtime/base/hash/hash.h"
#include "runtime/base/hash/mix.h"
#include "runtime/base/memory.h"
#include "runtime/record/state.h"
#include "runtime/trace/late.h"

#include <assert.h>
#include <string.h>

#define SET_BITS  11
#define SET_COUNT (1 << SET_BITS)
/* Ways of a set: addresses with the same hash, side by side in one cache line. With one way, two
 * of a few hundred objects would collide, and the recorded origins would depend on memory
 * addresses. */
#define WAY_COUNT 8

/* The last write to a storage. */
struct writing {
    uint64_t event;
    uint32_t site;
};

struct history {
    uint64_t written[SET_COUNT]
                    [WAY_COUNT];         /* storages; 0: free, as are all later ways */
    uint64_t held[SET_COUNT][WAY_COUNT]; /* objects; 0: free, as are all later ways */
    struct writing writings[SET_COUNT][WAY_COUNT];
    struct name_state
        holdings[SET_COUNT]
                [WAY_COUNT]; /* state in the last event that held the object */
    uint64_t since[SET_COUNT]
                  [WAY_COUNT]; /* the first event since which it is the same object */
};

static size_t set_of(uint64_t address)
{
    return hash_slot(address, SET_BITS);
}

/* Returns the way that has the address, or the first free one. WAY_COUNT: neither exists. */
static size_t find_way(const uint64_t *addresses, uint64_t address)
{
    size_t way = 0;

    while (way < WAY_COUNT && addresses[way] != address && addresses[way] != 0) {
        way++;
    }
    return way;
}

/* Returns the last state of the address. If it is new, a way is reserved for it: in a full set,
 * the one with the oldest event. */
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

/* NULL: no write is known. */
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

/* Returns the leaf's state, which is added if it is new. NULL: out of memory. */
static struct name_state *
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

void known_containers_release(struct known_container **first)
{
    while (*first != NULL) {
        struct known_container *recorded = *first;
        *first = recorded->next;
        memory_free(recorded);
    }
}

/* Returns the container of that name in the list, which is added if it is new. NULL: out of
 * memory. */
static struct known_container *known_containers_get(struct known_container **first,
                                                    uint32_t name)
{
    struct known_container *recorded = *first;

    while (recorded != NULL && recorded->name != name) {
        recorded = recorded->next;
    }
    if (recorded == NULL) {
        recorded = memory_allocate_zeroed(1, sizeof *recorded);
        if (recorded != NULL) {
            recorded->name = name;
            recorded->next = *first;
            *first = recorded;
        }
    }
    return recorded;
}

/* Returns 1 + the number of the first event since which the address holds the same object. 0:
 * not known. */
static uint64_t history_first_event(const struct history *history, uint64_t object)
{
    size_t set = set_of(object);
    size_t way = find_way(history->held[set], object);

    return way < WAY_COUNT && history->held[set][way] == object && object != 0
               ? history->since[set][way] + 1
               : 0;
}

/* Returns 1 + the number of the last event that held this very object, or 0. Must run before
 * `then` is overwritten. An address that was reused by another object shows by its data, version
 * or hash. */
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
        /* A version that decreased belongs to another object at the same address. */
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

/* ---- changes of a name since its last event ---- */

static unsigned find_differences(const struct name_state *before,
                                 const struct name_state *now)
{
    unsigned differences = 0;

    if (before->kind != now->kind) {
        return LOG_DIFFERS_TYPE;
    }
    if (before->type == now->type) {
        return 0;
    }
    if (now->kind != VALUE_TENSOR) {
        return LOG_DIFFERS_TYPE;
    }
    if (before->mark.shape != now->mark.shape) {
        differences |= LOG_DIFFERS_SHAPE;
    }
    if (before->mark.strides != now->mark.strides) {
        differences |= LOG_DIFFERS_STRIDES;
    }
    if (before->mark.device != now->mark.device) {
        differences |= LOG_DIFFERS_DEVICE;
    }
    if (before->mark.dtype != now->mark.dtype) {
        differences |= LOG_DIFFERS_DTYPE;
    }
    if (before->mark.layout != now->mark.layout) {
        differences |= LOG_DIFFERS_TYPE;
    }
    if (((before->mark.flags ^ now->mark.flags) & LOG_FORM_REQUIRES_GRAD) != 0) {
        differences |= LOG_DIFFERS_REQUIRES_GRAD;
    }
    return differences;
}

/* The last seen state of the name, or of a leaf in it. NULL: out of memory. */
static struct name_state *
find_state(const struct visit *visit, uint32_t place, uint32_t path)
{
    const struct recorded_site *site = &visit->module->sites[visit->index];
    uint32_t name = visit->module->names[site->names + place];

    return path == 0 ? &visit->call->names[name]
                     : leaf_states_get(&visit->call->leaves, name, path);
}

/* The address of the storage; 0: not known. */
static uint64_t storage_of(const struct recorded_array *given)
{
    if (given->data == 0) {
        return 0;
    }
    return given->data - (uint64_t)given->offset * dtype_size(given->array->dtype);
}

/* Scalars have no version, so their hash is their value. */
uint64_t recorder_value_hash(const struct value *value)
{
    double parts[] = {value->real, value->imaginary};

    switch (value->kind) {
    case VALUE_FLOAT:
    case VALUE_COMPLEX:
        return hash_64((struct slice){(const char *)parts, sizeof(parts)});
    case VALUE_BIG_INT:
        return hash_64(value->text);
    default:
        return (uint64_t)value->integer;
    }
}

/* Whether the line may have written to the value without any visible change of version or hash. */
static bool is_written_unseen(const struct visit *visit, const struct value *value)
{
    return visit->site->kind == SITE_MUTATE &&
           (value->kind == VALUE_CONTAINER || value->kind == VALUE_OBJECT ||
            value->kind == VALUE_BYTES);
}

/* Whether an inspection of the name found the state that it had before. */
static bool is_as_before(const struct name_state *before, const struct name_state *now)
{
    return before->object == now->object && before->kind == now->kind &&
           before->type == now->type && before->version == now->version &&
           before->hash == now->hash;
}

static struct verdict judge(struct recorder *recorder,
                            const struct visit *visit,
                            bool is_write,
                            const struct name_state *before,
                            const struct value *value,
                            const struct name_state *now)
{
    struct verdict verdict = {CHANGE_NONE, UINT32_MAX, 0, false};

    if (value->kind == VALUE_TENSOR) {
        struct sighting sighting = {
            .state = *now,
            .storage = storage_of(value->array),
            .site = visit->module->first_site + visit->index,
            .is_write = is_write,
        };
        return history_judge(recorder->history, before, &sighting);
    }
    if (value->kind == VALUE_NOTHING || value->kind == VALUE_MISSING) {
        return verdict;
    }
    if (before->object == 0) {
        verdict.change = CHANGE_NEW;
    } else if (before->object != now->object || before->kind != now->kind) {
        verdict.change = CHANGE_REBOUND;
    } else if (before->hash != now->hash) {
        verdict.change = CHANGE_MUTATED;
    } else if (!is_written_unseen(visit, value)) {
        verdict.change = CHANGE_SAME;
    }
    verdict.differs_in_values = before->object != 0 && before->hash != now->hash;
    return verdict;
}

struct known_container *
recorder_known_container(const struct visit *visit, uint32_t write, bool *is_known)
{
    const struct recorded_site *site = &visit->module->sites[visit->index];
    struct known_container *recorded;

    if (write >= visit->site->write_count || write > UINT8_MAX) {
        return NULL;
    }
    recorded = known_containers_get(&visit->call->recorded,
                                    visit->module->names[site->names + write]);
    *is_known = recorded != NULL && recorded->object != 0;
    return recorded;
}

bool recorder_reads_own_name(const struct visit *visit, uint32_t write)
{
    const struct site *site = visit->site;

    assert(write < site->write_count);
    for (uint32_t i = 0; i < site->read_count; i++) {
        if (slice_equal(site->reads[i].name, site->writes[write].name)) {
            return true;
        }
    }
    return false;
}

bool recorder_is_same_since(const struct recorder *recorder,
                            uint64_t object,
                            uint64_t event)
{
    uint64_t first = history_first_event(recorder->history, object);

    return first != 0 && first <= event;
}

/* Whether the call keeps a state of the name. It does for written names, and for names that are
 * only read if sources are recorded. */
static bool is_numbered(const struct visit *visit, uint32_t place)
{
    return place < visit->site->write_count ||
           recorded_module_read(visit->module, visit->index,
                                place - visit->site->write_count) != SITE_NONE;
}

/* Stores `now` as the name's state, and the differences from the last state in the event. */
static void keep_state(struct name_state *state,
                       const struct name_state *now,
                       const struct verdict *verdict,
                       struct log_event *head)
{
    if (verdict->change > CHANGE_NEW) {
        head->difference = (uint8_t)find_differences(state, now);
        head->difference |= verdict->differs_in_values ? LOG_DIFFERS_VALUES : 0;
    }
    *state = *now;
}

bool recorder_follow_name(struct recorder *recorder,
                          const struct visit *visit,
                          uint32_t place,
                          const struct value *value,
                          const struct name_state *now,
                          struct log_event *head,
                          struct verdict *verdict)
{
    struct name_state unknown = {.object = 0};
    struct name_state *state =
        is_numbered(visit, place) ? find_state(visit, place, head->path) : &unknown;

    if (state != NULL && state->object == NAME_PASSED) {
        state->object = 0;
    }
    if (visit->is_inspection &&
        (state == NULL || state == &unknown || is_as_before(state, now))) {
        return false;
    }
    if (state == NULL) {
        return true;
    }
    *verdict =
        judge(recorder, visit, visit->site->kind == SITE_MUTATE, state, value, now);
    keep_state(state, now, verdict, head);
    return true;
}

struct verdict recorder_follow_parameter(struct recorder *recorder,
                                         const struct visit *visit,
                                         bool is_read,
                                         struct name_state *state,
                                         const struct value *value,
                                         const struct name_state *now,
                                         struct log_event *head)
{
    struct verdict verdict = judge(recorder, visit, !is_read, state, value, now);
    bool has_form = state->type != 0 || value->kind != VALUE_TENSOR;

    keep_state(state, now, &verdict, head);
    head->difference = has_form ? head->difference : 0;
    return verdict;
}
