/* Distances of numbers, and tolerances. */
#include "runtime/view/diff/values/tolerance.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static void dtype_tolerance(enum dtype dtype, double *rtol, double *atol)
{
    switch (dtype) {
    case DTYPE_FLOAT64:
    case DTYPE_COMPLEX128:
        *rtol = 1e-7;
        *atol = 1e-9;
        return;
    case DTYPE_FLOAT32:
    case DTYPE_COMPLEX64:
        *rtol = 1e-5;
        *atol = 1e-6;
        return;
    case DTYPE_FLOAT16:
    case DTYPE_COMPLEX32:
        *rtol = 2e-3;
        *atol = 1e-5;
        return;
    case DTYPE_BFLOAT16:
        *rtol = 1.6e-2;
        *atol = 1e-5;
        return;
    case DTYPE_FLOAT8_E4M3FN:
    case DTYPE_FLOAT8_E4M3FNUZ:
        *rtol = 0.125;
        *atol = 2e-3;
        return;
    case DTYPE_FLOAT8_E5M2:
    case DTYPE_FLOAT8_E5M2FNUZ:
        *rtol = 0.25;
        *atol = 1e-4;
        return;
    default:
        *rtol = 0;
        *atol = 0;
    }
}

double diff_unit_of(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_FLOAT64:
    case DTYPE_COMPLEX128:
        return 0x1p-52;
    case DTYPE_FLOAT32:
    case DTYPE_COMPLEX64:
        return 0x1p-23;
    case DTYPE_FLOAT16:
    case DTYPE_COMPLEX32:
        return 0x1p-10;
    case DTYPE_BFLOAT16:
        return 0x1p-7;
    default: {
        double rtol, atol;

        dtype_tolerance(dtype, &rtol, &atol);
        return rtol; /* types of one byte */
    }
    }
}

#define SPLIT_RATIO 1e4

static int compare_sizes(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

double diff_find_split(const double *numbers, size_t count)
{
    double sizes[SAMPLE_MAX], largest = 0, least = INFINITY;
    size_t kept = 0;

    assert(count <= SAMPLE_MAX);
    for (size_t i = 0; i < count; i++) {
        double size = fabs(numbers[i]);

        if (isfinite(size) && size > 0) {
            largest = fmax(largest, size);
            least = fmin(least, size);
            sizes[kept++] = size;
        }
    }
    if (largest <= SPLIT_RATIO * least) {
        return 0;
    }
    qsort(sizes, kept, sizeof *sizes, compare_sizes);
    for (size_t i = kept; i-- > 1;) {
        if (sizes[i] > SPLIT_RATIO * sizes[i - 1]) {
            return sizes[i - 1];
        }
    }
    return 0;
}

double diff_split_of(const struct log_event_view *event)
{
    double numbers[SAMPLE_MAX];
    enum dtype dtype = event->shape->dtype;
    size_t size = dtype_size(dtype), count = (size_t)event->grid.count;

    if (event->sample == NULL || !diff_is_inexact(dtype) || size == 0) {
        return 0;
    }
    assert(count <= SAMPLE_MAX);
    for (size_t i = 0; i < count; i++) {
        struct dtype_value value =
            dtype_read(dtype, (const char *)event->sample + i * size);

        numbers[i] = hypot(value.real, value.imaginary);
    }
    return diff_find_split(numbers, count);
}

bool diff_is_inexact(enum dtype dtype)
{
    enum dtype_class class = dtype_class(dtype);

    return class == DTYPE_CLASS_FLOATING || class == DTYPE_CLASS_COMPLEX;
}

void diff_tolerance_widen(struct diff_tolerance *tolerance, enum dtype a, enum dtype b)
{
    double rtol, atol;

    if (!tolerance->is_across_precision || a == b || !diff_is_inexact(a) ||
        !diff_is_inexact(b)) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        dtype_tolerance(i == 0 ? a : b, &rtol, &atol);
        tolerance->least_rtol = fmax(tolerance->least_rtol, rtol);
        tolerance->least_atol = fmax(tolerance->least_atol, atol);
    }
}

bool diff_tolerance_is_given(const struct diff_tolerance *tolerance)
{
    return tolerance->rtol >= 0 || tolerance->atol >= 0;
}

void diff_tolerance_of(const struct diff_tolerance *tolerance,
                       enum dtype a,
                       enum dtype b,
                       double *rtol,
                       double *atol)
{
    double other_rtol, other_atol;

    dtype_tolerance(a, rtol, atol);
    dtype_tolerance(b, &other_rtol, &other_atol);
    *rtol = fmax(*rtol, other_rtol);
    *atol = fmax(*atol, other_atol) * (tolerance->unit > 0 ? tolerance->unit : 1);
    if (!diff_is_inexact(a) && !diff_is_inexact(b)) {
        return;
    }
    if (tolerance->is_exact) {
        *rtol = 0;
        *atol = 0;
        return;
    }
    *rtol = tolerance->rtol >= 0 ? tolerance->rtol : fmax(*rtol, tolerance->least_rtol);
    *atol = tolerance->atol >= 0 ? tolerance->atol : fmax(*atol, tolerance->least_atol);
}

bool diff_is_within(double a, double b, double rtol, double atol, double scale)
{
    if (a == b || (isnan(a) && isnan(b))) {
        return true;
    }
    if (!isfinite(a) || !isfinite(b)) {
        return false;
    }
    return fabs(a - b) <= atol + rtol * (fabs(b) + scale);
}

double diff_usual_size(const struct statistics *statistics)
{
    double size;

    if (isnan(statistics->mean)) {
        return 0;
    }
    size = hypot(statistics->mean, isnan(statistics->std) ? 0 : statistics->std);
    return isfinite(size) ? size : 0;
}

static bool has_nan(const struct dtype_value *value)
{
    return isnan(value->real) || isnan(value->imaginary);
}

static bool is_equal(const struct dtype_value *a, const struct dtype_value *b)
{
    if (a->class != b->class) {
        return dtype_value_real(a) == dtype_value_real(b);
    }
    switch (a->class) {
    case DTYPE_CLASS_SIGNED:
        return a->integer == b->integer;
    case DTYPE_CLASS_UNSIGNED:
        return a->natural == b->natural;
    default:
        return (a->real == b->real && a->imaginary == b->imaginary) ||
               (has_nan(a) && has_nan(b));
    }
}

double diff_elements_apart(const struct dtype_value *a,
                           const struct dtype_value *b,
                           double *size)
{
    double x = dtype_value_real(a);
    double y = dtype_value_real(b);
    double apart;

    *size = 0;
    if (is_equal(a, b)) {
        return 0;
    }
    if (b->class == DTYPE_CLASS_COMPLEX) {
        *size = hypot(y, b->imaginary);
        apart = hypot(x - y, a->imaginary - b->imaginary);
    } else {
        *size = fabs(y);
        apart = fabs(x - y);
    }
    if (apart == 0) {
        return 1; /* integers beyond 2^53 */
    }
    return isfinite(apart) ? apart : INFINITY;
}
