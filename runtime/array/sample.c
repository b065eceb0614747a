/* Samples: choosing the indices of a grid, and copying its values. */
#include "runtime/array/sample.h"

#include "runtime/array/walk.h"

#include <assert.h>
#include <string.h>

/* The largest number of rows and columns of matrices in a larger array. */
#define SLICE_SIDE 4
/* The same for tables with a few matrices. It keeps a sample within SAMPLE_MAX values. */
#define FEW_SLICES_SIDE 16

static uint32_t side_of(uint32_t limit)
{
    uint32_t side = 0;

    while ((uint64_t)(side + 1) * (side + 1) <= limit) {
        side++;
    }
    return side;
}

static uint32_t smaller(int64_t length, uint32_t limit)
{
    return length < (int64_t)limit ? (uint32_t)length : limit;
}

/* Divides `limit` values between two dimensions. */
static void share(const int64_t *shape, uint32_t *counts, uint32_t limit)
{
    uint32_t side = side_of(limit);

    counts[0] = smaller(shape[0], side);
    counts[1] = smaller(shape[1], side);
    if (counts[0] < side) {
        counts[1] = smaller(shape[1], limit / counts[0]);
    } else if (counts[1] < side) {
        counts[0] = smaller(shape[0], limit / counts[1]);
    }
}

/* For three and four dimensions: a matrix of the last two, and as many of these as the limit
 * allows. */
static void
share_slices(const int64_t *shape, uint32_t count, uint32_t *counts, uint32_t limit)
{
    uint32_t side = side_of(limit) < SLICE_SIDE ? side_of(limit) : SLICE_SIDE;
    uint32_t *matrix = counts + count - 2;

    matrix[0] = smaller(shape[count - 2], side);
    matrix[1] = smaller(shape[count - 1], side);
    limit /= matrix[0] * matrix[1];
    if (count == 3) {
        counts[0] = smaller(shape[0], limit);
    } else {
        share(shape, counts, limit);
    }
}

/* ---- tables ---- */

/* The limit's bits, from the lowest: vector, matrix, slices. */
#define VECTOR_BITS 10
#define MATRIX_BITS 6

static uint32_t bounded(uint64_t number, uint32_t most)
{
    return number < 1 ? 1 : number > most ? most : (uint32_t)number;
}

uint32_t sample_tables(uint64_t vector, uint64_t matrix, uint64_t slices)
{
    return SAMPLE_TABLES | bounded(vector, SAMPLE_VECTOR_MAX) |
           bounded(matrix, SAMPLE_MATRIX_MAX) << VECTOR_BITS |
           bounded(slices, SAMPLE_SLICES_MAX) << (VECTOR_BITS + MATRIX_BITS);
}

/* Divides `limit` slices between two dimensions. Uses as many slices as possible, and prefers
 * indices of the second dimension. */
static void share_indices(const int64_t *shape, uint32_t *counts, uint32_t limit)
{
    uint32_t most = 0;

    for (uint32_t first = 1; first <= smaller(shape[0], limit); first++) {
        uint32_t second = smaller(shape[1], limit / first);

        if (first * second > most) {
            most = first * second;
            counts[0] = first;
            counts[1] = second;
        }
    }
}

/* Chooses the counts of up to four dimensions, the array's last ones. */
static void
share_tables(const int64_t *shape, uint32_t count, uint32_t *counts, uint32_t limit)
{
    uint32_t side = limit >> VECTOR_BITS & ((1u << MATRIX_BITS) - 1);
    uint32_t slices = limit >> (VECTOR_BITS + MATRIX_BITS) & 0x7fff;
    uint32_t slice_count = 1;

    /* A limit that was read from a file can have any value. */
    side = bounded(side, SAMPLE_MATRIX_MAX);
    slices = bounded(slices, SAMPLE_SLICES_MAX);
    if (count == 1) {
        counts[0] =
            smaller(shape[0], bounded(limit & SAMPLE_VECTOR_MAX, SAMPLE_VECTOR_MAX));
        return;
    }
    if (count == 3) {
        counts[0] = slice_count = smaller(shape[0], slices);
    } else if (count == 4) {
        share_indices(shape, counts, slices);
        slice_count = counts[0] * counts[1];
    }
    if (slice_count > 4 && side > SLICE_SIDE) {
        side = SLICE_SIDE;
    } else if (slice_count > 1 && side > FEW_SLICES_SIDE) {
        side = FEW_SLICES_SIDE;
    }
    counts[count - 2] = smaller(shape[count - 2], side);
    counts[count - 1] = smaller(shape[count - 1], side);
}

/* ---- grids ---- */

/* Whether an array without empty dimensions is small enough to be sampled whole. */
static bool is_small(const int64_t *shape, uint32_t dimension_count)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < dimension_count; i++) {
        if (shape[i] > SAMPLE_WHOLE_MAX || (i + 4 < dimension_count && shape[i] != 1)) {
            return false;
        }
        count *= count <= SAMPLE_WHOLE_MAX ? (uint64_t)shape[i] : 1;
    }
    return count <= SAMPLE_WHOLE_MAX;
}

/* Chooses the number of indices of each dimension. No dimension may be empty. */
static void share_all(const int64_t *shape,
                      uint32_t dimension_count,
                      uint32_t *counts,
                      uint32_t limit)
{
    uint32_t leading = dimension_count > 4 ? dimension_count - 4 : 0;

    for (uint32_t i = 0; i < leading; i++) {
        counts[i] = 1;
    }
    shape += leading;
    counts += leading;
    dimension_count -= leading;
    if ((limit & SAMPLE_TABLES) != 0 && dimension_count > 0) {
        share_tables(shape, dimension_count, counts, limit);
    } else if (dimension_count == 1) {
        counts[0] = smaller(shape[0], limit);
    } else if (dimension_count == 2) {
        share(shape, counts, limit);
    } else if (dimension_count > 2) {
        share_slices(shape, dimension_count, counts, limit);
    }
}

void sample_grid_init(struct sample_grid *grid,
                      const int64_t *shape,
                      uint32_t dimension_count,
                      uint32_t limit)
{
    bool is_whole = (limit & SAMPLE_WHOLE) != 0;
    bool is_empty = (limit &= ~SAMPLE_WHOLE) == 0 && !is_whole;

    *grid = (struct sample_grid){.dimension_count = dimension_count, .shape = shape};
    for (uint32_t i = 0; i < dimension_count; i++) {
        is_empty = is_empty || shape[i] == 0;
    }
    if (is_empty) {
        return;
    }
    if (is_whole && is_small(shape, dimension_count)) {
        for (uint32_t i = 0; i < dimension_count; i++) {
            grid->counts[i] = (uint32_t)shape[i];
        }
    } else if (limit == 0) {
        return;
    } else {
        share_all(shape, dimension_count, grid->counts, limit);
    }
    grid->count = 1;
    for (uint32_t i = 0; i < dimension_count; i++) {
        assert(grid->counts[i] > 0 && grid->counts[i] <= shape[i]);
        grid->count *= grid->counts[i];
    }
}

int64_t
sample_grid_index(const struct sample_grid *grid, uint32_t dimension, uint32_t position)
{
    uint64_t last = (uint64_t)grid->shape[dimension] - 1;
    uint64_t steps = grid->counts[dimension];

    assert(dimension < grid->dimension_count && position < steps);
    if (dimension + 4 < grid->dimension_count) {
        return grid->shape[dimension] / 2;
    }
    if (steps <= 1) {
        return 0;
    }
    if (steps == last + 1) {
        return position; /* all indices: the most frequent case */
    }
    /* position * last / (steps - 1), computed in parts that cannot overflow. */
    steps--;
    return (int64_t)(position * (last / steps) + position * (last % steps) / steps);
}

/* The strides in bytes; row-major if the array has none. */
static void strides_find(const struct array *array, int64_t *strides)
{
    uint64_t stride = dtype_size(array->dtype);

    for (uint32_t i = array->dimension_count; i-- > 0;) {
        strides[i] = array->strides == NULL ? (int64_t)stride : array->strides[i];
        stride *= (uint64_t)array->shape[i];
    }
}

/* One line of the grid in memory. Its indices are those of sample_grid_index, but each is
 * computed from the previous one without a division. */
struct line {
    const unsigned char *source;
    int64_t stride;
    uint64_t step;      /* from one index to the next, without a remainder */
    uint64_t remainder; /* added to the step as remainder / (count - 1) */
    uint32_t count;
};

static inline __attribute__((always_inline)) void
line_copy_of(const struct line *line, size_t size, unsigned char *out)
{
    const unsigned char *source = line->source;
    int64_t step = (int64_t)(line->step * (uint64_t)line->stride);
    uint64_t carried = 0;

    memcpy(out, source, size);
    for (uint32_t i = 1; i < line->count; i++) {
        source += step;
        carried += line->remainder;
        if (carried >= line->count - 1) {
            carried -= line->count - 1;
            source += line->stride;
        }
        memcpy(out + i * size, source, size);
    }
}

static void line_copy(const struct line *line, size_t size, unsigned char *out)
{
    switch (size) {
    case 2:
        line_copy_of(line, 2, out);
        break;
    case 4:
        line_copy_of(line, 4, out);
        break;
    case 8:
        line_copy_of(line, 8, out);
        break;
    default:
        line_copy_of(line, size, out);
        break;
    }
}

/* The current line: for each dimension its position, and the address that the positions up to
 * this dimension give. */
struct cursor {
    uint32_t positions[ARRAY_DIMENSION_MAX];
    const unsigned char *sources[ARRAY_DIMENSION_MAX];
};

/* Recomputes the addresses, from the first dimension whose position has changed. */
static void cursor_find(struct cursor *cursor,
                        const struct sample_grid *grid,
                        const unsigned char *data,
                        const int64_t *strides,
                        uint32_t dimension)
{
    for (uint32_t i = dimension; i < grid->dimension_count; i++) {
        int64_t index = sample_grid_index(grid, i, cursor->positions[i]);
        assert(index >= 0 && index < grid->shape[i]);
        const unsigned char *source = i == 0 ? data : cursor->sources[i - 1];

        cursor->sources[i] = source + (int64_t)((uint64_t)index * (uint64_t)strides[i]);
    }
}

/* Advances to the next line. Returns the first dimension whose position has changed. */
static uint32_t cursor_advance(struct cursor *cursor, const struct sample_grid *grid)
{
    uint32_t i = grid->dimension_count - 1;

    while (i-- > 0) {
        if (++cursor->positions[i] < grid->counts[i]) {
            return i;
        }
        cursor->positions[i] = 0;
    }
    return 0;
}

static void copy_lines(const struct sample_grid *grid,
                       const struct array *array,
                       unsigned char *out)
{
    uint32_t last = grid->dimension_count - 1;
    uint64_t length = (uint64_t)grid->shape[last];
    size_t size = dtype_size(array->dtype);
    int64_t strides[ARRAY_DIMENSION_MAX];
    struct cursor cursor;
    struct line line = {.count = grid->counts[last]};
    uint32_t changed = 0;

    strides_find(array, strides);
    memset(cursor.positions, 0, grid->dimension_count * sizeof(cursor.positions[0]));
    line.stride = strides[last];
    if (line.count > 1) {
        line.step = (length - 1) / (line.count - 1);
        line.remainder = (length - 1) % (line.count - 1);
    }
    for (uint64_t used = 0; used < grid->count; used += line.count) {
        cursor_find(&cursor, grid, array->data, strides, changed);
        line.source = cursor.sources[last];
        line_copy(&line, size, out + used * size);
        changed = cursor_advance(&cursor, grid);
    }
}

void sample_copy(const struct sample_grid *grid, const struct array *array, void *bytes)
{
    if (grid->count == 0) {
        return;
    }
    if (grid->dimension_count == 0) {
        memcpy(bytes, array->data, dtype_size(array->dtype));
    } else {
        copy_lines(grid, array, bytes);
    }
    array_resolve(array, grid->count, bytes);
}
