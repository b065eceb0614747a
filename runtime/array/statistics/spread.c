/* How far the values of arrays reach. */
#include "runtime/array/statistics/spread.h"

#include "runtime/array/pieces.h"

#include <math.h>
#include <string.h>

#define BLOCK_COUNT 1024

/* Magnitudes: up to `zero` they become 0, below `normal` they are subnormal, and from `infinite`
 * on they are infinite. Numbers half-way between two go to the even one. */
static const struct format_limits {
    double zero, normal, infinite;
} limits[SPREAD_FORMAT_COUNT] = {
    [SPREAD_FP16] = {0x1p-25, 0x1p-14 - 0x1p-25, 65520},
    [SPREAD_BF16] = {0x1p-134, 0x1p-126 - 0x1p-134, 0x1.FFp127},
};

double spread_edge(unsigned index)
{
    int side = SPREAD_SIDE_COUNT;
    int place = (int)index - 1; /* among the finite edges */

    if (index == 0) {
        return -(double)INFINITY;
    }
    if (place < side) {
        return -ldexp(1, SPREAD_EXPONENT_MAX - place);
    }
    if (place < 2 * side) {
        return ldexp(1, SPREAD_EXPONENT_MIN + place - side);
    }
    return (double)INFINITY;
}

/* The exponents of doubles, read off their bits. */
static int exponent_of(uint64_t magnitude)
{
    return (int)(magnitude >> 52) - 1023;
}

static unsigned find_bin(double value)
{
    uint64_t bits;
    int steps;

    memcpy(&bits, &value, sizeof bits);
    if (bits >> 63 == 0) {
        steps = exponent_of(bits) - SPREAD_EXPONENT_MIN + 1;
        steps = steps < 0 ? 0 : steps > SPREAD_SIDE_COUNT ? SPREAD_SIDE_COUNT : steps;
        return (unsigned)(SPREAD_SIDE_COUNT + steps);
    }
    bits &= UINT64_MAX >> 1;
    if (bits == 0) {
        return SPREAD_SIDE_COUNT;
    }
    /* Of negative ones the edge itself is the lowest of its bin. */
    steps = exponent_of(bits - 1) - SPREAD_EXPONENT_MIN + 1;
    steps = steps < 0 ? 0 : steps > SPREAD_SIDE_COUNT ? SPREAD_SIDE_COUNT : steps;
    return (unsigned)(SPREAD_SIDE_COUNT - steps);
}

static void count_bins(struct spread *spread, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isnan(values[i])) {
            spread->bins[find_bin(values[i])]++;
        }
    }
}

static void count_format(struct spread_format_counts *counts,
                         const struct format_limits *format,
                         const double *values,
                         size_t count)
{
    uint64_t underflows = 0, subnormals = 0, overflows = 0;

    for (size_t i = 0; i < count; i++) {
        double magnitude = fabs(values[i]);

        underflows += (magnitude > 0) & (magnitude <= format->zero);
        subnormals += (magnitude > format->zero) & (magnitude < format->normal);
        overflows += (magnitude >= format->infinite) & (magnitude < (double)INFINITY);
    }
    counts->underflow_count += underflows;
    counts->subnormal_count += subnormals;
    counts->overflow_count += overflows;
}

static double number_of(enum dtype dtype, const char *bytes)
{
    struct dtype_value value = dtype_read(dtype, bytes);

    return value.class == DTYPE_CLASS_COMPLEX ? hypot(value.real, value.imaginary)
                                              : dtype_value_real(&value);
}

static void
convert(enum dtype dtype, const char *bytes, size_t count, double values[BLOCK_COUNT])
{
    size_t size = dtype_size(dtype);

    if (dtype == DTYPE_FLOAT32) {
        for (size_t i = 0; i < count; i++) {
            float value;

            memcpy(&value, bytes + i * sizeof value, sizeof value);
            values[i] = value;
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = number_of(dtype, bytes + i * size);
    }
}

bool spread_add(struct spread *spread, const struct array *array)
{
    size_t size = dtype_size(array->dtype);
    struct array_pieces pieces;
    struct slice bytes;
    double values[BLOCK_COUNT];

    if (array_count(array) == 0) {
        return true;
    }
    if (!array_pieces_init(&pieces, array)) {
        return false;
    }
    while (array_pieces_next(&pieces, &bytes)) {
        for (size_t first = 0; first < bytes.size; first += BLOCK_COUNT * size) {
            size_t left = (bytes.size - first) / size;
            size_t count = left < BLOCK_COUNT ? left : BLOCK_COUNT;

            convert(array->dtype, bytes.bytes + first, count, values);
            count_bins(spread, values, count);
            for (int i = 0; i < SPREAD_FORMAT_COUNT; i++) {
                count_format(&spread->formats[i], &limits[i], values, count);
            }
        }
    }
    array_pieces_release(&pieces);
    return true;
}
