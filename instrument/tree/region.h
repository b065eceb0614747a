/* The memory of one parse. tree-sitter has no way to report that memory ran out, and frees its
 * nodes one by one; a region gives it both: blocks come from chunks and go back to free lists,
 * running out leaves the parse by longjmp, and the whole parse is forgotten at once. */
#ifndef MONITORCH_INSTRUMENT_TREE_REGION_H
#define MONITORCH_INSTRUMENT_TREE_REGION_H

#include <setjmp.h>
#include <stddef.h>

/* Blocks of up to 1,024 bytes have a free list each 16 bytes, larger ones each power of two. */
#define REGION_SMALL_CLASSES 64
#define REGION_CLASSES       (REGION_SMALL_CLASSES + 40)

struct region_chunk;

struct region {
    struct region_chunk *chunks; /* owned; the first is the one in use */
    struct region_chunk *spare;  /* owned; kept from the last parse */
    char *next;                  /* borrowed from the chunk in use */
    size_t left;
    /* Borrowed from chunks; linked through their bytes. */
    void *free_blocks[REGION_CLASSES];
    jmp_buf out_of_memory; /* where a failing allocation goes */
};

void region_init(struct region *region);
void region_release(struct region *region);

/* Forgets all blocks and keeps some chunks for the next parse. */
void region_reset(struct region *region);

/* Makes tree-sitter allocate from `region` in this thread until region_leave. The caller has
 * called setjmp(region->out_of_memory). */
void region_enter(struct region *region);
void region_leave(void);

#endif
