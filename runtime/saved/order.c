/* The order in which saved tensors are told. */
#include "runtime/saved/order.h"

#include <stdlib.h>

static bool is_digit(struct slice text, size_t offset)
{
    return offset < text.size && text.bytes[offset] >= '0' && text.bytes[offset] <= '9';
}

/* The end of the digits at `start`, which is moved behind their zeros in front. */
static size_t find_number(struct slice text, size_t *start)
{
    size_t end = *start;

    while (is_digit(text, end)) {
        end++;
    }
    while (*start + 1 < end && text.bytes[*start] == '0') {
        (*start)++;
    }
    return end;
}

/* Compares the numbers at the two offsets, and steps over them. */
static int compare_numbers(struct slice a, size_t *i, struct slice b, size_t *j)
{
    size_t a_end = find_number(a, i);
    size_t b_end = find_number(b, j);
    size_t a_size = a_end - *i;
    size_t b_size = b_end - *j;
    int order = a_size != b_size ? (a_size < b_size ? -1 : 1)
                                 : memcmp(a.bytes + *i, b.bytes + *j, a_size);

    *i = a_end;
    *j = b_end;
    return order;
}

static int compare_texts(struct slice a, struct slice b)
{
    size_t i = 0;
    size_t j = 0;

    while (i < a.size && j < b.size) {
        if (is_digit(a, i) && is_digit(b, j)) {
            int order = compare_numbers(a, &i, b, &j);

            if (order != 0) {
                return order;
            }
        } else if (a.bytes[i] != b.bytes[j]) {
            return (unsigned char)a.bytes[i] < (unsigned char)b.bytes[j] ? -1 : 1;
        } else {
            i++;
            j++;
        }
    }
    return (i < a.size) - (j < b.size);
}

/* Names that differ in the zeros in front of their numbers alone are told apart too. */
static int compare_names(struct slice a, struct slice b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = compare_texts(a, b);

    if (order == 0) {
        order = (a.size > b.size) - (a.size < b.size);
    }
    return order == 0 && size > 0 ? memcmp(a.bytes, b.bytes, size) : order;
}

static int compare_slices(const void *a, const void *b)
{
    return compare_names(*(const struct slice *)a, *(const struct slice *)b);
}

void saved_order_sort_names(struct slice *names, size_t count)
{
    if (count > 1) {
        qsort(names, count, sizeof *names, compare_slices);
    }
}

static int compare_entries(const void *a, const void *b)
{
    const struct saved_entry *first = a;
    const struct saved_entry *second = b;
    int order;

    if (first->tensor.order != second->tensor.order) {
        return first->tensor.order < second->tensor.order ? -1 : 1;
    }
    order = compare_names(first->file_name, second->file_name);
    return order != 0 ? order
                      : (first->index > second->index) - (first->index < second->index);
}

void saved_order_sort_entries(struct saved_entry *entries, size_t count)
{
    if (count > 1) {
        qsort(entries, count, sizeof *entries, compare_entries);
    }
}
