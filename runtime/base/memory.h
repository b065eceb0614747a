/* Allocation: the only place that calls malloc, realloc and free. Tests can make the n-th call
 * fail. */
#ifndef MONITORCH_BASE_MEMORY_H
#define MONITORCH_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Returns NULL if memory runs out or count * size overflows. A size of 0 gives a pointer that
 * can be freed. */
void *memory_allocate(size_t count, size_t size);
void *memory_allocate_zeroed(size_t count, size_t size);

/* Returns NULL on failure; the old block is unchanged then. */
void *memory_resize(void *block, size_t count, size_t size);

void memory_free(void *block); /* may be NULL */

/* Grows an array to hold at least `wanted` items. Capacities double, so that adding items one by
 * one is cheap. Returns false if memory runs out; the array is unchanged then. `items` must
 * point to a variable of type void *. */
bool memory_grow(void **items, size_t *capacity, size_t wanted, size_t item_size);
/* The same, and zeroes the new items up to the capacity. */
bool memory_grow_zeroed(void **items,
                        size_t *capacity,
                        size_t wanted,
                        size_t item_size);

/* The size of a cache line in bytes. Only speed depends on it. */
#define MEMORY_LINE_SIZE 64

/* Copies data that is not read again soon, if possible with stores that bypass the caches. The
 * two blocks must not overlap. Another thread sees the copy once it acquires a lock that this
 * thread has released since, such as the GIL: releasing a lock orders these stores too. */
void memory_copy_away(void *to, const void *from, size_t size);

/* For tests: makes the `countdown`-th allocation from now on fail, and each later one too with
 * `keep_failing`. 0 disables it. Also set at start from the environment variable
 * MONITORCH_TEST_FAIL_ALLOCATION (a number, or `N+` to keep failing). */
void memory_fail_after(size_t countdown, bool keep_failing);

/* Functions that run at each line of a recorded program. */

/* Places these functions next to each other. Between two lines, the program runs megabytes of
 * other code, after which each page and cache line of these functions must be fetched again. */
#define HOT __attribute__((hot))

#endif
