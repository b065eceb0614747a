/* Binary search for a number in a sorted list. */
#ifndef MONITORCH_BASE_SORTED_H
#define MONITORCH_BASE_SORTED_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the item at that index of the list is less than the number. */
typedef bool (*sorted_is_before)(const void *list, size_t place, uint64_t number);

/* The first index whose item is not less than the number, or `count`. Defined in the header so
 * that the comparison is inlined. */
static inline size_t sorted_place(const void *list,
                                  size_t count,
                                  sorted_is_before is_before,
                                  uint64_t number)
{
    size_t first = 0;
    size_t end = count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;

        if (is_before(list, middle, number)) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    assert(first == count || !is_before(list, first, number));
    assert(first == 0 || is_before(list, first - 1, number));
    return first;
}

#endif
