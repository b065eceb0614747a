/* Which texts and forms have a number already. Contents are known by 128 bits of hash and not
 * kept: two that share one do not occur. */
#include "runtime/trace/writer_private.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

#define CAPACITY_MIN 256
/* A program that makes up texts without end must not fill the memory: when this many places
 * are taken up to their share, the table starts anew, and what comes again gets a second
 * number. */
#define CAPACITY_MAX (1024 * 1024)

void log_intern_release(struct log_intern *intern)
{
    memory_free(intern->entries);
    *intern = (struct log_intern){0};
}

/* The entry with this hash, or the free place where it would be. */
static struct log_intern_entry *
find_place(const struct log_intern *intern, enum log_kind kind, const uint64_t hash[2])
{
    size_t i = (size_t)hash[0] & (intern->capacity - 1);

    for (;; i = (i + 1) & (intern->capacity - 1)) {
        struct log_intern_entry *entry = &intern->entries[i];

        if (entry->number == 0 || (entry->hash[0] == hash[0] &&
                                   entry->hash[1] == hash[1] && entry->kind == kind)) {
            return entry;
        }
    }
}

static bool intern_grow(struct log_intern *intern)
{
    struct log_intern larger = {.count = intern->count};

    larger.capacity = intern->capacity == 0 ? CAPACITY_MIN : 2 * intern->capacity;
    larger.entries = memory_allocate_zeroed(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL) {
        return false;
    }
    for (size_t i = 0; i < intern->capacity; i++) {
        const struct log_intern_entry *entry = &intern->entries[i];

        if (entry->number != 0) {
            *find_place(&larger, entry->kind, entry->hash) = *entry;
        }
    }
    memory_free(intern->entries);
    *intern = larger;
    return true;
}

/* Keeps a quarter of the places free. Where the table may not or cannot grow, it is emptied. */
static bool intern_make_room(struct log_intern *intern)
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

struct log_intern_entry *
log_intern_find(struct log_intern *intern, enum log_kind kind, struct slice content)
{
    struct log_intern_entry *entry;
    uint64_t hash[2];

    if (!intern_make_room(intern)) {
        return NULL;
    }
    hash_128(content, hash);
    entry = find_place(intern, kind, hash);
    if (entry->number == 0) {
        *entry = (struct log_intern_entry){.hash = {hash[0], hash[1]}, .kind = kind};
    }
    return entry;
}
