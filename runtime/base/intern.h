/* Interned contents: contents with a number, found by a hash of 128 bits. The contents
 * themselves are not kept, since equal hashes of different contents do not occur in practice. */
#ifndef MONITORCH_BASE_INTERN_H
#define MONITORCH_BASE_INTERN_H

#include "runtime/base/slice.h"

#include <stddef.h>
#include <stdint.h>

struct intern_entry {
    uint64_t hash[2];
    uint32_t kind;
    uint32_t number; /* 0: the content is new, and the caller sets its number */
};

/* Zero-initialised at first. To limit its memory, a table of the largest size is emptied when it
 * is full; a content that occurs again then gets a second number. */
struct intern {
    struct intern_entry *entries; /* owned; may be NULL if capacity is 0 */
    size_t capacity;              /* a power of two, or 0 */
    size_t count; /* number of entries with a number; the caller counts new ones */
};

void intern_release(struct intern *intern);

/* Finds or adds the entry of a content of that kind. It is valid until the next call. NULL: out
 * of memory. */
struct intern_entry *
intern_find(struct intern *intern, uint32_t kind, struct slice content);

#endif
