/* The kernels that this processor has, compared with each other: on each dtype, on all short
 * and some long runs, at all alignments, with and without what is not finite. */
#include "runtime/array/number.h"
#include "runtime/array/statistics/kernels.h"
#include "runtime/array/statistics/statistics.h"
#include "tests/unit/check.h"
#include "tests/unit/child.h"
#include "tests/unit/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUN_MAX 4096

static unsigned char buffer[RUN_MAX * 8 + 64];

/* What a buffer holds. */
enum content {
    CONTENT_PLAIN,    /* small finite numbers, a fifth of them 0 */
    CONTENT_BITS,     /* any bits: NaNs, infinities and denormals among the floats */
    CONTENT_INFINITE, /* half of the floats are infinite or NaN */
    CONTENT_COUNT
};

static void write_float(enum dtype dtype, double value, unsigned char *bytes)
{
    float narrow = (float)value;
    uint32_t bits;

    if (dtype == DTYPE_FLOAT64) {
        memcpy(bytes, &value, sizeof(value));
        return;
    }
    memcpy(&bits, &narrow, sizeof(bits));
    if (dtype == DTYPE_FLOAT32) {
        memcpy(bytes, &bits, sizeof(bits));
    } else if (dtype == DTYPE_BFLOAT16) {
        memcpy(bytes, (unsigned char *)&bits + 2, 2);
    } else {
        /* float16: the sign, and exponents that it has; 0 and what is not finite as they are. */
        uint16_t exponent = (uint16_t)(bits >> 23 & 0xff);
        uint16_t half = (uint16_t)(bits >> 16 & 0x8000);

        if (exponent == 0xff) {
            half |= isnan(narrow) ? 0x7e00 : 0x7c00;
        } else if (exponent > 112 && exponent < 143) {
            half |= (uint16_t)((exponent - 112) << 10 | (bits >> 13 & 0x3ff));
        }
        memcpy(bytes, &half, sizeof(half));
    }
}

static void
fill(enum dtype dtype, enum content content, unsigned char *bytes, size_t count)
{
    static const double others[] = {(double)INFINITY, -(double)INFINITY, (double)NAN};
    size_t size = dtype_size(dtype);

    for (size_t i = 0; i < count; i++) {
        uint64_t bits = random_next();
        double value = (double)(bits % 2000) / 250 - 4;

        if (bits >> 32 & 1 && content == CONTENT_INFINITE) {
            value = others[bits % 3];
        }
        if (bits >> 40 & 1) {
            value = bits >> 33 & 1 ? 0 : value;
        }
        if (content == CONTENT_BITS || dtype_class(dtype) != DTYPE_CLASS_FLOATING) {
            memcpy(bytes + i * size, &bits, size);
        } else {
            write_float(dtype, value, bytes + i * size);
        }
    }
}

/* How large what was summed is in all, which rounding goes by. */
static double
total_size(enum dtype dtype, const unsigned char *bytes, size_t count, double shift)
{
    double total = 0;

    for (size_t i = 0; i < count; i++) {
        struct dtype_value value = dtype_read(dtype, bytes + i * dtype_size(dtype));
        double number = value.class == DTYPE_CLASS_SIGNED     ? (double)value.integer
                        : value.class == DTYPE_CLASS_UNSIGNED ? (double)value.natural
                                                              : value.real;

        total += isfinite(number) ? fabs(number - shift) : 0;
    }
    return total;
}

static bool is_near(double a, double b, double size)
{
    return a == b || fabs(a - b) <= 1e-12 * size || (!isfinite(a) && !isfinite(b));
}

static bool are_equal(const struct block_sums *a, const struct block_sums *b)
{
    return a->min == b->min && a->max == b->max && a->zero_count == b->zero_count &&
           a->nan_count == b->nan_count && a->posinf_count == b->posinf_count &&
           a->neginf_count == b->neginf_count;
}

static bool compare(const struct kernels *kernels,
                    enum dtype dtype,
                    const unsigned char *bytes,
                    size_t count,
                    double shift)
{
    struct block_sums wanted;
    struct block_sums got;
    double size = total_size(dtype, bytes, count, shift);
    bool holds;

    kernels_portable.sums[dtype](bytes, count, shift, true, &wanted);
    kernels->sums[dtype](bytes, count, shift, true, &got);
    holds = are_equal(&got, &wanted) && is_near(got.sum, wanted.sum, size) &&
            is_near(got.square_sum, wanted.square_sum, wanted.square_sum);
    if (wanted.nan_count + wanted.posinf_count + wanted.neginf_count > 0) {
        /* Done without care, what is not finite must show. */
        kernels->sums[dtype](bytes, count, shift, false, &got);
        return holds && (!isfinite(got.sum) || are_equal(&got, &wanted)) &&
               got.zero_count == wanted.zero_count;
    }
    kernels->sums[dtype](bytes, count, shift, false, &got);
    return holds && are_equal(&got, &wanted) && is_near(got.sum, wanted.sum, size) &&
           is_near(got.square_sum, wanted.square_sum, wanted.square_sum);
}

static void
test_dtype(const struct kernels *kernels, enum dtype dtype, enum content content)
{
    static const double shifts[] = {0, 1.25, -3000};
    size_t wrong = 0;

    for (size_t count = 0; count <= 150; count++) {
        size_t length = count == 150 ? RUN_MAX - 1 : count;

        for (size_t offset = 0; offset < 64; offset += count % 7 + 1) {
            fill(dtype, content, buffer + offset, length);
            wrong +=
                !compare(kernels, dtype, buffer + offset, length, shifts[count % 3]);
        }
    }
    if (!CHECK(wrong == 0)) {
        printf("  %s, %s, content %d\n", kernels->name, dtype_text(dtype),
               (int)content);
    }
}

static void test_against_model(enum dtype dtype)
{
    struct block_sums sums;
    double sum = 0;
    double min = (double)INFINITY;
    size_t zeros = 0;

    fill(dtype, CONTENT_PLAIN, buffer + 1, 1001);
    for (size_t i = 0; i < 1001; i++) {
        struct dtype_value value =
            dtype_read(dtype, buffer + 1 + i * dtype_size(dtype));
        double number = value.class == DTYPE_CLASS_SIGNED     ? (double)value.integer
                        : value.class == DTYPE_CLASS_UNSIGNED ? (double)value.natural
                                                              : value.real;

        sum += number - 1;
        min = number < min ? number : min;
        zeros += number == 0;
    }
    kernels_portable.sums[dtype](buffer + 1, 1001, 1, false, &sums);
    CHECK(is_near(sums.sum, sum, total_size(dtype, buffer + 1, 1001, 1)));
    CHECK(sums.min == min && sums.zero_count == zeros);
}

static void test_bounds(const struct kernels *kernels)
{
    size_t wrong = 0;

    for (size_t count = 0; count < 70; count++) {
        int64_t signed_got[2] = {INT64_MAX, INT64_MIN};
        int64_t signed_wanted[2] = {INT64_MAX, INT64_MIN};
        uint64_t got[2] = {UINT64_MAX, 0};
        uint64_t wanted[2] = {UINT64_MAX, 0};

        fill(DTYPE_INT64, CONTENT_BITS, buffer + 3, count);
        kernels->signed_bounds(buffer + 3, count, &signed_got[0], &signed_got[1]);
        kernels->unsigned_bounds(buffer + 3, count, &got[0], &got[1]);
        for (size_t i = 0; i < count; i++) {
            int64_t integer = number_integer(buffer + 3 + 8 * i);
            uint64_t natural = number_natural(buffer + 3 + 8 * i);

            signed_wanted[0] = integer < signed_wanted[0] ? integer : signed_wanted[0];
            signed_wanted[1] = integer > signed_wanted[1] ? integer : signed_wanted[1];
            wanted[0] = natural < wanted[0] ? natural : wanted[0];
            wanted[1] = natural > wanted[1] ? natural : wanted[1];
        }
        wrong += memcmp(signed_got, signed_wanted, sizeof(signed_got)) != 0;
        wrong += memcmp(got, wanted, sizeof(got)) != 0;
    }
    if (!CHECK(wrong == 0)) {
        printf("  %s\n", kernels->name);
    }
}

/* The extremes of 64 bits, which conversions by bits get wrong first. */
static void test_wide_integers(const struct kernels *kernels)
{
    static const uint64_t values[] = {
        0,
        1,
        UINT64_MAX,
        INT64_MAX,
        (uint64_t)INT64_MIN,
        (uint64_t)1 << 53,
        ((uint64_t)1 << 53) + 1,
        ((uint64_t)1 << 63) + 1025,
        0xffffffff,
        0x100000000,
    };

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        uint64_t eight[8];
        struct block_sums sums;

        for (size_t j = 0; j < 8; j++) {
            eight[j] = values[i];
        }
        kernels->sums[DTYPE_UINT64](eight, 8, 0, false, &sums);
        CHECK(sums.sum == 8 * (double)values[i] && sums.max == (double)values[i]);
        kernels->sums[DTYPE_INT64](eight, 8, 0, false, &sums);
        CHECK(sums.sum == 8 * (double)(int64_t)values[i]);
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return isnan(left) || isnan(right) ? !isnan(right) - !isnan(left)
                                       : (left > right) - (left < right);
}

/* In order of size they are what hypot finds. */
static void test_magnitudes(const struct kernels *kernels, enum dtype dtype)
{
    enum dtype half = dtype == DTYPE_COMPLEX32   ? DTYPE_FLOAT16
                      : dtype == DTYPE_COMPLEX64 ? DTYPE_FLOAT32
                                                 : DTYPE_FLOAT64;
    size_t wrong = 0;

    for (size_t count = 0; count < 100; count++) {
        double got[100];
        double wanted[100];

        fill(half, count % 2 ? CONTENT_INFINITE : CONTENT_PLAIN, buffer + 5, 2 * count);
        kernels->magnitudes[dtype](buffer + 5, count, got);
        for (size_t i = 0; i < count; i++) {
            struct dtype_value value =
                dtype_read(dtype, buffer + 5 + i * dtype_size(dtype));

            wanted[i] = hypot(value.real, value.imaginary);
        }
        qsort(got, count, sizeof(double), compare_doubles);
        qsort(wanted, count, sizeof(double), compare_doubles);
        for (size_t i = 0; i < count; i++) {
            wrong += isnan(wanted[i])
                         ? !isnan(got[i])
                         : got[i] != wanted[i] &&
                               fabs(got[i] - wanted[i]) > 1e-15 * wanted[i];
        }
    }
    if (!CHECK(wrong == 0)) {
        printf("  %s, %s\n", kernels->name, dtype_text(dtype));
    }
}

struct choice {
    const char *asked, *wanted;
};

static bool chooses(void *about)
{
    const struct choice *choice = about;

    setenv("MONITORCH_KERNELS", choice->asked, 1);
    return strcmp(statistics_kernels(), choice->wanted) == 0;
}

/* The choice is made once in a process, so each is asked for in one of its own. */
static bool is_chosen(const char *asked, const char *wanted)
{
    return child_holds(chooses, &(struct choice){asked, wanted});
}

static void test_choice(void)
{
    const char *best = NULL;

    for (const struct kernels *const *each = kernels_all(); *each != NULL; each++) {
        if ((*each)->is_supported()) {
            best = best == NULL ? (*each)->name : best;
            CHECK(is_chosen((*each)->name, (*each)->name));
        } else {
            CHECK(is_chosen((*each)->name, best == NULL ? "portable" : best));
        }
    }
    CHECK(is_chosen("nonsense", best));
    CHECK(is_chosen("", best));
}

int main(void)
{
    test_choice();
    for (enum dtype dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        if (kernels_portable.sums[dtype] != NULL) {
            test_against_model(dtype);
        }
    }
    for (const struct kernels *const *each = kernels_all(); *each != NULL; each++) {
        if (!(*each)->is_supported()) {
            continue;
        }
        for (enum dtype dtype = 0; dtype < DTYPE_COUNT; dtype++) {
            for (int content = 0; content < CONTENT_COUNT; content++) {
                if ((*each)->sums[dtype] != NULL) {
                    test_dtype(*each, dtype, content);
                }
            }
        }
        test_magnitudes(*each, DTYPE_COMPLEX32);
        test_magnitudes(*each, DTYPE_COMPLEX64);
        test_magnitudes(*each, DTYPE_COMPLEX128);
        test_bounds(*each);
        test_wide_integers(*each);
    }
    return check_finish();
}
