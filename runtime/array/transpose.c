/* Rows put together whose elements lie across the memory. */
#include "runtime/array/transpose.h"

#include <stdbool.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* The work goes by tiles as wide and high as a line of the cache: those that are read and those
 * that are written stay there until they are done with. */
#define LINE_SIZE 64

INLINE const unsigned char *
element(const struct transpose *rows, uint64_t row, uint64_t column)
{
    return rows->source + (int64_t)(row * (uint64_t)rows->row_stride) +
           (int64_t)(column * (uint64_t)rows->stride);
}

/* One element after the other. It is inlined for each size, which memcpy then knows. */
INLINE void copy_part(const struct transpose *rows,
                      uint64_t row,
                      uint64_t row_end,
                      uint64_t column,
                      uint64_t column_end,
                      size_t size,
                      unsigned char *out)
{
    for (; column < column_end; column++) {
        for (uint64_t i = row; i < row_end; i++) {
            memcpy(out + (i * rows->length + column) * size, element(rows, i, column),
                   size);
        }
    }
}

#ifdef __has_builtin
    #if __has_builtin(__builtin_shufflevector)
        #define HAS_SQUARES 1
    #endif
#endif

#ifdef HAS_SQUARES

    #define LANES(type)  __attribute__((vector_size(16))) type
    #define SHUFFLE(...) __builtin_shufflevector(__VA_ARGS__)

/* Squares of elements whose columns fill a vector: a vector of each column comes in at
 * `stride`, a vector of each row goes out at `pitch`. */
INLINE void square_of_8(const unsigned char *source,
                        int64_t stride,
                        unsigned char *out,
                        uint64_t pitch)
{
    LANES(uint64_t) columns[2];

    #pragma GCC unroll 8
    for (int i = 0; i < 2; i++) {
        memcpy(&columns[i], source + i * stride, 16);
    }
    LANES(uint64_t) first = SHUFFLE(columns[0], columns[1], 0, 2);
    LANES(uint64_t) second = SHUFFLE(columns[0], columns[1], 1, 3);

    memcpy(out, &first, 16);
    memcpy(out + pitch, &second, 16);
}

INLINE void square_of_4(const unsigned char *source,
                        int64_t stride,
                        unsigned char *out,
                        uint64_t pitch)
{
    LANES(uint32_t) columns[4];
    LANES(uint32_t) pairs[4];
    LANES(uint32_t) rows[4];

    #pragma GCC unroll 8
    for (int i = 0; i < 4; i++) {
        memcpy(&columns[i], source + i * stride, 16);
    }
    #pragma GCC unroll 8
    for (int i = 0; i < 2; i++) {
        pairs[2 * i] = SHUFFLE(columns[2 * i], columns[2 * i + 1], 0, 4, 1, 5);
        pairs[2 * i + 1] = SHUFFLE(columns[2 * i], columns[2 * i + 1], 2, 6, 3, 7);
    }
    #pragma GCC unroll 8
    for (int i = 0; i < 2; i++) {
        rows[2 * i] = SHUFFLE(pairs[i], pairs[i + 2], 0, 1, 4, 5);
        rows[2 * i + 1] = SHUFFLE(pairs[i], pairs[i + 2], 2, 3, 6, 7);
    }
    #pragma GCC unroll 8
    for (uint64_t i = 0; i < 4; i++) {
        memcpy(out + i * pitch, &rows[i], 16);
    }
}

/* A round brings together columns that are 4, 2 and 1 apart. */
INLINE void interleave(const LANES(uint16_t) * from, LANES(uint16_t) * to)
{
    #pragma GCC unroll 8
    for (int i = 0; i < 4; i++) {
        to[2 * i] = SHUFFLE(from[i], from[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
        to[2 * i + 1] = SHUFFLE(from[i], from[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
}

INLINE void square_of_2(const unsigned char *source,
                        int64_t stride,
                        unsigned char *out,
                        uint64_t pitch)
{
    LANES(uint16_t) columns[8];
    LANES(uint16_t) other[8];

    #pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        memcpy(&columns[i], source + i * stride, 16);
    }
    interleave(columns, other);
    interleave(other, columns);
    interleave(columns, other);
    #pragma GCC unroll 8
    for (uint64_t i = 0; i < 8; i++) {
        memcpy(out + i * pitch, &other[i], 16);
    }
}

INLINE void square_copy(const unsigned char *source,
                        int64_t stride,
                        size_t size,
                        unsigned char *out,
                        uint64_t pitch)
{
    if (size == 8) {
        square_of_8(source, stride, out, pitch);
    } else if (size == 4) {
        square_of_4(source, stride, out, pitch);
    } else {
        square_of_2(source, stride, out, pitch);
    }
}

/* A tile of whole squares. */
INLINE void copy_squares(const struct transpose *rows,
                         uint64_t row,
                         uint64_t row_end,
                         uint64_t column,
                         uint64_t column_end,
                         size_t size,
                         unsigned char *out)
{
    uint64_t pitch = rows->length * size;
    uint64_t side = 16 / size;

    for (; row < row_end; row += side) {
        for (uint64_t i = column; i < column_end; i += side) {
            square_copy(element(rows, row, i), rows->stride, size,
                        out + row * pitch + i * size, pitch);
        }
    }
}

#endif

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

INLINE void copy_tiles(const struct transpose *rows,
                       size_t size,
                       bool is_square,
                       unsigned char *out)
{
    uint64_t side = LINE_SIZE / size;

    for (uint64_t column = 0; column < rows->length; column += side) {
        uint64_t column_end = smaller(column + side, rows->length);

        for (uint64_t row = 0; row < rows->row_count; row += side) {
            uint64_t row_end = smaller(row + side, rows->row_count);
            uint64_t row_middle = row;
            uint64_t column_middle = column;

#ifdef HAS_SQUARES
            if (is_square) {
                row_middle = row_end - (row_end - row) % (16 / size);
                column_middle = column_end - (column_end - column) % (16 / size);
                copy_squares(rows, row, row_middle, column, column_middle, size, out);
            }
#else
            (void)is_square;
#endif
            copy_part(rows, row, row_middle, column_middle, column_end, size, out);
            copy_part(rows, row_middle, row_end, column, column_end, size, out);
        }
    }
}

INLINE void copy_of_size(const struct transpose *rows, size_t size, unsigned char *out)
{
    if (rows->row_stride == (int64_t)size) {
        copy_tiles(rows, size, true, out);
    } else {
        copy_tiles(rows, size, false, out);
    }
}

void transpose_copy(const struct transpose *rows, unsigned char *out)
{
    switch (rows->size) {
    case 1:
        copy_tiles(rows, 1, false, out);
        break;
    case 2:
        copy_of_size(rows, 2, out);
        break;
    case 4:
        copy_of_size(rows, 4, out);
        break;
    case 8:
        copy_of_size(rows, 8, out);
        break;
    default:
        copy_tiles(rows, rows->size, false, out);
        break;
    }
}
