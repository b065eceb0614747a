/* Comparison of the whole values of two arrays. */
#include "runtime/view/diff/values/values.h"

#include "runtime/array/number.h"
#include "runtime/view/diff/values/tolerance.h"

#include <math.h>
#include <string.h>

/* ---- numbers of two arrays as doubles ---- */

bool diff_is_real(enum dtype dtype)
{
    switch (dtype_class(dtype)) {
    case DTYPE_CLASS_FLOATING:
        return true;
    case DTYPE_CLASS_SIGNED:
    case DTYPE_CLASS_UNSIGNED:
        return dtype_size(dtype) <= 4;
    default:
        return false;
    }
}

void diff_reals_read(enum dtype dtype, const void *bytes, size_t count, double *numbers)
{
    const unsigned char *next = bytes;
    size_t size = dtype_size(dtype);

    if (dtype == DTYPE_FLOAT32) {
        for (size_t i = 0; i < count; i++) {
            numbers[i] = (double)number_float32(next + i * 4);
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct dtype_value value = dtype_read(dtype, next + i * size);

        numbers[i] = dtype_value_real(&value);
    }
}

double
diff_reals_largest(const double *a, const double *b, size_t count, double largest)
{
    for (size_t i = 0; i < count; i++) {
        double size = fabs(b[i]);

        if (size > largest && isfinite(size) && a[i] != b[i]) {
            largest = size;
        }
    }
    return largest;
}

/* Whether two elements that may be infinite or NaN are within the limit. */
static bool is_within(double a, double b, double limit)
{
    double apart = diff_reals_apart(a, b);

    return apart == 0 || (isfinite(apart) && apart <= limit);
}

bool diff_reals_are_within(const double *a,
                           const double *b,
                           size_t count,
                           double rtol,
                           double atol,
                           double scale)
{
    unsigned beyond = 0;

    /* A loop without branches. Elements that are not finite count as beyond: `inf - inf` is NaN. */
    for (size_t i = 0; i < count; i++) {
        double limit = atol + rtol * (fabs(b[i]) + scale);

        beyond |= !(fabs(a[i] - b[i]) - limit <= 0);
    }
    for (size_t i = 0; i < count && beyond != 0; i++) {
        if (!is_within(a[i], b[i], atol + rtol * (fabs(b[i]) + scale))) {
            return false;
        }
    }
    return true;
}

void diff_values_init(struct diff_values *values)
{
    *values =
        (struct diff_values){.is_broken = true, .waiting = {BUFFER_INIT, BUFFER_INIT}};
}

void diff_values_release(struct diff_values *values)
{
    buffer_release(&values->waiting[0]);
    buffer_release(&values->waiting[1]);
}

void diff_values_begin(struct diff_values *values,
                       enum dtype dtype_a,
                       enum dtype dtype_b,
                       uint64_t element_count,
                       double rtol,
                       double atol,
                       double scale)
{
    values->waiting[0].size = 0;
    values->waiting[1].size = 0;
    values->dtypes[0] = dtype_a;
    values->dtypes[1] = dtype_b;
    values->rtol = rtol;
    values->atol = atol;
    values->scale = scale;
    values->lower = (struct diff_lower){.split = 0};
    values->received[0] = 0;
    values->received[1] = 0;
    values->wanted = element_count;
    values->is_broken = dtype_size(dtype_a) == 0 || dtype_size(dtype_b) == 0 ||
                        dtype_class(dtype_a) == DTYPE_CLASS_OPAQUE ||
                        dtype_class(dtype_b) == DTYPE_CLASS_OPAQUE;
    memset(values->products, 0, sizeof values->products);
    values->worst = -1;
    values->distance = (struct diff_distance){.is_exact = true};
}

/* ---- one element ---- */

static uint64_t bits_of_float(const unsigned char *bytes, size_t size)
{
    uint32_t bits_32;
    uint64_t bits = 0;

    if (size == sizeof bits_32) {
        memcpy(&bits_32, bytes, sizeof bits_32);
        return bits_32;
    }
    memcpy(&bits, bytes, size);
    return bits;
}

/* Maps a float's bits to a number that grows by 1 from each float to the next. */
static int64_t place_of_float(const unsigned char *bytes, size_t size)
{
    uint64_t bits = bits_of_float(bytes, size);
    uint64_t sign = (uint64_t)1 << (8 * size - 1);

    return (bits & sign) != 0 ? -(int64_t)(bits & ~sign) : (int64_t)bits;
}

static uint64_t float_ulp(const unsigned char *a, const unsigned char *b, size_t size)
{
    int64_t x = place_of_float(a, size);
    int64_t y = place_of_float(b, size);

    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

static bool has_nan(const struct dtype_value *value)
{
    return isnan(value->real) || isnan(value->imaginary);
}

static void add_products(struct diff_values *values, double a, double b)
{
    if (isfinite(a) && isfinite(b)) {
        values->products[0] += a * a;
        values->products[1] += a * b;
        values->products[2] += b * b;
    }
}

/* Returns the tolerance of an element; `size` is the magnitude of b's. */
static double limit_of(const struct diff_values *values, double size)
{
    const struct diff_lower *lower = &values->lower;

    return lower->split > 0 && size <= lower->split
               ? lower->atol + lower->rtol * (size + lower->scale)
               : values->atol + values->rtol * (size + values->scale);
}

/* Adds an element that is not equal. A NaN against a number is the farthest. `size` is the
 * magnitude of b's. */
static void add_apart(struct diff_values *values,
                      uint64_t index,
                      double a,
                      double b,
                      double apart,
                      double size)
{
    struct diff_distance *distance = &values->distance;

    if (!isfinite(apart)) {
        distance->beyond_count++;
    } else {
        double relative = size > 0 ? apart / size : INFINITY;

        distance->beyond_count += !(apart <= limit_of(values, size));
        if (relative > distance->max_rel) {
            distance->max_rel = relative;
        }
    }
    if (apart > values->worst) {
        values->worst = apart;
        distance->max_abs = apart;
        distance->worst = index;
        distance->worst_values[0] = a;
        distance->worst_values[1] = b;
    }
}

/* Returns the size of the floats whose distance in ULP is reported. 0: it is not. */
static size_t ulp_size(const struct diff_values *values)
{
    enum dtype dtype = values->dtypes[0];

    if (dtype != values->dtypes[1]) {
        return 0;
    }
    switch (dtype_class(dtype)) {
    case DTYPE_CLASS_FLOATING:
        return dtype_size(dtype);
    case DTYPE_CLASS_COMPLEX:
        return dtype_size(dtype) / 2;
    default:
        return 0;
    }
}

static inline void add_ulp(struct diff_values *values,
                           const unsigned char *a,
                           const unsigned char *b,
                           size_t size)
{
    uint64_t ulp = float_ulp(a, b, size);

    if (ulp > values->distance.max_ulp) {
        values->distance.max_ulp = ulp;
    }
}

static void
add_element(struct diff_values *values, const unsigned char *a, const unsigned char *b)
{
    struct dtype_value x = dtype_read(values->dtypes[0], a);
    struct dtype_value y = dtype_read(values->dtypes[1], b);
    uint64_t index = values->distance.count++;
    size_t size_of_ulp = has_nan(&x) || has_nan(&y) ? 0 : ulp_size(values);
    double apart, size;

    add_products(values, dtype_value_real(&x), dtype_value_real(&y));
    if (x.class == DTYPE_CLASS_COMPLEX) {
        add_products(values, x.imaginary, y.imaginary);
    }
    apart = diff_elements_apart(&x, &y, &size);
    if (apart == 0) {
        return;
    }
    add_apart(values, index, dtype_value_real(&x), dtype_value_real(&y), apart, size);
    for (size_t i = 0; size_of_ulp > 0 && i < dtype_size(values->dtypes[0]);
         i += size_of_ulp) {
        add_ulp(values, a + i, b + i, size_of_ulp);
    }
}

/* Adds `count` elements of dtypes that doubles hold exactly. */
static void add_reals(struct diff_values *values,
                      const unsigned char *a,
                      const unsigned char *b,
                      size_t count)
{
    size_t sizes[2] = {dtype_size(values->dtypes[0]), dtype_size(values->dtypes[1])};
    double x[DIFF_REALS_BLOCK], y[DIFF_REALS_BLOCK];
    uint64_t first = values->distance.count;
    size_t size_of_ulp = ulp_size(values);

    diff_reals_read(values->dtypes[0], a, count, x);
    diff_reals_read(values->dtypes[1], b, count, y);
    values->distance.count += count;
    for (size_t i = 0; i < count; i++) {
        double apart = diff_reals_apart(x[i], y[i]);

        add_products(values, x[i], y[i]);
        if (apart == 0) {
            continue;
        }
        add_apart(values, first + i, x[i], y[i], apart, fabs(y[i]));
        if (size_of_ulp > 0 && !isnan(x[i]) && !isnan(y[i])) {
            add_ulp(values, a + i * sizes[0], b + i * sizes[1], size_of_ulp);
        }
    }
}

static void add_elements(struct diff_values *values,
                         const unsigned char *a,
                         const unsigned char *b,
                         size_t count)
{
    size_t sizes[2] = {dtype_size(values->dtypes[0]), dtype_size(values->dtypes[1])};
    bool are_real = diff_is_real(values->dtypes[0]) && diff_is_real(values->dtypes[1]);
    size_t step = are_real ? DIFF_REALS_BLOCK : 1;

    for (size_t i = 0; i < count; i += step) {
        const unsigned char *x = a + i * sizes[0];
        const unsigned char *y = b + i * sizes[1];

        if (are_real) {
            add_reals(values, x, y, count - i < step ? count - i : step);
        } else {
            add_element(values, x, y);
        }
    }
}

/* ---- pieces ---- */

static void drop(struct buffer *buffer, size_t size)
{
    if (size > 0) {
        memmove(buffer->bytes, buffer->bytes + size, buffer->size - size);
        buffer->size -= size;
    }
}

/* Compares the bytes that both sides have. */
static void match(struct diff_values *values)
{
    size_t sizes[2] = {dtype_size(values->dtypes[0]), dtype_size(values->dtypes[1])};
    size_t counts[2] = {values->waiting[0].size / sizes[0],
                        values->waiting[1].size / sizes[1]};
    size_t count = counts[0] < counts[1] ? counts[0] : counts[1];
    const unsigned char *a = (const unsigned char *)values->waiting[0].bytes;
    const unsigned char *b = (const unsigned char *)values->waiting[1].bytes;

    if (count > values->wanted - values->distance.count) {
        values->is_broken = true;
        return;
    }
    add_elements(values, a, b, count);
    drop(&values->waiting[0], count * sizes[0]);
    drop(&values->waiting[1], count * sizes[1]);
}

void diff_values_add(struct diff_values *values,
                     unsigned side,
                     uint64_t offset,
                     struct slice bytes)
{
    if (values->is_broken) {
        return;
    }
    if (offset != values->received[side]) {
        values->is_broken = true;
        return;
    }
    values->received[side] += bytes.size;
    buffer_add(&values->waiting[side], bytes);
    if (values->waiting[side].has_failed) {
        values->has_failed = true;
        values->is_broken = true;
        return;
    }
    if (values->waiting[1 - side].size > 0) {
        match(values);
    }
}

bool diff_values_finish(struct diff_values *values, struct diff_distance *distance)
{
    double norm = sqrt(values->products[0]) * sqrt(values->products[2]);
    bool is_whole = !values->is_broken && values->wanted > 0 &&
                    values->distance.count == values->wanted;

    values->is_broken = true;
    if (!is_whole) {
        return false;
    }
    values->distance.cosine = norm > 0 ? values->products[1] / norm
                              : values->products[0] == values->products[2] ? 1
                                                                           : 0;
    *distance = values->distance;
    return true;
}
