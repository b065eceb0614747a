/* Kernels for any processor, with the generic vectors of GCC and Clang: 4 floats or 2 doubles. */
#include "runtime/array/statistics/kernels.h"

#include "runtime/array/number.h"

#define TARGET
#define INLINE static inline __attribute__((always_inline))

#define FLOAT_LANES   4
#define DOUBLE_LANES  2
#define FLOATS        __attribute__((vector_size(16))) float
#define DOUBLES       __attribute__((vector_size(16))) double
#define FLOAT_COUNTS  __attribute__((vector_size(16))) int32_t
#define DOUBLE_COUNTS __attribute__((vector_size(16))) int64_t

INLINE FLOATS floats_all(float value)
{
    return (FLOATS){value, value, value, value};
}

INLINE FLOATS floats_load(const unsigned char *bytes)
{
    FLOATS values;

    memcpy(&values, bytes, sizeof(values));
    return values;
}

/* Converts the numbers one by one. */
#define FLOATS_LOAD(name, size)                                                        \
    INLINE FLOATS floats_load_##name(const unsigned char *bytes)                       \
    {                                                                                  \
        return (FLOATS){number_##name(bytes), number_##name(bytes + (size)),           \
                        number_##name(bytes + 2 * (size)),                             \
                        number_##name(bytes + 3 * (size))};                            \
    }

FLOATS_LOAD(float16, 2)
FLOATS_LOAD(bfloat16, 2)
FLOATS_LOAD(bool, 1)
FLOATS_LOAD(uint8, 1)
FLOATS_LOAD(int8, 1)
FLOATS_LOAD(uint16, 2)
FLOATS_LOAD(int16, 2)

INLINE DOUBLES floats_low(FLOATS values)
{
    return (DOUBLES){values[0], values[1]};
}

INLINE DOUBLES floats_high(FLOATS values)
{
    return (DOUBLES){values[2], values[3]};
}

/* A lane of a comparison has all bits set if it is true. */
INLINE FLOATS floats_choose(FLOAT_COUNTS where, FLOATS values, FLOATS otherwise)
{
    return (FLOATS)(((FLOAT_COUNTS)values & where) |
                    ((FLOAT_COUNTS)otherwise & ~where));
}

INLINE FLOATS floats_min(FLOATS a, FLOATS b)
{
    return floats_choose(a < b, a, b);
}

INLINE FLOATS floats_max(FLOATS a, FLOATS b)
{
    return floats_choose(a > b, a, b);
}

INLINE float floats_lowest(FLOATS values)
{
    float low = values[0] < values[1] ? values[0] : values[1];
    float high = values[2] < values[3] ? values[2] : values[3];

    return low < high ? low : high;
}

INLINE float floats_highest(FLOATS values)
{
    float low = values[0] > values[1] ? values[0] : values[1];
    float high = values[2] > values[3] ? values[2] : values[3];

    return low > high ? low : high;
}

/* The comparison of bits raises no floating-point flag. */
INLINE FLOATS floats_if_finite(FLOATS values, FLOATS otherwise)
{
    return floats_choose(((FLOAT_COUNTS)values & 0x7fffffff) < 0x7f800000, values,
                         otherwise);
}

INLINE FLOAT_COUNTS float_counts_none(void)
{
    return (FLOAT_COUNTS){0};
}

INLINE FLOAT_COUNTS floats_count(FLOAT_COUNTS counts, FLOATS values, FLOATS wanted)
{
    return counts - (FLOAT_COUNTS)(values == wanted);
}

INLINE FLOAT_COUNTS floats_count_nans(FLOAT_COUNTS counts, FLOATS values)
{
    return counts - (FLOAT_COUNTS)(values != values);
}

INLINE uint64_t float_counts_total(FLOAT_COUNTS counts)
{
    return (uint64_t)counts[0] + (uint64_t)counts[1] + (uint64_t)counts[2] +
           (uint64_t)counts[3];
}

INLINE DOUBLES doubles_all(double value)
{
    return (DOUBLES){value, value};
}

INLINE DOUBLES doubles_load(const unsigned char *bytes)
{
    DOUBLES values;

    memcpy(&values, bytes, sizeof(values));
    return values;
}

#define DOUBLES_LOAD(name, size)                                                       \
    INLINE DOUBLES doubles_load_##name(const unsigned char *bytes)                     \
    {                                                                                  \
        return (DOUBLES){number_##name(bytes), number_##name(bytes + (size))};         \
    }

DOUBLES_LOAD(uint32, 4)
DOUBLES_LOAD(int32, 4)
DOUBLES_LOAD(uint64, 8)
DOUBLES_LOAD(int64, 8)

INLINE DOUBLES doubles_add(DOUBLES a, DOUBLES b)
{
    return a + b;
}

INLINE DOUBLES doubles_subtract(DOUBLES a, DOUBLES b)
{
    return a - b;
}

INLINE DOUBLES doubles_add_square(DOUBLES sum, DOUBLES value)
{
    return sum + value * value;
}

INLINE DOUBLES doubles_choose(DOUBLE_COUNTS where, DOUBLES values, DOUBLES otherwise)
{
    return (DOUBLES)(((DOUBLE_COUNTS)values & where) |
                     ((DOUBLE_COUNTS)otherwise & ~where));
}

INLINE DOUBLES doubles_min(DOUBLES a, DOUBLES b)
{
    return doubles_choose(a < b, a, b);
}

INLINE DOUBLES doubles_max(DOUBLES a, DOUBLES b)
{
    return doubles_choose(a > b, a, b);
}

INLINE double doubles_total(DOUBLES values)
{
    return values[0] + values[1];
}

INLINE double doubles_lowest(DOUBLES values)
{
    return values[0] < values[1] ? values[0] : values[1];
}

INLINE double doubles_highest(DOUBLES values)
{
    return values[0] > values[1] ? values[0] : values[1];
}

INLINE DOUBLES doubles_if_finite(DOUBLES values, DOUBLES otherwise)
{
    DOUBLE_COUNTS size = (DOUBLE_COUNTS)values & INT64_MAX;

    return doubles_choose(size < 0x7ff0000000000000, values, otherwise);
}

INLINE DOUBLES doubles_root(DOUBLES values)
{
    return (DOUBLES){sqrt(values[0]), sqrt(values[1])};
}

INLINE DOUBLES doubles_evens(DOUBLES a, DOUBLES b)
{
    return (DOUBLES){a[0], b[0]};
}

INLINE DOUBLES doubles_odds(DOUBLES a, DOUBLES b)
{
    return (DOUBLES){a[1], b[1]};
}

INLINE DOUBLES doubles_or_infinite(DOUBLES values, DOUBLES a, DOUBLES b)
{
    DOUBLE_COUNTS infinity = (DOUBLE_COUNTS)doubles_all((double)INFINITY);
    DOUBLE_COUNTS is_infinite = (((DOUBLE_COUNTS)a & INT64_MAX) == infinity) |
                                (((DOUBLE_COUNTS)b & INT64_MAX) == infinity);

    return doubles_choose(is_infinite, (DOUBLES)infinity, values);
}

INLINE void doubles_store(double *out, DOUBLES values)
{
    memcpy(out, &values, sizeof(values));
}

INLINE DOUBLE_COUNTS double_counts_none(void)
{
    return (DOUBLE_COUNTS){0};
}

INLINE DOUBLE_COUNTS doubles_count(DOUBLE_COUNTS counts, DOUBLES values, DOUBLES wanted)
{
    return counts - (DOUBLE_COUNTS)(values == wanted);
}

INLINE DOUBLE_COUNTS doubles_count_nans(DOUBLE_COUNTS counts, DOUBLES values)
{
    return counts - (DOUBLE_COUNTS)(values != values);
}

INLINE uint64_t double_counts_total(DOUBLE_COUNTS counts)
{
    return (uint64_t)counts[0] + (uint64_t)counts[1];
}

#include "runtime/array/statistics/kernels_template.h"

static void signed_bounds(const void *data, size_t count, int64_t *min, int64_t *max)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < count; i++) {
        int64_t value = number_integer(bytes + 8 * i);

        *min = value < *min ? value : *min;
        *max = value > *max ? value : *max;
    }
}

static void
unsigned_bounds(const void *data, size_t count, uint64_t *min, uint64_t *max)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < count; i++) {
        uint64_t value = number_natural(bytes + 8 * i);

        *min = value < *min ? value : *min;
        *max = value > *max ? value : *max;
    }
}

static bool is_supported(void)
{
    return true;
}

const struct kernels kernels_portable = {
    .name = "portable",
    .is_supported = is_supported,
    .sums = KERNELS_SUMS,
    .magnitudes = KERNELS_MAGNITUDES,
    .signed_bounds = signed_bounds,
    .unsigned_bounds = unsigned_bounds,
};
