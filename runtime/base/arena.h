/* An arena: many small allocations that are freed together. */
#ifndef MONITORCH_BASE_ARENA_H
#define MONITORCH_BASE_ARENA_H

#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *blocks; /* owned; newest first */
    char *next;                 /* borrowed from the newest block; may be NULL */
    size_t left;
    bool has_failed; /* an allocation has failed since the last reset */
};

void arena_init(struct arena *arena);
void arena_release(struct arena *arena);

/* Forgets everything allocated but keeps one block, so that a worker that handles many
 * files does not ask the system for memory again and again. */
void arena_reset(struct arena *arena);

/* Aligned for any type, not zeroed. NULL where memory ran out; `has_failed` stays set, so a
 * caller may check once at the end of a stage. */
void *arena_allocate(struct arena *arena, size_t count, size_t size);

/* A copy that ends with a NUL byte not counted in its size. bytes is NULL on failure. */
struct slice arena_copy(struct arena *arena, struct slice text);

#endif
