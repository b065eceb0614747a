/* Whole values compared in pieces: every figure against one that is found by hand. */
#include "runtime/view/diff/values/values.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static void add(struct diff_values *values,
                unsigned side,
                const void *bytes,
                size_t start,
                size_t end)
{
    diff_values_add(values, side, start,
                    (struct slice){(const char *)bytes + start, end - start});
}

static void test_figures(void)
{
    const float a[5] = {1.0f, 2.0f, -3.0f, 0.0f, NAN};
    const float b[5] = {1.0f, 2.5f, -3.0f, -0.0f, NAN};
    struct diff_values values;
    struct diff_distance distance;

    diff_values_init(&values);
    diff_values_begin(&values, DTYPE_FLOAT32, DTYPE_FLOAT32, 5, 1e-5, 1e-6, 0);
    add(&values, 0, a, 0, sizeof a);
    add(&values, 1, b, 0, sizeof b);
    CHECK(diff_values_finish(&values, &distance));
    CHECK(distance.is_exact && distance.count == 5);
    CHECK(distance.max_abs == 0.5);
    CHECK(fabs(distance.max_rel - 0.2) < 1e-12);
    CHECK(distance.beyond_count == 1 && distance.worst == 1);
    CHECK(distance.worst_values[0] == 2.0 && distance.worst_values[1] == 2.5);
    CHECK(distance.max_ulp == (1u << 21)); /* a quarter of the 2^23 steps from 2 to 4 */
    CHECK(fabs(distance.cosine - (1 + 5 + 9) / (sqrt(14) * sqrt(16.25))) < 1e-15);
    CHECK(!diff_values_finish(&values, &distance));
    diff_values_release(&values);
}

/* Pieces may end anywhere, also inside of an element. */
static void test_pieces(void)
{
    double a[100], b[100];
    struct diff_values values;
    struct diff_distance distance;

    for (int i = 0; i < 100; i++) {
        a[i] = i;
        b[i] = i == 70 ? 70.5 : i;
    }
    diff_values_init(&values);
    diff_values_begin(&values, DTYPE_FLOAT64, DTYPE_FLOAT64, 100, 0, 0, 0);
    add(&values, 0, a, 0, 33);
    add(&values, 1, b, 0, 301);
    add(&values, 0, a, 33, 34);
    add(&values, 0, a, 34, 800);
    add(&values, 1, b, 301, 800);
    CHECK(diff_values_finish(&values, &distance));
    CHECK(distance.worst == 70 && distance.beyond_count == 1);
    CHECK(values.waiting[0].size == 0 && values.waiting[1].size == 0);

    /* One that is missing, one that comes twice, more than there are. */
    diff_values_begin(&values, DTYPE_FLOAT64, DTYPE_FLOAT64, 100, 0, 0, 0);
    add(&values, 0, a, 0, 400);
    add(&values, 1, b, 0, 800);
    CHECK(!diff_values_finish(&values, &distance));
    diff_values_begin(&values, DTYPE_FLOAT64, DTYPE_FLOAT64, 100, 0, 0, 0);
    add(&values, 0, a, 8, 800);
    add(&values, 1, b, 0, 800);
    CHECK(!diff_values_finish(&values, &distance));
    diff_values_begin(&values, DTYPE_FLOAT64, DTYPE_FLOAT64, 50, 0, 0, 0);
    add(&values, 0, a, 0, 800);
    add(&values, 1, b, 0, 800);
    CHECK(!diff_values_finish(&values, &distance));
    diff_values_release(&values);
}

struct one {
    enum dtype dtype;
    const char *a, *b;
    size_t size;
    double max_abs;
    uint64_t ulp, beyond;
};

static void test_dtypes(void)
{
    /* 1 and the number after it, in each dtype; then what else may be between two. */
    static const struct one ones[] = {
        {DTYPE_FLOAT16, "\x00\x3c", "\x01\x3c", 2, 0x1p-10, 1, 1},
        {DTYPE_BFLOAT16, "\x80\x3f", "\x81\x3f", 2, 0x1p-7, 1, 1},
        {DTYPE_FLOAT8_E4M3FN, "\x38", "\x39", 1, 0x1p-3, 1, 1},
        {DTYPE_FLOAT8_E5M2, "\x3c", "\x3d", 1, 0x1p-2, 1, 1},
        {DTYPE_FLOAT16, "\x01\x00", "\x01\x80", 2, 0x1p-23, 2, 1},
        {DTYPE_FLOAT16, "\x00\x7c", "\x00\x7c", 2, 0, 0, 0},
        {DTYPE_FLOAT16, "\x00\x7c", "\x00\xfc", 2, INFINITY, 0, 1},
        {DTYPE_FLOAT16, "\x00\x7e", "\x00\x3c", 2, INFINITY, 0, 1},
        {DTYPE_FLOAT16, "\x00\x7e", "\x01\x7e", 2, 0, 0, 0},
        {DTYPE_BOOL, "\x01", "\x00", 1, 1, 0, 1},
        {DTYPE_INT8, "\xff", "\x01", 1, 2, 0, 1},
        {DTYPE_UINT64, "\xff\xff\xff\xff\xff\xff\xff\xff",
         "\xfe\xff\xff\xff\xff\xff\xff\xff", 8, 1, 0, 1},
        {DTYPE_COMPLEX64, "\x00\x00\x80\x3f\x00\x00\x00\x00",
         "\x00\x00\x80\x3f\x00\x00\x80\x3f", 8, 1, 0x3f800000, 1},
    };
    struct diff_values values;
    struct diff_distance distance;

    diff_values_init(&values);
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++) {
        const struct one *one = &ones[i];

        diff_values_begin(&values, one->dtype, one->dtype, 1, 0, 0, 0);
        diff_values_add(&values, 0, 0, (struct slice){one->a, one->size});
        diff_values_add(&values, 1, 0, (struct slice){one->b, one->size});
        if (!CHECK(diff_values_finish(&values, &distance)) ||
            !CHECK(distance.max_abs == one->max_abs) ||
            !CHECK(distance.beyond_count == one->beyond) ||
            !CHECK(isinf(one->max_abs) || distance.max_ulp == one->ulp)) {
            printf("  of %s, number %zu\n", dtype_text(one->dtype), i);
        }
    }
    diff_values_release(&values);
}

static void test_across(void)
{
    const float a[2] = {1.0f, 3.14159f};
    const unsigned char b[4] = {0x80, 0x3f, 0x49, 0x40}; /* bfloat16 1, 3.140625 */
    struct diff_values values;
    struct diff_distance distance;

    diff_values_init(&values);
    diff_values_begin(&values, DTYPE_FLOAT32, DTYPE_BFLOAT16, 2, 1.6e-2, 1e-5, 0);
    add(&values, 0, a, 0, sizeof a);
    add(&values, 1, b, 0, sizeof b);
    CHECK(diff_values_finish(&values, &distance));
    CHECK(distance.beyond_count == 0 && distance.max_ulp == 0);
    CHECK(fabs(distance.max_abs - (3.14159 - 3.140625)) < 1e-6);
    /* What has no numbers, and nothing at all. */
    diff_values_begin(&values, DTYPE_QINT8, DTYPE_QINT8, 2, 0, 0, 0);
    add(&values, 0, a, 0, 2);
    add(&values, 1, b, 0, 2);
    CHECK(!diff_values_finish(&values, &distance));
    diff_values_begin(&values, DTYPE_FLOAT32, DTYPE_FLOAT32, 0, 0, 0, 0);
    CHECK(!diff_values_finish(&values, &distance));
    diff_values_release(&values);
}

int main(void)
{
    test_figures();
    test_pieces();
    test_dtypes();
    test_across();
    return check_finish();
}
