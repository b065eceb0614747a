/* Statistics of numbers for which the right answer is known: extremes, constants, few of them. */
#include "runtime/array/statistics/statistics.h"

#include "runtime/base/hash/hash.h"
#include "tests/unit/check.h"

#include <fenv.h>
#include <math.h>
#include <string.h>
#if defined(__x86_64__)
    #include <xmmintrin.h>
#endif

static struct array run_of(const void *data, enum dtype dtype, const int64_t *count)
{
    return (struct array){
        .data = data, .dtype = dtype, .dimension_count = 1, .shape = count};
}

static struct statistics measure(const struct array *array)
{
    struct statistics statistics;

    statistics_measure(array, STATISTICS_WANT_VALUES, 1, &statistics, NULL);
    return statistics;
}

static void test_negated_integers(void)
{
    int16_t numbers[4] = {1, -5, 0, INT16_MIN};
    int64_t count = 4;
    struct array array = run_of(numbers, DTYPE_INT16, &count);
    struct statistics got;

    array.is_negated = true;
    got = measure(&array);
    CHECK(got.min.integer == INT16_MIN && got.max.integer == 5 && got.zero_count == 1);
}

/* The mean and deviation of doubles with a known answer. */
static void
check_doubles(const double *numbers, int64_t count, double mean, double deviation)
{
    struct array array = run_of(numbers, DTYPE_FLOAT64, &count);
    struct statistics got = measure(&array);

    if (!CHECK(got.mean == mean || fabs(got.mean - mean) <= 1e-14 * fabs(mean))) {
        printf("  mean %g, not %g\n", got.mean, mean);
    }
    if (!CHECK(got.std == deviation ||
               fabs(got.std - deviation) <= 1e-14 * deviation)) {
        printf("  std %g, not %g\n", got.std, deviation);
    }
}

static void test_extremes(void)
{
    static double zeros[5000];
    double step = ldexp(1, 972);

    check_doubles((double[]){1e308, 1.7e308}, 2, 1.35e308, 0.7e308 / sqrt(2));
    check_doubles((double[]){-1e308, 1e308, 0}, 3, 0, 1e308);
    check_doubles((double[]){1.7976931348623157e308, 1.7976931348623157e308}, 2,
                  1.7976931348623157e308, 0);
    check_doubles((double[]){1e308, 1e308 + step, 1e308 - step}, 3, 1e308, step);
    check_doubles((double[]){1e-300, 3e-300}, 2, 2e-300, 1e-300 * sqrt(2));
    check_doubles((double[]){5e-324, 15e-324, 10e-324}, 3, 10e-324, 5e-324);
    check_doubles((double[]){2e-320, 4e-320, 6e-320}, 3, 4e-320, 2e-320);
    check_doubles((double[]){1e200, 1e-200}, 2, 5e199, 1e200 / sqrt(2));
    check_doubles((double[]){1e6 + 1, 1e6 - 1, 1e6}, 3, 1e6, 1);
    check_doubles((double[]){-0.0, -0.0, 0.0}, 3, 0, 0);
    check_doubles((double[]){1e15, 1e15 + 1, 1e15 + 2}, 3, 1e15 + 1, 1);
    /* Blocks of zeros before and after the one whose numbers are scaled. */
    zeros[2500] = 1e-300;
    check_doubles(zeros, 5000, 1e-300 / 5000, 1e-300 * sqrt(1.0 / 5000));
    zeros[2500] = 1e300;
    check_doubles(zeros, 5000, 1e300 / 5000, 1e300 * sqrt(1.0 / 5000));
    zeros[4999] = 1e-300;
    check_doubles(zeros, 5000, 1e300 / 5000, 1e300 * sqrt(1.0 / 5000));
}

/* Blocks on both sides of where scaling begins, each with a share in the result. */
static void test_scales_together(void)
{
    static double numbers[4096];

    for (int factor = -1; factor <= 1; factor += 2) {
        double unit = ldexp(1, factor > 0 ? 479 : -401);

        for (int i = 0; i < 4096; i++) {
            numbers[i] = (i < 2048 ? unit : 8 * unit) * (i % 2 ? 1 : -1);
        }
        check_doubles(numbers, 4096, 0, unit * sqrt(32.5 * 4096 / 4095));
    }
}

/* A first element far from the rest, or none that is finite, must cost no digits. */
static void test_first_elements(void)
{
    static double numbers[3000];

    for (int i = 0; i < 3000; i++) {
        numbers[i] = 1e9 + i % 2;
    }
    check_doubles(numbers, 3000, 1e9 + 0.5, 0.5 * sqrt(3000.0 / 2999));
    numbers[0] = (double)NAN;
    numbers[1] = (double)INFINITY;
    check_doubles(numbers, 3000, 1e9 + 0.5, 0.5 * sqrt(2998.0 / 2997));
    for (int i = 2; i < 3000; i++) {
        numbers[i] = 0.1;
    }
    check_doubles(numbers, 3000, 0.1, 0);
    check_doubles(numbers + 1, 5, 0.1, 0);
    numbers[0] = -1e12;
    numbers[1] = 0.1;
    check_doubles(numbers, 2, (-1e12 + 0.1) / 2, (1e12 + 0.1) / sqrt(2));
}

static void test_constants(void)
{
    static float numbers[100000];
    int64_t count = 100000;
    struct array array = run_of(numbers, DTYPE_FLOAT32, &count);
    struct statistics got;

    for (int i = 0; i < 100000; i++) {
        numbers[i] = 0.1f;
    }
    got = measure(&array);
    CHECK(got.std == 0 && got.mean == (double)0.1f && got.min.real == got.max.real);
}

static void test_few_elements(void)
{
    float numbers[3] = {NAN, INFINITY, -0.0f};
    int64_t count = 0;
    struct array array = run_of(numbers, DTYPE_FLOAT32, &count);
    struct statistics got = measure(&array);

    CHECK(got.count == 0 && isnan(got.mean) && isnan(got.std) && isnan(got.min.real));
    count = 2;
    got = measure(&array);
    CHECK(got.nan_count == 1 && got.posinf_count == 1 && isnan(got.mean));
    CHECK(isnan(got.max.real) && statistics_finite_count(&got) == 0);
    count = 3;
    got = measure(&array);
    CHECK(got.mean == 0 && isnan(got.std) && got.zero_count == 1);
    CHECK(!signbit(got.min.real) && !signbit(got.max.real));
    array.dtype = DTYPE_UINT32;
    count = 0;
    got = measure(&array);
    CHECK(got.min.natural == 0 && got.max.natural == 0 && isnan(got.mean));
}

static void test_wide_integers(void)
{
    int64_t numbers[4] = {INT64_MAX, INT64_MAX - 1, INT64_MIN, INT64_MIN + 1};
    int64_t count = 4;
    struct array array = run_of(numbers, DTYPE_INT64, &count);
    struct statistics got = measure(&array);

    CHECK(got.min.integer == INT64_MIN && got.max.integer == INT64_MAX);
    CHECK(fabs(got.std / (0x1p63 * sqrt(4.0 / 3)) - 1) < 1e-12);
    array.dtype = DTYPE_UINT64;
    got = measure(&array);
    CHECK(got.min.natural == (uint64_t)INT64_MAX - 1);
    CHECK(got.max.natural == (uint64_t)INT64_MIN + 1);
    CHECK(fabs(got.mean / 0x1p63 - 1) < 1e-12);
}

static void test_magnitudes(void)
{
    double numbers[10] = {3, 4,      (double)NAN, (double)INFINITY, (double)NAN,
                          1, -1e300, 1e300,       3e-320,           4e-320};
    int64_t count = 5;
    struct array array = run_of(numbers, DTYPE_COMPLEX128, &count);
    struct statistics got = measure(&array);

    CHECK(got.nan_count == 1 && got.posinf_count == 1 && got.neginf_count == 0);
    CHECK(got.min.real == 5e-320 && fabs(got.max.real / (1e300 * sqrt(2)) - 1) < 1e-15);
}

static void test_opaque(void)
{
    int64_t count = 9;
    struct array array = run_of("123456789", DTYPE_QUINT8, &count);
    struct statistics got;
    uint64_t hash = 0;

    statistics_measure(&array, STATISTICS_WANT_VALUES | STATISTICS_WANT_HASH, 1, &got,
                       &hash);
    CHECK(got.count == 9 && isnan(got.mean) && got.zero_count == 0);
    CHECK(hash == hash_64(SLICE("123456789")));
    array.dtype = DTYPE_OTHER;
    statistics_measure(&array, STATISTICS_WANT_HASH, 1, NULL, &hash);
    CHECK(hash == hash_64(SLICE("")));
    array = run_of(NULL, DTYPE_FLOAT32, &count);
    got = measure(&array);
    CHECK(got.count == 9 && isnan(got.mean));
}

/* A count that no 64 bits hold is no reason to try. */
static void test_too_many(void)
{
    float number = 1;
    int64_t shape[3] = {(int64_t)1 << 30, (int64_t)1 << 30, (int64_t)1 << 30};
    int64_t strides[3] = {0, 0, 0};
    struct array array = {.data = &number,
                          .dtype = DTYPE_FLOAT32,
                          .dimension_count = 3,
                          .shape = shape,
                          .strides = strides};

    CHECK(measure(&array).count == UINT64_MAX);
}

/* A program may round differently, or have its denormals taken for 0: we do not, and it finds
 * everything as it was. */
static void test_float_mode(void)
{
    float numbers[5] = {1e-40f, 2e-40f, 3e-40f, 1, 0};
    int64_t count = 5;
    struct array array = run_of(numbers, DTYPE_FLOAT32, &count);
    struct statistics wanted = measure(&array);
    struct statistics got;

    CHECK(wanted.zero_count == 1);
    fesetround(FE_DOWNWARD);
#if defined(__x86_64__)
    unsigned before = _mm_getcsr() | 0x8040;

    _mm_setcsr(before);
    got = measure(&array);
    CHECK(_mm_getcsr() == before);
    _mm_setcsr(before & ~0x8040u);
#else
    got = measure(&array);
#endif
    CHECK(fegetround() == FE_DOWNWARD);
    fesetround(FE_TONEAREST);
    CHECK(memcmp(&got, &wanted, sizeof(got)) == 0);
    feclearexcept(FE_ALL_EXCEPT);
    numbers[0] = NAN;
    measure(&array);
    CHECK(fetestexcept(FE_ALL_EXCEPT) == 0);
}

int main(void)
{
    test_negated_integers();
    test_extremes();
    test_scales_together();
    test_first_elements();
    test_constants();
    test_few_elements();
    test_wide_integers();
    test_magnitudes();
    test_opaque();
    test_too_many();
    test_float_mode();
    return check_finish();
}
