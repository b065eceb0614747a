/* Walks over an array's elements in logical order, for all strides. */
#include "runtime/array/walk.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Rows are copied fastest in multiples of the first number, or of the second if there are fewer.
 * Both numbers suit all element sizes. */
#define TRANSPOSE_ROW_COUNT     32
#define TRANSPOSE_ROW_COUNT_MIN 8

struct transpose {
    const unsigned char *source; /* the first element of the first row */
    int64_t row_stride; /* in bytes, from an element of a row to the next row's */
    int64_t stride;     /* in bytes, from an element of a row to the next one */
    uint64_t row_count;
    uint64_t length; /* of a row */
    size_t size;     /* of an element */
};

/* ---- rows of elements that are not adjacent in memory ---- */

#define INLINE static inline __attribute__((always_inline))

/* Rows are copied in tiles as wide and high as a cache line, so that the lines that are read and
 * written stay in the cache until the tile is done. */
#define LINE_SIZE 64

INLINE const unsigned char *
element(const struct transpose *rows, uint64_t row, uint64_t column)
{
    return rows->source + (int64_t)(row * (uint64_t)rows->row_stride) +
           (int64_t)(column * (uint64_t)rows->stride);
}

/* Copies the elements one by one. Inlined for each size, so that memcpy has a constant size. */
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

/* Transposes a square of elements whose columns fill a vector: reads a vector of each column at
 * `stride`, and writes a vector of each row at `pitch`. */
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

/* One round of a transposition: interleaves columns i and i + 4. */
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

/* Copies a tile that consists of whole squares. */
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

/* Writes the rows one after the other, without gaps. */
static void transpose_copy(const struct transpose *rows, unsigned char *out)
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

void array_walk_init(struct array_walk *walk, const struct array *array)
{
    int64_t contiguous =
        (int64_t)dtype_size(array->dtype); /* the stride if the array has none */
    uint32_t used = ARRAY_DIMENSION_MAX;   /* filled from the end */

    walk->array = array;
    walk->size = dtype_size(array->dtype);
    for (uint32_t i = array->dimension_count; i-- > 0;) {
        uint64_t length = (uint64_t)array->shape[i];
        int64_t stride = array->strides == NULL ? contiguous : array->strides[i];

        contiguous = (int64_t)((uint64_t)contiguous * length);
        if (length == 1) {
            continue;
        }
        if (used < ARRAY_DIMENSION_MAX &&
            (uint64_t)stride == (uint64_t)walk->strides[used] * walk->shape[used]) {
            walk->shape[used] *= length;
            continue;
        }
        used--;
        walk->shape[used] = length;
        walk->strides[used] = stride;
    }
    if (used == ARRAY_DIMENSION_MAX) {
        used--;
        walk->shape[used] = 1;
        walk->strides[used] = (int64_t)walk->size;
    }
    walk->dimension_count = ARRAY_DIMENSION_MAX - used;
    memmove(walk->shape, walk->shape + used, walk->dimension_count * sizeof(uint64_t));
    memmove(walk->strides, walk->strides + used,
            walk->dimension_count * sizeof(int64_t));
}

/* The address that is `index` strides after `bytes`. */
static inline const unsigned char *
step(const unsigned char *bytes, uint64_t index, int64_t stride)
{
    return bytes + (int64_t)(index * (uint64_t)stride);
}

/* Inlined for each element size, so that memcpy has a constant size. */
static inline __attribute__((always_inline)) void
copy_row_of(const unsigned char *source,
            int64_t stride,
            uint64_t count,
            size_t size,
            unsigned char *out)
{
    for (uint64_t i = 0; i < count; i++) {
        memcpy(out + i * size, step(source, i, stride), size);
    }
}

static void copy_row(const unsigned char *source,
                     int64_t stride,
                     uint64_t count,
                     size_t size,
                     unsigned char *out)
{
    if (stride == (int64_t)size) {
        memcpy(out, source, count * size);
        return;
    }
    switch (size) {
    case 1:
        copy_row_of(source, stride, count, 1, out);
        break;
    case 2:
        copy_row_of(source, stride, count, 2, out);
        break;
    case 4:
        copy_row_of(source, stride, count, 4, out);
        break;
    case 8:
        copy_row_of(source, stride, count, 8, out);
        break;
    default:
        copy_row_of(source, stride, count, size, out);
        break;
    }
}

/* The position of a walk: the index in each dimension, and the element's address. */
struct position {
    uint64_t indices[ARRAY_DIMENSION_MAX];
    const unsigned char *bytes;
};

static void
position_init(struct position *position, const struct array_walk *walk, uint64_t first)
{
    position->bytes = walk->array->data;
    for (uint32_t i = walk->dimension_count; i-- > 0;) {
        uint64_t index = first % walk->shape[i];

        first /= walk->shape[i];
        position->indices[i] = index;
        position->bytes = step(position->bytes, index, walk->strides[i]);
    }
    assert(first == 0); /* the array has the element */
}

/* Advances `count` steps in a dimension. At its end, continues with the next index of the
 * dimension before it. */
static void position_advance(struct position *position,
                             const struct array_walk *walk,
                             uint32_t dimension,
                             uint64_t count)
{
    for (;;) {
        int64_t stride = walk->strides[dimension];

        position->indices[dimension] += count;
        assert(position->indices[dimension] <= walk->shape[dimension]);
        position->bytes = step(position->bytes, count, stride);
        if (position->indices[dimension] < walk->shape[dimension] || dimension == 0) {
            return;
        }
        position->bytes = step(position->bytes, walk->shape[dimension], -stride);
        position->indices[dimension] = 0;
        dimension--;
        count = 1;
    }
}

static uint64_t stride_length(int64_t stride)
{
    return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

/* Whether rows are closer to each other in memory than the elements of a row. */
static bool has_rows_across(const struct array_walk *walk)
{
    uint32_t last = walk->dimension_count - 1;

    return last > 0 &&
           stride_length(walk->strides[last]) > stride_length(walk->strides[last - 1]);
}

/* Whether several rows are copied faster together. */
static bool are_rows_together(const struct array_walk *walk)
{
    return has_rows_across(walk) ||
           walk->strides[walk->dimension_count - 1] == (int64_t)walk->size;
}

/* The number of whole rows at equal distances from here on, within `count` elements. 0: the
 * position is not the start of a row. */
static uint64_t row_count_here(const struct array_walk *walk,
                               const struct position *position,
                               uint64_t count)
{
    uint32_t last = walk->dimension_count - 1;
    uint64_t row_count = count / walk->shape[last];
    uint64_t left;

    if (last == 0 || position->indices[last] != 0) {
        return 0;
    }
    left = walk->shape[last - 1] - position->indices[last - 1];
    return left < row_count ? left : row_count;
}

/* Inlined for each row size that the compiler knows. */
static inline __attribute__((always_inline)) void
copy_blocks_of(const struct transpose *rows, size_t size, unsigned char *out)
{
    for (uint64_t i = 0; i < rows->row_count; i++) {
        const unsigned char *row = step(rows->source, i, rows->row_stride);

        for (uint64_t at = 0; at < rows->length * rows->size; at += size) {
            memcpy(out, row + at, size);
            out += size;
        }
    }
}

/* Copies rows of adjacent elements, such as those of an attention head. Short rows are not worth
 * a call to memcpy each. */
static void copy_blocks(const struct transpose *rows, unsigned char *out)
{
    size_t row_size = (size_t)rows->length * rows->size;

    if (row_size % 32 == 0 && row_size <= 512) {
        copy_blocks_of(rows, 32, out);
    } else if (row_size % 8 == 0 && row_size <= 128) {
        copy_blocks_of(rows, 8, out);
    } else {
        copy_blocks_of(rows, row_size, out);
    }
}

static void copy_rows(const struct array_walk *walk,
                      const struct position *position,
                      uint64_t row_count,
                      unsigned char *out)
{
    uint32_t last = walk->dimension_count - 1;
    struct transpose rows = {
        .source = position->bytes,
        .row_stride = walk->strides[last - 1],
        .stride = walk->strides[last],
        .row_count = row_count,
        .length = walk->shape[last],
        .size = walk->size,
    };

    if (has_rows_across(walk)) {
        transpose_copy(&rows, out);
    } else {
        copy_blocks(&rows, out);
    }
}

uint64_t array_walk_fit(const struct array_walk *walk, uint64_t first, uint64_t count)
{
    uint32_t last = walk->dimension_count - 1;
    uint64_t length = walk->shape[last];
    uint64_t row_count = count / length;
    uint64_t begun = first % length;

    if (!has_rows_across(walk) || row_count == 0) {
        return count;
    }
    if (begun != 0) {
        assert(length - begun <= count);
        return length - begun;
    }
    if (row_count > TRANSPOSE_ROW_COUNT) {
        row_count -= row_count % TRANSPOSE_ROW_COUNT;
    } else if (row_count > TRANSPOSE_ROW_COUNT_MIN) {
        row_count -= row_count % TRANSPOSE_ROW_COUNT_MIN;
    }
    return row_count * length;
}

void array_walk_copy(const struct array_walk *walk,
                     uint64_t first,
                     uint64_t count,
                     unsigned char *out)
{
    uint32_t last = walk->dimension_count - 1;
    struct position position;
    unsigned char *start = out;
    uint64_t left = count;

    position_init(&position, walk, first);
    while (left > 0) {
        uint64_t length = walk->shape[last] - position.indices[last];
        uint64_t row_count = row_count_here(walk, &position, left);

        if (row_count > 1 && are_rows_together(walk)) {
            length = row_count * walk->shape[last];
            copy_rows(walk, &position, row_count, out);
            position_advance(&position, walk, last - 1, row_count);
        } else {
            length = length < left ? length : left;
            copy_row(position.bytes, walk->strides[last], length, walk->size, out);
            position_advance(&position, walk, last, length);
        }
        assert(length > 0 && length <= left);
        out += length * walk->size;
        left -= length;
    }
    array_resolve(walk->array, count, start);
}

/* Flips the signs. The sign is the highest bit of a number's last byte. */
static void
turn_signs(unsigned char *bytes, size_t number_size, size_t step_size, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        bytes[i * step_size + number_size - 1] ^= 0x80;
    }
}

/* Negates in two's complement. The smallest integer stays as it is. */
static void negate_integers(unsigned char *bytes, size_t size, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        unsigned carry = 1;

        for (size_t at = 0; at < size; at++) {
            carry += (unsigned char)~bytes[i * size + at];
            bytes[i * size + at] = (unsigned char)carry;
            carry >>= 8;
        }
    }
}

void array_resolve(const struct array *array, uint64_t count, unsigned char *bytes)
{
    size_t size = dtype_size(array->dtype);

    if (array_is_resolved(array)) {
        return;
    }
    switch (dtype_class(array->dtype)) {
    case DTYPE_CLASS_COMPLEX:
        if (array->is_negated) {
            turn_signs(bytes, size / 2, size, count);
        }
        if (array->is_negated != array->is_conjugated) {
            turn_signs(bytes + size / 2, size / 2, size, count);
        }
        break;
    case DTYPE_CLASS_FLOATING:
        if (array->is_negated) {
            turn_signs(bytes, size, size, count);
        }
        break;
    case DTYPE_CLASS_SIGNED:
    case DTYPE_CLASS_UNSIGNED:
        if (array->is_negated && array->dtype != DTYPE_BOOL) {
            negate_integers(bytes, size, count);
        }
        break;
    case DTYPE_CLASS_OPAQUE:
        break;
    }
}
