/* Chunks, free lists, and the four functions that tree-sitter calls. */
#include "instrument/tree/region.h"

#include "runtime/base/memory.h"

#include <stdint.h>
#include <string.h>
#include <threads.h>
#include <tree_sitter/api.h>

#define CHUNK_SIZE ((size_t)1 << 20)
#define KEEP_SIZE  ((size_t)32 << 20)
#define ALIGNMENT  ((size_t)16)

struct region_chunk {
    struct region_chunk *next; /* owned by the region; may be NULL */
    size_t size;
    _Alignas(16) char bytes[];
};

/* Stands before each block, so that it can be resized and freed. */
struct block_header {
    _Alignas(16) size_t size; /* the capacity of the block: its class's size */
};

static thread_local struct region *current_region;

static size_t class_of(size_t size, size_t *capacity)
{
    size_t class_index = REGION_SMALL_CLASSES;

    if (size <= REGION_SMALL_CLASSES * ALIGNMENT) {
        class_index = size == 0 ? 0 : (size - 1) / ALIGNMENT;
        *capacity = (class_index + 1) * ALIGNMENT;
        return class_index;
    }
    *capacity = REGION_SMALL_CLASSES * ALIGNMENT * 2;
    while (*capacity < size && class_index + 1 < REGION_CLASSES) {
        *capacity *= 2;
        class_index++;
    }
    return class_index;
}

static struct region_chunk *take_spare(struct region *region, size_t size)
{
    struct region_chunk **link = &region->spare;

    while (*link != NULL) {
        struct region_chunk *chunk = *link;

        if (chunk->size >= size) {
            *link = chunk->next;
            return chunk;
        }
        link = &chunk->next;
    }
    return NULL;
}

static void region_grow(struct region *region, size_t size)
{
    size_t wanted = size > CHUNK_SIZE ? size : CHUNK_SIZE;
    struct region_chunk *chunk = take_spare(region, wanted);

    if (chunk == NULL) {
        chunk = memory_allocate(1, sizeof *chunk + wanted);
        if (chunk == NULL) {
            longjmp(region->out_of_memory, 1);
        }
        chunk->size = wanted;
    }
    chunk->next = region->chunks;
    region->chunks = chunk;
    region->next = chunk->bytes;
    region->left = chunk->size;
}

static void *region_allocate(size_t size)
{
    struct region *region = current_region;
    size_t capacity;
    size_t class_index;
    struct block_header *header;
    void *block;

    if (size > SIZE_MAX / 4) {
        longjmp(region->out_of_memory, 1);
    }
    class_index = class_of(size, &capacity);
    block = region->free_blocks[class_index];
    if (block != NULL) {
        memcpy(&region->free_blocks[class_index], block, sizeof block);
        return block;
    }
    if (region->left < sizeof *header + capacity) {
        region_grow(region, sizeof *header + capacity);
    }
    header = (struct block_header *)region->next;
    region->next += sizeof *header + capacity;
    region->left -= sizeof *header + capacity;
    header->size = capacity;
    return header + 1;
}

static void *region_allocate_zeroed(size_t count, size_t size)
{
    void *block;

    if (size != 0 && count > SIZE_MAX / size) {
        longjmp(current_region->out_of_memory, 1);
    }
    block = region_allocate(count * size);
    memset(block, 0, count * size);
    return block;
}

static void region_free(void *block)
{
    struct region *region = current_region;
    size_t capacity;
    size_t class_index;

    if (block == NULL) {
        return;
    }
    class_index = class_of(((struct block_header *)block - 1)->size, &capacity);
    memcpy(block, &region->free_blocks[class_index], sizeof block);
    region->free_blocks[class_index] = block;
}

static void *region_resize(void *block, size_t size)
{
    size_t capacity;
    void *larger;

    if (block == NULL) {
        return region_allocate(size);
    }
    capacity = ((struct block_header *)block - 1)->size;
    if (size <= capacity) {
        return block;
    }
    larger = region_allocate(size);
    memcpy(larger, block, capacity);
    region_free(block);
    return larger;
}

static once_flag allocator_once = ONCE_FLAG_INIT;

static void set_allocator(void)
{
    ts_set_allocator(region_allocate, region_allocate_zeroed, region_resize,
                     region_free);
}

void region_init(struct region *region)
{
    call_once(&allocator_once, set_allocator);
    memset(region, 0, sizeof *region);
}

static void free_chunks(struct region_chunk *chunk)
{
    while (chunk != NULL) {
        struct region_chunk *next = chunk->next;

        memory_free(chunk);
        chunk = next;
    }
}

void region_release(struct region *region)
{
    free_chunks(region->chunks);
    free_chunks(region->spare);
    region->chunks = NULL;
    region->spare = NULL;
}

void region_reset(struct region *region)
{
    size_t kept = 0;

    while (region->chunks != NULL) {
        struct region_chunk *chunk = region->chunks;

        region->chunks = chunk->next;
        chunk->next = region->spare;
        region->spare = chunk;
    }
    for (struct region_chunk **link = &region->spare; *link != NULL;) {
        struct region_chunk *chunk = *link;

        if (kept + chunk->size > KEEP_SIZE) {
            *link = chunk->next;
            memory_free(chunk);
        } else {
            kept += chunk->size;
            link = &chunk->next;
        }
    }
    memset(region->free_blocks, 0, sizeof region->free_blocks);
    region->next = NULL;
    region->left = 0;
}

void region_enter(struct region *region)
{
    current_region = region;
}

void region_leave(void)
{
    current_region = NULL;
}
