#include "runtime/base/arena.h"

#include "runtime/base/memory.h"

#include <assert.h>
#include <stdalign.h>
#include <stdint.h>

#define ARENA_ALIGNMENT   alignof(max_align_t)
#define ARENA_FIRST_SIZE  ((size_t)64 << 10)
#define ARENA_BLOCK_LIMIT ((size_t)4 << 20)

struct arena_block {
    struct arena_block *older; /* owned; the next older block; may be NULL */
    size_t size;               /* in bytes, without this header */
    alignas(max_align_t) char bytes[];
};

void arena_init(struct arena *arena)
{
    *arena = (struct arena){NULL, NULL, 0, false};
}

static void arena_free_blocks(struct arena_block *block)
{
    while (block != NULL) {
        struct arena_block *older = block->older;

        memory_free(block);
        block = older;
    }
}

void arena_release(struct arena *arena)
{
    arena_free_blocks(arena->blocks);
    arena_init(arena);
}

void arena_reset(struct arena *arena)
{
    struct arena_block **link = &arena->blocks;
    struct arena_block **largest = link;
    struct arena_block *kept;

    arena->has_failed = false;
    if (arena->blocks == NULL) {
        return;
    }
    for (; *link != NULL; link = &(*link)->older) {
        if ((*link)->size > (*largest)->size) {
            largest = link;
        }
    }
    kept = *largest;
    *largest = kept->older;
    arena_free_blocks(arena->blocks);
    assert(kept != NULL);
    kept->older = NULL;
    arena->blocks = kept;
    arena->next = kept->bytes;
    arena->left = kept->size;
}

/* Adds a block. A large request gets a block of its own, which is inserted after the newest one,
 * so that the newest one's rest stays in use. Any other block becomes the newest. */
static void *arena_add_block(struct arena *arena, size_t size)
{
    struct arena_block *newest = arena->blocks;
    size_t block_size = newest == NULL ? ARENA_FIRST_SIZE : newest->size * 2;
    struct arena_block *block;

    if (block_size > ARENA_BLOCK_LIMIT) {
        block_size = ARENA_BLOCK_LIMIT;
    }
    if (size > block_size / 2) {
        block_size = size;
    }
    block = memory_allocate(1, sizeof(struct arena_block) + block_size);
    if (block == NULL) {
        arena->has_failed = true;
        return NULL;
    }
    block->size = block_size;
    if (block_size == size && newest != NULL) {
        block->older = newest->older;
        newest->older = block;
        return block->bytes;
    }
    block->older = newest;
    arena->blocks = block;
    assert(block_size >= size);
    arena->next = block->bytes + size;
    arena->left = block_size - size;
    return block->bytes;
}

void *arena_allocate(struct arena *arena, size_t count, size_t size)
{
    size_t total;
    void *result;

    if (__builtin_mul_overflow(count, size, &total) || total > PTRDIFF_MAX / 2) {
        arena->has_failed = true;
        return NULL;
    }
    total = (total + ARENA_ALIGNMENT - 1) & ~(ARENA_ALIGNMENT - 1);
    if (arena->next == NULL || total > arena->left) {
        return arena_add_block(arena, total);
    }
    assert(arena->next + arena->left == arena->blocks->bytes + arena->blocks->size);
    result = arena->next;
    arena->next += total;
    arena->left -= total;
    return result;
}

struct slice arena_copy(struct arena *arena, struct slice text)
{
    char *bytes = arena_allocate(arena, text.size + 1, 1);

    if (bytes == NULL) {
        return (struct slice){NULL, 0};
    }
    if (text.size > 0) {
        memcpy(bytes, text.bytes, text.size);
    }
    bytes[text.size] = '\0';
    return (struct slice){bytes, text.size};
}
