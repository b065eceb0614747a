/* Devices: torch's operators as C calls them, statistics that a device still computes, and the events
 * that wait for them. */
#include "runtime/python/tensor/device/device.h"

#include "runtime/array/statistics/statistics.h"
#include "runtime/base/memory.h"
#include "runtime/python/tensor/device/calls.h"
#include "runtime/python/tensor/private.h"

#include <math.h>
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

static void device_work_release(struct device_work *work)
{
    for (size_t i = 0; i < work->count; i++) {
        work->functions->delete_handle(work->handles[i]);
    }
    work->count = 0;
}

/* Hands `handle` over to the work, and returns it. NULL counts as a failure. */
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

/* Removes the tensor from those that the work deletes. */
static struct aten_tensor *device_work_detach(struct device_work *work,
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

/* Calls aten::NAME of one, two or three tensors. The caller keeps the tensors. */
static struct aten_tensor *
device_call_1(struct device_work *work, const char *operation, struct aten_tensor *a)
{
    return call(work, operation, "", (struct argument[]){TENSOR(a)}, 1);
}

static struct aten_tensor *device_call_2(struct device_work *work,
                                         const char *operation,
                                         const char *overload,
                                         struct aten_tensor *a,
                                         struct aten_tensor *b)
{
    return call(work, operation, overload, (struct argument[]){TENSOR(a), TENSOR(b)},
                2);
}

/* aten::where.self: a where the condition holds, else b. */
static struct aten_tensor *device_where(struct device_work *work,
                                        struct aten_tensor *condition,
                                        struct aten_tensor *a,
                                        struct aten_tensor *b)
{
    return call(work, "aten::where", "self",
                (struct argument[]){TENSOR(condition), TENSOR(a), TENSOR(b)}, 3);
}

static struct aten_tensor *
device_to_dtype(struct device_work *work, struct aten_tensor *a, int32_t dtype)
{
    /* dtype, non_blocking, copy, memory_format */
    return call(
        work, "aten::to", "dtype",
        (struct argument[]){TENSOR(a), VALUE(dtype), VALUE(0), VALUE(0), VALUE(0)}, 5);
}

/* The same bytes as another dtype of the same size. */
static struct aten_tensor *
device_view_dtype(struct device_work *work, struct aten_tensor *a, int32_t dtype)
{
    return call(work, "aten::view", "dtype",
                (struct argument[]){TENSOR(a), VALUE(dtype)}, 2);
}

/* The sum of all elements: aten::sum. */
static struct aten_tensor *device_sum(struct device_work *work, struct aten_tensor *a)
{
    return call(work, "aten::sum", "", (struct argument[]){TENSOR(a), VALUE(0)}, 2);
}

/* The variance of all elements, divided by their number. */
static struct aten_tensor *device_variance(struct device_work *work,
                                           struct aten_tensor *a)
{
    return call(work, "aten::var", "", (struct argument[]){TENSOR(a), VALUE(0)}, 2);
}

static struct aten_tensor *
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

/* Columns of a row of statistics. Complex numbers are measured by their magnitude. */
enum device_column {
#define STATISTIC_COUNT(field, name, function) DEVICE_COLUMN_##name,
#include "runtime/array/statistics/statistics.def"
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

/* Rows of pieces, put together. */
struct device_totals {
    struct statistics statistics; /* `mean` as it is so far, std not yet */
    uint64_t finite_count;
    double squares; /* the sum of squared distances from the mean */
};

static void device_constants_release(struct device_constants *constants,
                                     const struct device_functions *functions);

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

static bool device_constants_init(struct device_constants *constants,
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

static void device_constants_release(struct device_constants *constants,
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

/* Starts the computation of a row. Returns NULL where the device cannot compute it. The caller
 * deletes the row. */
static struct aten_tensor *device_row_new(const struct device_functions *functions,
                                          const struct device_constants *constants,
                                          struct aten_tensor *piece,
                                          enum dtype dtype)
{
    struct device_work work = {.functions = functions};
    struct aten_tensor *columns[DEVICE_COLUMN_COUNT];
    struct aten_tensor *numbers = as_doubles(&work, piece, dtype);
    struct aten_tensor *finite = device_call_1(&work, "aten::isfinite", numbers);

#define STATISTIC_COUNT(field, name, function)                                         \
    columns[DEVICE_COLUMN_##name] = count_true(&work, function, numbers);
#include "runtime/array/statistics/statistics.def"
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
    row = row == NULL ? NULL : device_work_detach(&work, row);
    device_work_release(&work);
    return row;
}

/* ---- totals of rows ---- */

static void device_totals_init(struct device_totals *totals, enum dtype dtype)
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

static void device_totals_add(struct device_totals *totals,
                              enum dtype dtype,
                              uint64_t count,
                              const double row[DEVICE_COLUMN_COUNT])
{
    struct statistics *statistics = &totals->statistics;
    uint64_t finite_count = (uint64_t)row[DEVICE_COLUMN_FINITE];
    bool is_first = totals->finite_count == 0;

    statistics->count += count;
#define STATISTIC_COUNT(field, name, function)                                         \
    statistics->field += (uint64_t)row[DEVICE_COLUMN_##name];
#include "runtime/array/statistics/statistics.def"
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

static void device_totals_finish(struct device_totals *totals,
                                 struct statistics *statistics)
{
    *statistics = totals->statistics;
    if (totals->finite_count > 1) {
        statistics->std = sqrt(totals->squares / (double)(totals->finite_count - 1));
    }
}

/* Doubles and masks of a piece are made on the device: at most about 100 MB. */
#define PIECE_COUNT_MAX ((uint64_t)4 << 20)
/* Elements of a tensor. */
#define ELEMENT_COUNT_MAX ((uint64_t)1 << 32)
/* The queue is flushed when it holds this many rows. */
#define ROW_COUNT_WANTED 128
#define DEVICE_COUNT_MAX 64
#define DEVICE_TYPE_MPS  13

_Static_assert(DTYPE_COUNT <= 64, "each dtype is a bit of `refused`");

struct row {
    struct aten_tensor *values;          /* owned */
    uint64_t count;                      /* of elements */
    size_t device;                       /* index in `constants` */
    double numbers[DEVICE_COLUMN_COUNT]; /* once it is copied */
};

/* A tensor, whose rows are the `row_count` ones after those of the tensor before. */
struct pending {
    void *target; /* borrowed */
    enum dtype dtype;
    size_t row_count;
};

struct device_queue {
    struct tensor_access *access; /* borrowed */
    device_report report;
    void *context; /* borrowed: the first argument of `report` */
    struct device_functions functions;
    bool has_functions;
    PyObject *is_capturing; /* owned; NULL: this torch captures nothing */
    struct device_constants constants[DEVICE_COUNT_MAX];
    size_t device_count;
    struct row *rows; /* owned */
    size_t row_count, row_capacity;
    struct pending *pending; /* owned */
    size_t pending_count, pending_capacity;
};

struct device_queue *
device_queue_new(struct tensor_access *access, device_report report, void *context)
{
    struct device_queue *queue = memory_allocate_zeroed(1, sizeof *queue);

    if (queue != NULL) {
        queue->access = access;
        queue->report = report;
        queue->context = context;
    }
    return queue;
}

static void rows_drop(struct device_queue *queue, size_t kept)
{
    while (queue->row_count > kept) {
        queue->functions.delete_handle(queue->rows[--queue->row_count].values);
    }
}

void device_queue_free(struct device_queue *queue)
{
    if (queue == NULL) {
        return;
    }
    rows_drop(queue, 0);
    for (size_t i = 0; i < queue->device_count; i++) {
        device_constants_release(&queue->constants[i], &queue->functions);
    }
    Py_CLEAR(queue->is_capturing);
    memory_free(queue->rows);
    memory_free(queue->pending);
    memory_free(queue);
}

void device_queue_forget(struct device_queue *queue)
{
    queue->device_count = 0;
    queue->row_count = 0;
    queue->pending_count = 0;
}

bool device_queue_is_waiting(const struct device_queue *queue)
{
    return queue->pending_count > 0;
}

/* ---- adding ---- */

/* The index of the tensor's device; DEVICE_COUNT_MAX where there are too many. */
static size_t device_find(struct device_queue *queue, struct aten_tensor *tensor)
{
    int32_t type, index;

    if (queue->functions.get_device_type(tensor, &type) != 0 ||
        queue->functions.get_device_index(tensor, &index) != 0) {
        return DEVICE_COUNT_MAX;
    }
    for (size_t i = 0; i < queue->device_count; i++) {
        if (queue->constants[i].device_type == type &&
            queue->constants[i].device_index == index) {
            return i;
        }
    }
    if (queue->device_count == DEVICE_COUNT_MAX) {
        return DEVICE_COUNT_MAX;
    }
    struct device_constants *constants = &queue->constants[queue->device_count];
    if (type == DEVICE_TYPE_MPS || /* it has no doubles */
        !device_constants_init(constants, &queue->functions, type, index)) {
        *constants = (struct device_constants){type, index, .refused = UINT64_MAX};
    }
    return queue->device_count++;
}

/* A tensor, or a part of it: sizes and strides count elements. Lazily conjugated or negated
 * tensors stay so: the operations see the values as they are. */
struct piece {
    struct aten_tensor *whole; /* borrowed */
    enum dtype dtype;
    uint32_t dimension_count;
    int64_t offset; /* from the whole one's first element */
    size_t device;
    const int64_t *strides;
    int64_t sizes[ARRAY_DIMENSION_MAX];
};

static bool
row_add(struct device_queue *queue, const struct piece *piece, uint64_t count)
{
    const struct device_functions *functions = &queue->functions;
    struct aten_tensor *part = NULL, *values;

    if (!memory_grow((void **)&queue->rows, &queue->row_capacity, queue->row_count + 1,
                     sizeof *queue->rows) ||
        functions->reinterpret(piece->whole, piece->dimension_count, piece->sizes,
                               piece->strides, piece->offset, &part) != 0) {
        return false;
    }
    values =
        device_row_new(functions, &queue->constants[piece->device], part, piece->dtype);
    functions->delete_handle(part);
    if (values == NULL) {
        /* It would fail the next time too, and torch prints a warning for each failure. */
        queue->constants[piece->device].refused |= (uint64_t)1 << piece->dtype;
        return false;
    }
    queue->rows[queue->row_count++] =
        (struct row){.values = values, .count = count, .device = piece->device};
    return true;
}

/* Adds the rows of a piece: large ones are halved along their longest dimension. */
static bool rows_add(struct device_queue *queue, struct piece *piece)
{
    uint64_t count = 1;
    uint32_t longest = 0;

    for (uint32_t i = 0; i < piece->dimension_count; i++) {
        count *= (uint64_t)piece->sizes[i];
        longest = piece->sizes[i] > piece->sizes[longest] ? i : longest;
    }
    if (count <= PIECE_COUNT_MAX) {
        return row_add(queue, piece, count);
    }
    int64_t size = piece->sizes[longest], offset = piece->offset;
    piece->sizes[longest] = size / 2;
    bool is_added = rows_add(queue, piece);
    piece->sizes[longest] = size - size / 2;
    piece->offset += size / 2 * piece->strides[longest];
    is_added = is_added && rows_add(queue, piece);
    piece->sizes[longest] = size;
    piece->offset = offset;
    return is_added;
}

static bool is_capturing(const struct device_queue *queue)
{
    PyObject *answer =
        queue->is_capturing == NULL ? NULL : PyObject_CallNoArgs(queue->is_capturing);
    bool captures = answer == Py_True;

    PyErr_Clear();
    Py_XDECREF(answer);
    return captures;
}

/* Prepares what the first tensor of a device needs. */
static bool queue_prepare(struct device_queue *queue)
{
    if (!queue->has_functions) {
        if (!device_functions_find(&queue->functions)) {
            return false;
        }
        queue->is_capturing =
            Py_XNewRef(lookup_in_module("torch._C", "_cuda_isCurrentStreamCapturing"));
        queue->has_functions = true;
    }
    return true;
}

static bool tensor_add(struct device_queue *queue,
                       PyObject *object,
                       const struct tensor *tensor,
                       void *target)
{
    const struct array *array = &tensor->array;
    int64_t strides[ARRAY_DIMENSION_MAX], item = (int64_t)dtype_size(array->dtype);
    size_t row_count = queue->row_count;
    void *impl = torch_find_impl(&queue->access->torch, object);

    if (impl == NULL ||
        !memory_grow((void **)&queue->pending, &queue->pending_capacity,
                     queue->pending_count + 1, sizeof *queue->pending)) {
        return false;
    }
    struct piece piece = {
        .whole =
            (struct aten_tensor *)&impl, /* a handle is a pointer to such a pointer */
        .dtype = array->dtype,
        .dimension_count = array->dimension_count,
        .strides = strides,
    };
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        piece.sizes[i] = array->shape[i];
        strides[i] = array->strides[i] / item;
    }
    piece.device = device_find(queue, piece.whole);
    if (piece.device == DEVICE_COUNT_MAX ||
        queue->constants[piece.device].refused >> array->dtype & 1 ||
        (array_count(array) > 0 && !rows_add(queue, &piece))) {
        rows_drop(queue, row_count);
        return false;
    }
    queue->pending[queue->pending_count++] = (struct pending){
        .target = target,
        .dtype = array->dtype,
        .row_count = queue->row_count - row_count,
    };
    return true;
}

bool device_queue_add(struct device_queue *queue,
                      PyObject *object,
                      const struct tensor *tensor,
                      void *target)
{
    const struct torch_access *torch = &queue->access->torch;
    PyObject *error_type, *error, *traceback;

    if (!tensor->is_on_device || tensor->array.strides == NULL ||
        dtype_class(tensor->array.dtype) == DTYPE_CLASS_OPAQUE ||
        array_count(&tensor->array) > ELEMENT_COUNT_MAX) {
        return false;
    }
    if (queue->row_count >= ROW_COUNT_WANTED) {
        device_queue_flush(queue);
    }
    PyErr_Fetch(&error_type, &error, &traceback);
    bool is_added = queue_prepare(queue) && torch_is_quiet(torch) &&
                    !is_capturing(queue) && tensor_add(queue, object, tensor, target);
    PyErr_Restore(error_type, error, traceback);
    return is_added;
}

/* ---- reporting ---- */

/* The function of the device's own library that waits until the device has no work left. */
static int (*synchronize_find(void))(void)
{
    static const struct {
        const char *library;
        const char *function;
    } known[] = {
        {"libcudart.so.13", "cudaDeviceSynchronize"},
        {"libcudart.so.12", "cudaDeviceSynchronize"},
        {"libcudart.so.11.0", "cudaDeviceSynchronize"},
        {"libamdhip64.so", "hipDeviceSynchronize"},
    };
    int (*found)(void) = NULL;
    void *symbol = NULL;

    for (size_t i = 0; i < sizeof known / sizeof *known && symbol == NULL; i++) {
        symbol = torch_symbol_find(known[i].library, known[i].function);
    }
    memcpy(&found, &symbol, sizeof found);
    return found;
}

/* The rows may have been computed on several streams, and a copy waits for one stream only. */
static void wait_for_devices(const struct device_queue *queue)
{
    int (*synchronize)(void) = synchronize_find();
    void *guard;

    for (size_t i = 0; i < queue->device_count && synchronize != NULL; i++) {
        if (queue->constants[i].device_type != 0 &&
            queue->functions.guard_new(queue->constants[i].device_index, &guard) == 0) {
            synchronize();
            queue->functions.guard_delete(guard);
        }
    }
}

/* Copies the rows of one device to this process's memory, all at once. */
static bool rows_fetch(struct device_queue *queue, size_t device)
{
    const struct device_functions *functions = &queue->functions;
    struct device_work work = {.functions = functions};
    struct aten_tensor **handles =
        memory_allocate(queue->row_count, sizeof(struct aten_tensor *));
    double *numbers =
        memory_allocate(queue->row_count * DEVICE_COLUMN_COUNT, sizeof *numbers);
    size_t count = 0;
    bool is_fetched = false;

    for (size_t i = 0; i < queue->row_count && handles != NULL; i++) {
        if (queue->rows[i].device == device) {
            handles[count++] = queue->rows[i].values;
        }
    }
    if (count > 0 && numbers != NULL) {
        int64_t sizes[] = {(int64_t)count, DEVICE_COLUMN_COUNT};
        int64_t strides[] = {DEVICE_COLUMN_COUNT, 1};
        struct aten_tensor *all = device_stack(&work, handles, count);
        struct aten_tensor *here = NULL;
        if (all != NULL &&
            functions->make_from_memory(numbers, 2, sizes, strides, 0,
                                        DEVICE_DTYPE_FLOAT64, 0, 0, &here) == 0) {
            is_fetched = functions->copy(here, all, 0) == 0;
            functions->delete_handle(here);
        }
    }
    for (size_t i = 0, next = 0; i < queue->row_count && is_fetched; i++) {
        if (queue->rows[i].device == device) {
            memcpy(queue->rows[i].numbers, &numbers[DEVICE_COLUMN_COUNT * next++],
                   sizeof queue->rows[i].numbers);
        }
    }
    device_work_release(&work);
    memory_free(numbers);
    memory_free(handles);
    return is_fetched || count == 0;
}

static void pending_record(struct device_queue *queue,
                           const struct pending *pending,
                           const struct row *rows)
{
    struct device_totals totals;
    struct statistics statistics;

    device_totals_init(&totals, pending->dtype);
    for (size_t i = 0; i < pending->row_count; i++) {
        device_totals_add(&totals, pending->dtype, rows[i].count, rows[i].numbers);
    }
    device_totals_finish(&totals, &statistics);
    queue->report(queue->context, pending->target, &statistics);
}

void device_queue_flush(struct device_queue *queue)
{
    bool is_fetched = true;
    size_t row = 0;

    if (queue->pending_count == 0) {
        return;
    }
    wait_for_devices(queue);
    for (size_t i = 0; i < queue->device_count; i++) {
        is_fetched = rows_fetch(queue, i) && is_fetched;
    }
    for (size_t i = 0; i < queue->pending_count && is_fetched; i++) {
        pending_record(queue, &queue->pending[i], &queue->rows[row]);
        row += queue->pending[i].row_count;
    }
    rows_drop(queue, 0);
    queue->pending_count = 0;
}
