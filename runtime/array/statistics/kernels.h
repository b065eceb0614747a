/* The loops over numbers that lie one after another, one set of them for each kind of
 * processor. Private to the statistics. */
#ifndef MONITORCH_ARRAY_STATISTICS_KERNELS_H
#define MONITORCH_ARRAY_STATISTICS_KERNELS_H

#include "runtime/array/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How much is worked on at a time, in bytes and in elements: it stays in the first cache from
 * one pass to the next. */
#define KERNEL_BLOCK_SIZE  (16 * 1024)
#define KERNEL_BLOCK_COUNT 4096

/* Sums over a block. They are of the differences to `shift`, which the caller reads from the block
 * itself: then `square_sum` is at most (count + 1) times the sum of the squares of the differences
 * to the mean, so that the variance has lost no more than 4 of 16 digits. */
struct block_sums {
    double sum;        /* of x - shift over the finite elements */
    double square_sum; /* of (x - shift) squared */
    double min;        /* of the finite elements; +Inf where there are none */
    double max;        /* -Inf where there are none */
#define STATISTIC_COUNT(field, name, function) uint64_t field;
#include "runtime/array/statistics/statistics.def"
};

/* Elements that are not finite are left out of the sums only where `is_careful`; otherwise
 * they show in a `sum` that is not finite, and only `zero_count` is sure to be right. */
typedef void (*kernel_sums)(const void *data,
                            size_t count,
                            double shift,
                            bool is_careful,
                            struct block_sums *sums);
/* Integers of 64 bits do not fit into a double: their bounds are found apart. The bounds only
 * ever widen. */
typedef void (*kernel_signed_bounds)(const void *data,
                                     size_t count,
                                     int64_t *min,
                                     int64_t *max);
typedef void (*kernel_unsigned_bounds)(const void *data,
                                       size_t count,
                                       uint64_t *min,
                                       uint64_t *max);

/* The magnitudes of complex numbers, of each run of them in another order. Only for parts whose
 * squares are doubles. */
typedef void (*kernel_magnitudes)(const void *data, size_t count, double *magnitudes);

struct kernels {
    const char *name;
    bool (*is_supported)(void); /* by the processor that runs this */
    kernel_sums
        sums[DTYPE_COUNT]; /* NULL: for a dtype that has to be converted first */
    kernel_magnitudes magnitudes[DTYPE_COUNT]; /* NULL: not complex */
    kernel_signed_bounds signed_bounds;
    kernel_unsigned_bounds unsigned_bounds;
};

/* Those that were compiled in, the best first, then NULL. */
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
