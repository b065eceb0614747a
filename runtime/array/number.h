/* Numbers read from unaligned memory, by dtype. All of these functions are exact, except that
 * integers of 64 bits are rounded to the nearest double. Private to the files that measure
 * arrays. */
#ifndef MONITORCH_ARRAY_NUMBER_H
#define MONITORCH_ARRAY_NUMBER_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    #error "the kernels and the hash assume little-endian numbers"
#endif

static inline float number_of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline float number_float32(const unsigned char *bytes)
{
    float value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

static inline double number_float64(const unsigned char *bytes)
{
    double value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

/* A number with a sign bit, `exponent_bits` and `fraction_bits`, whose exponent is offset by
 * `bias`; subnormals are supported. The caller handles the largest exponent. */
static inline float
number_small(uint32_t bits, unsigned exponent_bits, unsigned fraction_bits, int bias)
{
    uint32_t fraction = bits & ((1u << fraction_bits) - 1);
    int exponent = (int)(bits >> fraction_bits & ((1u << exponent_bits) - 1));
    uint32_t sign = bits >> (exponent_bits + fraction_bits) & 1u;
    float value;

    if (exponent == 0) {
        value = (float)fraction *
                number_of_bits((uint32_t)(128 - bias - (int)fraction_bits) << 23);
    } else {
        value = number_of_bits((uint32_t)(exponent - bias + 127) << 23 |
                               fraction << (23 - fraction_bits));
    }
    return sign ? -value : value;
}

static inline float number_float16(const unsigned char *bytes)
{
    uint16_t bits;

    memcpy(&bits, bytes, sizeof(bits));
    if ((bits & 0x7c00u) == 0x7c00u) {
        return number_of_bits((bits & 0x8000u) << 16 | 0x7f800000u |
                              (bits & 0x3ffu) << 13);
    }
    return number_small(bits, 5, 10, 15);
}

static inline float number_bfloat16(const unsigned char *bytes)
{
    uint16_t bits;

    memcpy(&bits, bytes, sizeof(bits));
    return number_of_bits((uint32_t)bits << 16);
}

/* The formats of 8 bits. fn: no infinities; uz: no negative zero, whose bits mean NaN. */
static inline float number_float8_e4m3fn(const unsigned char *bytes)
{
    return (*bytes & 0x7f) == 0x7f ? NAN : number_small(*bytes, 4, 3, 7);
}

static inline float number_float8_e5m2(const unsigned char *bytes)
{
    unsigned char half[2] = {0, *bytes};

    return number_float16(half);
}

static inline float number_float8_e4m3fnuz(const unsigned char *bytes)
{
    return *bytes == 0x80 ? NAN : number_small(*bytes, 4, 3, 8);
}

static inline float number_float8_e5m2fnuz(const unsigned char *bytes)
{
    return *bytes == 0x80 ? NAN : number_small(*bytes, 5, 2, 16);
}

/* Powers of two from 2^-127; the smallest is subnormal as a float. */
static inline float number_float8_e8m0fnu(const unsigned char *bytes)
{
    if (*bytes == 0xff) {
        return NAN;
    }
    return number_of_bits(*bytes == 0 ? 0x00400000u : (uint32_t)*bytes << 23);
}

/* Every byte other than 0 is true. */
static inline float number_bool(const unsigned char *bytes)
{
    return *bytes != 0;
}

static inline float number_uint8(const unsigned char *bytes)
{
    return *bytes;
}

static inline float number_int8(const unsigned char *bytes)
{
    return (int8_t)*bytes;
}

static inline float number_uint16(const unsigned char *bytes)
{
    uint16_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

static inline float number_int16(const unsigned char *bytes)
{
    int16_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

static inline double number_uint32(const unsigned char *bytes)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

static inline double number_int32(const unsigned char *bytes)
{
    int32_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

static inline uint64_t number_natural(const unsigned char *bytes)
{
    uint64_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

static inline int64_t number_integer(const unsigned char *bytes)
{
    int64_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

static inline double number_uint64(const unsigned char *bytes)
{
    return (double)number_natural(bytes);
}

static inline double number_int64(const unsigned char *bytes)
{
    return (double)number_integer(bytes);
}

#endif
