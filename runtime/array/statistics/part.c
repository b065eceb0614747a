/* Statistics of some of an array's elements, to be merged with those of the others. */
#include "runtime/array/statistics/part.h"

#include "runtime/array/number.h"

#include <math.h>

/* Where the squares' sum is more than this many times what is left of it with the mean taken
 * off, too many digits may have gone: about 6 of 16. */
#define CANCELLATION_LIMIT 0x1p20

#define WIDE_BLOCK_COUNT (KERNEL_BLOCK_SIZE / sizeof(double))

size_t statistics_block_count(enum dtype dtype)
{
    size_t size = dtype_size(dtype);

    if (dtype_class(dtype) == DTYPE_CLASS_COMPLEX && size < sizeof(double)) {
        size = sizeof(double); /* of a magnitude */
    }
    return size < 4 ? KERNEL_BLOCK_COUNT : KERNEL_BLOCK_SIZE / size;
}

static double first_value(enum dtype dtype, const unsigned char *data)
{
    struct dtype_value value = dtype_read(dtype, data);

    return dtype_value_real(&value);
}

/* The sum of squares around the mean, from the sums around the shift. */
static double squares_left(const struct block_sums *sums, uint64_t count)
{
    double squares = sums->square_sum - sums->sum * (sums->sum / (double)count);

    return squares > 0 ? squares : 0;
}

static uint64_t finite_count(const struct block_sums *sums, size_t count)
{
    return count - sums->nan_count - sums->posinf_count - sums->neginf_count;
}

/* The shift is the first element. Where that is not finite it is 0 at first, and the smallest
 * element if this turns out to be too far off. */
static void sums_find(kernel_sums find,
                      enum dtype dtype,
                      const unsigned char *data,
                      size_t count,
                      double *shift,
                      struct block_sums *sums)
{
    double first = first_value(dtype, data);
    uint64_t left;

    *shift = isfinite(first) ? first : 0;
    find(data, count, *shift, false, sums);
    if (!isfinite(sums->sum) || !isfinite(sums->square_sum)) {
        find(data, count, *shift, true, sums);
    }
    left = finite_count(sums, count);
    if (!isfinite(first) && left > 0 &&
        squares_left(sums, left) * CANCELLATION_LIMIT < sums->square_sum) {
        *shift = sums->min;
        find(data, count, *shift, true, sums);
    }
}

static void part_set_sums(struct statistics_part *part,
                          const struct block_sums *sums,
                          double shift,
                          uint64_t finite)
{
    part->zero_count = sums->zero_count;
    part->nan_count = sums->nan_count;
    part->posinf_count = sums->posinf_count;
    part->neginf_count = sums->neginf_count;
    part->moments = (struct moments){.count = finite};
    if (finite > 0) {
        part->moments.mean = shift + sums->sum / (double)finite;
        part->moments.squares = squares_left(sums, finite);
    }
}

/* As doubles the bounds are exact but for integers of 64 bits, which have kernels for them.
 * Zeros have no sign here. */
static void part_set_bounds(struct statistics_part *part,
                            const struct block_sums *sums,
                            enum dtype dtype)
{
    if (part->moments.count == 0 || dtype == DTYPE_INT64 || dtype == DTYPE_UINT64) {
        return;
    }
    switch (dtype_class(dtype)) {
    case DTYPE_CLASS_UNSIGNED:
        part->min.natural = (uint64_t)sums->min;
        part->max.natural = (uint64_t)sums->max;
        break;
    case DTYPE_CLASS_SIGNED:
        part->min.integer = (int64_t)sums->min;
        part->max.integer = (int64_t)sums->max;
        break;
    default:
        part->min.real = sums->min + 0.0;
        part->max.real = sums->max + 0.0;
        break;
    }
}

/* Once more with numbers whose squares are doubles. */
static __attribute__((noinline)) void measure_scaled(struct statistics_part *part,
                                                     const struct kernels *kernels,
                                                     const unsigned char *data,
                                                     size_t count,
                                                     int exponent)
{
    double scale = ldexp(1, -exponent);
    double scaled[WIDE_BLOCK_COUNT];
    struct block_sums sums;
    double shift;

    for (size_t i = 0; i < count; i++) {
        scaled[i] = number_float64(data + i * sizeof(double)) * scale;
    }
    sums_find(kernels->sums[DTYPE_FLOAT64], DTYPE_FLOAT64,
              (const unsigned char *)scaled, count, &shift, &sums);
    part->moments.mean = shift + sums.sum / (double)part->moments.count;
    part->moments.squares = squares_left(&sums, part->moments.count);
    part->moments.exponent = exponent;
}

static void measure_float64(struct statistics_part *part,
                            const struct kernels *kernels,
                            const unsigned char *data,
                            size_t count)
{
    struct block_sums sums;
    double shift;
    double range;

    sums_find(kernels->sums[DTYPE_FLOAT64], DTYPE_FLOAT64, data, count, &shift, &sums);
    part_set_sums(part, &sums, shift, finite_count(&sums, count));
    part_set_bounds(part, &sums, DTYPE_FLOAT64);
    if (part->moments.count == 0) {
        return;
    }
    range = fmax(fabs(sums.min), fabs(sums.max));
    if (range > MOMENTS_LARGE) {
        measure_scaled(part, kernels, data, count, MOMENTS_EXPONENT);
    } else if (range < MOMENTS_SMALL && range > 0) {
        measure_scaled(part, kernels, data, count, -MOMENTS_EXPONENT);
    }
}

/* Whether the squares of the magnitudes were doubles, and those of parts that count. */
static bool are_squares_sound(const struct statistics_part *part, size_t count)
{
    return part->moments.count == count && part->min.real > 0x1p-450 &&
           part->max.real < 0x1p450;
}

static void measure_complex(struct statistics_part *part,
                            const struct kernels *kernels,
                            enum dtype dtype,
                            const unsigned char *data,
                            size_t count)
{
    double magnitudes[WIDE_BLOCK_COUNT];

    kernels->magnitudes[dtype](data, count, magnitudes);
    measure_float64(part, kernels, (const unsigned char *)magnitudes, count);
    if (dtype != DTYPE_COMPLEX128 || are_squares_sound(part, count)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const unsigned char *bytes = data + i * 2 * sizeof(double);

        magnitudes[i] = hypot(number_float64(bytes), number_float64(bytes + 8));
    }
    measure_float64(part, kernels, (const unsigned char *)magnitudes, count);
}

static void measure_with(struct statistics_part *part,
                         const struct kernels *kernels,
                         enum dtype dtype,
                         const unsigned char *data,
                         size_t count)
{
    struct block_sums sums;
    double shift;

    sums_find(kernels->sums[dtype], dtype, data, count, &shift, &sums);
    part_set_sums(part, &sums, shift, finite_count(&sums, count));
    part_set_bounds(part, &sums, dtype);
}

/* float8, by a table where that is less work. */
static void measure_float8(struct statistics_part *part,
                           const struct kernels *kernels,
                           enum dtype dtype,
                           const unsigned char *data,
                           size_t count)
{
    float values[KERNEL_BLOCK_COUNT];
    float table[256];

    if (count < 256) {
        for (size_t i = 0; i < count; i++) {
            values[i] = (float)dtype_read(dtype, data + i).real;
        }
    } else {
        for (unsigned i = 0; i < 256; i++) {
            unsigned char byte = (unsigned char)i;

            table[i] = (float)dtype_read(dtype, &byte).real;
        }
        for (size_t i = 0; i < count; i++) {
            values[i] = table[data[i]];
        }
    }
    measure_with(part, kernels, DTYPE_FLOAT32, (const unsigned char *)values, count);
}

void statistics_part_measure(struct statistics_part *part,
                             const struct kernels *kernels,
                             enum dtype dtype,
                             const unsigned char *data,
                             size_t count)
{
    if (dtype == DTYPE_FLOAT64) {
        measure_float64(part, kernels, data, count);
    } else if (dtype_class(dtype) == DTYPE_CLASS_COMPLEX) {
        measure_complex(part, kernels, dtype, data, count);
    } else if (kernels->sums[dtype] == NULL) {
        measure_float8(part, kernels, dtype, data, count);
    } else {
        measure_with(part, kernels, dtype, data, count);
    }
    if (dtype == DTYPE_INT64) {
        part->min.integer = INT64_MAX;
        part->max.integer = INT64_MIN;
        kernels->signed_bounds(data, count, &part->min.integer, &part->max.integer);
    } else if (dtype == DTYPE_UINT64) {
        part->min.natural = UINT64_MAX;
        part->max.natural = 0;
        kernels->unsigned_bounds(data, count, &part->min.natural, &part->max.natural);
    }
}

#define LOWER(a, b)  ((b) < (a) ? (b) : (a))
#define HIGHER(a, b) ((b) > (a) ? (b) : (a))

void statistics_part_merge(struct statistics_part *part,
                           const struct statistics_part *added,
                           enum dtype_class class)
{
    part->zero_count += added->zero_count;
    part->nan_count += added->nan_count;
    part->posinf_count += added->posinf_count;
    part->neginf_count += added->neginf_count;
    if (added->moments.count == 0) {
        return;
    }
    if (part->moments.count == 0) {
        part->min = added->min;
        part->max = added->max;
    } else if (class == DTYPE_CLASS_UNSIGNED) {
        part->min.natural = LOWER(part->min.natural, added->min.natural);
        part->max.natural = HIGHER(part->max.natural, added->max.natural);
    } else if (class == DTYPE_CLASS_SIGNED) {
        part->min.integer = LOWER(part->min.integer, added->min.integer);
        part->max.integer = HIGHER(part->max.integer, added->max.integer);
    } else {
        part->min.real = LOWER(part->min.real, added->min.real);
        part->max.real = HIGHER(part->max.real, added->max.real);
    }
    moments_add(&part->moments, &added->moments);
}

void statistics_part_repeat(struct statistics_part *part, uint64_t times)
{
    part->moments.count *= times;
    part->moments.squares *= (double)times;
    part->zero_count *= times;
    part->nan_count *= times;
    part->posinf_count *= times;
    part->neginf_count *= times;
}

void statistics_part_finish(const struct statistics_part *part,
                            enum dtype_class class,
                            uint64_t count,
                            struct statistics *statistics)
{
    bool has_bounds = part->moments.count > 0;
    bool is_integer = class == DTYPE_CLASS_SIGNED || class == DTYPE_CLASS_UNSIGNED;

    *statistics = (struct statistics){
        .count = count,
        .nan_count = part->nan_count,
        .posinf_count = part->posinf_count,
        .neginf_count = part->neginf_count,
        .zero_count = part->zero_count,
        .mean = moments_mean(&part->moments),
        .std = moments_deviation(&part->moments),
    };
    if (has_bounds) {
        statistics->min = part->min;
        statistics->max = part->max;
    } else if (!is_integer) {
        statistics->min.real = (double)NAN;
        statistics->max.real = (double)NAN;
    }
    if (has_bounds && !is_integer) {
        /* Rounding may not carry the mean past the bounds. */
        statistics->mean =
            fmin(fmax(statistics->mean, statistics->min.real), statistics->max.real);
    }
}
