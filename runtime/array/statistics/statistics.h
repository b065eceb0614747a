/* What an array holds, in a few numbers, and a hash of it: one pass over the data where it
 * lies, strided or not. Nothing here allocates or fails. */
#ifndef MONITORCH_ARRAY_STATISTICS_STATISTICS_H
#define MONITORCH_ARRAY_STATISTICS_STATISTICS_H

#include "runtime/array/array.h"

/* By the class of the dtype: UNSIGNED natural, SIGNED integer, otherwise real. */
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

/* Of the finite elements alone, but for the counts; complex numbers by their magnitude (which
 * is NaN where a part is NaN and no part is infinite, as in torch.abs; and +Inf where a part
 * is infinite). Accumulated in double. */
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
    STATISTICS_WANT_VALUES = 1, /* fill `statistics`; of OPAQUE dtypes only the count */
    STATISTICS_WANT_HASH = 2,   /* fill `hash` */
};

/* The hash is over the elements' bytes in logical order, conjugation and negation resolved, so
 * order, sign and the sign of zero count, strides do not. It is the same on every machine and
 * for every number of threads. Shape and dtype are not part of it. Up to 1 MiB it is XXH3 with
 * 64 bits; of more, XXH3 of the hashes of each 1 MiB.
 *
 * `thread_limit` threads at most are used (1: the caller's alone), and more than one only where
 * the array is large enough for it to pay. Results do not depend on how many were used. */
void statistics_measure(const struct array *array,
                        unsigned wanted,
                        unsigned thread_limit,
                        struct statistics *statistics,
                        uint64_t *hash);

/* The same, but `must_stop` (may be NULL) is asked before each 256 MiB. Returns what was found, enum
 * statistics_want: nothing where it was stopped, and `statistics` are those of no element. A large expanded array is measured by the elements
 * that memory holds; its hash is that of all elements in logical order, and is found where those
 * repeat after at most 256 MiB. */
unsigned statistics_measure_until(const struct array *array,
                                  unsigned wanted,
                                  unsigned thread_limit,
                                  bool (*must_stop)(void),
                                  struct statistics *statistics,
                                  uint64_t *hash);

/* The kernels that are in use: "avx512", "avx2", "neon" or "portable". Chosen at the first
 * call from what the processor has; MONITORCH_KERNELS=portable (or avx2 …) asks for another. */
const char *statistics_kernels(void);

#endif
