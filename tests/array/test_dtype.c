/* The types of elements: their names, and each value that the small ones can have. */
#include "runtime/array/dtype.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static void test_names(void)
{
    for (int i = 0; i < DTYPE_COUNT; i++) {
        CHECK((int)dtype_find(slice_of(dtype_text(i))) == i);
    }
    CHECK(dtype_find(SLICE("torch.bfloat16")) == DTYPE_BFLOAT16);
    CHECK(dtype_find(SLICE("torch.torch.int8")) == DTYPE_OTHER);
    CHECK(dtype_find(SLICE("torch.")) == DTYPE_OTHER);
    CHECK(dtype_find(SLICE("float3")) == DTYPE_OTHER);
    CHECK(dtype_find(SLICE("")) == DTYPE_OTHER);
    CHECK_TEXT(slice_of(dtype_text(DTYPE_FLOAT8_E4M3FN)), "float8_e4m3fn");
}

static void test_facts(void)
{
    CHECK(dtype_size(DTYPE_OTHER) == 0 &&
          dtype_class(DTYPE_OTHER) == DTYPE_CLASS_OPAQUE);
    CHECK(dtype_size(DTYPE_BOOL) == 1 &&
          dtype_class(DTYPE_BOOL) == DTYPE_CLASS_UNSIGNED);
    CHECK(dtype_size(DTYPE_INT64) == 8 &&
          dtype_class(DTYPE_INT64) == DTYPE_CLASS_SIGNED);
    CHECK(dtype_size(DTYPE_COMPLEX32) == 4);
    CHECK(dtype_size(DTYPE_COMPLEX128) == 16);
    CHECK(dtype_class(DTYPE_COMPLEX128) == DTYPE_CLASS_COMPLEX);
    CHECK(dtype_class(DTYPE_FLOAT8_E8M0FNU) == DTYPE_CLASS_FLOATING);
    CHECK(dtype_class(DTYPE_QINT32) == DTYPE_CLASS_OPAQUE);
}

/* A format as its definition has it, in arithmetic instead of bits. */
struct format {
    enum dtype dtype;
    int exponent_bits;
    int fraction_bits;
    int bias;
    bool has_infinities; /* and NaNs in the largest exponent */
    int nan; /* else the one value of all bits but the sign that is NaN, or -1 */
    bool is_unsigned_zero; /* the negative zero is the only NaN */
};

static const struct format formats[] = {
    {DTYPE_FLOAT16, 5, 10, 15, true, -1, false},
    {DTYPE_BFLOAT16, 8, 7, 127, true, -1, false},
    {DTYPE_FLOAT8_E5M2, 5, 2, 15, true, -1, false},
    {DTYPE_FLOAT8_E4M3FN, 4, 3, 7, false, 0x7f, false},
    {DTYPE_FLOAT8_E4M3FNUZ, 4, 3, 8, false, -1, true},
    {DTYPE_FLOAT8_E5M2FNUZ, 5, 2, 16, false, -1, true},
};

static double format_value(const struct format *format, unsigned bits)
{
    unsigned fraction = bits % (1u << format->fraction_bits);
    unsigned exponent =
        bits >> format->fraction_bits & ((1u << format->exponent_bits) - 1);
    unsigned sign = bits >> (format->fraction_bits + format->exponent_bits);
    unsigned size =
        bits & ((1u << (format->fraction_bits + format->exponent_bits)) - 1);
    double value;

    if (format->has_infinities && exponent == (1u << format->exponent_bits) - 1) {
        value = fraction == 0 ? (double)INFINITY : (double)NAN;
    } else if ((int)size == format->nan ||
               (format->is_unsigned_zero && sign && size == 0)) {
        value = (double)NAN;
    } else if (exponent == 0) {
        value = ldexp(fraction, 1 - format->bias - format->fraction_bits);
    } else {
        value = ldexp(fraction + (1u << format->fraction_bits),
                      (int)exponent - format->bias - format->fraction_bits);
    }
    return sign ? -value : value;
}

static bool is_same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static void test_small_floats(void)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        const struct format *format = &formats[i];
        unsigned count = dtype_size(format->dtype) == 1 ? 256 : 65536;
        unsigned wrong = 0;

        for (unsigned bits = 0; bits < count; bits++) {
            uint16_t element = (uint16_t)bits;
            double got = dtype_read(format->dtype, &element).real;

            wrong += !is_same(got, format_value(format, bits));
        }
        if (!CHECK(wrong == 0)) {
            printf("  %s: %u values\n", dtype_text(format->dtype), wrong);
        }
    }
}

static void test_powers_of_two(void)
{
    for (unsigned bits = 0; bits < 255; bits++) {
        uint8_t element = (uint8_t)bits;

        CHECK(dtype_read(DTYPE_FLOAT8_E8M0FNU, &element).real ==
              ldexp(1, (int)bits - 127));
    }
    CHECK(isnan(dtype_read(DTYPE_FLOAT8_E8M0FNU, "\xff").real));
}

static void test_integers(void)
{
    unsigned char bytes[9] = {0, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87};
    const unsigned char *odd =
        bytes + 1; /* no address for anything wider than a byte */

    CHECK(dtype_read(DTYPE_UINT8, odd).natural == 0x80);
    CHECK(dtype_read(DTYPE_INT8, odd).integer == -128);
    CHECK(dtype_read(DTYPE_UINT16, odd).natural == 0x8180);
    CHECK(dtype_read(DTYPE_INT16, odd).integer == 0x8180 - 0x10000);
    CHECK(dtype_read(DTYPE_UINT32, odd).natural == 0x83828180);
    CHECK(dtype_read(DTYPE_INT32, odd).integer ==
          (int64_t)0x83828180 - ((int64_t)1 << 32));
    CHECK(dtype_read(DTYPE_UINT64, odd).natural == 0x8786858483828180);
    CHECK(dtype_read(DTYPE_INT64, odd).integer == (int64_t)0x8786858483828180);
    CHECK(dtype_read(DTYPE_BOOL, odd).natural == 1);
    CHECK(dtype_read(DTYPE_BOOL, bytes).natural == 0);
    CHECK(dtype_read(DTYPE_QINT8, odd).class == DTYPE_CLASS_OPAQUE);
}

static void test_wide_floats(void)
{
    float pair[2] = {1.5f, -0.25f};
    double wide[2] = {1e300, -0.0};
    uint16_t half[2] = {0x3c00, 0xc000};
    struct dtype_value value = dtype_read(DTYPE_COMPLEX64, pair);

    CHECK(value.class == DTYPE_CLASS_COMPLEX && value.real == 1.5 &&
          value.imaginary == -0.25);
    CHECK(dtype_read(DTYPE_FLOAT32, pair + 1).real == -0.25);
    CHECK(dtype_read(DTYPE_FLOAT64, wide).real == 1e300);
    CHECK(is_same(dtype_read(DTYPE_COMPLEX128, wide).imaginary, -0.0));
    value = dtype_read(DTYPE_COMPLEX32, half);
    CHECK(value.real == 1 && value.imaginary == -2);
}

int main(void)
{
    test_names();
    test_facts();
    test_small_floats();
    test_powers_of_two();
    test_integers();
    test_wide_floats();
    return check_finish();
}
