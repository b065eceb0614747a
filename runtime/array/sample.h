/* Samples: small grids of an array's values, for tables. The indices are spread evenly over each
 * dimension, and include the first and the last one. */
#ifndef MONITORCH_ARRAY_SAMPLE_H
#define MONITORCH_ARRAY_SAMPLE_H

#include "runtime/array/array.h"

/* Limits of samples that fill tables, made by sample_tables. One dimension gets at most `vector`
 * values, two get at most `matrix` rows and columns, three and four get at most `slices`
 * matrices. A matrix has at most 16 rows and columns if there are several, and 4 if there are
 * more than 4. Values above the maxima are reduced to them. */
#define SAMPLE_TABLES     0x80000000u
#define SAMPLE_VECTOR_MAX 1023
#define SAMPLE_MATRIX_MAX 32
#define SAMPLE_SLICES_MAX 64
/* A flag for any limit: arrays of at most SAMPLE_WHOLE_MAX elements are sampled whole, unless
 * they have more than four dimensions and a leading one is longer than 1. */
#define SAMPLE_WHOLE     0x40000000u
#define SAMPLE_WHOLE_MAX 25
/* The largest number of values in a sample. */
#define SAMPLE_MAX     1024
#define SAMPLE_DEFAULT 64
uint32_t sample_tables(uint64_t vector, uint64_t matrix, uint64_t slices);

struct sample_grid {
    uint32_t dimension_count;
    uint32_t counts[ARRAY_DIMENSION_MAX]; /* number of indices in each dimension */
    const int64_t *shape;                 /* borrowed */
    uint64_t count;                       /* number of values: the product of counts */
};

/* Chooses the indices of the sample. They depend on shape and limit only, so traces do not store
 * them. The limit is a number of values or a result of sample_tables, optionally with
 * SAMPLE_WHOLE. With a number, one dimension gets at most that many values. Two dimensions get a
 * matrix of at most floor(sqrt(limit)) rows and columns; if one side is shorter, the other may
 * be longer. Three and four dimensions get matrices of the last two dimensions with at most 4
 * rows and columns, as many as the limit allows. Further leading dimensions are sampled at their
 * middle (n / 2). */
void sample_grid_init(struct sample_grid *grid,
                      const int64_t *shape,
                      uint32_t dimension_count,
                      uint32_t limit);
/* The index in the array's dimension `dimension` for the grid's `position` there. */
int64_t sample_grid_index(const struct sample_grid *grid,
                          uint32_t dimension,
                          uint32_t position);

/* Writes the sampled values, row-major, in the array's dtype with conjugation and negation
 * resolved. `bytes` has space for grid->count of them. */
void sample_copy(const struct sample_grid *grid,
                 const struct array *array,
                 void *bytes);

#endif
