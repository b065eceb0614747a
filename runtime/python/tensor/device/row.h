/* The statistics of one piece of a tensor, as a row of doubles computed on its device. */
#ifndef MONITORCH_PYTHON_TENSOR_DEVICE_ROW_H
#define MONITORCH_PYTHON_TENSOR_DEVICE_ROW_H

#include "runtime/array/statistics/statistics.h"
#include "runtime/python/tensor/device/calls.h"

/* Of complex numbers by their magnitude. */
enum device_column {
    DEVICE_COLUMN_NAN,
    DEVICE_COLUMN_POSINF,
    DEVICE_COLUMN_NEGINF,
    DEVICE_COLUMN_ZERO,
    DEVICE_COLUMN_FINITE,
    DEVICE_COLUMN_MIN, /* integers: the bits of an int64; uint64: with the highest one flipped */
    DEVICE_COLUMN_MAX,
    DEVICE_COLUMN_MEAN, /* of the finite ones */
    DEVICE_COLUMN_VARIANCE, /* of all, the others replaced by the mean; divided by their number */
    DEVICE_COLUMN_COUNT
};

/* Tensors without dimensions, on one device. */
struct device_constants {
    int32_t device_type;
    int32_t device_index;
    struct aten_tensor *zero; /* owned, as the others */
    struct aten_tensor *plus_infinity;
    struct aten_tensor *minus_infinity;
    struct aten_tensor *highest_bit; /* int64 */
    uint64_t refused; /* by bits: the dtypes that the device could not measure */
};

bool device_constants_init(struct device_constants *constants,
                           const struct device_functions *functions,
                           int32_t device_type,
                           int32_t device_index);
void device_constants_release(struct device_constants *constants,
                              const struct device_functions *functions);

/* Begins to compute the row; NULL where the device cannot. The caller deletes it. */
struct aten_tensor *device_row_new(const struct device_functions *functions,
                                   const struct device_constants *constants,
                                   struct aten_tensor *piece,
                                   enum dtype dtype);

/* Rows of pieces, put together. */
struct device_totals {
    struct statistics statistics; /* `mean` as it is so far, std not yet */
    uint64_t finite_count;
    double squares; /* the sum of squared distances from the mean */
};
void device_totals_init(struct device_totals *totals, enum dtype dtype);
void device_totals_add(struct device_totals *totals,
                       enum dtype dtype,
                       uint64_t count,
                       const double row[DEVICE_COLUMN_COUNT]);
void device_totals_finish(struct device_totals *totals, struct statistics *statistics);

#endif
