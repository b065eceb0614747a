/* Numbers as text: the short ones against printf's rounding, the exact ones read again. */
#include "runtime/view/words/number_text.h"
#include "tests/unit/check.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static struct buffer text;

static const char *short_of(double number, int digits)
{
    text.size = 0;
    real_add_short(&text, number, digits);
    buffer_add_byte(&text, '\0');
    return text.bytes;
}

static const char *exact_of(double number)
{
    text.size = 0;
    real_add_exact(&text, number);
    buffer_add_byte(&text, '\0');
    return text.bytes;
}

static bool is(const char *got, const char *wanted)
{
    if (strcmp(got, wanted) != 0) {
        printf("  got: %s, wanted: %s\n", got, wanted);
        return false;
    }
    return true;
}

static double random_double(uint64_t *state)
{
    double number;

    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    memcpy(&number, state, sizeof number);
    return number;
}

static void test_short(void)
{
    CHECK(is(short_of(0, 4), "0"));
    CHECK(is(short_of(-0.0, 4), "0"));
    CHECK(is(short_of(1, 4), "1"));
    CHECK(is(short_of(-2.3141, 4), "-2.314"));
    CHECK(is(short_of(0.012, 4), "0.012"));
    CHECK(is(short_of(0.0001234567, 4), "0.0001235"));
    CHECK(is(short_of(0.000001234567, 4), "1.235e-6"));
    CHECK(is(short_of(9.9999, 4), "10"));
    CHECK(is(short_of(0.99996, 4), "1"));
    CHECK(is(short_of(999999.7, 4), "1e6"));
    CHECK(is(short_of(12345.6, 4), "12346"));
    CHECK(is(short_of(123456.7, 4), "123457"));
    CHECK(is(short_of(1234567.0, 4), "1.235e6"));
    CHECK(is(short_of(1e30, 4), "1e30"));
    CHECK(is(short_of(DBL_MAX, 4), "1.798e308"));
    CHECK(is(short_of(-DBL_MIN, 4), "-2.225e-308"));
    CHECK(is(short_of(4.9e-324, 4), "4.941e-324"));
    CHECK(is(short_of(NAN, 4), "NaN"));
    CHECK(is(short_of(INFINITY, 4), "+Inf"));
    CHECK(is(short_of(-INFINITY, 4), "-Inf"));
    CHECK(is(short_of(0.1 + 0.2, 6), "0.3"));
}

/* Read again, the text must be as near to the number as printf's with as many digits. */
static void test_short_rounding(void)
{
    uint64_t state = 88172645463325252u;
    int wrong_count = 0;

    for (int i = 0; i < 300000; i++) {
        double number = random_double(&state);
        double reference;
        char printed[40];

        if (i % 2 == 0) { /* magnitudes that models have */
            number = ldexp(1 + (double)(state >> 12) / 4503599627370496.0,
                           (int)(state % 60) - 30);
        }
        if (!isfinite(number)) {
            continue;
        }
        snprintf(printed, sizeof printed, "%.3e", number);
        reference = strtod(printed, NULL);
        snprintf(printed, sizeof printed, "%.0f", number);
        if (fabs(number) >= 10000 && fabs(number) < 999999.5) {
            reference = strtod(printed, NULL);
        }
        if (strtod(short_of(number, 4), NULL) != reference) {
            printf("  %.17g gives %s\n", number, text.bytes);
            wrong_count++;
        }
    }
    CHECK(wrong_count == 0);
}

static void test_exact(void)
{
    CHECK(is(exact_of(0), "0.0"));
    CHECK(is(exact_of(-0.0), "-0.0"));
    CHECK(is(exact_of(0.1), "0.1"));
    CHECK(is(exact_of(3), "3.0"));
    CHECK(is(exact_of(-1.5), "-1.5"));
    CHECK(is(exact_of(1e-5), "1e-5"));
    CHECK(is(exact_of(0.0001), "0.0001"));
    CHECK(is(exact_of(123456789012345680.0), "1.2345678901234568e17"));
    CHECK(is(exact_of(1e15), "1000000000000000.0"));
    CHECK(is(exact_of(1e16), "1e16"));
    CHECK(is(exact_of(0.1 + 0.2), "0.30000000000000004"));
    CHECK(is(exact_of(DBL_MAX), "1.7976931348623157e308"));
    CHECK(is(exact_of(4.9e-324), "5e-324"));
    CHECK(is(exact_of(NAN), "\"NaN\""));
    CHECK(is(exact_of(INFINITY), "\"Infinity\""));
    CHECK(is(exact_of(-INFINITY), "\"-Infinity\""));
}

static void test_exact_reads_again(void)
{
    uint64_t state = 2463534242u;
    int wrong_count = 0;

    for (int i = 0; i < 1000000; i++) {
        double number = random_double(&state);

        if (i % 4 == 0) { /* around powers of two, where the neighbours differ */
            number = ldexp(1, (int)(state % 2098) - 1074);
            number = i % 8 == 0 ? nextafter(number, 0) : number;
        } else if (i % 4 == 1) { /* what a float32 holds */
            number =
                (double)(float)ldexp((double)(state >> 40), (int)(state % 40) - 30);
        }
        if (isfinite(number) && number != 0 &&
            (strtod(exact_of(number), NULL) != number || text.size > 25)) {
            printf("  %.17g gives %s\n", number, text.bytes);
            wrong_count++;
        }
    }
    CHECK(wrong_count == 0);
}

static void test_integers(void)
{
    text.size = 0;
    integer_add(&text, INT64_MIN);
    buffer_add_byte(&text, ' ');
    integer_add(&text, INT64_MAX);
    CHECK_TEXT(buffer_slice(&text), "-9223372036854775808 9223372036854775807");
}

int main(void)
{
    test_short();
    test_short_rounding();
    test_exact();
    test_exact_reads_again();
    test_integers();
    buffer_release(&text);
    return check_finish();
}
