#include "runtime/python/tensor/device/row.h"

#include <math.h>
#include <string.h>

/* A tensor without dimensions that holds the 8 bytes of `value`. */
static struct aten_tensor *constant_new(const struct device_functions *functions,
                                        int32_t device_type,
                                        int32_t device_index,
                                        int32_t dtype,
                                        const void *value)
{
    struct aten_tensor *here = NULL, *there = NULL;
    uint64_t bytes;

    memcpy(&bytes, value, sizeof bytes);
    if (functions->make_from_memory(&bytes, 0, NULL, NULL, 0, dtype, 0, 0, &here) !=
        0) {
        return NULL;
    }
    if (functions->make_empty(0, NULL, NULL, dtype, device_type, device_index,
                              &there) != 0) {
        there = NULL;
    } else if (functions->copy(there, here, 0) != 0) {
        functions->delete_handle(there);
        there = NULL;
    }
    functions->delete_handle(here);
    return there;
}

bool device_constants_init(struct device_constants *constants,
                           const struct device_functions *functions,
                           int32_t device_type,
                           int32_t device_index)
{
    const double zero = 0, plus = INFINITY, minus = -INFINITY;
    const int64_t highest = INT64_MIN;
    const int32_t type = device_type, index = device_index;

    *constants = (struct device_constants){
        .device_type = type,
        .device_index = index,
        .zero = constant_new(functions, type, index, DEVICE_DTYPE_FLOAT64, &zero),
        .plus_infinity =
            constant_new(functions, type, index, DEVICE_DTYPE_FLOAT64, &plus),
        .minus_infinity =
            constant_new(functions, type, index, DEVICE_DTYPE_FLOAT64, &minus),
        .highest_bit =
            constant_new(functions, type, index, DEVICE_DTYPE_INT64, &highest),
    };
    if (constants->zero == NULL || constants->plus_infinity == NULL ||
        constants->minus_infinity == NULL || constants->highest_bit == NULL) {
        device_constants_release(constants, functions);
        return false;
    }
    return true;
}

void device_constants_release(struct device_constants *constants,
                              const struct device_functions *functions)
{
    struct aten_tensor *const handles[] = {constants->zero, constants->plus_infinity,
                                           constants->minus_infinity,
                                           constants->highest_bit};

    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
        if (handles[i] != NULL) {
            functions->delete_handle(handles[i]);
        }
    }
    *constants = (struct device_constants){0};
}

static bool is_integer(enum dtype dtype)
{
    return dtype_class(dtype) == DTYPE_CLASS_SIGNED ||
           dtype_class(dtype) == DTYPE_CLASS_UNSIGNED;
}

/* The elements as doubles. */
static struct aten_tensor *
as_doubles(struct device_work *work, struct aten_tensor *piece, enum dtype dtype)
{
    if (dtype_class(dtype) == DTYPE_CLASS_COMPLEX) {
        return device_call_1(work, "aten::abs",
                             device_to_dtype(work, piece, DEVICE_DTYPE_COMPLEX128));
    }
    return device_to_dtype(work, piece, DEVICE_DTYPE_FLOAT64);
}

/* The least and the greatest, exactly: a double does not hold every int64. */
static void integer_bounds(struct device_work *work,
                           const struct device_constants *constants,
                           struct aten_tensor *piece,
                           enum dtype dtype,
                           struct aten_tensor **columns)
{
    struct aten_tensor *numbers;

    if (dtype == DTYPE_UINT64) {
        numbers = device_call_2(work, "aten::bitwise_xor", "Tensor",
                                device_view_dtype(work, piece, DEVICE_DTYPE_INT64),
                                constants->highest_bit);
    } else {
        numbers = device_to_dtype(work, piece, DEVICE_DTYPE_INT64);
    }
    columns[DEVICE_COLUMN_MIN] = device_view_dtype(
        work, device_call_1(work, "aten::min", numbers), DEVICE_DTYPE_FLOAT64);
    columns[DEVICE_COLUMN_MAX] = device_view_dtype(
        work, device_call_1(work, "aten::max", numbers), DEVICE_DTYPE_FLOAT64);
}

/* How many elements of a tensor of bools are true, as a double. */
static struct aten_tensor *
count_true(struct device_work *work, const char *operation, struct aten_tensor *numbers)
{
    return device_to_dtype(work,
                           device_sum(work, device_call_1(work, operation, numbers)),
                           DEVICE_DTYPE_FLOAT64);
}

struct aten_tensor *device_row_new(const struct device_functions *functions,
                                   const struct device_constants *constants,
                                   struct aten_tensor *piece,
                                   enum dtype dtype)
{
    struct device_work work = {.functions = functions};
    struct aten_tensor *columns[DEVICE_COLUMN_COUNT];
    struct aten_tensor *numbers = as_doubles(&work, piece, dtype);
    struct aten_tensor *finite = device_call_1(&work, "aten::isfinite", numbers);

    columns[DEVICE_COLUMN_NAN] = count_true(&work, "aten::isnan", numbers);
    columns[DEVICE_COLUMN_POSINF] = count_true(&work, "aten::isposinf", numbers);
    columns[DEVICE_COLUMN_NEGINF] = count_true(&work, "aten::isneginf", numbers);
    columns[DEVICE_COLUMN_ZERO] = count_true(&work, "aten::logical_not", numbers);
    columns[DEVICE_COLUMN_FINITE] =
        device_to_dtype(&work, device_sum(&work, finite), DEVICE_DTYPE_FLOAT64);
    if (is_integer(dtype)) {
        integer_bounds(&work, constants, piece, dtype, columns);
    } else {
        columns[DEVICE_COLUMN_MIN] = device_call_1(
            &work, "aten::min",
            device_where(&work, finite, numbers, constants->plus_infinity));
        columns[DEVICE_COLUMN_MAX] = device_call_1(
            &work, "aten::max",
            device_where(&work, finite, numbers, constants->minus_infinity));
    }
    columns[DEVICE_COLUMN_MEAN] = device_call_2(
        &work, "aten::div", "Tensor",
        device_sum(&work, device_where(&work, finite, numbers, constants->zero)),
        columns[DEVICE_COLUMN_FINITE]);
    columns[DEVICE_COLUMN_VARIANCE] = device_variance(
        &work, device_where(&work, finite, numbers, columns[DEVICE_COLUMN_MEAN]));

    struct aten_tensor *row = device_stack(&work, columns, DEVICE_COLUMN_COUNT);
    row = row == NULL ? NULL : device_work_take(&work, row);
    device_work_release(&work);
    return row;
}

/* ---- putting together ---- */

void device_totals_init(struct device_totals *totals, enum dtype dtype)
{
    *totals = (struct device_totals){.statistics = {.mean = NAN, .std = NAN}};
    if (!is_integer(dtype)) {
        totals->statistics.min.real = NAN;
        totals->statistics.max.real = NAN;
    }
}

static void add_real_bounds(struct device_totals *totals, const double *row)
{
    struct statistics *statistics = &totals->statistics;

    /* The first comparison with NaN is false. */
    if (!(statistics->min.real <= row[DEVICE_COLUMN_MIN])) {
        statistics->min.real = row[DEVICE_COLUMN_MIN];
    }
    if (!(statistics->max.real >= row[DEVICE_COLUMN_MAX])) {
        statistics->max.real = row[DEVICE_COLUMN_MAX];
    }
}

static void add_integer_bounds(struct device_totals *totals,
                               enum dtype dtype,
                               bool is_first,
                               const double *row)
{
    struct statistics *statistics = &totals->statistics;
    int64_t min, max;

    memcpy(&min, &row[DEVICE_COLUMN_MIN], sizeof min);
    memcpy(&max, &row[DEVICE_COLUMN_MAX], sizeof max);
    if (dtype_class(dtype) == DTYPE_CLASS_SIGNED) {
        if (is_first || min < statistics->min.integer) {
            statistics->min.integer = min;
        }
        if (is_first || max > statistics->max.integer) {
            statistics->max.integer = max;
        }
        return;
    }
    uint64_t flip = dtype == DTYPE_UINT64 ? (uint64_t)1 << 63 : 0;
    if (is_first || ((uint64_t)min ^ flip) < statistics->min.natural) {
        statistics->min.natural = (uint64_t)min ^ flip;
    }
    if (is_first || ((uint64_t)max ^ flip) > statistics->max.natural) {
        statistics->max.natural = (uint64_t)max ^ flip;
    }
}

void device_totals_add(struct device_totals *totals,
                       enum dtype dtype,
                       uint64_t count,
                       const double row[DEVICE_COLUMN_COUNT])
{
    struct statistics *statistics = &totals->statistics;
    uint64_t finite_count = (uint64_t)row[DEVICE_COLUMN_FINITE];
    bool is_first = totals->finite_count == 0;

    statistics->count += count;
    statistics->nan_count += (uint64_t)row[DEVICE_COLUMN_NAN];
    statistics->posinf_count += (uint64_t)row[DEVICE_COLUMN_POSINF];
    statistics->neginf_count += (uint64_t)row[DEVICE_COLUMN_NEGINF];
    statistics->zero_count += (uint64_t)row[DEVICE_COLUMN_ZERO];
    if (finite_count == 0) {
        return;
    }
    if (is_integer(dtype)) {
        add_integer_bounds(totals, dtype, is_first, row);
    } else {
        add_real_bounds(totals, row);
    }
    double before = (double)totals->finite_count, more = (double)finite_count;
    double distance = is_first ? 0 : row[DEVICE_COLUMN_MEAN] - statistics->mean;
    statistics->mean = is_first ? row[DEVICE_COLUMN_MEAN]
                                : statistics->mean + distance * more / (before + more);
    totals->squares += row[DEVICE_COLUMN_VARIANCE] * (double)count +
                       distance * distance * before * more / (before + more);
    totals->finite_count += finite_count;
}

void device_totals_finish(struct device_totals *totals, struct statistics *statistics)
{
    *statistics = totals->statistics;
    if (totals->finite_count > 1) {
        statistics->std = sqrt(totals->squares / (double)(totals->finite_count - 1));
    }
}
