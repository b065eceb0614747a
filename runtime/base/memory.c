#include "runtime/base/memory.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
    #include <immintrin.h>
#endif

/* Globals, because a test sets them for the whole process, and an allocation has no object that
 * could hold them. */
static atomic_bool is_counting;
static atomic_bool is_failing_on;
static atomic_size_t calls_left;

void memory_fail_after(size_t countdown, bool keep_failing)
{
    atomic_store(&is_counting, false);
    atomic_store(&calls_left, countdown);
    atomic_store(&is_failing_on, keep_failing);
    atomic_store(&is_counting, countdown > 0);
}

__attribute__((constructor)) static void memory_read_environment(void)
{
    const char *text = getenv("MONITORCH_TEST_FAIL_ALLOCATION");
    char *end;
    unsigned long long countdown;

    if (text == NULL) {
        return;
    }
    countdown = strtoull(text, &end, 10);
    memory_fail_after((size_t)countdown, *end == '+');
}

/* Counts a call. Returns true if it is the one that must fail. */
static bool memory_count_call(void)
{
    size_t left = atomic_load(&calls_left);

    for (;;) {
        if (left == 0) {
            return atomic_load(&is_failing_on);
        }
        if (atomic_compare_exchange_weak(&calls_left, &left, left - 1)) {
            return left == 1;
        }
    }
}

static inline bool memory_has_to_fail(void)
{
    return __builtin_expect(atomic_load_explicit(&is_counting, memory_order_relaxed),
                            false) &&
           memory_count_call();
}

/* Computes the size in bytes, at least 1 so that the result is a separate block. */
static inline bool memory_size(size_t count, size_t size, size_t *total)
{
    if (__builtin_mul_overflow(count, size, total) || *total > PTRDIFF_MAX) {
        return false;
    }
    if (*total == 0) {
        *total = 1;
    }
    return true;
}

void *memory_allocate(size_t count, size_t size)
{
    size_t total;

    if (!memory_size(count, size, &total) || memory_has_to_fail()) {
        return NULL;
    }
    return malloc(total);
}

void *memory_allocate_zeroed(size_t count, size_t size)
{
    size_t total;

    if (!memory_size(count, size, &total) || memory_has_to_fail()) {
        return NULL;
    }
    return calloc(total, 1);
}

void *memory_resize(void *block, size_t count, size_t size)
{
    size_t total;

    if (!memory_size(count, size, &total) || memory_has_to_fail()) {
        return NULL;
    }
    return realloc(block, total);
}

void memory_free(void *block)
{
    free(block);
}

bool memory_grow(void **items, size_t *capacity, size_t wanted, size_t item_size)
{
    size_t larger = *capacity < 8 ? 8 : *capacity;
    void *moved;

    assert(item_size > 0 && (*items != NULL || *capacity == 0));
    if (wanted <= *capacity) {
        return true;
    }
    while (larger < wanted) {
        if (larger > SIZE_MAX / 2) {
            return false;
        }
        larger *= 2;
    }
    moved = memory_resize(*items, larger, item_size);
    if (moved == NULL) {
        return false;
    }
    *items = moved;
    *capacity = larger;
    return true;
}

bool memory_grow_zeroed(void **items, size_t *capacity, size_t wanted, size_t item_size)
{
    size_t before = *capacity;

    if (!memory_grow(items, capacity, wanted, item_size)) {
        return false;
    }
    memset((char *)*items + before * item_size, 0, (*capacity - before) * item_size);
    return true;
}

#if defined(__x86_64__) && defined(__GNUC__)

/* Copies whole cache lines with stores that bypass the caches. Returns how many bytes it copied. */
HOT __attribute__((target("avx"))) static size_t
copy_lines(char *to, const char *from, size_t size)
{
    size_t whole = size / MEMORY_LINE_SIZE * MEMORY_LINE_SIZE;

    for (size_t done = 0; done < whole; done += MEMORY_LINE_SIZE) {
        const __m256i_u *part = (const void *)(from + done);
        __m256i *place = (void *)(to + done);
        __m256i first = _mm256_loadu_si256(part), last = _mm256_loadu_si256(part + 1);

        _mm256_stream_si256(place, first);
        _mm256_stream_si256(place + 1, last);
    }
    return whole;
}

HOT void memory_copy_away(void *to, const void *from, size_t size)
{
    size_t done = (uintptr_t)to % MEMORY_LINE_SIZE == 0 && __builtin_cpu_supports("avx")
                      ? copy_lines(to, from, size)
                      : 0;

    if (done < size) {
        memcpy((char *)to + done, (const char *)from + done, size - done);
    }
}

#else

void memory_copy_away(void *to, const void *from, size_t size)
{
    memcpy(to, from, size);
}

#endif
