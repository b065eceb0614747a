/* Rows put together whose elements lie across the memory, as those of a transposed matrix do.
 * Private to the files that read arrays. */
#ifndef MONITORCH_ARRAY_TRANSPOSE_H
#define MONITORCH_ARRAY_TRANSPOSE_H

#include <stddef.h>
#include <stdint.h>

/* Rows are copied fastest by multiples of the first, and of the second where there are fewer.
 * Both serve elements of all sizes. */
#define TRANSPOSE_ROW_COUNT     32
#define TRANSPOSE_ROW_COUNT_MIN 8

struct transpose {
    const unsigned char *source; /* the first element of the first row */
    int64_t row_stride;          /* in bytes, from a row's element to the next row's */
    int64_t stride;              /* from an element to the next of its row */
    uint64_t row_count;
    uint64_t length; /* of a row */
    size_t size;     /* of an element */
};

/* Writes the rows one after the other. */
void transpose_copy(const struct transpose *rows, unsigned char *out);

#endif
