/* Statistics and hash of an array, computed in one pass over the data in place, strided or not.
 * No function allocates or fails. */
#ifndef MONITORCH_ARRAY_STATISTICS_STATISTICS_H
#define MONITORCH_ARRAY_STATISTICS_STATISTICS_H

#include "runtime/array/array.h"

/* Valid member by the class of the dtype: UNSIGNED natural, SIGNED integer, otherwise real. */
union statistics_bound {
    double real;
    int64_t integer;
    uint64_t natural;
};

static inline double statistics_bound_real(enum dtype dtype,
                                           union statistics_bound bound)
{
    switch (dtype_class(dtype)) {
    case DTYPE_CLASS_SIGNED:
        return (double)bound.integer;
    case DTYPE_CLASS_UNSIGNED:
        return (double)bound.natural;
    default:
        return bound.real;
    }
}

/* Statistics of the finite elements, except for the counts. Sums are doubles. Complex numbers
 * count by magnitude. As in torch.abs, the magnitude is +Inf if a part is infinite, and
 * otherwise NaN if a part is NaN. */
struct statistics {
    uint64_t count; /* all elements */
#define STATISTIC_COUNT(field, name, function) uint64_t field;
#define STATISTIC_BOUND(field, name)           union statistics_bound field;
#define STATISTIC_REAL(field, name)            double field;
#include "runtime/array/statistics/statistics.def"
};

static inline uint64_t statistics_finite_count(const struct statistics *statistics)
{
    uint64_t count = statistics->count;

#define STATISTIC_NONFINITE(field, name, function) count -= statistics->field;
#include "runtime/array/statistics/statistics.def"
    return count;
}

enum statistics_want {
    /* Fill `statistics`; for OPAQUE dtypes only the count. */
    STATISTICS_WANT_VALUES = 1,
    STATISTICS_WANT_HASH = 2, /* fill `hash` */
};

/* Measures an array. The hash covers the elements' bytes in logical order, with conjugation and
 * negation resolved. So it depends on order, sign and the sign of zero, but not on strides,
 * shape or dtype. It is the same on every machine. Up to 1 MiB of elements it is XXH3 with 64
 * bits; for more, XXH3 of the hashes of each 1 MiB.
 *
 * At most `thread_limit` threads are used (1: only the caller's), and more than one only if the
 * array is large enough. The results do not depend on the number of threads. */
void statistics_measure(const struct array *array,
                        unsigned wanted,
                        unsigned thread_limit,
                        struct statistics *statistics,
                        uint64_t *hash);

/* Measures an array, but can be stopped: `must_stop`, which may be NULL, is called before each
 * 256 MiB. Returns the results that were found (enum statistics_want). 0 if it was stopped;
 * `statistics` are then those of no elements. For a large expanded array, only the elements in
 * memory are measured. Its hash is still that of all elements in logical order, and is found if
 * they repeat after at most 256 MiB. */
unsigned statistics_measure_until(const struct array *array,
                                  unsigned wanted,
                                  unsigned thread_limit,
                                  bool (*must_stop)(void),
                                  struct statistics *statistics,
                                  uint64_t *hash);

/* The kernels in use: "avx512", "avx2", "neon" or "portable". The first call chooses the best
 * ones that the processor supports; MONITORCH_KERNELS=portable (or avx2 …) overrides the choice. */
const char *statistics_kernels(void);

#endif
