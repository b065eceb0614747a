/* Contents that have a number already, found by 128 bits of their hash. Contents are not kept: two that
 * share a hash do not occur. */
#ifndef MONITORCH_BASE_INTERN_H
#define MONITORCH_BASE_INTERN_H

#include "runtime/base/slice.h"

#include <stddef.h>
#include <stdint.h>

struct intern_entry {
    uint64_t hash[2];
    uint32_t kind;
    uint32_t number; /* 0: the content is new, and the caller fills it in */
};

/* Zeroed at first. A program that makes up contents without end does not fill the memory: a table that
 * may not grow starts anew, and what occurs again gets a second number. */
struct intern {
    struct intern_entry *entries; /* owned; may be NULL where capacity is 0 */
    size_t capacity;              /* a power of two, or 0 */
    size_t count; /* of entries with a number; the caller counts new ones */
};

void intern_release(struct intern *intern);

/* The entry of a content of that kind, valid until the next call. NULL where memory ran out. */
struct intern_entry *
intern_find(struct intern *intern, uint32_t kind, struct slice content);

#endif
