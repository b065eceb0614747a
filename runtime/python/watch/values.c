/* What a watcher asks of a tensor: whether it holds NaN or infinities. */
#include "runtime/python/visit/values.h"
#include "runtime/python/watch/watch.h"

/* True or False; NotImplemented where the values cannot be read here. */
static PyObject *
answer(struct session *session, const struct tensor *tensor, unsigned wanted)
{
    struct statistics statistics;
    uint64_t hash;
    bool is_reached;

    if (tensor->array.data == NULL && array_count(&tensor->array) > 0) {
        return Py_NewRef(Py_NotImplemented);
    }
    if (array_count(&tensor->array) == 0) {
        Py_RETURN_FALSE;
    }
    value_measure(tensor, STATISTICS_WANT_VALUES,
                  session->thread_limit == 0 ? 1 : session->thread_limit, &statistics,
                  &hash);
    is_reached = ((wanted & STOP_AT_NAN) != 0 && statistics.nan_count > 0) ||
                 ((wanted & STOP_AT_INF) != 0 &&
                  (statistics.posinf_count > 0 || statistics.neginf_count > 0));
    return PyBool_FromLong(is_reached);
}

PyObject *watcher_is_nonfinite(PyObject *module, PyObject *args)
{
    struct session *session = PyModule_GetState(module);
    PyObject *value, *result;
    unsigned int wanted;
    enum tensor_class class;
    struct tensor tensor;

    if (!PyArg_ParseTuple(args, "OI:is_nonfinite", &value, &wanted)) {
        return NULL;
    }
    class = tensor_classify(session->access, Py_TYPE(value));
    if (class == TENSOR_CLASS_NONE ||
        tensor_describe(session->access, value, class, &tensor) < 0) {
        return Py_NewRef(Py_NotImplemented);
    }
    result = answer(session, &tensor, wanted);
    tensor_release(&tensor);
    return result;
}
