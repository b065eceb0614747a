/* Numbers of two arrays as doubles. */
#include "runtime/view/diff/values/reals.h"

#include "runtime/array/number.h"
#include "runtime/view/diff/values/tolerance.h"

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

bool diff_reals_are_within(const double *a,
                           const double *b,
                           size_t count,
                           double rtol,
                           double atol,
                           double scale)
{
    for (size_t i = 0; i < count; i++) {
        double apart = diff_reals_apart(a[i], b[i]);

        if (apart > 0 &&
            !(isfinite(apart) && apart <= atol + rtol * (fabs(b[i]) + scale))) {
            return false;
        }
    }
    return true;
}
