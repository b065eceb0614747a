/* A small grid of an array's values, for tables: spread evenly over each dimension, the first
 * and the last always in it. */
#ifndef MONITORCH_ARRAY_SAMPLE_H
#define MONITORCH_ARRAY_SAMPLE_H

#include "runtime/array/array.h"

/* The limit of samples that fill tables: of one dimension at most `vector` values, of two
 * `matrix` rows and columns; of three and four `slices` such matrices, but of no more than 4 a
 * side where there are more than 4 of them, 16 where there are several. What is beyond the
 * most becomes the most. */
#define SAMPLE_TABLES     0x80000000u
#define SAMPLE_VECTOR_MAX 1023
#define SAMPLE_MATRIX_MAX 32
#define SAMPLE_SLICES_MAX 64
/* With any limit: arrays of no more elements than SAMPLE_WHOLE_MAX are sampled whole, except those
 * of more than four dimensions where a leading one is longer than 1. */
#define SAMPLE_WHOLE     0x40000000u
#define SAMPLE_WHOLE_MAX 25
/* No sample has more values. */
#define SAMPLE_MAX     1024
#define SAMPLE_DEFAULT 64
uint32_t sample_tables(uint64_t vector, uint64_t matrix, uint64_t slices);

struct sample_grid {
    uint32_t dimension_count;
    uint32_t counts[ARRAY_DIMENSION_MAX]; /* how many indices of each dimension */
    const int64_t *shape;                 /* borrowed */
    uint64_t count;                       /* of all values: the product of counts */
};

/* Which indices are in the sample: a function of shape and limit alone, so that a trace need not
 * say it. The limit is a number of values, or what sample_tables made; with SAMPLE_WHOLE or not. Of
 * a number: one dimension has at most so many columns; two are a matrix of at most
 * floor(sqrt(limit)) a side, and what a short side leaves is used for the other; three and four are
 * such matrices of the last two dimensions, at most 4 a side, as many as the limit leaves. More
 * dimensions: the leading ones are at their middle (n / 2). */
void sample_grid_init(struct sample_grid *grid,
                      const int64_t *shape,
                      uint32_t dimension_count,
                      uint32_t limit);
/* The index in dimension `dimension` of the grid's `position` there. */
int64_t sample_grid_index(const struct sample_grid *grid,
                          uint32_t dimension,
                          uint32_t position);

/* Writes the values, elements as the dtype has them (conjugation and negation resolved),
 * row-major, into `bytes`, which has room for grid->count of them. */
void sample_copy(const struct sample_grid *grid,
                 const struct array *array,
                 void *bytes);

#endif
