/* Arenas: many small allocations that are freed together. */
#ifndef MONITORCH_BASE_ARENA_H
#define MONITORCH_BASE_ARENA_H

#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *blocks; /* owned; a list, newest first */
    char *next;                 /* in the newest block; may be NULL */
    size_t left;
    bool has_failed; /* an allocation failed since the last reset */
};

void arena_init(struct arena *arena);
void arena_release(struct arena *arena);

/* Frees all allocations but keeps one block, so that a worker that handles many files does not
 * request memory from the system again and again. */
void arena_reset(struct arena *arena);

/* Returns memory that is aligned for any type and not zeroed. NULL: out of memory; `has_failed`
 * stays set, so that a caller can check once at the end. */
void *arena_allocate(struct arena *arena, size_t count, size_t size);

/* Copies a text, with a NUL byte that its size does not count. `bytes` is NULL if memory runs
 * out. */
struct slice arena_copy(struct arena *arena, struct slice text);

#endif
