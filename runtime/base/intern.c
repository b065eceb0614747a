/* Interned contents: the table. */
#include "runtime/base/intern.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define CAPACITY_MIN 256
#define CAPACITY_MAX (1024 * 1024)

void intern_release(struct intern *intern)
{
    memory_free(intern->entries);
    *intern = (struct intern){0};
}

/* Returns the entry with this hash, or the free entry to fill in for it. */
static struct intern_entry *
find_place(const struct intern *intern, uint32_t kind, const uint64_t hash[2])
{
    size_t i = (size_t)hash[0] & (intern->capacity - 1);

    assert(intern->count < intern->capacity); /* a free entry ends the search */
    for (;; i = (i + 1) & (intern->capacity - 1)) {
        struct intern_entry *entry = &intern->entries[i];

        if (entry->number == 0 || (entry->hash[0] == hash[0] &&
                                   entry->hash[1] == hash[1] && entry->kind == kind)) {
            return entry;
        }
    }
}

static bool intern_grow(struct intern *intern)
{
    struct intern larger = {.count = intern->count};

    larger.capacity = intern->capacity == 0 ? CAPACITY_MIN : 2 * intern->capacity;
    larger.entries = memory_allocate_zeroed(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL) {
        return false;
    }
    for (size_t i = 0; i < intern->capacity; i++) {
        const struct intern_entry *entry = &intern->entries[i];

        if (entry->number != 0) {
            *find_place(&larger, entry->kind, entry->hash) = *entry;
        }
    }
    memory_free(intern->entries);
    *intern = larger;
    return true;
}

/* Keeps a quarter of the entries free. If the table cannot grow, it is emptied. */
static bool intern_make_room(struct intern *intern)
{
    if (intern->count < intern->capacity / 4 * 3) {
        return true;
    }
    if (intern->capacity < CAPACITY_MAX && intern_grow(intern)) {
        return true;
    }
    if (intern->capacity == 0) {
        return false;
    }
    memset(intern->entries, 0, intern->capacity * sizeof *intern->entries);
    intern->count = 0;
    return true;
}

struct intern_entry *
intern_find(struct intern *intern, uint32_t kind, struct slice content)
{
    struct intern_entry *entry;
    uint64_t hash[2];

    if (!intern_make_room(intern)) {
        return NULL;
    }
    hash_128(content, hash);
    entry = find_place(intern, kind, hash);
    if (entry->number == 0) {
        *entry = (struct intern_entry){.hash = {hash[0], hash[1]}, .kind = kind};
    }
    return entry;
}
