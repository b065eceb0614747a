/* Operations of ATen, called by name through libtorch's stable C interface, in the library that
 * the program has loaded. Its header is C++, so what is used of it is declared here. */
#ifndef MONITORCH_PYTHON_TENSOR_DEVICE_CALLS_H
#define MONITORCH_PYTHON_TENSOR_DEVICE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A tensor of libtorch's C interface. One that was made must be deleted. */
struct aten_tensor;

/* Each returns 0 where all is well. */
struct device_functions {
    int (*call)(const char *operation, const char *overload, uint64_t *stack);
    int (*copy_handle)(struct aten_tensor *handle, struct aten_tensor **copy);
    int (*delete_handle)(struct aten_tensor *handle);
    int (*reinterpret)(struct aten_tensor *handle,
                       int64_t dimension_count,
                       const int64_t *sizes,
                       const int64_t *strides,
                       int64_t offset,
                       struct aten_tensor **made);
    int (*make_empty)(int64_t dimension_count,
                      const int64_t *sizes,
                      const int64_t *strides,
                      int32_t dtype,
                      int32_t device_type,
                      int32_t device_index,
                      struct aten_tensor **made);
    int (*make_from_memory)(void *data,
                            int64_t dimension_count,
                            const int64_t *sizes,
                            const int64_t *strides,
                            int64_t offset,
                            int32_t dtype,
                            int32_t device_type,
                            int32_t device_index,
                            struct aten_tensor **made);
    int (*copy)(struct aten_tensor *target,
                struct aten_tensor *source,
                int32_t is_non_blocking);
    int (*list_new)(size_t capacity, void **list);
    int (*list_push)(void *list, uint64_t element);
    int (*get_device_type)(struct aten_tensor *handle, int32_t *type);
    int (*get_device_index)(struct aten_tensor *handle, int32_t *index);
    /* Makes a device the current one until the guard is deleted. */
    int (*guard_new)(int32_t device_index, void **guard);
    int (*guard_delete)(void *guard);
};

/* False where this torch (before 2.10) does not have them all. */
bool device_functions_find(struct device_functions *functions);

/* ScalarType's numbers, as the C interface has them. */
enum { DEVICE_DTYPE_INT64 = 4, DEVICE_DTYPE_FLOAT64 = 7, DEVICE_DTYPE_COMPLEX128 = 10 };

/* Tensors made while something is computed: they are deleted together. After a failure every call
 * gives NULL, so the caller checks once, at the end. */
#define DEVICE_WORK_MAX 48
struct device_work {
    const struct device_functions *functions;
    struct aten_tensor *handles[DEVICE_WORK_MAX]; /* owned */
    size_t count;
    bool has_failed;
};

#endif
