#include "runtime/python/tensor/device/calls.h"

#include "runtime/python/tensor/private.h"

#include <string.h>

bool device_functions_find(struct device_functions *functions)
{
    const struct {
        void *place;
        const char *name;
    } wanted[] = {
        {&functions->call, "aoti_torch_call_dispatcher"},
        {&functions->copy_handle, "aoti_torch_new_tensor_handle"},
        {&functions->delete_handle, "aoti_torch_delete_tensor_object"},
        {&functions->reinterpret, "aoti_torch__reinterpret_tensor"},
        {&functions->make_empty, "aoti_torch_empty_strided"},
        {&functions->make_from_memory, "aoti_torch_create_tensor_from_blob"},
        {&functions->copy, "aoti_torch_copy_"},
        {&functions->list_new, "torch_new_list_reserve_size"},
        {&functions->list_push, "torch_list_push_back"},
        {&functions->get_device_type, "aoti_torch_get_device_type"},
        {&functions->get_device_index, "aoti_torch_get_device_index"},
        {&functions->guard_new, "aoti_torch_create_device_guard"},
        {&functions->guard_delete, "aoti_torch_delete_device_guard"},
    };

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *symbol = torch_symbol_find(TORCH_LIBRARY, wanted[i].name);
        if (symbol == NULL) {
            return false;
        }
        memcpy(wanted[i].place, &symbol, sizeof symbol);
    }
    return true;
}

void device_work_release(struct device_work *work)
{
    for (size_t i = 0; i < work->count; i++) {
        work->functions->delete_handle(work->handles[i]);
    }
    work->count = 0;
}

/* The work owns `handle` from now on; also gives it back. NULL counts as a failure. */
static struct aten_tensor *device_work_keep(struct device_work *work,
                                            struct aten_tensor *handle)
{
    if (handle == NULL || work->count == DEVICE_WORK_MAX) {
        work->has_failed = true;
        if (handle != NULL) {
            work->functions->delete_handle(handle);
        }
        return NULL;
    }
    work->handles[work->count++] = handle;
    return handle;
}

struct aten_tensor *device_work_detach(struct device_work *work,
                                       struct aten_tensor *handle)
{
    for (size_t i = 0; i < work->count; i++) {
        if (work->handles[i] == handle) {
            work->handles[i] = work->handles[--work->count];
            return handle;
        }
    }
    return NULL;
}

/* An argument: a tensor, or a number or flag in 64 bits (0: None, where that is allowed). */
struct argument {
    bool is_tensor;
    struct aten_tensor *tensor;
    uint64_t value;
};
#define TENSOR(handle) ((struct argument){true, (handle), 0})
#define VALUE(number)  ((struct argument){false, NULL, (uint64_t)(number)})

static struct aten_tensor *call(struct device_work *work,
                                const char *operation,
                                const char *overload,
                                const struct argument *arguments,
                                size_t count)
{
    uint64_t stack[8];
    size_t filled = 0;

    for (; filled < count && !work->has_failed; filled++) {
        struct aten_tensor *copy = NULL;
        if (!arguments[filled].is_tensor) {
            stack[filled] = arguments[filled].value;
            continue;
        }
        /* The callee deletes what it is given. */
        if (arguments[filled].tensor == NULL ||
            work->functions->copy_handle(arguments[filled].tensor, &copy) != 0) {
            work->has_failed = true;
            break;
        }
        stack[filled] = (uint64_t)(uintptr_t)copy;
    }
    if (work->has_failed) {
        for (size_t i = 0; i < filled; i++) {
            if (arguments[i].is_tensor) {
                work->functions->delete_handle(
                    (struct aten_tensor *)(uintptr_t)stack[i]);
            }
        }
        return NULL;
    }
    if (work->functions->call(operation, overload, stack) != 0) {
        work->has_failed = true;
        return NULL;
    }
    return device_work_keep(work, (struct aten_tensor *)(uintptr_t)stack[0]);
}

struct aten_tensor *
device_call_1(struct device_work *work, const char *operation, struct aten_tensor *a)
{
    return call(work, operation, "", (struct argument[]){TENSOR(a)}, 1);
}

struct aten_tensor *device_call_2(struct device_work *work,
                                  const char *operation,
                                  const char *overload,
                                  struct aten_tensor *a,
                                  struct aten_tensor *b)
{
    return call(work, operation, overload, (struct argument[]){TENSOR(a), TENSOR(b)},
                2);
}

struct aten_tensor *device_where(struct device_work *work,
                                 struct aten_tensor *condition,
                                 struct aten_tensor *a,
                                 struct aten_tensor *b)
{
    return call(work, "aten::where", "self",
                (struct argument[]){TENSOR(condition), TENSOR(a), TENSOR(b)}, 3);
}

struct aten_tensor *
device_to_dtype(struct device_work *work, struct aten_tensor *a, int32_t dtype)
{
    /* dtype, non_blocking, copy, memory_format */
    return call(
        work, "aten::to", "dtype",
        (struct argument[]){TENSOR(a), VALUE(dtype), VALUE(0), VALUE(0), VALUE(0)}, 5);
}

struct aten_tensor *
device_view_dtype(struct device_work *work, struct aten_tensor *a, int32_t dtype)
{
    return call(work, "aten::view", "dtype",
                (struct argument[]){TENSOR(a), VALUE(dtype)}, 2);
}

struct aten_tensor *device_sum(struct device_work *work, struct aten_tensor *a)
{
    return call(work, "aten::sum", "", (struct argument[]){TENSOR(a), VALUE(0)}, 2);
}

struct aten_tensor *device_variance(struct device_work *work, struct aten_tensor *a)
{
    return call(work, "aten::var", "", (struct argument[]){TENSOR(a), VALUE(0)}, 2);
}

struct aten_tensor *
device_stack(struct device_work *work, struct aten_tensor *const *tensors, size_t count)
{
    void *list = NULL;

    if (work->has_failed || work->functions->list_new(count, &list) != 0) {
        work->has_failed = true;
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        struct aten_tensor *copy = NULL;
        if (tensors[i] == NULL ||
            work->functions->copy_handle(tensors[i], &copy) != 0 ||
            work->functions->list_push(list, (uint64_t)(uintptr_t)copy) != 0) {
            work->has_failed = true; /* the list stays, empty: torch never fails here */
            return NULL;
        }
    }
    return call(work, "aten::stack", "",
                (struct argument[]){VALUE((uintptr_t)list), VALUE(0)}, 2);
}
