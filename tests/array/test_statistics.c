/* Statistics and hash of arrays of all layouts against a model that visits one element after the
 * other. */
#include "runtime/array/statistics/statistics.h"

#include "runtime/base/hash/hash.h"
#include "tests/unit/check.h"
#include "tests/unit/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_SIZE 1200000

static unsigned char memory[MEMORY_SIZE];

/* The element at a place in logical order. */
static const unsigned char *model_element(const struct array *array, uint64_t place)
{
    const unsigned char *bytes = array->data;
    int64_t stride = (int64_t)dtype_size(array->dtype);

    for (uint32_t i = array->dimension_count; i-- > 0;) {
        int64_t index = (int64_t)(place % (uint64_t)array->shape[i]);

        place /= (uint64_t)array->shape[i];
        bytes += index * (array->strides == NULL ? stride : array->strides[i]);
        stride *= array->shape[i];
    }
    return bytes;
}

static void model_resolve(const struct array *array, unsigned char *bytes)
{
    size_t size = dtype_size(array->dtype);
    bool is_complex = dtype_class(array->dtype) == DTYPE_CLASS_COMPLEX;

    if (array->is_negated) {
        bytes[size - 1] ^= 0x80;
        bytes[size / 2 - 1] ^= is_complex ? 0x80 : 0;
    }
    if (array->is_conjugated && is_complex) {
        bytes[size - 1] ^= 0x80;
    }
}

static double model_number(const struct dtype_value *value)
{
    switch (value->class) {
    case DTYPE_CLASS_SIGNED:
        return (double)value->integer;
    case DTYPE_CLASS_UNSIGNED:
        return (double)value->natural;
    case DTYPE_CLASS_COMPLEX:
        return hypot(value->real, value->imaginary);
    default:
        return value->real;
    }
}

/* Two passes over the finite elements, in long double. */
static void
model_spread(const double *numbers, uint64_t count, struct statistics *statistics)
{
    uint64_t finite = 0;
    long double sum = 0;
    long double squares = 0;

    for (uint64_t i = 0; i < count; i++) {
        finite += isfinite(numbers[i]);
        sum += isfinite(numbers[i]) ? numbers[i] : 0;
    }
    for (uint64_t i = 0; i < count; i++) {
        long double difference = numbers[i] - sum / finite;

        squares += isfinite(numbers[i]) ? difference * difference : 0;
    }
    statistics->mean = finite > 0 ? (double)(sum / finite) : (double)NAN;
    statistics->std = finite > 1 ? (double)sqrtl(squares / (finite - 1)) : (double)NAN;
}

static void
model_bound(const struct dtype_value *value, bool is_first, struct statistics *all)
{
    if (value->class == DTYPE_CLASS_SIGNED) {
        if (is_first || value->integer < all->min.integer) {
            all->min.integer = value->integer;
        }
        if (is_first || value->integer > all->max.integer) {
            all->max.integer = value->integer;
        }
    } else if (value->class == DTYPE_CLASS_UNSIGNED) {
        if (is_first || value->natural < all->min.natural) {
            all->min.natural = value->natural;
        }
        if (is_first || value->natural > all->max.natural) {
            all->max.natural = value->natural;
        }
    } else {
        double number = model_number(value);

        all->min.real = is_first ? number : fmin(all->min.real, number);
        all->max.real = is_first ? number : fmax(all->max.real, number);
    }
}

static struct statistics model_statistics(const struct array *array, uint64_t *hash)
{
    uint64_t count = array_count(array);
    size_t size = dtype_size(array->dtype);
    double *numbers = calloc(count + 1, sizeof(double));
    unsigned char *bytes = calloc(count + 1, size);
    struct statistics all = {.count = count};
    enum dtype_class class = dtype_class(array->dtype);

    if (class == DTYPE_CLASS_FLOATING || class == DTYPE_CLASS_COMPLEX) {
        all.min.real = (double)NAN;
        all.max.real = (double)NAN;
    }
    for (uint64_t i = 0; i < count; i++) {
        struct dtype_value value;

        memcpy(bytes + i * size, model_element(array, i), size);
        model_resolve(array, bytes + i * size);
        value = dtype_read(array->dtype, bytes + i * size);
        numbers[i] = model_number(&value);
        if (isfinite(numbers[i])) {
            bool is_first = i == all.nan_count + all.posinf_count + all.neginf_count;

            model_bound(&value, is_first, &all);
        }
        all.nan_count += isnan(numbers[i]);
        all.posinf_count += numbers[i] == (double)INFINITY;
        all.neginf_count += numbers[i] == -(double)INFINITY;
        all.zero_count += numbers[i] == 0;
    }
    model_spread(numbers, count, &all);
    *hash = hash_64((struct slice){(const char *)bytes, count * size});
    free(numbers);
    free(bytes);
    return all;
}

static bool is_near(double got, double wanted, double size)
{
    return (isnan(got) && isnan(wanted)) || got == wanted ||
           fabs(got - wanted) <= 1e-10 * fabs(wanted) + 1e-13 * size;
}

static bool are_bounds_equal(const struct statistics *a,
                             const struct statistics *b,
                             enum dtype_class class)
{
    if (class == DTYPE_CLASS_SIGNED || class == DTYPE_CLASS_UNSIGNED) {
        return a->min.natural == b->min.natural && a->max.natural == b->max.natural;
    }
    return is_near(a->min.real, b->min.real, 0) && is_near(a->max.real, b->max.real, 0);
}

static bool is_as_model(const struct array *array)
{
    uint64_t hash = 1;
    uint64_t wanted_hash;
    enum dtype_class class = dtype_class(array->dtype);
    struct statistics wanted = model_statistics(array, &wanted_hash);
    struct statistics got;
    double size = class == DTYPE_CLASS_SIGNED ? fmax(fabs((double)wanted.min.integer),
                                                     fabs((double)wanted.max.integer))
                  : class == DTYPE_CLASS_UNSIGNED
                      ? (double)wanted.max.natural
                      : fmax(fabs(wanted.min.real), fabs(wanted.max.real));

    statistics_measure(array, STATISTICS_WANT_VALUES | STATISTICS_WANT_HASH, 1, &got,
                       &hash);
    return hash == wanted_hash && got.count == wanted.count &&
           got.nan_count == wanted.nan_count &&
           got.posinf_count == wanted.posinf_count &&
           got.neginf_count == wanted.neginf_count &&
           got.zero_count == wanted.zero_count &&
           are_bounds_equal(&got, &wanted, class) &&
           is_near(got.mean, wanted.mean, size) && is_near(got.std, wanted.std, size);
}

/* Bytes at random, or bits of small numbers where the dtype has some of use. */
static void fill_memory(bool is_wild)
{
    for (size_t i = 0; i < MEMORY_SIZE; i += 8) {
        uint64_t bits = random_next();

        if (!is_wild) {
            /* Top bytes of 0, 1, -2, 2 and so on as floats of any width. */
            bits &= 0x80ffff0080ffff00;
            bits |= bits >> 60 & 1 ? 0 : 0x3f0000003f000000;
        }
        memcpy(memory + i, &bits, 8);
    }
}

static void check_array(const char *what, const struct array *array)
{
    if (!CHECK(is_as_model(array))) {
        printf("  %s: %s, %u dimensions\n", what, dtype_text(array->dtype),
               array->dimension_count);
    }
}

/* Shapes and strides, in elements; `odd` more bytes between elements, and before the first. */
struct layout {
    const char *what;
    uint32_t dimension_count;
    int64_t shape[5];
    int64_t strides[5];
    int64_t start;
};

static const struct layout layouts[] = {
    {"scalar", 0, {0}, {0}, 3},
    {"one", 1, {1}, {77}, 0},
    {"two", 1, {2}, {1}, 0},
    {"run", 1, {1000}, {1}, 0},
    {"every third", 1, {333}, {3}, 1},
    {"backwards", 1, {1000}, {-1}, 999},
    {"one for all", 1, {5000}, {0}, 2},
    {"empty", 2, {0, 5}, {5, 1}, 0},
    {"matrix", 2, {31, 33}, {33, 1}, 0},
    {"transposed", 2, {33, 31}, {1, 33}, 0},
    {"transposed, large", 2, {101, 97}, {1, 101}, 0},
    {"transposed, several times", 2, {301, 151}, {1, 301}, 0},
    {"transposed, few long rows", 3, {2, 3, 5003}, {3, 1, 6}, 0},
    {"part of rows", 2, {20, 30}, {64, 1}, 5},
    {"rows for all", 2, {40, 50}, {0, 1}, 0},
    {"columns for all", 2, {40, 50}, {1, 0}, 0},
    {"upside down", 2, {30, 20}, {-20, 1}, 580},
    {"both backwards", 2, {30, 20}, {-20, -1}, 599},
    {"channels last", 4, {2, 5, 7, 9}, {315, 1, 45, 5}, 0},
    {"heads", 4, {2, 3, 11, 8}, {264, 8, 24, 1}, 0},
    {"keys transposed", 4, {2, 3, 8, 11}, {264, 8, 1, 24}, 0},
    {"reversed order", 3, {13, 11, 17}, {1, 13, 143}, 0},
    {"length 1 inside", 5, {4, 1, 6, 1, 5}, {30, 9999, 5, -7777, 1}, 0},
    {"windows", 2, {100, 10}, {1, 1}, 0},
};

static void test_layout(const struct layout *layout, enum dtype dtype, int64_t odd)
{
    int64_t size = (int64_t)dtype_size(dtype);
    int64_t strides[5];
    struct array array = {
        .data = memory + layout->start * (size + odd) + odd,
        .dtype = dtype,
        .dimension_count = layout->dimension_count,
        .shape = layout->shape,
        .strides = strides,
    };

    for (uint32_t i = 0; i < layout->dimension_count; i++) {
        strides[i] = layout->strides[i] * (size + odd);
    }
    check_array(layout->what, &array);
}

static void test_layouts(void)
{
    for (int round = 0; round < 2; round++) {
        fill_memory(round == 1);
        for (enum dtype dtype = 0; dtype < DTYPE_COUNT; dtype++) {
            if (dtype_class(dtype) == DTYPE_CLASS_OPAQUE) {
                continue;
            }
            for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
                test_layout(&layouts[i], dtype, 0);
                test_layout(&layouts[i], dtype, 1);
                test_layout(&layouts[i], dtype, 7);
            }
        }
    }
}

static struct array run_of(const void *data, enum dtype dtype, const int64_t *count)
{
    return (struct array){
        .data = data, .dtype = dtype, .dimension_count = 1, .shape = count};
}

/* All lengths around those where vectors and blocks end, at odd addresses. */
static void test_lengths(void)
{
    static const int64_t around[] = {0, 16, 32, 64, 2048, 4096, 8192, 12288};

    fill_memory(false);
    for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++) {
        for (int64_t count = around[i] < 20 ? 0 : around[i] - 20;
             count < around[i] + 20; count++) {
            struct array floats = run_of(memory + 1, DTYPE_FLOAT32, &count);
            struct array halves = run_of(memory + 3, DTYPE_FLOAT16, &count);
            struct array integers = run_of(memory + 5, DTYPE_INT64, &count);
            struct array tiny = run_of(memory + 1, DTYPE_FLOAT8_E4M3FN, &count);

            check_array("length", &floats);
            check_array("length", &halves);
            check_array("length", &integers);
            check_array("length", &tiny);
        }
    }
}

static void test_resolved(void)
{
    static const enum dtype dtypes[] = {DTYPE_COMPLEX32,  DTYPE_COMPLEX64,
                                        DTYPE_COMPLEX128, DTYPE_FLOAT32,
                                        DTYPE_BFLOAT16,   DTYPE_FLOAT64};
    int64_t shape[] = {7, 300};
    int64_t strides[2];

    fill_memory(false);
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
        for (int flags = 0; flags < 4; flags++) {
            struct array array = {
                .data = memory,
                .dtype = dtypes[i],
                .dimension_count = 2,
                .shape = shape,
                .is_conjugated = flags & 1,
                .is_negated = flags >> 1,
            };

            check_array("resolved, contiguous", &array);
            strides[0] = (int64_t)dtype_size(dtypes[i]);
            strides[1] = 7 * strides[0];
            array.strides = strides;
            check_array("resolved, transposed", &array);
        }
    }
}

/* Dimensions up to torch's limit, and counts that no 64 bits hold. */
static void test_many_dimensions(void)
{
    int64_t shape[ARRAY_DIMENSION_MAX];
    int64_t strides[ARRAY_DIMENSION_MAX];
    struct array array = {.data = memory,
                          .dtype = DTYPE_INT16,
                          .dimension_count = ARRAY_DIMENSION_MAX,
                          .shape = shape,
                          .strides = strides};

    fill_memory(true);
    for (int i = 0; i < ARRAY_DIMENSION_MAX; i++) {
        shape[i] = i % 6 == 0 ? 2 : 1;
        strides[i] = i % 12 == 0 ? 1 << i / 6 : 3000 - i;
    }
    check_array("64 dimensions", &array);
    for (int i = 0; i < ARRAY_DIMENSION_MAX; i++) {
        shape[i] = 2;
        strides[i] = 0;
    }
    CHECK(array_count(&array) == UINT64_MAX);
    shape[63] = 0;
    CHECK(array_count(&array) == 0 && array_is_contiguous(&array));
    shape[63] = 1;
    CHECK(array_count(&array) == (uint64_t)1 << 63);
}

static void test_contiguous(void)
{
    int64_t shape[] = {2, 1, 3};
    int64_t strides[] = {12, 1, 4};
    struct array array = {.dtype = DTYPE_FLOAT32,
                          .dimension_count = 3,
                          .shape = shape,
                          .strides = strides};

    CHECK(array_is_contiguous(&array));
    strides[0] = 16;
    CHECK(!array_is_contiguous(&array));
    shape[0] = 1;
    CHECK(array_is_contiguous(&array));
    strides[2] = -4;
    CHECK(!array_is_contiguous(&array));
    shape[0] = 0;
    CHECK(array_is_contiguous(&array));
}

static void test_reading(void)
{
    int64_t shape[] = {30, 20};
    int64_t strides[] = {2, 60};
    struct array array = {.data = memory,
                          .dtype = DTYPE_INT16,
                          .dimension_count = 2,
                          .shape = shape,
                          .strides = strides};
    unsigned char whole[1200];
    unsigned char part[1200];

    fill_memory(true);
    array_read(&array, 0, 600, whole);
    for (uint64_t i = 0; i < 600; i++) {
        CHECK(memcmp(whole + 2 * i, model_element(&array, i), 2) == 0);
    }
    for (uint64_t first = 0; first < 600; first += 7) {
        array_read(&array, first, 600 - first, part);
        CHECK(memcmp(part, whole + 2 * first, 2 * (600 - first)) == 0);
    }
    array_read(&array, 5, 0, NULL);
    array.strides = NULL;
    array_read(&array, 3, 10, part);
    CHECK(memcmp(part, memory + 6, 20) == 0);
}

int main(void)
{
    test_layouts();
    test_lengths();
    test_resolved();
    test_many_dimensions();
    test_contiguous();
    test_reading();
    return check_finish();
}
