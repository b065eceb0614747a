/* Built-in metrics of what goes by one name. */
#include "runtime/python/monitor/gauge_private.h"

#include "runtime/base/memory.h"
#include "runtime/python/module_add.h"
#include "runtime/python/monitor/devices.h"

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

bool gauge_check(PyObject *object)
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

/* The key, or with an axis key/index; a new reference. */
static PyObject *key_of(const struct gauge_object *gauge, PyObject *key, size_t index)
{
    return gauge->has_axis ? PyUnicode_FromFormat("%U/%zu", key, index)
                           : Py_NewRef(key);
}

/* Takes the value's reference. */
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

    if (module_add_type(module, &spec) < 0 ||
        module_add_object(module, "GAUGE_METRICS", metric_names()) < 0) {
        return -1;
    }
    return module_add_object(module, "GAUGE_EDGES", edges());
}
