/* The one place that calls malloc, realloc and free; tests make the n-th call fail. */
#ifndef MONITORCH_BASE_MEMORY_H
#define MONITORCH_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* NULL where memory ran out or where count * size overflows. A size of 0 gives a pointer
 * that may be freed. */
void *memory_allocate(size_t count, size_t size);
void *memory_allocate_zeroed(size_t count, size_t size);

/* On failure NULL is returned and the old block stays as it was. */
void *memory_resize(void *block, size_t count, size_t size);

void memory_free(void *block); /* may be NULL */

/* Grows an array to hold at least `wanted` items: capacities double, so that adding one by
 * one costs little. false where memory ran out; the array is then as it was. `items` points to
 * a variable of type void *: a pointer of another type may not be written through it. */
bool memory_grow(void **items, size_t *capacity, size_t wanted, size_t item_size);
/* The same; what is new is zero, up to the capacity. */
bool memory_grow_zeroed(void **items,
                        size_t *capacity,
                        size_t wanted,
                        size_t item_size);

/* Of a processor's caches, in bytes: nothing but speed depends on it. */
#define MEMORY_LINE_SIZE 64

/* Copies data that is not read again soon: where the processor can, past its caches, which keep
 * what they have. The two must not overlap. Another thread sees the copy once it has acquired a
 * lock that this one released since (such an instruction orders these stores too), as with the GIL.
 * */
void memory_copy_away(void *to, const void *from, size_t size);

/* Tests: the `countdown`-th allocation from now on fails, and each after it too where
 * `keep_failing`. 0 switches failing off. Also set at start from the environment variable
 * MONITORCH_TEST_FAIL_ALLOCATION (a number, or `N+` to keep failing). */
void memory_fail_after(size_t countdown, bool keep_failing);

/* What runs at each line of a traced program. */

/* Such functions lie together: between two lines the program runs through megabytes of others' code,
 * after which each page and cache line of ours has to be fetched anew. */
#define HOT __attribute__((hot))

#endif
