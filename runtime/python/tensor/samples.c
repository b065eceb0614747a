#include "runtime/python/tensor/samples.h"

static bool sample_add(struct search *search, PyObject *tensor)
{
    if (tensor == NULL || search->count == SAMPLE_MAX) {
        Py_XDECREF(tensor);
        return false;
    }
    search->samples[search->count++].tensor = tensor;
    return true;
}

PyObject *samples_make_zeros(const struct search *search,
                             PyObject *shape, /* stolen */
                             const char *dtype,
                             const char *device,
                             bool requires_grad)
{
    PyObject *type = lookup_in_module("torch", dtype);
    PyObject *arguments =
        shape == NULL || type == NULL ? NULL : Py_BuildValue("(O)", shape);
    PyObject *options =
        type == NULL
            ? NULL
            : Py_BuildValue("{sOsssO}", "dtype", type, "device", device,
                            "requires_grad", requires_grad ? Py_True : Py_False);
    PyObject *made =
        arguments == NULL || options == NULL
            ? NULL
            : PyObject_Call(search->torch->objects.zeros, arguments, options);

    Py_XDECREF(options);
    Py_XDECREF(arguments);
    Py_XDECREF(shape);
    return made;
}

/* `tensor` after `count` writes in place. */
static PyObject *written(const struct search *search, PyObject *tensor, int count)
{
    for (int i = 0; i < count && tensor != NULL; i++) {
        PyObject *same = PyObject_CallFunctionObjArgs(
            search->torch->objects.zero_in_place, tensor, NULL);
        if (same == NULL) {
            Py_CLEAR(tensor);
        }
        Py_XDECREF(same);
    }
    return tensor;
}

/* A view of a tensor that nobody else keeps. */
static PyObject *view_of(PyObject *method, PyObject *tensor)
{
    PyObject *view =
        tensor == NULL ? NULL : PyObject_CallFunctionObjArgs(method, tensor, NULL);

    Py_XDECREF(tensor);
    return view;
}

bool samples_make(struct search *search)
{
    const struct torch_objects *objects = &search->torch->objects;
    const char *real = "float32", *cpu = "cpu";

    return sample_add(search,
                      samples_make_zeros(search, Py_BuildValue("(iiii)", 3, 5, 7, 11),
                                         real, cpu, false)) &&
           sample_add(search,
                      written(search,
                              samples_make_zeros(search, Py_BuildValue("(i)", 1031),
                                                 real, cpu, false),
                              3)) &&
           sample_add(search,
                      written(search,
                              samples_make_zeros(search, Py_BuildValue("(ii)", 2, 13),
                                                 "int64", cpu, false),
                              7)) &&
           sample_add(search,
                      PyObject_CallFunction(objects->narrow, "Oiii",
                                            search->samples[1].tensor, 0, 17, 19)) &&
           sample_add(search,
                      view_of(objects->conj,
                              samples_make_zeros(search, Py_BuildValue("(i)", 4),
                                                 "complex64", cpu, false))) &&
           sample_add(search,
                      view_of(objects->negative_view,
                              samples_make_zeros(search, Py_BuildValue("(ii)", 6, 1),
                                                 real, cpu, false))) &&
           sample_add(search, samples_make_zeros(search, Py_BuildValue("(i)", 9), real,
                                                 "meta", false)) &&
           sample_add(search,
                      samples_make_zeros(search, Py_BuildValue("(iii)", 2, 3, 4), real,
                                         cpu, true)) &&
           sample_add(search, samples_make_zeros(
                                  search, Py_BuildValue("(iiiiii)", 1, 2, 3, 4, 5, 6),
                                  "uint8", cpu, false)) &&
           sample_add(search,
                      samples_make_zeros(search, PyTuple_New(0), real, cpu, false)) &&
           sample_add(search, PyObject_CallFunction(objects->as_strided, "O(ii)(ii)i",
                                                    search->samples[1].tensor, 5, 3, 1,
                                                    7, 23)) &&
           sample_add(search, samples_make_zeros(
                                  search, Py_BuildValue("(iiiii)", 2, 1, 3, 1, 8),
                                  "float64", cpu, false));
}

uint64_t samples_natural(PyObject *answer /* stolen */)
{
    uint64_t number = answer == NULL ? 0 : PyLong_AsUnsignedLongLong(answer);

    Py_XDECREF(answer);
    return number;
}

/* Asks torch; errors are seen at the end by PyErr_Occurred. */
static void sample_ask(const struct torch_access *torch, struct sample *sample)
{
    const struct torch_objects *objects = &torch->objects;
    PyObject *tensor = sample->tensor;
    PyObject *shape = descriptor_get(objects->shape, tensor);

    sample->impl = samples_natural(descriptor_get(objects->cdata, tensor));
    sample->version =
        (uint32_t)samples_natural(descriptor_get(objects->version, tensor));
    sample->offset = (int64_t)samples_natural(
        PyObject_CallFunctionObjArgs(objects->storage_offset, tensor, NULL));
    sample->data =
        samples_natural(PyObject_CallFunctionObjArgs(objects->data_ptr, tensor, NULL));
    if (shape != NULL && PyTuple_Check(shape) && PyTuple_Size(shape) <= 6) {
        sample->dimension_count = (uint32_t)PyTuple_Size(shape);
        for (uint32_t i = 0; i < sample->dimension_count; i++) {
            sample->sizes[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
        }
    }
    Py_XDECREF(shape);
}

bool samples_ask(struct search *search)
{
    search->impl_size = IMPL_MAX;
    for (size_t i = 0; i < search->count; i++) {
        struct sample *sample = &search->samples[i];
        sample_ask(search->torch, sample);
        if (PyErr_Occurred() || sample->impl == 0 ||
            !torch_ask_keys(search->torch, sample->tensor, &sample->keys)) {
            return false;
        }
        size_t size = peek_read(&search->peek, sample->impl, sample->bytes, IMPL_MAX);
        search->impl_size = size < search->impl_size ? size : search->impl_size;
    }
    return search->impl_size >= 64;
}
