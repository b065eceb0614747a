/* Kernels: loops over adjacent numbers, one set of them for each kind of processor. Private to
 * the statistics. */
#ifndef MONITORCH_ARRAY_STATISTICS_KERNELS_H
#define MONITORCH_ARRAY_STATISTICS_KERNELS_H

#include "runtime/array/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of a block in bytes, and its largest number of elements. A block stays in the
 * first-level cache from one pass to the next. */
#define KERNEL_BLOCK_SIZE  (16 * 1024)
#define KERNEL_BLOCK_COUNT 4096

/* Sums over a block, of the differences to `shift`, an element of the block. `square_sum` is
 * then at most (count + 1) times the sum of the squared differences to the mean, so the variance
 * loses no more than 4 of 16 digits. */
struct block_sums {
    double sum;        /* of x - shift over the finite elements */
    double square_sum; /* of (x - shift) squared */
    double min;        /* of the finite elements; +Inf if there are none */
    double max;        /* -Inf if there are none */
#define STATISTIC_COUNT(field, name, function) uint64_t field;
#include "runtime/array/statistics/statistics.def"
};

/* Computes the sums of a block. With `is_careful`, elements that are not finite are excluded
 * from the sums. Without it, such elements make `sum` not finite, and only `zero_count` is
 * reliable then. */
typedef void (*kernel_sums)(const void *data,
                            size_t count,
                            double shift,
                            bool is_careful,
                            struct block_sums *sums);
/* Bounds of integers of 64 bits, which do not fit into a double. The bounds passed in are only
 * widened. */
typedef void (*kernel_signed_bounds)(const void *data,
                                     size_t count,
                                     int64_t *min,
                                     int64_t *max);
typedef void (*kernel_unsigned_bounds)(const void *data,
                                       size_t count,
                                       uint64_t *min,
                                       uint64_t *max);

/* Computes the magnitudes of complex numbers. Their order within a vector is unspecified. Exact
 * only if the squares of the parts neither overflow nor underflow. */
typedef void (*kernel_magnitudes)(const void *data, size_t count, double *magnitudes);

struct kernels {
    const char *name;
    bool (*is_supported)(void);    /* by the current processor */
    kernel_sums sums[DTYPE_COUNT]; /* NULL: the dtype must be converted first */
    kernel_magnitudes magnitudes[DTYPE_COUNT]; /* NULL: no complex dtype */
    kernel_signed_bounds signed_bounds;
    kernel_unsigned_bounds unsigned_bounds;
};

/* All kernels that are compiled in, the best first, then NULL. */
const struct kernels *const *kernels_all(void);

extern const struct kernels kernels_portable;
#if defined(__x86_64__)
    #define KERNELS_X86 1
extern const struct kernels kernels_avx2;
extern const struct kernels kernels_avx512;
#elif defined(__aarch64__)
    #define KERNELS_NEON 1
extern const struct kernels kernels_neon;
#endif

#endif
