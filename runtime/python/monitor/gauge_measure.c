/* Gauges take in tensors, where they lie. */
#include "runtime/python/monitor/gauge_private.h"

#include "runtime/base/memory.h"
#include "runtime/python/monitor/devices.h"
#include "runtime/python/visit/values.h"

#include <string.h>

/* Indices of an axis that are told apart; larger dimensions are not measured. */
#define SLOT_COUNT_MAX 65536

/* False with an exception set: no memory. */
static bool slots_want(struct gauge_object *gauge, size_t count)
{
    void *slots = gauge->slots;

    if (gauge->slot_count >= count) {
        return true;
    }
    if (!memory_grow(&slots, &gauge->slot_room, count, sizeof *gauge->slots)) {
        PyErr_NoMemory();
        return false;
    }
    gauge->slots = slots;
    memset(gauge->slots + gauge->slot_count, 0,
           (count - gauge->slot_count) * sizeof *gauge->slots);
    gauge->slot_count = count;
    return true;
}

/* The whole array, or the part of it at one index of an axis. */
static bool measure(struct gauge_object *gauge, size_t index, const struct tensor *part)
{
    struct statistics statistics;
    struct slot *slot;
    uint64_t hash;

    value_measure(part, STATISTICS_WANT_VALUES, gauge->thread_limit, &statistics,
                  &hash);
    if (!slots_want(gauge, index + 1)) {
        return false;
    }
    slot = &gauge->slots[index];
    if (gauge->has_spread && slot->spread == NULL) {
        slot->spread = memory_allocate_zeroed(1, sizeof *slot->spread);
    }
    if (gauge->has_spread &&
        (slot->spread == NULL || !spread_add(slot->spread, &part->array))) {
        PyErr_NoMemory();
        return false;
    }
    gauge_add(&slot->gauge, part->array.dtype, &statistics);
    return true;
}

/* Takes the dimension out of shape and strides. */
static void drop_dimension(const struct tensor *tensor,
                           uint32_t axis,
                           struct tensor *part,
                           int64_t *shape,
                           int64_t *strides)
{
    const struct array *array = &tensor->array;
    int64_t stride = (int64_t)dtype_size(array->dtype);

    for (uint32_t i = array->dimension_count; i-- > 0;) {
        uint32_t to = i > axis ? i - 1 : i;
        int64_t own = array->strides == NULL ? stride : array->strides[i];

        stride *= array->shape[i];
        if (i != axis) {
            shape[to] = array->shape[i];
            strides[to] = own;
        }
    }
    part->array = *array;
    part->array.dimension_count--;
    part->array.shape = shape;
    part->array.strides = strides;
}

static int64_t stride_of(const struct array *array, uint32_t axis)
{
    int64_t stride = (int64_t)dtype_size(array->dtype);

    if (array->strides != NULL) {
        return array->strides[axis];
    }
    for (uint32_t i = axis + 1; i < array->dimension_count; i++) {
        stride *= array->shape[i];
    }
    return stride;
}

static PyObject *measure_axis(struct gauge_object *gauge, const struct tensor *tensor)
{
    const struct array *array = &tensor->array;
    int count = (int)array->dimension_count;
    int axis = gauge->axis < 0 ? gauge->axis + count : gauge->axis;
    int64_t shape[ARRAY_DIMENSION_MAX], strides[ARRAY_DIMENSION_MAX];
    struct tensor part;

    if (axis < 0 || axis >= count) {
        return PyUnicode_FromFormat("it has %d dimensions, and no axis %d", count,
                                    gauge->axis);
    }
    if (array->shape[axis] > SLOT_COUNT_MAX) {
        return PyUnicode_FromFormat("axis %d has more than %d indices", gauge->axis,
                                    SLOT_COUNT_MAX);
    }
    size_t wanted = (size_t)array->shape[axis];
    if (!slots_want(gauge, wanted)) {
        return NULL;
    }
    drop_dimension(tensor, (uint32_t)axis, &part, shape, strides);
    for (size_t i = 0; i < wanted; i++) {
        part.array.data =
            (const char *)array->data + (int64_t)i * stride_of(array, (uint32_t)axis);
        if (!measure(gauge, i, &part)) {
            return NULL;
        }
    }
    return NULL;
}

static PyObject *measure_output(struct session *session,
                                struct gauge_object *gauge,
                                PyObject *object,
                                const struct tensor *tensor)
{
    bool is_plain = !gauge->has_axis && !gauge->has_spread;

    if (tensor->array.data == NULL && tensor->is_on_device && is_plain &&
        slots_want(gauge, 1) &&
        gauge_devices_add(session, (PyObject *)gauge, object, tensor)) {
        return NULL;
    }
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (tensor->array.data == NULL && array_count(&tensor->array) > 0) {
        const char *note = tensor->note[0] != '\0'
                               ? tensor->note
                               : "its values are not on this machine";
        return PyUnicode_FromString(note);
    }
    if (dtype_class(tensor->array.dtype) == DTYPE_CLASS_OPAQUE) {
        return PyUnicode_FromString("its dtype holds no numbers");
    }
    if (gauge->has_axis) {
        return measure_axis(gauge, tensor);
    }
    if (slots_want(gauge, 1)) {
        measure(gauge, 0, tensor);
    }
    return NULL;
}

PyObject *gauge_measure(PyObject *self, PyObject *object)
{
    struct session *session = PyType_GetModuleState(Py_TYPE(self));
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(object));
    struct tensor tensor;
    PyObject *reason;

    if (info->kind != TYPE_TENSOR ||
        tensor_describe(session->access, object, info->tensor, &tensor) != 0) {
        return PyUnicode_FromString("it is no tensor");
    }
    reason = measure_output(session, (struct gauge_object *)self, object, &tensor);
    tensor_release(&tensor);
    return reason;
}

void gauge_note_recomputed(PyObject *self)
{
    struct gauge_object *gauge = (struct gauge_object *)self;

    for (size_t i = 0; i < gauge->slot_count; i++) {
        gauge->slots[i].gauge.recomputed_count++;
    }
}

void gauge_write(PyObject *self, enum dtype dtype, const struct statistics *statistics)
{
    struct gauge_object *gauge = (struct gauge_object *)self;

    if (gauge->slot_count > 0) {
        gauge_add(&gauge->slots[0].gauge, dtype, statistics);
    }
}
