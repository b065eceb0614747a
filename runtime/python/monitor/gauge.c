/* The type Gauge: the built-in metrics of one module output or parameter. The types Switch and
 * Probe, which call gauges during a monitored step. */
#include "runtime/python/monitor/gauge.h"

#include "runtime/array/statistics/gauge.h"
#include "runtime/base/memory.h"
#include "runtime/python/module_add.h"
#include "runtime/python/visit/values.h"
#include "runtime/python/visit/visit.h"
#include "runtime/python/watch/observe.h"

#include <string.h>
#include <structmember.h>

static bool gauge_devices_add(struct session *session,
                              PyObject *gauge,
                              PyObject *object,
                              const struct tensor *tensor);

/* The values for the whole tensor, or for one index of the axis. */
struct slot {
    struct gauge gauge;
    struct spread
        *spread; /* owned; NULL if no metric needs it, or nothing was added yet */
};

struct gauge_object {
    PyObject_HEAD PyObject *keys; /* owned: a tuple of str, one for each metric */
    unsigned char metrics[GAUGE_METRIC_COUNT];
    PyObject *histogram; /* owned: the key of the histogram; NULL: none is wanted */
    bool has_spread;
    bool has_axis;
    int axis;
    unsigned thread_limit;
    struct slot *slots; /* owned */
    size_t slot_count, slot_room;
};

/* ---- measuring ---- */

/* Limit of the indices of an axis, which have a slot each. Tensors with a larger dimension are
 * not measured. */
#define SLOT_COUNT_MAX 65536

/* Makes room for `count` slots. Returns false with an exception set if memory ran out. */
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

/* Measures the whole array, or the part of it at one index of an axis. Returns false with an
 * exception set. */
static bool measure(struct gauge_object *gauge, size_t index, const struct tensor *part)
{
    struct statistics statistics;
    struct slot *slot;
    uint64_t hash;

    if (gauge->has_axis) {
        value_measure(part, STATISTICS_WANT_VALUES, gauge->thread_limit, &statistics,
                      &hash);
    } else {
        visit_measure(part, STATISTICS_WANT_VALUES, gauge->thread_limit, &statistics,
                      &hash);
    }
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

/* Makes `part` the array without the dimension `axis`. Its shape and strides are stored in the
 * caller's arrays. */
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

/* Measures the tensor in its memory. Returns NULL on success, else a new str with the reason why
 * it cannot be read. NULL with an exception set if memory ran out. */
static PyObject *gauge_measure(PyObject *self, PyObject *object)
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

/* Counts a call that a backward pass repeats. Such a call is not measured. */
static void gauge_note_recomputed(PyObject *self)
{
    struct gauge_object *gauge = (struct gauge_object *)self;

    for (size_t i = 0; i < gauge->slot_count; i++) {
        gauge->slots[i].gauge.recomputed_count++;
    }
}

/* Adds the statistics that a device has computed for an array of gauge_measure. */
static void
gauge_write(PyObject *self, enum dtype dtype, const struct statistics *statistics)
{
    struct gauge_object *gauge = (struct gauge_object *)self;

    if (gauge->slot_count > 0) {
        gauge_add(&gauge->slots[0].gauge, dtype, statistics);
    }
}

/* ---- tensors of other devices: all results of a step are copied at once ---- */

struct wait {
    struct wait *next; /* owned */
    PyObject *gauge;   /* owned */
    enum dtype dtype;
    bool is_reported;
};

/* The gauges' part of a session. */
struct gauge_devices {
    struct device_queue *queue; /* owned; NULL: not needed yet */
    struct wait *waits;         /* owned */
    unsigned fork_count;        /* session_fork_count() when the queue was made */
};

static void report(void *context, void *target, const struct statistics *statistics)
{
    struct wait *wait = target;

    (void)context;
    gauge_write(wait->gauge, wait->dtype, statistics);
    wait->is_reported = true;
}

/* Frees all waits. Returns whether all were reported. */
static bool waits_drop(struct gauge_devices *devices)
{
    bool are_written = true;

    while (devices->waits != NULL) {
        struct wait *wait = devices->waits;

        devices->waits = wait->next;
        are_written = are_written && wait->is_reported;
        Py_DECREF(wait->gauge);
        memory_free(wait);
    }
    return are_written;
}

static void gauge_devices_end(void *part)
{
    struct gauge_devices *devices = part;

    waits_drop(devices);
    device_queue_free(devices->queue);
}

static const struct part_kind gauge_part = {sizeof(struct gauge_devices), NULL, NULL,
                                            gauge_devices_end};

/* The session's part, with its queue. In a fork the parent's work is dropped. NULL: out of
 * memory. */
static struct gauge_devices *devices_get(struct session *session)
{
    struct gauge_devices *devices = parts_get(&session->parts, &gauge_part);

    if (devices->queue == NULL) {
        devices->queue = device_queue_new(session->access, report, NULL);
        devices->fork_count = session_fork_count();
        if (devices->queue == NULL) {
            return NULL;
        }
    }
    if (devices->fork_count != session_fork_count()) {
        device_queue_forget(devices->queue);
        waits_drop(devices);
        devices->fork_count = session_fork_count();
    }
    return devices;
}

/* Starts to measure the tensor for the gauge. Returns false if its device cannot measure it. */
static bool gauge_devices_add(struct session *session,
                              PyObject *gauge,
                              PyObject *object,
                              const struct tensor *tensor)
{
    struct gauge_devices *devices = devices_get(session);
    struct wait *wait = memory_allocate_zeroed(1, sizeof *wait);

    if (devices == NULL || wait == NULL) {
        memory_free(wait);
        return false;
    }
    wait->dtype = tensor->array.dtype;
    if (!device_queue_add(devices->queue, object, tensor, wait)) {
        memory_free(wait);
        return false;
    }
    wait->gauge = Py_NewRef(gauge);
    wait->next = devices->waits;
    devices->waits = wait;
    return true;
}

/* Waits for all started measurements, and adds them to the gauges. Returns false if some were
 * lost. */
static bool gauge_devices_flush(struct session *session)
{
    const struct gauge_devices *known = parts_get(&session->parts, &gauge_part);
    struct gauge_devices *devices = known->queue == NULL ? NULL : devices_get(session);

    if (devices == NULL) {
        return true;
    }
    device_queue_flush(devices->queue);
    return waits_drop(devices);
}

static freefunc free_of(PyTypeObject *type)
{
    return (freefunc)PyType_GetSlot(type, Py_tp_free);
}

static void slots_clear(struct gauge_object *gauge)
{
    for (size_t i = 0; i < gauge->slot_count; i++) {
        memory_free(gauge->slots[i].spread);
        gauge->slots[i].spread = NULL;
    }
    gauge->slot_count = 0;
}

static void gauge_dealloc(PyObject *self)
{
    struct gauge_object *gauge = (struct gauge_object *)self;
    PyTypeObject *type = Py_TYPE(self);

    slots_clear(gauge);
    memory_free(gauge->slots);
    Py_XDECREF(gauge->keys);
    Py_XDECREF(gauge->histogram);
    free_of(type)(self);
    Py_DECREF(type);
}

/* Whether an object is a Gauge. */
static bool gauge_check(PyObject *object)
{
    return PyType_GetSlot(Py_TYPE(object), Py_tp_dealloc) == (void *)gauge_dealloc;
}

static bool read_metrics(struct gauge_object *gauge, PyObject *names)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(names); i++) {
        Py_ssize_t size;
        const char *text = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, i), &size);
        enum gauge_metric metric;

        if (text == NULL) {
            return false;
        }
        metric = gauge_metric_find((struct slice){text, (size_t)size});
        if (metric == GAUGE_METRIC_COUNT) {
            PyErr_Format(PyExc_ValueError, "there is no built-in metric '%s'", text);
            return false;
        }
        gauge->metrics[i] = (unsigned char)metric;
        gauge->has_spread = gauge->has_spread || gauge_metric_is_spread(metric);
    }
    return true;
}

static PyObject *gauge_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"keys", "metrics", "histogram", "axis", "threads", NULL};
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *keys, *metrics, *histogram = Py_None, *axis = Py_None;
    unsigned int threads = 1;
    struct gauge_object *gauge;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!|OOI:Gauge", words,
                                     &PyTuple_Type, &keys, &PyTuple_Type, &metrics,
                                     &histogram, &axis, &threads)) {
        return NULL;
    }
    if (PyTuple_Size(keys) != PyTuple_Size(metrics) ||
        PyTuple_Size(metrics) > GAUGE_METRIC_COUNT) {
        PyErr_SetString(PyExc_ValueError, "Gauge() expects a key for each metric");
        return NULL;
    }
    gauge = (struct gauge_object *)allocate(type, 0);
    if (gauge == NULL) {
        return NULL;
    }
    gauge->keys = Py_NewRef(keys);
    gauge->histogram = histogram == Py_None ? NULL : Py_NewRef(histogram);
    gauge->has_spread = gauge->histogram != NULL;
    gauge->has_axis = axis != Py_None;
    gauge->axis = gauge->has_axis ? (int)PyLong_AsLong(axis) : 0;
    gauge->thread_limit = threads;
    if (PyErr_Occurred() || !read_metrics(gauge, metrics)) {
        Py_DECREF(gauge);
        return NULL;
    }
    return (PyObject *)gauge;
}

PyDoc_STRVAR(add_doc,
             "add(tensor) -> str | None\n\n"
             "Measures the tensor where it lies; a str says why that cannot be done.");

static PyObject *gauge_add_method(PyObject *self, PyObject *tensor)
{
    PyObject *reason = gauge_measure(self, tensor);

    if (reason != NULL || PyErr_Occurred()) {
        return reason;
    }
    Py_RETURN_NONE;
}

/* ---- reading ---- */

/* The name of a metric: the key, or with an axis key/index. A new reference. */
static PyObject *key_of(const struct gauge_object *gauge, PyObject *key, size_t index)
{
    return gauge->has_axis ? PyUnicode_FromFormat("%U/%zu", key, index)
                           : Py_NewRef(key);
}

/* Puts the value into the dict. Steals the reference to the value. Returns false with an
 * exception set. */
static bool put(const struct gauge_object *gauge,
                PyObject *dict,
                PyObject *key,
                size_t index,
                PyObject *value)
{
    PyObject *full = value == NULL ? NULL : key_of(gauge, key, index);
    bool is_put = full != NULL && PyDict_SetItem(dict, full, value) == 0;

    Py_XDECREF(full);
    Py_XDECREF(value);
    return is_put;
}

static PyObject *bins_of(const struct spread *spread)
{
    PyObject *tuple = PyTuple_New(SPREAD_BIN_COUNT);

    for (Py_ssize_t i = 0; tuple != NULL && i < SPREAD_BIN_COUNT; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(spread->bins[i]);
        if (number == NULL || PyTuple_SetItem(tuple, i, number) < 0) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

static bool
read_slot(struct gauge_object *gauge, size_t index, PyObject *metrics, PyObject *bins)
{
    const struct slot *slot = &gauge->slots[index];

    if (slot->gauge.call_count == 0) {
        return true; /* its device has failed */
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(gauge->keys); i++) {
        double value = gauge_read(&slot->gauge, slot->spread,
                                  (enum gauge_metric)gauge->metrics[i]);
        if (!put(gauge, metrics, PyTuple_GetItem(gauge->keys, i), index,
                 PyFloat_FromDouble(value))) {
            return false;
        }
    }
    return gauge->histogram == NULL ||
           put(gauge, bins, gauge->histogram, index, bins_of(slot->spread));
}

PyDoc_STRVAR(collect_doc,
             "collect(metrics, histograms) -> bool\n\n"
             "Puts {key: number} and {key: bins} into the dicts, and begins anew.\n"
             "False: nothing was measured since.");

static PyObject *gauge_collect(PyObject *self, PyObject *args)
{
    struct session *session = PyType_GetModuleState(Py_TYPE(self));
    struct gauge_object *gauge = (struct gauge_object *)self;
    PyObject *metrics, *bins;
    bool is_good = true;

    if (!PyArg_ParseTuple(args, "O!O!:collect", &PyDict_Type, &metrics, &PyDict_Type,
                          &bins)) {
        return NULL;
    }
    gauge_devices_flush(session);
    size_t count = gauge->slot_count;
    for (size_t i = 0; i < count && is_good; i++) {
        is_good = read_slot(gauge, i, metrics, bins);
    }
    if (!is_good) {
        return NULL;
    }
    slots_clear(gauge);
    return PyBool_FromLong(count > 0);
}

/* ---- the type ---- */

static PyObject *metric_names(void)
{
    PyObject *tuple = PyTuple_New(GAUGE_METRIC_COUNT);

    for (int i = 0; tuple != NULL && i < GAUGE_METRIC_COUNT; i++) {
        PyObject *name = PyUnicode_FromString(gauge_metric_text((enum gauge_metric)i));
        if (name == NULL || PyTuple_SetItem(tuple, i, name) < 0) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

static PyObject *edges(void)
{
    PyObject *tuple = PyTuple_New(SPREAD_EDGE_COUNT);

    for (int i = 0; tuple != NULL && i < SPREAD_EDGE_COUNT; i++) {
        PyObject *edge = PyFloat_FromDouble(spread_edge((unsigned)i));
        if (edge == NULL || PyTuple_SetItem(tuple, i, edge) < 0) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

int gauge_exec(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"add", gauge_add_method, METH_O, add_doc},
        {"collect", gauge_collect, METH_VARARGS, collect_doc},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_new, gauge_new},
        {Py_tp_dealloc, gauge_dealloc},
        {Py_tp_methods, methods},
        {Py_tp_doc, "The built-in metrics of one module output or parameter."},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "monitorch._recorder.Gauge",
        .basicsize = sizeof(struct gauge_object),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };

    struct session *session = PyModule_GetState(module);

    if (parts_add(&session->parts, &gauge_part) < 0 ||
        module_add_type(module, &spec) < 0 ||
        module_add_object(module, "GAUGE_METRICS", metric_names()) < 0) {
        return -1;
    }
    return module_add_object(module, "GAUGE_EDGES", edges());
}

/* ---- Switch and Probe: torch calls a probe after a module's forward ---- */

/* Turns all probes of a monitor on and off; each probe holds the same Switch. */
struct switch_object {
    PyObject_HEAD char is_on;
};

struct probe {
    PyObject_HEAD PyObject *owner; /* owned: the Switch */
    PyObject *gauges;              /* owned: a tuple */
    PyObject *callback;            /* owned; NULL: only the gauges are called */
    PyObject *unread;              /* owned: called if a gauge could not read a value */
    PyObject *
        get_task; /* owned: torch's function that returns the number of the running backward pass */
    void *
        module; /* the module's address, to recognise copies of the module, which have the same hook */
    PyObject *
        last; /* owned: a weak reference to the last tensor that visit() got; NULL: none */
    uint32_t last_version; /* of that tensor */
};

static void switch_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static int probe_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct probe *probe = (struct probe *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(probe->owner);
    Py_VISIT(probe->gauges);
    Py_VISIT(probe->callback);
    Py_VISIT(probe->unread);
    Py_VISIT(probe->get_task);
    return 0;
}

static int probe_clear(PyObject *self)
{
    struct probe *probe = (struct probe *)self;

    Py_CLEAR(probe->owner);
    Py_CLEAR(probe->gauges);
    Py_CLEAR(probe->callback);
    Py_CLEAR(probe->unread);
    Py_CLEAR(probe->get_task);
    Py_CLEAR(probe->last);
    return 0;
}

static void probe_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    probe_clear(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static bool are_gauges(PyObject *gauges)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(gauges); i++) {
        if (!gauge_check(PyTuple_GetItem(gauges, i))) {
            return false;
        }
    }
    return true;
}

static PyObject *probe_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"switch", "module", "gauges", "callback",
                            "unread", "task",   NULL};
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *owner, *module, *gauges, *callback, *unread, *task;
    struct probe *probe;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO!OOO:Probe", words, &owner,
                                     &module, &PyTuple_Type, &gauges, &callback,
                                     &unread, &task)) {
        return NULL;
    }
    if (PyType_GetSlot(Py_TYPE(owner), Py_tp_dealloc) != (void *)switch_dealloc ||
        !are_gauges(gauges)) {
        PyErr_SetString(PyExc_TypeError, "Probe() expects a Switch and Gauges");
        return NULL;
    }
    probe = (struct probe *)allocate(type, 0);
    if (probe == NULL) {
        return NULL;
    }
    probe->owner = Py_NewRef(owner);
    probe->gauges = Py_NewRef(gauges);
    probe->callback = callback == Py_None ? NULL : Py_NewRef(callback);
    probe->unread = Py_NewRef(unread);
    probe->get_task = task == Py_None ? NULL : Py_NewRef(task);
    probe->module = module;
    return (PyObject *)probe;
}

/* ---- the hook ---- */

/* Whether a backward pass runs in this thread. If so, activation checkpointing repeats the call
 * of the module. */
static bool is_in_backward(const struct probe *probe)
{
    PyObject *number =
        probe->get_task == NULL ? NULL : PyObject_CallNoArgs(probe->get_task);
    long task = number == NULL ? -1 : PyLong_AsLong(number);

    PyErr_Clear();
    Py_XDECREF(number);
    return task != -1;
}

static void note_recomputed(const struct probe *probe)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(probe->gauges); i++) {
        gauge_note_recomputed(PyTuple_GetItem(probe->gauges, i));
    }
}

/* Measures the output with one gauge. Returns false with an exception set. */
static bool measure_one(const struct probe *probe, PyObject *gauge, PyObject *output)
{
    PyObject *reason = gauge_measure(gauge, output);
    PyObject *result;

    if (reason == NULL) {
        return !PyErr_Occurred();
    }
    result = PyObject_CallFunctionObjArgs(probe->unread, gauge, reason, output, NULL);
    Py_DECREF(reason);
    Py_XDECREF(result);
    return result != NULL;
}

static bool measure_all(const struct probe *probe, PyObject *output)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(probe->gauges); i++) {
        if (!measure_one(probe, PyTuple_GetItem(probe->gauges, i), output)) {
            return false;
        }
    }
    return true;
}

PyDoc_STRVAR(leave_doc, "leave(module, args, …, output): a forward hook.");

static PyObject *
probe_leave(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    struct probe *probe = (struct probe *)self;
    PyObject *output, *result;

    if (probe->owner == NULL || !((struct switch_object *)probe->owner)->is_on ||
        count < 3 || arguments[0] != probe->module) {
        Py_RETURN_NONE;
    }
    output = arguments[count - 1];
    if (is_in_backward(probe)) {
        note_recomputed(probe);
        Py_RETURN_NONE;
    }
    if (!measure_all(probe, output)) {
        return NULL;
    }
    if (probe->callback != NULL) {
        /* torch passes keywords between arguments and output if the hook was registered with
         * them. */
        result =
            PyObject_CallFunctionObjArgs(probe->callback, arguments[0], arguments[1],
                                         output, count > 3 ? arguments[2] : NULL, NULL);
        if (result == NULL) {
            return NULL;
        }
        Py_DECREF(result);
    }
    Py_RETURN_NONE;
}

/* ---- a local variable ---- */

/* Whether the tensor has no version that counts writes, as tensors that were made in inference
 * mode. */
static bool has_no_version(uint32_t version, PyObject *tensor)
{
    PyObject *number = version > 0 ? NULL : PyObject_GetAttrString(tensor, "_version");
    bool has_none = version == 0 && number == NULL;

    PyErr_Clear();
    Py_XDECREF(number);
    return has_none;
}

/* Stores the tensor and its version. Returns whether it differs from the previous one. */
static bool
note_tensor(struct probe *probe, struct tensor_access *access, PyObject *tensor)
{
    uint32_t version = tensor_version(access, tensor);
    bool is_same = probe->last != NULL && PyWeakref_GetObject(probe->last) == tensor;
    bool is_changed =
        !is_same || probe->last_version != version || has_no_version(version, tensor);
    PyObject *former = probe->last;

    if (!is_same) {
        probe->last = PyWeakref_NewRef(tensor, NULL);
        PyErr_Clear();
        Py_XDECREF(former);
    }
    probe->last_version = version;
    return is_changed;
}

PyDoc_STRVAR(
    visit_doc,
    "visit(value, may_be_unchanged): what a variable is, as a watcher has it.");

static PyObject *
probe_visit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    struct probe *probe = (struct probe *)self;
    struct session *session = PyType_GetModuleState(Py_TYPE(self));
    const struct type_info *info;
    bool is_changed;

    if (session == NULL || count != 2) {
        PyErr_SetString(PyExc_TypeError,
                        "visit() expects a value and whether it may be unchanged");
        return NULL;
    }
    info = type_cache_get(&session->types, Py_TYPE(arguments[0]));
    if (info->kind != TYPE_TENSOR || info->tensor == TENSOR_CLASS_NUMPY) {
        Py_RETURN_NONE;
    }
    is_changed = note_tensor(probe, session->access, arguments[0]);
    if ((arguments[1] == Py_True && !is_changed) || probe->owner == NULL ||
        !((struct switch_object *)probe->owner)->is_on || is_in_backward(probe)) {
        Py_RETURN_NONE;
    }
    return measure_all(probe, arguments[0]) ? Py_NewRef(Py_None) : NULL;
}

PyDoc_STRVAR(forget_doc, "forget(): the next value differs from the last one.");

static PyObject *probe_forget(PyObject *self, PyObject *unused)
{
    (void)unused;
    Py_CLEAR(((struct probe *)self)->last);
    Py_RETURN_NONE;
}

/* ---- the types ---- */

static int add_switch_type(PyObject *module)
{
    static PyMemberDef members[] = {
        {"is_on", T_BOOL, offsetof(struct switch_object, is_on), 0,
         "Whether the probes measure."},
        {NULL, 0, 0, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, switch_dealloc},
        {Py_tp_members, members},
        {Py_tp_doc, "Turns the probes of a monitor on and off."},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "monitorch._recorder.Switch",
        .basicsize = sizeof(struct switch_object),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };

    return module_add_type(module, &spec);
}

int probe_exec(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"leave", (PyCFunction)(void (*)(void))probe_leave, METH_FASTCALL, leave_doc},
        {"visit", (PyCFunction)(void (*)(void))probe_visit, METH_FASTCALL, visit_doc},
        {"forget", probe_forget, METH_NOARGS, forget_doc},
        {"__reduce__", observe_reduce, METH_NOARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot probe_slots[] = {
        {Py_tp_new, probe_new},
        {Py_tp_dealloc, probe_dealloc},
        {Py_tp_traverse, probe_traverse},
        {Py_tp_clear, probe_clear},
        {Py_tp_methods, methods},
        {Py_tp_doc, "What measures one output of a module, or one local variable."},
        {0, NULL},
    };
    static PyType_Spec probe_spec = {
        .name = "monitorch._recorder.Probe",
        .basicsize = sizeof(struct probe),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
        .slots = probe_slots,
    };

    return add_switch_type(module) < 0 ? -1 : module_add_type(module, &probe_spec);
}
