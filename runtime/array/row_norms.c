#include "runtime/array/row_norms.h"

#include "runtime/array/number.h"
#include "runtime/array/pieces.h"
#include "runtime/base/memory.h"

#include <math.h>

static enum dtype dtype_of_norms(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_FLOAT16:
    case DTYPE_COMPLEX32:
        return DTYPE_FLOAT16;
    case DTYPE_BFLOAT16:
        return DTYPE_BFLOAT16;
    case DTYPE_FLOAT64:
    case DTYPE_COMPLEX128:
        return DTYPE_FLOAT64;
    default:
        return DTYPE_FLOAT32;
    }
}

static double square(const struct dtype_value *value)
{
    switch (value->class) {
    case DTYPE_CLASS_SIGNED:
        return (double)value->integer * (double)value->integer;
    case DTYPE_CLASS_UNSIGNED:
        return (double)value->natural * (double)value->natural;
    default:
        return value->real * value->real + value->imaginary * value->imaginary;
    }
}

static double sum_squares(enum dtype dtype, const unsigned char *bytes, uint64_t count)
{
    size_t size = dtype_size(dtype);
    double sum = 0;

    if (dtype == DTYPE_FLOAT32) {
        for (uint64_t i = 0; i < count; i++) {
            double value = number_float32(bytes + i * size);
            sum += value * value;
        }
        return sum;
    }
    for (uint64_t i = 0; i < count; i++) {
        struct dtype_value value = dtype_read(dtype, bytes + i * size);
        sum += square(&value);
    }
    return sum;
}

/* Rounds a number that is not negative to the nearest one with so many exponent and fraction
 * bits, ties to even. */
static uint16_t to_small(double number, int exponent_bits, int fraction_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    uint16_t infinity = (uint16_t)(((1u << exponent_bits) - 1) << fraction_bits);
    double one = ldexp(1, fraction_bits);
    int exponent;

    if (isnan(number)) {
        return (uint16_t)(infinity | 1u << (fraction_bits - 1));
    }
    if (number >= ldexp(1, bias + 1)) {
        return infinity;
    }
    if (number < ldexp(1, 1 - bias)) {
        return (uint16_t)nearbyint(ldexp(number, bias - 1 + fraction_bits));
    }
    /* A fraction that is rounded up to 2 carries into the exponent, as it should. */
    number = nearbyint(frexp(number, &exponent) * 2 * one);
    return (uint16_t)(((unsigned)(exponent - 1 + bias) << fraction_bits) +
                      (unsigned)(number - one));
}

static void put(const struct row_norms *norms, uint64_t row, double norm)
{
    size_t size = dtype_size(norms->array.dtype);
    unsigned char *place = (unsigned char *)norms->bytes + row * size;
    float single = (float)norm;
    uint16_t small;

    switch (norms->array.dtype) {
    case DTYPE_FLOAT64:
        memcpy(place, &norm, size);
        break;
    case DTYPE_FLOAT32:
        memcpy(place, &single, size);
        break;
    default:
        small = norms->array.dtype == DTYPE_FLOAT16 ? to_small(norm, 5, 10)
                                                    : to_small(norm, 8, 7);
        memcpy(place, &small, size);
        break;
    }
}

static void sum_rows(const struct row_norms *norms,
                     struct array_pieces *pieces,
                     enum dtype dtype,
                     uint64_t row_size)
{
    size_t size = dtype_size(dtype);
    struct slice bytes;
    double sum = 0;
    uint64_t row = 0, in_row = 0;

    while (array_pieces_next(pieces, &bytes)) {
        const unsigned char *next = (const unsigned char *)bytes.bytes;
        uint64_t left = bytes.size / size;

        while (left > 0) {
            uint64_t count = row_size - in_row < left ? row_size - in_row : left;
            sum += sum_squares(dtype, next, count);
            next += count * size;
            left -= count;
            in_row += count;
            if (in_row == row_size) {
                put(norms, row++, sqrt(sum));
                sum = 0;
                in_row = 0;
            }
        }
    }
}

bool row_norms_init(struct row_norms *norms, const struct array *array)
{
    bool has_rows = array->dimension_count > 0;
    uint64_t row_count = has_rows ? (uint64_t)array->shape[0] : 1;
    uint64_t count = array_count(array);
    struct array_pieces pieces;

    *norms = (struct row_norms){
        .array =
            {
                .dtype = dtype_of_norms(array->dtype),
                .dimension_count = has_rows ? 1 : 0,
                .shape = norms->shape,
            },
        .shape = {(int64_t)row_count},
    };
    if (!array_pieces_init(&pieces, array)) {
        return false;
    }
    norms->bytes = memory_allocate_zeroed(row_count, dtype_size(norms->array.dtype));
    norms->array.data = norms->bytes;
    if (norms->bytes != NULL && count > 0) {
        sum_rows(norms, &pieces, array->dtype, count / row_count);
    }
    array_pieces_release(&pieces);
    return norms->bytes != NULL;
}

void row_norms_release(struct row_norms *norms)
{
    memory_free(norms->bytes);
}
