/* Which members of two sequences may be found in the other one at all. */
#include "runtime/view/diff/align/common.h"

#include "runtime/base/memory.h"

#include <string.h>

/* With fewer pairs than this, looking at all is quicker. */
#define FEW_PAIRS 1024

void diff_common_release(struct diff_common *common)
{
    for (unsigned side = 0; side < 2; side++) {
        memory_free(common->kept[side]);
        memory_free(common->keys[side]);
    }
    memory_free(common->table);
    *common = (struct diff_common){0};
}

bool diff_grow_one(
    void **items, size_t capacity, size_t wanted, size_t item_size, size_t *grown)
{
    *grown = capacity;
    return memory_grow(items, grown, wanted, item_size);
}

static bool reserve(struct diff_common *common, unsigned side, size_t count)
{
    void *kept = common->kept[side];
    void *keys = common->keys[side];
    size_t before = common->capacities[side];
    size_t grown = before;
    bool is_done =
        diff_grow_one(&kept, before, count, sizeof *common->kept[side], &grown) &&
        diff_grow_one(&keys, before, count, sizeof *common->keys[side], &grown);

    common->kept[side] = kept;
    common->keys[side] = keys;
    common->capacities[side] = is_done ? grown : before;
    return is_done;
}

/* The place of a key in a table of a power of two of places that is never full. */
static uint64_t *place_of(uint64_t *table, size_t size, uint64_t key)
{
    size_t at = (size_t)(key ^ key >> 32) & (size - 1);

    while (table[at] != 0 && table[at] != key) {
        at = (at + 1) & (size - 1);
    }
    return &table[at];
}

/* Leaves of `side` what the other side has too. */
static bool keep(struct diff_common *common,
                 unsigned side,
                 uint64_t *const keys[2],
                 uint64_t *const other_keys[2],
                 const uint32_t counts[2])
{
    unsigned other = 1 - side;
    void *table = common->table;
    size_t size = 16;

    while (size < (size_t)counts[other] * 4) {
        size *= 2;
    }
    if (!memory_grow(&table, &common->table_capacity, size, sizeof *common->table)) {
        return false;
    }
    common->table = table;
    memset(common->table, 0, size * sizeof *common->table);
    for (uint32_t i = 0; i < counts[other]; i++) {
        *place_of(common->table, size, keys[other][i] | 1) = keys[other][i] | 1;
        *place_of(common->table, size, other_keys[other][i] | 1) =
            other_keys[other][i] | 1;
    }
    common->counts[side] = 0;
    for (uint32_t i = 0; i < counts[side]; i++) {
        if (*place_of(common->table, size, keys[side][i] | 1) != 0 ||
            *place_of(common->table, size, other_keys[side][i] | 1) != 0) {
            common->keys[side][common->counts[side]] = keys[side][i];
            common->kept[side][common->counts[side]++] = i;
        }
    }
    return true;
}

bool diff_common_find(struct diff_common *common,
                      uint64_t *const keys[2],
                      uint64_t *const other_keys[2],
                      const uint32_t counts[2])
{
    if (!reserve(common, 0, counts[0]) || !reserve(common, 1, counts[1])) {
        return false;
    }
    if ((uint64_t)counts[0] * counts[1] > FEW_PAIRS) {
        return keep(common, 0, keys, other_keys, counts) &&
               keep(common, 1, keys, other_keys, counts);
    }
    for (unsigned side = 0; side < 2; side++) {
        common->counts[side] = counts[side];
        for (uint32_t i = 0; i < counts[side]; i++) {
            common->keys[side][i] = keys[side][i];
            common->kept[side][i] = i;
        }
    }
    return true;
}
