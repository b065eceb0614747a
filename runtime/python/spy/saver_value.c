/* The values of a tensor that is to be saved: read where they lie, or copied to where they can
 * be. Whoever saves asked for it, so torch's own methods may be called. */
#include "runtime/python/spy/saver.h"
#include "runtime/saved/pt/pt.h"

#include <string.h>

/* Sparse, quantised, on a device: no tensor is more than that at once. */
#define COPY_MAX 4

static bool is_text(const char *text, const char *other)
{
    return strcmp(text, other) == 0;
}

/* The method whose result shows the same, nearer to plain memory; NULL: there is none. */
static const char *next_method(const struct tensor *tensor, enum tensor_class class)
{
    if (tensor->flags & LOG_FORM_NUMPY) {
        return is_text(tensor->note, "masked") ? "filled" : NULL;
    }
    if (class == TENSOR_CLASS_WRAPPER) {
        return "to_local"; /* a DTensor's part that is here */
    }
    if (is_text(tensor->note, "quantised")) {
        return "dequantize";
    }
    if (strncmp(tensor->note, "sparse", 6) == 0 || is_text(tensor->note, "mkldnn")) {
        return "to_dense";
    }
    if (is_text(tensor->note, "meta") || is_text(tensor->note, "batched") ||
        is_text(tensor->note, "storage too small")) {
        return NULL;
    }
    return tensor->device[0] == '\0' ? NULL : "cpu";
}

/* A new reference, or NULL with an exception set. */
static PyObject *copy_by(PyObject *object, const char *method, bool is_torch)
{
    PyObject *detached =
        is_torch ? PyObject_CallMethod(object, "detach", NULL) : Py_NewRef(object);
    PyObject *copy =
        detached == NULL ? NULL : PyObject_CallMethod(detached, method, NULL);

    Py_XDECREF(detached);
    return copy;
}

/* An array whose numbers have the bytes of another machine's. */
static bool is_swapped(const struct tensor *tensor)
{
    return tensor->flags & LOG_FORM_NUMPY && tensor->dtype_text[0] == '>';
}

/* A new reference, or NULL with an exception set. */
static PyObject *copy_native(PyObject *array)
{
    PyObject *dtype = PyObject_GetAttrString(array, "dtype");
    PyObject *native =
        dtype == NULL ? NULL : PyObject_CallMethod(dtype, "newbyteorder", "s", "=");
    PyObject *copy =
        native == NULL ? NULL : PyObject_CallMethod(array, "astype", "O", native);

    Py_XDECREF(native);
    Py_XDECREF(dtype);
    return copy;
}

static void refuse(const struct tensor *tensor, PyObject *object)
{
    if (tensor->array.dtype == DTYPE_OTHER && tensor->dtype_text[0] != '\0') {
        PyErr_Format(PyExc_TypeError, "cannot save a %R of dtype %s", Py_TYPE(object),
                     tensor->dtype_text);
    } else {
        PyErr_Format(PyExc_TypeError,
                     "cannot save a %R: its values are not on this machine (%s)",
                     Py_TYPE(object),
                     tensor->note[0] == '\0' ? "not readable" : tensor->note);
    }
}

/* 1: its values can be read; 0: `object` is a copy now, to be looked at; -1: an exception. */
static int inspect(struct saver_value *value, struct session *session)
{
    PyObject *object = value->object;
    enum tensor_class class = tensor_classify(session->access, Py_TYPE(object));
    const char *method;
    bool swapped;

    if (class == TENSOR_CLASS_NONE ||
        tensor_describe(session->access, object, class, &value->tensor) < 0) {
        PyErr_Format(PyExc_TypeError, "expected a tensor or a NumPy array, not %R",
                     Py_TYPE(object));
        return -1;
    }
    if (value->tensor.array.data != NULL && pt_has_dtype(value->tensor.array.dtype)) {
        value->storage = tensor_hold(session->access, object);
        value->array = value->tensor.array;
        return 1;
    }
    method = next_method(&value->tensor, class);
    swapped = is_swapped(&value->tensor);
    if (!swapped && (method == NULL || !PyObject_HasAttrString(object, method))) {
        refuse(&value->tensor, object);
        tensor_release(&value->tensor);
        return -1;
    }
    tensor_release(&value->tensor);
    value->object = swapped ? copy_native(object)
                            : copy_by(object, method, class != TENSOR_CLASS_NUMPY);
    Py_DECREF(object);
    return value->object == NULL ? -1 : 0;
}

static bool
value_init(struct saver_value *value, struct session *session, PyObject *object)
{
    value->object = Py_NewRef(object);
    value->storage = NULL;
    value->norms.bytes = NULL;
    for (int i = 0; i <= COPY_MAX; i++) {
        int state = inspect(value, session);
        if (state == 1) {
            return true;
        }
        if (state < 0) {
            Py_XDECREF(value->object);
            return false;
        }
    }
    PyErr_Format(PyExc_TypeError, "cannot save a %R: no copy of it can be read",
                 Py_TYPE(value->object));
    Py_DECREF(value->object);
    return false;
}

static bool measure_norms(struct saver_value *value)
{
    if (dtype_class(value->array.dtype) == DTYPE_CLASS_OPAQUE) {
        PyErr_Format(PyExc_TypeError, "a tensor of dtype %s has no norm",
                     dtype_text(value->array.dtype));
        return false;
    }
    if (!row_norms_init(&value->norms, &value->array)) {
        PyErr_NoMemory();
        return false;
    }
    value->array = value->norms.array;
    return true;
}

static void value_release(struct saver_value *value)
{
    row_norms_release(&value->norms);
    tensor_release(&value->tensor);
    Py_XDECREF(value->storage);
    Py_DECREF(value->object);
}

bool saver_item_init(struct saver_item *item,
                     struct session *session,
                     PyObject *tensor,
                     PyObject *key,
                     PyObject *place,
                     bool norm_only)
{
    if (!saver_request_init(&item->request, session, key, place)) {
        return false;
    }
    if (!value_init(&item->value, session, tensor)) {
        saver_request_release(&item->request);
        return false;
    }
    if (norm_only && !measure_norms(&item->value)) {
        saver_item_release(item);
        return false;
    }
    item->request.saved.array = item->value.array;
    return true;
}

void saver_item_release(struct saver_item *item)
{
    value_release(&item->value);
    saver_request_release(&item->request);
}
