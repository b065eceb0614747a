/* The types that an array's elements can have. */
#include "runtime/array/dtype.h"

#include "runtime/array/number.h"

const struct dtype_facts dtype_facts[DTYPE_COUNT] = {
#define DTYPE(name, text, bits, class) {text, (bits) / 8, DTYPE_CLASS_##class},
#include "runtime/array/dtype.def"
#undef DTYPE
};

const char *dtype_text(enum dtype dtype)
{
    return dtype_facts[dtype].text;
}

enum dtype dtype_find(struct slice text)
{
    if (slice_starts(text, SLICE("torch."))) {
        text = slice_part(text, 6, text.size);
    }
    for (int i = 0; i < DTYPE_COUNT; i++) {
        if (slice_equal(text, slice_of(dtype_facts[i].text))) {
            return i;
        }
    }
    return DTYPE_OTHER;
}

static uint64_t dtype_read_natural(enum dtype dtype, const unsigned char *bytes)
{
    switch (dtype) {
    case DTYPE_BOOL:
        return *bytes != 0;
    case DTYPE_UINT8:
        return *bytes;
    case DTYPE_UINT16:
        return (uint64_t)number_uint16(bytes);
    case DTYPE_UINT32:
        return (uint64_t)number_uint32(bytes);
    default:
        return number_natural(bytes);
    }
}

static int64_t dtype_read_integer(enum dtype dtype, const unsigned char *bytes)
{
    switch (dtype) {
    case DTYPE_INT8:
        return (int8_t)*bytes;
    case DTYPE_INT16:
        return (int64_t)number_int16(bytes);
    case DTYPE_INT32:
        return (int64_t)number_int32(bytes);
    default:
        return number_integer(bytes);
    }
}

static double dtype_read_real(enum dtype dtype, const unsigned char *bytes)
{
    switch (dtype) {
    case DTYPE_FLOAT16:
    case DTYPE_COMPLEX32:
        return (double)number_float16(bytes);
    case DTYPE_BFLOAT16:
        return (double)number_bfloat16(bytes);
    case DTYPE_FLOAT32:
    case DTYPE_COMPLEX64:
        return (double)number_float32(bytes);
    case DTYPE_FLOAT8_E4M3FN:
        return (double)number_float8_e4m3fn(bytes);
    case DTYPE_FLOAT8_E5M2:
        return (double)number_float8_e5m2(bytes);
    case DTYPE_FLOAT8_E4M3FNUZ:
        return (double)number_float8_e4m3fnuz(bytes);
    case DTYPE_FLOAT8_E5M2FNUZ:
        return (double)number_float8_e5m2fnuz(bytes);
    case DTYPE_FLOAT8_E8M0FNU:
        return (double)number_float8_e8m0fnu(bytes);
    default:
        return number_float64(bytes);
    }
}

struct dtype_value dtype_read(enum dtype dtype, const void *bytes)
{
    const struct dtype_facts *facts = &dtype_facts[dtype];
    struct dtype_value value = {.class = facts->class};

    switch (facts->class) {
    case DTYPE_CLASS_UNSIGNED:
        value.natural = dtype_read_natural(dtype, bytes);
        break;
    case DTYPE_CLASS_SIGNED:
        value.integer = dtype_read_integer(dtype, bytes);
        break;
    case DTYPE_CLASS_COMPLEX:
        value.imaginary =
            dtype_read_real(dtype, (const unsigned char *)bytes + facts->size / 2);
        value.real = dtype_read_real(dtype, bytes);
        break;
    case DTYPE_CLASS_FLOATING:
        value.real = dtype_read_real(dtype, bytes);
        break;
    case DTYPE_CLASS_OPAQUE:
        break;
    }
    return value;
}
