/* The class SafetensorsWriter: many tensors, one file. */
#include "runtime/array/expanded.h"
#include "runtime/python/module_add.h"
#include "runtime/python/spy/saver.h"
#include "runtime/saved/safetensors/safetensors.h"

#include <errno.h>
#include <unistd.h>

/* The lock is taken without the GIL, and held while the writer is at work. */
struct saver_file {
    PyObject_HEAD struct session *session; /* borrowed from the module */
    PyObject *module;                      /* owned: keeps the session */
    PyThread_type_lock lock;               /* owned */
    struct safetensors_writer *writer;     /* owned; NULL: finished or abandoned */
    PyObject *path;                        /* owned: bytes */
    size_t count;                          /* of what was added */
    pid_t process; /* whose it is: in one forked off it the lock may stay taken */
};

static PyObject *file_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", NULL};
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct error error = ERROR_INIT;
    struct saver_file *file;
    PyObject *module = PyType_GetModule(type);
    PyObject *path;

    if (module == NULL ||
        !PyArg_ParseTupleAndKeywords(args, keywords, "O&:SafetensorsWriter", names,
                                     PyUnicode_FSConverter, &path)) {
        return NULL;
    }
    file = (struct saver_file *)allocate(type, 0);
    if (file == NULL) {
        Py_DECREF(path);
        return NULL;
    }
    file->session = PyModule_GetState(module);
    file->module = Py_NewRef(module);
    file->path = path;
    file->process = getpid();
    file->lock = PyThread_allocate_lock();
    file->writer = file->lock == NULL
                       ? NULL
                       : safetensors_writer_new(PyBytes_AsString(path), &error);
    if (file->writer == NULL) {
        Py_DECREF(file);
        return PyErr_NoMemory();
    }
    return (PyObject *)file;
}

static void file_dealloc(PyObject *self)
{
    struct saver_file *file = (struct saver_file *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    if (file->writer != NULL) {
        safetensors_writer_abandon(file->writer);
    }
    if (file->lock != NULL) {
        PyThread_free_lock(file->lock);
    }
    Py_XDECREF(file->path);
    Py_XDECREF(file->module);
    release(self);
    Py_DECREF(type);
}

static bool is_ours(const struct saver_file *file)
{
    if (file->process == getpid()) {
        return true;
    }
    PyErr_SetString(PyExc_ValueError, "the file is written by another process");
    return false;
}

/* The format has no strides: an expanded tensor would be written as large as it looks. */
static bool is_too_large(const struct array *array)
{
    struct expanded_array expanded;

    return expanded_find(array, &expanded) &&
           array_count(array) > ((uint64_t)1 << 30) / dtype_size(array->dtype);
}

static PyObject *add(struct saver_file *file, const struct saver_item *item)
{
    struct error error = ERROR_INIT;
    bool is_added = false, is_open;
    int number;

    if (!safetensors_has_dtype(item->value.array.dtype)) {
        PyErr_Format(PyExc_TypeError, "the format safetensors has no dtype %s",
                     dtype_text(item->value.array.dtype));
        return NULL;
    }
    if (is_too_large(&item->value.array)) {
        PyErr_SetString(PyExc_TypeError,
                        "it is expanded to more than 1 GiB, and the format safetensors "
                        "would hold each element as often: save it as \"pt\"");
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    PyThread_acquire_lock(file->lock, WAIT_LOCK);
    is_open = file->writer != NULL;
    errno = 0;
    if (is_open) {
        is_added = safetensors_writer_add(file->writer, &item->request.saved, &error);
    }
    number = errno;
    file->count += is_added;
    PyThread_release_lock(file->lock);
    Py_END_ALLOW_THREADS;
    if (!is_open) {
        PyErr_SetString(PyExc_ValueError, "the file is finished");
        return NULL;
    }
    if (!is_added) {
        return saver_raise(&error, number, &item->request,
                           PyBytes_AsString(file->path));
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    add_doc,
    "add(tensor, key, place=None, norm_only=False)\n\n"
    "Adds a tensor, as save_pt() writes it. Where that fails, those before it are\n"
    "still to be finished.");

static PyObject *file_add(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"tensor", "key", "place", "norm_only", NULL};
    struct saver_file *file = (struct saver_file *)self;
    struct saver_item item;
    PyObject *tensor, *key, *place = Py_None, *result;
    int norm_only = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|Op:add", names, &tensor, &key,
                                     &place, &norm_only) ||
        !is_ours(file) ||
        !saver_item_init(&item, file->session, tensor, key, place, norm_only)) {
        return NULL;
    }
    result = add(file, &item);
    saver_item_release(&item);
    return result;
}

PyDoc_STRVAR(finish_doc,
             "finish()\n\n"
             "Renames the complete file to its name; without tensors there is none.");

static PyObject *file_finish(PyObject *self, PyObject *unused)
{
    struct saver_file *file = (struct saver_file *)self;
    struct safetensors_writer *writer;
    struct error error = ERROR_INIT;
    bool is_finished = true;
    int number = 0;

    (void)unused;
    if (!is_ours(file)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    PyThread_acquire_lock(file->lock, WAIT_LOCK);
    writer = file->writer;
    file->writer = NULL;
    if (writer != NULL) {
        errno = 0;
        is_finished = safetensors_writer_finish(writer, &error);
        number = errno;
    }
    PyThread_release_lock(file->lock);
    Py_END_ALLOW_THREADS;
    if (!is_finished) {
        return saver_raise(&error, number, NULL, PyBytes_AsString(file->path));
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(abandon_doc, "abandon()\n\nLeaves no file.");

static PyObject *file_abandon(PyObject *self, PyObject *unused)
{
    struct saver_file *file = (struct saver_file *)self;

    (void)unused;
    if (!is_ours(file)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    PyThread_acquire_lock(file->lock, WAIT_LOCK);
    if (file->writer != NULL) {
        safetensors_writer_abandon(file->writer);
        file->writer = NULL;
    }
    PyThread_release_lock(file->lock);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static PyObject *file_count(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(((struct saver_file *)self)->count);
}

int saver_safetensors_exec(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"add", (PyCFunction)(void (*)(void))file_add, METH_VARARGS | METH_KEYWORDS,
         add_doc},
        {"finish", file_finish, METH_NOARGS, finish_doc},
        {"abandon", file_abandon, METH_NOARGS, abandon_doc},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef attributes[] = {
        {"count", file_count, NULL, "How many tensors were added.", NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_new, file_new},
        {Py_tp_dealloc, file_dealloc},
        {Py_tp_methods, methods},
        {Py_tp_getset, attributes},
        {Py_tp_doc, "SafetensorsWriter(path): many tensors saved into one file."},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "monitorch._recorder.SafetensorsWriter",
        .basicsize = sizeof(struct saver_file),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };

    return module_add_type(module, &spec);
}
